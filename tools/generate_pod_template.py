#!/usr/bin/env python3
"""Generate the structural schema of a pod template from the OpenAPI description of one pinned Kubernetes version.

    tools/generate_pod_template.py            write constructs/msjob/data/pod-template.schema.json
    tools/generate_pod_template.py --check    write nothing; exit 1 if the committed file differs

The description comes from the Go module k8s.io/kubernetes, whose checksums are pinned here beside the version, so
that no other source is trusted; a `go` command is needed for it, or `--openapi FILE` for a copy at hand. To move to a
newer Kubernetes, change `VERSION` and `SUMS`, run the tool and commit what it wrote.

What a CRD schema may not hold is resolved on the way: references are inlined, descriptions and foreign extensions are
left out (with them the CRD would outgrow the annotation that a plain `kubectl apply` writes). Enums are left out as
well: the next Kubernetes may know one value more.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

VERSION: Final = "v1.36.3"
SUMS: Final = ("h1:qDQdoMiluAE2Eab6Fa52YV+WjiGz9mZFFoagEA6cI+o=", "h1:6oChkQeI7Yf6lV9lFpSdRzODdbY/ECp/4zUeBk8ONaw=")
"""Checksums of the module's zip and of its go.mod, as go.sum has them."""

MODULE: Final = "k8s.io/kubernetes"
DOCUMENT: Final = "api/openapi-spec/v3/api__v1_openapi.json"
OUTPUT: Final = Path(__file__).resolve().parent.parent / "constructs" / "msjob" / "data" / "pod-template.schema.json"

ROOT: Final = "io.k8s.api.core.v1.PodTemplateSpec"
_PREFIX: Final = "#/components/schemas/"

QUANTITY: Final = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
"""The grammar of a quantity (k8s.io/apimachinery/pkg/api/resource), as CRDs state it."""

_STRINGS: Final[dict[str, Any]] = {"additionalProperties": {"type": "string"}, "type": "object"}

REPLACED: Final[Mapping[str, dict[str, Any]]] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"pattern": QUANTITY, "x-kubernetes-int-or-string": True},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"x-kubernetes-int-or-string": True},
    # What a template may say about its pods. `creationTimestamp: null` stands in many generated manifests.
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {
        "properties": {
            "annotations": _STRINGS,
            "creationTimestamp": {"format": "date-time", "nullable": True, "type": "string"},
            "finalizers": {"items": {"type": "string"}, "type": "array", "x-kubernetes-list-type": "atomic"},
            "generateName": {"type": "string"},
            "labels": _STRINGS,
            "name": {"type": "string"},
            "namespace": {"type": "string"},
        },
        "type": "object",
    },
}
"""Types whose schema is stated here: what OpenAPI has no word for, and metadata cut down to what a template needs."""

REPEATABLE: Final = frozenset({"env", "hostAliases", "imagePullSecrets"})
"""Lists in which a pod may name a key twice. As list maps a CRD would refuse that, so they stay atomic."""

_KEPT: Final = ("format", "type", "x-kubernetes-list-map-keys", "x-kubernetes-list-type", "x-kubernetes-map-type")
_INT32: Final = {"minimum": -(2**31), "maximum": 2**31 - 1}
"""Stands beside the format, which the API server passes over in a CRD before Kubernetes 1.36 (it drops the format of
integers in apiextensions-apiserver, pkg/apiserver/validation/formats.go)."""

_FORMATS: Final = frozenset({"int32", "int64", "date-time", "byte"})


