"""The Deployment that runs the operator."""

from typing import Any, Final

from msjob.cdk import Construct
from msjob.installed import CONTROLLER, WAVE_OPERATOR, common_labels, metadata, selector
from msjob.placing import place
from msjob.settings import InstallSettings, Resources

COMPONENT: Final = "controller"
CONTAINER: Final = "manager"
METRICS_PORT: Final = 8080
METRICS_PORT_NAME: Final = "metrics"
PROBE_PORT: Final = 8081
USER_ID: Final = 65532
"""Numeric, because `runAsNonRoot` cannot judge a name. By custom the user `nonroot` of minimal images."""

GRACE_PERIOD: Final = 10
"""Seconds from SIGTERM to SIGKILL. The controller ends within 5."""

SCRATCH_SIZE: Final = "64Mi"
"""Bound of /tmp. The construct library unpacks 3 to 5 MB there, and a container that is killed leaves them behind, as
the volume outlives its restarts: room for more than 10 kills, after which the pod is evicted and replaced."""


def _flags(settings: InstallSettings) -> list[str]:
    return [
        "--leader-elect",
        f"--metrics-bind-address=:{METRICS_PORT}",
        f"--health-probe-bind-address=:{PROBE_PORT}",
        *settings.extra_flags,
    ]


def _environment() -> list[dict[str, Any]]:
    def from_pod(name: str, path: str) -> dict[str, Any]:
        return {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}

    return [
        from_pod("POD_NAME", "metadata.name"),
        from_pod("POD_NAMESPACE", "metadata.namespace"),
        # The cache lies in the home folder, which the read-only root file system cannot hold.
        {"name": "JSII_RUNTIME_PACKAGE_CACHE", "value": "disabled"},
    ]


def _probe(path: str, **timing: int) -> dict[str, Any]:
    return {"httpGet": {"path": path, "port": "probes", "scheme": "HTTP"}, "timeoutSeconds": 5, **timing}


def _resources(resources: Resources) -> dict[str, dict[str, str]]:
    limits = {"memory": resources.memory_limit}
    if resources.cpu_limit is not None:
        limits["cpu"] = resources.cpu_limit
    return {"requests": {"cpu": resources.cpu_request, "memory": resources.memory_request}, "limits": limits}


def _container(settings: InstallSettings) -> dict[str, Any]:
    return {
        "name": CONTAINER,
        "image": settings.image,
        "imagePullPolicy": settings.image_pull_policy,
        "command": ["ms-operator"],
        "args": _flags(settings),
        "env": _environment(),
        "ports": [
            {"name": METRICS_PORT_NAME, "containerPort": METRICS_PORT, "protocol": "TCP"},
            {"name": "probes", "containerPort": PROBE_PORT, "protocol": "TCP"},
        ],
        "livenessProbe": _probe("/healthz", initialDelaySeconds=15, periodSeconds=20),
        "readinessProbe": _probe("/readyz", initialDelaySeconds=2, periodSeconds=5),
        "resources": _resources(settings.resources),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108 - a volume of the pod's own
    }


def deployment_manifest(settings: InstallSettings) -> dict[str, Any]:
    """The Deployment of the operator. Its pods pass the Restricted Pod Security profile.

    Args:
        settings: give image, pull policy, flags, replicas, resources and namespace.

    Returns:
        The manifest.
    """
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(CONTROLLER, component=COMPONENT, wave=WAVE_OPERATOR, namespace=settings.namespace),
        "spec": {
            "replicas": settings.replicas,
            "selector": {"matchLabels": selector(COMPONENT)},
            # The new pod stands by until the old one has gone and leaves it the Lease.
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "template": {
                "metadata": {
                    "labels": common_labels(COMPONENT),
                    "annotations": {"kubectl.kubernetes.io/default-container": CONTAINER},
                },
                "spec": {
                    "serviceAccountName": CONTROLLER,
                    "automountServiceAccountToken": True,
                    "enableServiceLinks": False,
                    "terminationGracePeriodSeconds": GRACE_PERIOD,
                    "securityContext": {
                        "runAsNonRoot": True,
                        "runAsUser": USER_ID,
                        "runAsGroup": USER_ID,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "containers": [_container(settings)],
                    "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": SCRATCH_SIZE}}],
                },
            },
        },
    }


class Operator(Construct):
    """The Deployment that runs the operator.

    Args:
        scope: parent construct.
        id: construct id, unique in its scope.
        settings: give image, pull policy, flags, replicas, resources and namespace.
    """

    def __init__(self, scope: Construct, id: str, settings: InstallSettings) -> None:  # noqa: A002 - cdk8s names it so
        super().__init__(scope, id)
        place(self, "deployment", deployment_manifest(settings))
