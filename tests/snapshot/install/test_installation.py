"""What `dist/` installs, file by file, as it stands and with other settings.

The CRD is left out: it is compared with `dist/` itself, so that its 200 KB are not in Git twice.
"""

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from msjob.install import installation
from msjob.settings import InstallSettings, Resources

Objects = list[dict[str, Any]]

VARIANTS = {
    "image": InstallSettings(image="registry.example.com:5000/ml/ms-operator:1.2.3", image_pull_policy="Always"),
    "namespace": InstallSettings(namespace="training"),
    "replicas": InstallSettings(replicas=3),
    "flags-resources": InstallSettings(
        extra_flags=("--workers=8", "--namespace=team-a"),
        resources=Resources(cpu_request="1", cpu_limit="2", memory_request="1Gi", memory_limit="2Gi"),
    ),
}


def _without_crd(settings: InstallSettings) -> dict[str, Objects]:
    files = installation(settings)
    del files["0000-crd.yaml"]
    return files


def _all(settings: InstallSettings) -> Objects:
    return [item for objects in _without_crd(settings).values() for item in objects]


def _of_kind(objects: Objects, kind: str) -> dict[str, Any]:
    (found,) = [item for item in objects if item["kind"] == kind]
    return found


@pytest.mark.parametrize("part", ["0001-namespace", "0002-rbac", "0003-operator"])
def test_file(part: str, snapshot: SnapshotAssertion) -> None:
    """Each file of the default installation is as reviewed."""
    objects = _without_crd(InstallSettings())[f"{part}.yaml"]

    assert objects == snapshot


@pytest.mark.parametrize("variant", VARIANTS)
def test_variant(variant: str, snapshot: SnapshotAssertion) -> None:
    """The installation with other settings is as reviewed."""
    assert _all(VARIANTS[variant]) == snapshot


def test_default_objects() -> None:
    """The default installation holds these objects, in this order, under the names users know."""
    named = [f"{item['kind']}/{item['metadata']['name']}" for item in _all(InstallSettings())]

    assert named == [
        "Namespace/ms-operator-system",
        "ServiceAccount/ms-operator-controller-manager",
        "ClusterRole/ms-operator-manager-role",
        "ClusterRoleBinding/ms-operator-manager-rolebinding",
        "Role/ms-operator-leader-election-role",
        "RoleBinding/ms-operator-leader-election-rolebinding",
        "ClusterRole/ms-operator-msjob-view-role",
        "ClusterRole/ms-operator-msjob-edit-role",
        "Deployment/ms-operator-controller-manager",
        "Service/ms-operator-controller-manager-metrics",
    ]


def test_another_image() -> None:
    """An image setting reaches the one container there is, and nothing else changes."""
    changed, default = _all(VARIANTS["image"]), _all(InstallSettings())
    (container,) = _of_kind(changed, "Deployment")["spec"]["template"]["spec"]["containers"]

    assert container["image"] == "registry.example.com:5000/ml/ms-operator:1.2.3"
    assert container["imagePullPolicy"] == "Always"
    assert [a for a, b in zip(changed, default, strict=True) if a != b] == [_of_kind(changed, "Deployment")]


def test_another_namespace() -> None:
    """A namespace setting reaches every place that names it; the default is named nowhere any more."""
    objects = _all(VARIANTS["namespace"])

    assert _of_kind(objects, "Namespace")["metadata"]["name"] == "training"
    assert {item["metadata"].get("namespace", "training") for item in objects} == {"training"}
    subjects = [subject for item in objects for subject in item.get("subjects", [])]
    assert [subject["namespace"] for subject in subjects] == ["training", "training"]
    assert "ms-operator-system" not in str(objects)


def test_another_number_of_replicas() -> None:
    """A replicas setting reaches the Deployment; leader election is on, so more than one is safe."""
    deployment = _of_kind(_all(VARIANTS["replicas"]), "Deployment")

    assert deployment["spec"]["replicas"] == 3
    assert "--leader-elect" in deployment["spec"]["template"]["spec"]["containers"][0]["args"]


def test_more_flags_and_other_resources() -> None:
    """Flags follow the Deployment's own, and resources are the container's."""
    deployment = _of_kind(_all(VARIANTS["flags-resources"]), "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]

    assert container["args"][-2:] == ["--workers=8", "--namespace=team-a"]
    assert container["resources"] == {
        "requests": {"cpu": "1", "memory": "1Gi"},
        "limits": {"cpu": "2", "memory": "2Gi"},
    }