def structural(schemas: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Resolve a named schema to one that a CRD may hold.

    Args:
        schemas: `components.schemas` of an OpenAPI v3 document.
        name: the schema to start from.

    Returns:
        The schema without references, descriptions and defaults, except the defaults of list-map keys.

    Raises:
        ValueError: the schema refers to itself, or uses a construct that no CRD may hold.
    """
    return _named(schemas, name, ())


def _named(schemas: Mapping[str, Any], name: str, above: tuple[str, ...]) -> dict[str, Any]:
    if name in REPLACED:
        return json.loads(json.dumps(REPLACED[name]))  # type: ignore[no-any-return]
    if name in above:
        raise ValueError(f"{name} refers to itself: {' > '.join(above)}")
    if name not in schemas:
        raise ValueError(f"{name} is not in the document")
    return _node(schemas, schemas[name], (*above, name))


def _node(schemas: Mapping[str, Any], node: Mapping[str, Any], above: tuple[str, ...]) -> dict[str, Any]:
    parts = node.get("allOf", [node])
    if len(parts) != 1 or "oneOf" in node or "anyOf" in node:
        raise ValueError(f"unexpected schema in {above[-1]}: {sorted(node)}")
    reference = parts[0].get("$ref")
    if reference is not None:
        return _named(schemas, reference.removeprefix(_PREFIX), above)
    result = {key: node[key] for key in _KEPT if key in node}
    if result.get("format") not in _FORMATS:
        result.pop("format", None)
    if result.get("format") == "int32":
        result |= _INT32
    if "required" in node:
        result["required"] = sorted(node["required"])
    if "items" in node:
        result["items"] = _node(schemas, node["items"], above)
    if "additionalProperties" in node:
        result["additionalProperties"] = _node(schemas, node["additionalProperties"], above)
    if "properties" in node:
        result["properties"] = {key: _property(schemas, key, value, above) for key, value in node["properties"].items()}
        _keep_key_defaults(schemas, node["properties"], result["properties"])
    return result


def _property(schemas: Mapping[str, Any], key: str, node: Mapping[str, Any], above: tuple[str, ...]) -> dict[str, Any]:
    result = _node(schemas, node, above)
    if key in REPEATABLE and result.get("x-kubernetes-list-type") == "map":
        del result["x-kubernetes-list-map-keys"]
        result["x-kubernetes-list-type"] = "atomic"
    return result


def _keep_key_defaults(schemas: Mapping[str, Any], source: Mapping[str, Any], properties: dict[str, Any]) -> None:
    """Give each list-map key that is not required its default: a CRD must have one or the other."""
    for name, schema in properties.items():
        items = schema.get("items", {})
        for key in schema.get("x-kubernetes-list-map-keys", ()):
            if key in items.get("required", ()):
                continue
            reference = source[name]["items"]["allOf"][0]["$ref"].removeprefix(_PREFIX)
            items["properties"][key]["default"] = schemas[reference]["properties"][key]["default"]


def render(document: Mapping[str, Any], version: str) -> str:
    """The file to commit, from an OpenAPI v3 document of the core API: compact JSON, sorted, a newline at the end."""
    schema = structural(document["components"]["schemas"], ROOT)
    return json.dumps({"kubernetes": version, "schema": schema}, sort_keys=True, separators=(",", ":")) + "\n"


def download() -> Path:
    """Have `go` fetch the pinned module and check it against the pinned sums.

    Returns:
        The OpenAPI document in the module cache.

    Raises:
        SystemExit: no `go`, or it refused the module.
    """
    go = os.environ.get("GO") or shutil.which("go")
    if go is None:
        raise SystemExit("no go command on PATH: install Go, or name one in the environment variable GO")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "go.mod").write_text(f"module generate\n\ngo 1.24\n\nrequire {MODULE} {VERSION}\n")
        Path(folder, "go.sum").write_text(
            f"{MODULE} {VERSION} {SUMS[0]}\n{MODULE} {VERSION}/go.mod {SUMS[1]}\n",
        )
        command = [go, "mod", "download", "-json", f"{MODULE}@{VERSION}"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return Path(json.loads(done.stdout)["Dir"], DOCUMENT)


def main(argv: list[str] | None = None) -> int:
    """Write or check the committed schema; the exit code is 1 when a check finds a difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the committed file differs")
    parser.add_argument("--openapi", type=Path, help=f"the document {DOCUMENT} of {VERSION} (default: from the module)")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="file to write or check")
    args = parser.parse_args(argv)
    document = json.loads((args.openapi or download()).read_text())
    text = render(document, VERSION)
    if not args.check:
        args.output.write_text(text)
        print(f"{args.output}: {len(text)} bytes, Kubernetes {VERSION}")
        return 0
    if args.output.exists() and args.output.read_text() == text:
        return 0
    print(f"{args.output} is not what Kubernetes {VERSION} gives: run {Path(__file__).name}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
