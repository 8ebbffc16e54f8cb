"""The generator of the pod template schema, on small documents, and what it wrote."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from msjob.api.types import QUANTITY
from msjob.schema import pod_template
from support.testbed.pins import read_pins

ROOT = "io.k8s.api.core.v1.PodTemplateSpec"


def ref(name: str, **more: Any) -> dict[str, Any]:
    """A reference as OpenAPI v3 documents of Kubernetes have it."""
    return {"allOf": [{"$ref": f"#/components/schemas/{name}"}], "default": {}, **more}


def document(**schemas: Any) -> dict[str, Any]:
    """An OpenAPI document whose pod template has the type `Template`."""
    return {"components": {"schemas": {ROOT: {"type": "object", "properties": {"it": ref("Template")}}, **schemas}}}


def generate(generator: ModuleType, **schemas: Any) -> Any:
    """The schema made of such a document."""
    written = json.loads(generator.render(document(**schemas), "v1.2.3"))
    assert written["kubernetes"] == "v1.2.3"
    return written["schema"]["properties"]["it"]


def test_inlined(generator: ModuleType) -> None:
    """References are inlined; descriptions, defaults, enums and foreign extensions go; the rest stays."""
    template = {
        "type": "object",
        "description": "Long.",
        "required": ["b", "a"],
        "x-kubernetes-map-type": "atomic",
        "properties": {
            "a": {"type": "string", "default": "", "description": "A.", "enum": ["x"]},
            "b": ref("Count", description="B."),
            "c": {
                "type": "array",
                "items": ref("Count"),
                "x-kubernetes-list-type": "atomic",
                "x-kubernetes-patch-strategy": "merge",
            },
        },
    }

    schema = generate(generator, Template=template, Count={"type": "integer", "format": "int32", "description": "N."})

    count = {"type": "integer", "format": "int32", "minimum": -(2**31), "maximum": 2**31 - 1}
    assert schema == {
        "type": "object",
        "required": ["a", "b"],
        "x-kubernetes-map-type": "atomic",
        "properties": {
            "a": {"type": "string"},
            "b": count,
            "c": {"type": "array", "items": count, "x-kubernetes-list-type": "atomic"},
        },
    }


def test_int_or_string(generator: ModuleType) -> None:
    """Quantities carry their grammar; a port may be a number or a name."""
    quantity, port = "io.k8s.apimachinery.pkg.api.resource.Quantity", "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
    template = {
        "type": "object",
        "properties": {"limits": {"type": "object", "additionalProperties": ref(quantity)}, "port": ref(port)},
    }

    schema = generate(generator, Template=template)

    assert schema["properties"]["limits"]["additionalProperties"] == {
        "pattern": QUANTITY,
        "x-kubernetes-int-or-string": True,
    }
    assert schema["properties"]["port"] == {"x-kubernetes-int-or-string": True}


def test_list_map(generator: ModuleType) -> None:
    """A key of a list map that is not required keeps its default, because a CRD needs one or the other."""
    port = {
        "type": "object",
        "required": ["number"],
        "properties": {
            "number": {"type": "integer", "format": "int32", "default": 0},
            "protocol": {"type": "string", "default": "TCP"},
        },
    }
    ports = {
        "type": "array",
        "items": ref("Port"),
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["number", "protocol"],
    }

    schema = generate(generator, Template={"type": "object", "properties": {"ports": ports}}, Port=port)["properties"]

    assert schema["ports"]["x-kubernetes-list-map-keys"] == ["number", "protocol"]
    assert schema["ports"]["items"]["properties"] == {
        "number": {"type": "integer", "format": "int32", "minimum": -(2**31), "maximum": 2**31 - 1},
        "protocol": {"type": "string", "default": "TCP"},
    }


def test_list_map_repeatable(generator: ModuleType) -> None:
    """A list in which a pod may repeat a key is no list map: the CRD would refuse what the pod allows."""
    env = {
        "type": "array",
        "items": ref("Var"),
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
    }
    var = {"type": "object", "properties": {"name": {"type": "string", "default": ""}}}

    schema = generate(generator, Template={"type": "object", "properties": {"env": env}}, Var=var)["properties"]["env"]

    assert schema == {
        "type": "array",
        "items": {"type": "object", "properties": {"name": {"type": "string"}}},
        "x-kubernetes-list-type": "atomic",
    }


@pytest.mark.parametrize(
    ("template", "what"),
    [
        ({"type": "object", "properties": {"again": ref("Template")}}, "refers to itself"),
        ({"type": "object", "properties": {"gone": ref("Gone")}}, "Gone is not in the document"),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, "unexpected schema in Template"),
    ],
)
def test_refused(generator: ModuleType, template: dict[str, Any], what: str) -> None:
    """A document that changed its ways is an error, not a schema with a hole."""
    with pytest.raises(ValueError, match=what):
        generate(generator, Template=template)


def test_check(generator: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--check` writes nothing and tells a stale file by its exit code; without it the same bytes come again."""
    source, output = tmp_path / "openapi.json", tmp_path / "schema.json"
    source.write_text(json.dumps(document(Template={"type": "object"})))
    arguments = ["--openapi", str(source), "--output", str(output)]

    assert generator.main([*arguments, "--check"]) == 1
    assert not output.exists()
    assert generator.main(arguments) == 0
    first = output.read_bytes()
    assert generator.main(arguments) == 0
    assert first == output.read_bytes()
    assert generator.main([*arguments, "--check"]) == 0
    output.write_text("{}")
    assert generator.main([*arguments, "--check"]) == 1
    assert "run generate_pod_template.py" in capsys.readouterr().err


def test_committed_version(generator: ModuleType) -> None:
    """The committed schema is of the Kubernetes that the control plane tests run, and says so."""
    version, _ = pod_template()

    assert version == generator.VERSION
    assert read_pins().kubernetes == version


def test_committed_form(generator: ModuleType) -> None:
    """The committed file is compact JSON with sorted keys and a newline at the end, so a diff is a real change."""
    text = generator.OUTPUT.read_text()

    assert json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")) + "\n" == text


def test_committed_content() -> None:
    """The committed schema has the fields users set, with their types, and asks for containers."""
    _, schema = pod_template()
    spec = schema["properties"]["spec"]
    container = spec["properties"]["containers"]["items"]

    assert spec["required"] == ["containers"]
    assert container["required"] == ["name"]
    assert container["properties"]["resources"]["properties"]["limits"]["additionalProperties"]["pattern"] == QUANTITY
    assert spec["properties"]["terminationGracePeriodSeconds"] == {"type": "integer", "format": "int64"}
    assert schema["properties"]["metadata"]["properties"]["labels"] == {
        "type": "object",
        "additionalProperties": {"type": "string"},
    }
    assert schema["properties"]["metadata"]["properties"]["creationTimestamp"]["nullable"] is True
