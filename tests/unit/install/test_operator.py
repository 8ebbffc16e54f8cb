"""The Deployment of the operator: Restricted Pod Security field by field, and what the controller needs to run."""

import re
from typing import Any

import pytest

from msjob.install import installation
from msjob.namespace import POD_SECURITY_VERSION
from msjob.settings import InstallSettings, default_image

VOLUMES_OF_RESTRICTED = {
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
}


@pytest.fixture(scope="module")
def installed() -> dict[str, dict[str, Any]]:
    """The objects of the default installation besides roles, by kind."""
    files = installation(InstallSettings())
    return {item["kind"]: item for item in files["0001-namespace.yaml"] + files["0003-operator.yaml"]}


@pytest.fixture
def pod(installed: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The spec of the operator's pods."""
    spec: dict[str, Any] = installed["Deployment"]["spec"]["template"]["spec"]
    return spec


@pytest.fixture
def container(pod: dict[str, Any]) -> dict[str, Any]:
    """The one container."""
    (found,) = pod["containers"]
    assert "initContainers" not in pod
    return dict(found)


def test_namespace_is_restricted(installed: dict[str, dict[str, Any]]) -> None:
    """The namespace enforces, audits and warns by the Restricted profile, each at a pinned version."""
    labels = installed["Namespace"]["metadata"]["labels"]

    assert {key: value for key, value in labels.items() if key.startswith("pod-security.kubernetes.io/")} == {
        f"pod-security.kubernetes.io/{mode}{suffix}": value
        for mode in ("enforce", "audit", "warn")
        for suffix, value in (("", "restricted"), ("-version", POD_SECURITY_VERSION))
    }
    assert re.fullmatch(r"v1\.[0-9]+", POD_SECURITY_VERSION)


@pytest.mark.parametrize("field", ["hostNetwork", "hostPID", "hostIPC", "hostUsers"])
def test_host_namespaces(pod: dict[str, Any], field: str) -> None:
    """Restricted: the pod shares no namespace of its node."""
    assert field not in pod


def test_privileged(container: dict[str, Any]) -> None:
    """Restricted: not privileged, and no more privileges than it starts with."""
    assert "privileged" not in container["securityContext"]
    assert container["securityContext"]["allowPrivilegeEscalation"] is False


def test_capabilities(container: dict[str, Any]) -> None:
    """Restricted: all capabilities are dropped; none is added."""
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_volume_types(pod: dict[str, Any]) -> None:
    """Restricted: only volumes of the harmless types, so none of the node's files."""
    for volume in pod["volumes"]:
        assert set(volume) - {"name"} <= VOLUMES_OF_RESTRICTED


def test_host_ports(container: dict[str, Any]) -> None:
    """Restricted: no port of the node is taken."""
    assert all("hostPort" not in port for port in container["ports"])


def test_running_as_non_root(pod: dict[str, Any], container: dict[str, Any]) -> None:
    """Restricted: a user other than root, by number, so that the kubelet can judge it."""
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == 65532
    assert pod["securityContext"]["runAsGroup"] == 65532
    assert not {"runAsUser", "runAsGroup", "runAsNonRoot"} & set(container["securityContext"])


def test_seccomp(pod: dict[str, Any], container: dict[str, Any]) -> None:
    """Restricted: the seccomp profile of the runtime, and the container keeps it."""
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert "seccompProfile" not in container["securityContext"]


@pytest.mark.parametrize("field", ["procMount", "seLinuxOptions", "appArmorProfile", "windowsOptions"])
def test_security_options_left_alone(pod: dict[str, Any], container: dict[str, Any], field: str) -> None:
    """Restricted: no option that could loosen the node's own defaults."""
    assert field not in pod["securityContext"]
    assert field not in container["securityContext"]


def test_sysctls(pod: dict[str, Any]) -> None:
    """Restricted: no kernel parameter is set."""
    assert "sysctls" not in pod["securityContext"]


def test_only_tmp_can_be_written(pod: dict[str, Any], container: dict[str, Any]) -> None:
    """The root file system is read-only; /tmp, which the construct library unpacks to, is a bounded volume."""
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["volumeMounts"] == [{"name": "tmp", "mountPath": "/tmp"}]  # noqa: S108 - the volume
    assert pod["volumes"] == [{"name": "tmp", "emptyDir": {"sizeLimit": "64Mi"}}]


def test_one_image_and_it_is_the_projects(container: dict[str, Any]) -> None:
    """No image is needed besides the operator's own, at the project's version and never `latest`."""
    assert container["image"] == default_image()
    assert container["image"].rpartition(":")[2][0].isdigit()
    assert container["imagePullPolicy"] == "IfNotPresent"


def test_command(container: dict[str, Any]) -> None:
    """The container runs the console script of the controller with the flags that ports and probes rest on."""
    assert container["command"] == ["ms-operator"]
    assert container["args"] == [
        "--leader-elect",
        "--metrics-bind-address=:8080",
        "--health-probe-bind-address=:8081",
    ]


def test_environment(container: dict[str, Any]) -> None:
    """The pod knows its own name and namespace, for the Lease, and the library keeps no cache in a home it lacks."""
    environment = {item["name"]: item.get("value") or item["valueFrom"]["fieldRef"] for item in container["env"]}

    assert environment == {
        "POD_NAME": {"apiVersion": "v1", "fieldPath": "metadata.name"},
        "POD_NAMESPACE": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
        "JSII_RUNTIME_PACKAGE_CACHE": "disabled",
    }


@pytest.mark.parametrize(("probe", "path"), [("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")])
def test_probes(container: dict[str, Any], probe: str, path: str) -> None:
    """Probes ask the port of the probes, which a port of the container names."""
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    request = container[probe]["httpGet"]

    assert request["path"] == path
    assert ports[request["port"]] == 8081


def test_memory_covers_the_construct_worker(container: dict[str, Any]) -> None:
    """The request covers Python and Node.js at work (375 MB), and the limit is above it; CPU is not throttled."""
    assert container["resources"] == {
        "requests": {"cpu": "100m", "memory": "384Mi"},
        "limits": {"memory": "512Mi"},
    }


def test_stopping(installed: dict[str, dict[str, Any]], pod: dict[str, Any]) -> None:
    """There are 10 s to stop in, and an update starts the new pod before it stops the old one."""
    assert pod["terminationGracePeriodSeconds"] == 10
    assert installed["Deployment"]["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}


def test_service_account(pod: dict[str, Any]) -> None:
    """The pod runs under the operator's ServiceAccount and asks for its token."""
    assert pod["serviceAccountName"] == "ms-operator-controller-manager"
    assert pod["automountServiceAccountToken"] is True


def test_selector(installed: dict[str, dict[str, Any]]) -> None:
    """The selector matches the pods and holds nothing that changes with a release, because it can never be changed."""
    spec = installed["Deployment"]["spec"]
    selector = spec["selector"]["matchLabels"]

    assert selector.items() <= spec["template"]["metadata"]["labels"].items()
    assert not {"app.kubernetes.io/version", "app.kubernetes.io/managed-by"} & set(selector)


def test_kubectl_logs_needs_no_container(installed: dict[str, dict[str, Any]], container: dict[str, Any]) -> None:
    """`kubectl logs` and `exec` find the container by themselves, whatever a mesh injects."""
    annotations = installed["Deployment"]["spec"]["template"]["metadata"]["annotations"]

    assert annotations["kubectl.kubernetes.io/default-container"] == container["name"]


def test_metrics_service(installed: dict[str, dict[str, Any]], container: dict[str, Any]) -> None:
    """The metrics Service selects the operator's pods and reaches the metrics port."""
    service, deployment = installed["Service"]["spec"], installed["Deployment"]["spec"]
    (port,) = service["ports"]

    assert service["type"] == "ClusterIP"
    assert service["selector"] == deployment["selector"]["matchLabels"]
    assert (port["name"], port["port"], port["protocol"]) == ("metrics", 8080, "TCP")
    assert {"name": port["targetPort"], "containerPort": 8080, "protocol": "TCP"} in container["ports"]
