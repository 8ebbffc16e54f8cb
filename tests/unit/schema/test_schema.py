"""The schema of MSJob and the CRD around it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from msjob.api import rules
from msjob.cdk import App, Chart
from msjob.crd import MSJobCRD
from msjob.schema import crd_manifest, openapi_schema

TEMPLATE = "spec.msReplicaSpecs.*.template."
KEYWORDS = frozenset(
    {"additionalProperties", "default", "description", "enum", "format", "items", "maxItems", "maxLength"}
    | {"maxProperties", "maximum", "minItems", "minLength", "minimum", "nullable", "pattern", "properties", "required"}
    | {"type", "x-kubernetes-int-or-string", "x-kubernetes-list-map-keys", "x-kubernetes-list-type"}
    | {"x-kubernetes-map-type", "x-kubernetes-validations"}
)
"""All that the schema uses; each is accepted by the API server and kept."""


def nodes(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema in a schema, with its path."""
    yield path, schema
    for key, value in schema.get("properties", {}).items():
        yield from nodes(value, f"{path}.{key}" if path else key)
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield from nodes(schema[key], f"{path}.*")


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The schema of an MSJob."""
    return openapi_schema()


@pytest.fixture(scope="module")
def version() -> dict[str, Any]:
    """The one version of the CRD."""
    (only,) = crd_manifest()["spec"]["versions"]
    assert isinstance(only, dict)
    return only


def test_keywords(schema: dict[str, Any]) -> None:
    """No keyword that the API server refuses or drops without a word: references, null types, titles, odd formats."""
    for path, node in nodes(schema):
        assert set(node) <= KEYWORDS, path
        assert node.get("type") != "null", path
        assert node.get("format") in {None, "int32", "int64", "date-time"}, path
        assert not {"properties", "additionalProperties"} <= set(node), path
        assert "items" in node or node.get("type") != "array", path
        assert ("type" in node) != ("x-kubernetes-int-or-string" in node), path


def test_int32_has_bounds(schema: dict[str, Any]) -> None:
    """Every int32 has bounds, in the template too: before Kubernetes 1.36 the API server passes over its format."""
    found = {path: node for path, node in nodes(schema) if node.get("format") == "int32"}

    assert any(path.startswith(TEMPLATE) for path in found)
    assert any(not path.startswith(TEMPLATE) for path in found)
    for path, node in found.items():
        assert -(2**31) <= node["minimum"] <= node["maximum"] <= 2**31 - 1, path


def test_list_map_keys(schema: dict[str, Any]) -> None:
    """Every key of a list map is required or has a default."""
    for path, node in nodes(schema):
        for key in node.get("x-kubernetes-list-map-keys", ()):
            items = node["items"]
            assert key in items.get("required", ()) or "default" in items["properties"][key], path


def test_descriptions(schema: dict[str, Any]) -> None:
    """Each own field is described, and none below the pod template, whose descriptions would make the CRD too large."""
    for path, node in nodes(schema):
        if path.startswith(TEMPLATE):
            assert "description" not in node, path
        elif not path.endswith("*") and path != "metadata":
            assert node["description"].endswith("."), path


def test_defaults(schema: dict[str, Any]) -> None:
    """The only defaults are what scaling and port lists need: any other shows as drift in a GitOps diff."""
    found = {path: node["default"] for path, node in nodes(schema) if "default" in node}

    assert {path: value for path, value in found.items() if not path.startswith(TEMPLATE)} == {
        "spec.msReplicaSpecs.*.replicas": 1
    }
    inside = {path for path in found if path.startswith(TEMPLATE)}
    assert inside
    assert all(path.endswith(".ports.*.protocol") for path in inside)


def test_bounds(schema: dict[str, Any]) -> None:
    """Each own list, map and string has a bound, which the cost of CEL rules is estimated from."""
    for path, node in nodes(schema):
        if path.startswith(TEMPLATE) or path in {"apiVersion", "kind"}:
            continue
        if node.get("type") == "array":
            assert "maxItems" in node, path
        elif "additionalProperties" in node:
            assert "maxProperties" in node, path
        elif node.get("type") == "string":
            assert node.keys() & {"enum", "format", "maxLength"}, path


def test_nothing_required_at_the_root(schema: dict[str, Any]) -> None:
    """An object stored without a spec can still have its status written."""
    assert "required" not in schema
    assert "required" not in schema["properties"]["spec"]


def test_conditions_atomic(schema: dict[str, Any]) -> None:
    """Conditions are an ordered list, of which the last one is the state."""
    assert schema["properties"]["status"]["properties"]["conditions"]["x-kubernetes-list-type"] == "atomic"


def test_rules(schema: dict[str, Any]) -> None:
    """Every rule is in the schema, once, with a message, and passes an object that already broke it."""
    found = [entry for _, node in nodes(schema) for entry in node.get("x-kubernetes-validations", [])]

    assert rules.cel() == found
    assert len(rules.RULES) == len(found)
    assert all(entry["message"] and entry["optionalOldSelf"] for entry in found)


def test_one_template(schema: dict[str, Any]) -> None:
    """All roles share one template schema, three roles at the most."""
    roles = schema["properties"]["spec"]["properties"]["msReplicaSpecs"]

    assert roles["maxProperties"] == 3
    assert "containers" in roles["additionalProperties"]["properties"]["template"]["properties"]["spec"]["properties"]


def test_copies() -> None:
    """A caller that changes what it got changes nothing for others."""
    openapi_schema().clear()
    crd_manifest()["spec"].clear()

    assert openapi_schema()["type"] == "object"
    assert crd_manifest()["spec"]["group"] == "mindspore.gitee.com"


def test_names() -> None:
    """The names are those of the Go operator; a short name and the category `all` are new."""
    manifest = crd_manifest()

    assert manifest["metadata"]["name"] == "msjobs.mindspore.gitee.com"
    assert manifest["spec"]["scope"] == "Namespaced"
    assert manifest["spec"]["names"] == {
        "categories": ["all"],
        "kind": "MSJob",
        "listKind": "MSJobList",
        "plural": "msjobs",
        "shortNames": ["msj"],
        "singular": "msjob",
    }


def test_columns(version: dict[str, Any]) -> None:
    """State and Age are always shown, the rest with `-o wide`."""
    assert [(c["name"], c["jsonPath"], c.get("priority", 0)) for c in version["additionalPrinterColumns"]] == [
        ("State", ".status.conditions[-1:].type", 0),
        ("Age", ".metadata.creationTimestamp", 0),
        ("Workers", ".status.workersReady", 1),
        ("Restarts", ".status.restarts", 1),
        ("Reason", ".status.conditions[-1:].reason", 1),
    ]


def test_subresources(version: dict[str, Any]) -> None:
    """Status is written apart from the spec, and the Workers can be scaled."""
    assert version["served"]
    assert version["storage"]
    assert version["subresources"] == {
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.msReplicaSpecs.Worker.replicas",
            "statusReplicasPath": ".status.replicaStatuses.Worker.active",
            "labelSelectorPath": ".status.replicaStatuses.Worker.selector",
        },
    }


def test_argo_cd() -> None:
    """Argo CD applies the CRD first, server-side, and asks a person before it removes it and with it every job."""
    assert crd_manifest()["metadata"]["annotations"] == {
        "argocd.argoproj.io/sync-wave": "-2",
        "argocd.argoproj.io/sync-options": "ServerSideApply=true,Prune=confirm,Delete=confirm",
    }


def test_size() -> None:
    """A plain `kubectl apply` copies the CRD into an annotation of at most 262,144 bytes: there is room to grow."""
    assert len(json.dumps(crd_manifest(), separators=(",", ":"))) < 200_000


def test_construct() -> None:
    """What the construct renders is the plain manifest: no number, empty string or empty object is lost on the way."""
    chart = Chart(App(), "crds")
    MSJobCRD(chart, "crd")

    assert [crd_manifest()] == chart.to_json()
    assert [crd_manifest()] == chart.to_json()
