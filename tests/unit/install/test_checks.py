"""The checks of generated manifests: each fault is found, and told with its object."""

import json
from typing import Any

import pytest

from msjob.checks import installation_faults, object_faults
from msjob.schema import crd_manifest

Object = dict[str, Any]


def _config(name: str = "a", namespace: str | None = "ops", **metadata: Any) -> Object:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **place, **metadata}}


def _crd() -> Object:
    crd: Object = json.loads(json.dumps(crd_manifest()))
    return crd


def test_good_objects() -> None:
    """Objects of one name in two namespaces, or of two kinds, are different objects."""
    secret = _config() | {"kind": "Service"}
    objects = [_config(), _config("b"), _config(namespace="other"), secret]

    assert [*object_faults(objects)] == []


@pytest.mark.parametrize(
    "item",
    [None, [], "text", 3, {}, {"kind": "ConfigMap"}, {"apiVersion": "v1", "kind": ""}, {"apiVersion": 1, "kind": "X"}],
)
def test_no_object(item: Any) -> None:
    """What has no version and kind is no object."""
    (fault,) = object_faults([item])

    assert fault == f"{item!r}: not an object with apiVersion and kind"


@pytest.mark.parametrize(
    "metadata", [None, {}, {"name": ""}, {"name": "A"}, {"name": "a_b"}, {"name": "a" * 254}, {"name": "a\n"}]
)
def test_no_name(metadata: Any) -> None:
    """An object without a name that Kubernetes takes is refused."""
    (fault,) = object_faults([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}])

    assert fault.startswith("ConfigMap: metadata.name is missing or no DNS name: ")
    assert len(fault) < 120


def test_twice() -> None:
    """The same object twice is refused, also by another version of its API: the second would overwrite the first."""
    first = _config() | {"apiVersion": "example.com/v1"}
    second = _config() | {"apiVersion": "example.com/v2"}

    assert [*object_faults([first, _config(), second])] == ["ConfigMap ops/a: occurs twice"]


@pytest.mark.parametrize("value", ["a" * 64, "1.0+local", "-a", "a b", 1, True])
def test_label_values(value: Any) -> None:
    """A label that Kubernetes refuses is found, such as a version with a plus sign."""
    (fault,) = object_faults([_config(labels={"app.kubernetes.io/version": value})])

    assert fault == f"ConfigMap ops/a: label app.kubernetes.io/version has a value that Kubernetes refuses: {value!r}"


def test_annotations_are_text() -> None:
    """A number as an annotation is refused: the API server takes text only."""
    (fault,) = object_faults([_config(annotations={"wave": 1})])

    assert fault == "ConfigMap ops/a: annotation wave is no string: 1"


def test_good_installation() -> None:
    """Objects of the operator's namespace and of the cluster, and the real CRD, pass."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ops"}}

    assert [*installation_faults([namespace, _config(), _crd()], "ops")] == []


@pytest.mark.parametrize(
    ("item", "fault"),
    [
        (_config(namespace="other"), "ConfigMap other/a: is in namespace other, not in the operator's, ops"),
        (_config(namespace=None), "ConfigMap a: is in namespace None, not in the operator's, ops"),
        (_config() | {"kind": "Namespace"}, "Namespace ops/a: has a namespace, and its kind has none"),
        (_config() | {"status": {}}, "ConfigMap ops/a: carries a status, which only the cluster writes"),
        (
            _config() | {"apiVersion": "monitoring.coreos.com/v1", "kind": "ServiceMonitor"},
            "ServiceMonitor ops/a: some clusters do not know monitoring.coreos.com/v1 ServiceMonitor",
        ),
        (
            _config() | {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"},
            "Kustomization ops/a: some clusters do not know kustomize.config.k8s.io/v1beta1 Kustomization",
        ),
    ],
)
def test_not_in_an_installation(item: Object, fault: str) -> None:
    """What would fail on some cluster, or land in the wrong place, is found."""
    assert [*installation_faults([item], "ops")] == [fault]


def test_crd_name() -> None:
    """A CRD must be named after its plural and group."""
    crd = _crd()
    crd["spec"]["names"]["plural"] = "jobs"

    assert [*installation_faults([crd], "ops")] == [
        (
            "CustomResourceDefinition msjobs.mindspore.gitee.com: must be named jobs.mindspore.gitee.com, "
            "after its plural and group"
        )
    ]


def test_crd_versions() -> None:
    """Exactly one version of a CRD is the stored one."""
    crd = _crd()
    crd["spec"]["versions"] *= 2

    assert any("exactly one version must be the stored one" in fault for fault in installation_faults([crd], "ops"))


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "string", "properties": {"spec": {}}}])
def test_crd_schema(schema: Object) -> None:
    """A CRD whose schema was lost would take anything; it is refused."""
    crd = _crd()
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema

    assert [fault.partition(": ")[2] for fault in installation_faults([crd], "ops")] == [
        "version v1 has no schema of an object with a spec"
    ]


def test_crd_references() -> None:
    """A reference that was not inlined is found before the API server refuses it."""
    crd = _crd()
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["allOf"] = [{"$ref": "#/x"}]

    assert [fault.partition(": ")[2] for fault in installation_faults([crd], "ops")] == [
        "version v1 has references in its schema, which are refused"
    ]


def test_crd_size() -> None:
    """A CRD too large for plain `kubectl apply` is refused, with its size."""
    crd = _crd()
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = "x" * 200_000

    (fault,) = installation_faults([crd], "ops")
    assert "bytes, too large for a plain kubectl apply (limit here 200000)" in fault
