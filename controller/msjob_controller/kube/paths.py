"""URL paths of Kubernetes resources."""

from typing import Final
from urllib.parse import quote

_CORE_SEGMENTS: Final = 2
"""Segments before the resource in `/api/v1/pods`."""
_GROUP_SEGMENTS: Final = 3
"""Segments before the resource in `/apis/<group>/<version>/msjobs`."""
_NAMED: Final = 2
"""Segments of `pods/<name>`; one more is a subresource."""


def resource_path(
    api_version: str, plural: str, namespace: str | None = None, name: str | None = None, subresource: str | None = None
) -> str:
    """Return the path of a collection, an object or a subresource.

    Args:
        api_version: `v1` or `<group>/<version>`.
        plural: Lower-case plural, such as `pods`.
        namespace: None or empty for a cluster-wide collection or a cluster-scoped object.
        name: Name of the object; None for the collection.
        subresource: Such as `status`; needs a name.

    Returns:
        A path, ready to use in a URL.
    """
    root = "/apis/" if "/" in api_version else "/api/"
    path = f"{root}{api_version}"
    if namespace:
        path = f"{path}/namespaces/{quote(namespace, safe='')}"
    path = f"{path}/{plural}"
    if name:
        path = f"{path}/{quote(name, safe='')}"
    return f"{path}/{subresource}" if subresource else path


def resource_of(path: str) -> str:
    """Return what a path addresses, without names: a label of bounded cardinality for metrics.

    Returns:
        `pods`, `msjobs/status`, `namespaces`; the path itself for anything else, such as `/version`.
    """
    segments = path.strip("/").split("/")
    start = {"api": _CORE_SEGMENTS, "apis": _GROUP_SEGMENTS}.get(segments[0])
    if start is None or len(segments) <= start:
        return path
    rest = segments[start:]
    if rest[0] == "namespaces" and len(rest) > _NAMED:
        rest = rest[2:]
    return f"{rest[0]}/{rest[2]}" if len(rest) > _NAMED else rest[0]
