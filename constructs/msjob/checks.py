"""What generated manifests are checked for before they replace those in Git.

The checks need nothing but the manifests. They find what a mistake in a construct can break without any schema:
identity, names, labels, the namespace, kinds that some clusters lack, the size and the shape of the CRD.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

KINDS_OF_EVERY_CLUSTER: Final = {
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): False,
    ("v1", "Namespace"): False,
    ("v1", "ServiceAccount"): True,
    ("v1", "Service"): True,
    ("v1", "ConfigMap"): True,
    ("apps/v1", "Deployment"): True,
    ("rbac.authorization.k8s.io/v1", "ClusterRole"): False,
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"): False,
    ("rbac.authorization.k8s.io/v1", "Role"): True,
    ("rbac.authorization.k8s.io/v1", "RoleBinding"): True,
}
"""Version and kind, and whether its objects live in a namespace. Any other kind would make `kubectl apply -f dist/`
fail on a cluster that does not know it."""

MAX_CRD_BYTES: Final = 200_000
"""Compact JSON of the CRD. A plain `kubectl apply` copies the object into an annotation, and all annotations of an
object together hold 262,144 bytes."""

_SUBDOMAIN = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL_VALUE = re.compile(r"(?=.{0,63}\Z)([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")

Manifest = Mapping[str, Any]


def object_faults(objects: Iterable[Any]) -> Iterator[str]:
    """Find what no object may be: without identity, without a valid name, there twice.

    Args:
        objects: of one folder that is applied together.

    Yields:
        One line a fault, beginning with the object.
    """
    seen: set[tuple[str, ...]] = set()
    for item in objects:
        if not isinstance(item, dict) or not all(_text(item, key) for key in ("apiVersion", "kind")):
            yield f"{_shorten(item)}: not an object with apiVersion and kind"
            continue
        metadata = item.get("metadata")
        if not isinstance(metadata, dict) or not _SUBDOMAIN.fullmatch(_text(metadata, "name")):
            yield f"{item['kind']}: metadata.name is missing or no DNS name: {_shorten(metadata)}"
            continue
        group = item["apiVersion"].rpartition("/")[0]
        identity = (group, item["kind"], _text(metadata, "namespace"), metadata["name"])
        if identity in seen:
            yield f"{describe(item)}: occurs twice"
        seen.add(identity)
        for key, value in (metadata.get("labels") or {}).items():
            if not isinstance(value, str) or not _LABEL_VALUE.fullmatch(value):
                yield f"{describe(item)}: label {key} has a value that Kubernetes refuses: {value!r}"
        for key, value in (metadata.get("annotations") or {}).items():
            if not isinstance(value, str):
                yield f"{describe(item)}: annotation {key} is no string: {value!r}"


def installation_faults(objects: Iterable[Manifest], namespace: str) -> Iterator[str]:
    """Find what may not be in an installation, beyond `object_faults`.

    Args:
        objects: that `object_faults` found nothing in.
        namespace: of the operator.

    Yields:
        One line a fault, beginning with the object.
    """
    for item in objects:
        namespaced = KINDS_OF_EVERY_CLUSTER.get((item["apiVersion"], item["kind"]))
        found = item["metadata"].get("namespace")
        if namespaced is None:
            yield f"{describe(item)}: some clusters do not know {item['apiVersion']} {item['kind']}"
        elif namespaced and found != namespace:
            yield f"{describe(item)}: is in namespace {found}, not in the operator's, {namespace}"
        elif not namespaced and found is not None:
            yield f"{describe(item)}: has a namespace, and its kind has none"
        if "status" in item:
            yield f"{describe(item)}: carries a status, which only the cluster writes"
        if item["kind"] == "CustomResourceDefinition":
            yield from _crd_faults(item)


def describe(item: Manifest) -> str:
    """Kind and name of an object, with its namespace if it has one."""
    metadata = item["metadata"]
    place = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    return f"{item['kind']} {place}{metadata['name']}"


def _crd_faults(crd: Manifest) -> Iterator[str]:
    spec = crd.get("spec") or {}
    names = spec.get("names") or {}
    expected = f"{names.get('plural')}.{spec.get('group')}"
    if crd["metadata"]["name"] != expected:
        yield f"{describe(crd)}: must be named {expected}, after its plural and group"
    versions = spec.get("versions") or []
    if [version.get("storage") for version in versions].count(True) != 1:
        yield f"{describe(crd)}: exactly one version must be the stored one"
    for version in versions:
        schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
        if schema.get("type") != "object" or "spec" not in (schema.get("properties") or {}):
            yield f"{describe(crd)}: version {version.get('name')} has no schema of an object with a spec"
        if any(key in _keys(schema) for key in ("$ref", "$defs")):
            yield f"{describe(crd)}: version {version.get('name')} has references in its schema, which are refused"
    size = len(json.dumps(crd, separators=(",", ":"), ensure_ascii=False).encode())
    if size >= MAX_CRD_BYTES:
        yield f"{describe(crd)}: {size} bytes, too large for a plain kubectl apply (limit here {MAX_CRD_BYTES})"


def _keys(value: object) -> set[str]:
    """All keys of all dicts in a JSON value."""
    if isinstance(value, dict):
        return set(value).union(*map(_keys, value.values()))
    return set().union(*map(_keys, value)) if isinstance(value, list) else set()


def _text(mapping: Manifest, key: str) -> str:
    value = mapping.get(key)
    return value if isinstance(value, str) else ""


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 - half a line
