"""Objects in a file, and the MSJobs among them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msjob.api import meta
from msjob.loading.errors import LoadError
from msjob.loading.files import decode
from msjob.loading.nodes import Node
from msjob.loading.tree import documents

_PODS: Final = frozenset({("v1", "Pod"), ("v1", "PodTemplate")})
_TEMPLATE: Final = "spec.msReplicaSpecs.Worker.template"
_POD_HINT: Final = f", which holds a pod template for each role, such as {_TEMPLATE}"
_LISTS: Final = frozenset({("v1", "List"), (meta.API_VERSION, meta.LIST_KIND)})


@dataclass(frozen=True, slots=True)
class Document:
    """One object of a file.

    Attributes:
        file: as the user named it.
        root: the object with the place of each field.
    """

    file: str
    root: Node

    @property
    def object(self) -> Mapping[str, Any]:
        """The object as plain JSON. Parts that aliases name are shared: do not change it."""
        value: Mapping[str, Any] = self.root.value
        return value

    def position(self, path: Sequence[str | int]) -> tuple[int, int]:
        """Where a field is.

        Args:
            path: from the root of the object.

        Returns:
            Line and column, from 1, of the key of the field or of the item of the list; of the nearest parent that is
            there where the field is not.
        """
        return self.root.find(path).place

    def error(self, path: Sequence[str | int], message: str) -> LoadError:
        """An error about a field."""
        return LoadError(self.file, *self.position(path), message)


_EXPECTED: Final = f"kind {meta.KIND} of {meta.API_VERSION}"


def read(source: bytes, name: str, expected: str = _EXPECTED) -> list[Document]:
    """Read all objects of a file.

    Args:
        source: YAML or JSON, one or several documents; documents without content are passed over.
        name: of the file, for messages.
        expected: what should be in it, likewise.

    Returns:
        The objects, of any kind.

    Raises:
        LoadError: not readable (see `msjob.loading.tree`), a document that is no mapping, or no object at all.
    """
    found = [Document(name, root) for root in documents(decode(source, name), name) if root.value is not None]
    if not found:
        raise LoadError(name, None, None, "no object in it: the file is empty or holds comments only")
    for document in found:
        if not isinstance(document.root.value, dict):
            raise document.error((), f"{_describe(document.root.value)} is no object: expected {expected}")
    return found


def jobs(document: Document) -> list[Document]:
    """Give the MSJobs of a document: itself, or the items of a list.

    Raises:
        LoadError: it is, or holds, something else.
    """
    kind = _kind(document)
    if kind in _LISTS:
        items = document.root.find(("items",)).children
        if not isinstance(items, list):
            raise document.error(("items",), f"items of a {kind[1]} must be a list of objects")
        return [job for item in items for job in jobs(Document(document.file, item))]
    if kind != (meta.API_VERSION, meta.KIND):
        field = "apiVersion" if kind[1] == meta.KIND else "kind"
        hint = _POD_HINT if kind in _PODS else ""
        raise document.error((field,), f"{_found(*kind)}: expected {_EXPECTED}{hint}")
    return [document]


def _kind(document: Document) -> tuple[str, str]:
    value = document.root.value
    if not isinstance(value, dict):
        raise document.error((), f"{_describe(value)} is no object: expected {_EXPECTED}")
    for key in ("apiVersion", "kind"):
        if not isinstance(value.get(key), str):
            said = "is missing" if value.get(key) is None else f"must be text, not {_describe(value[key])}"
            raise document.error((key,), f"{key} {said}: expected {_EXPECTED}{_hint(value)}")
    return value["apiVersion"], value["kind"]


def _hint(value: Mapping[str, Any]) -> str:
    """What part of a job an object without a kind looks like."""
    spec = value.get("spec")
    if "containers" in value:
        return f"; this looks like the spec of a pod, and belongs to {_TEMPLATE}.spec"
    if isinstance(spec, dict) and "containers" in spec:
        return f"; this looks like a pod template, and belongs to {_TEMPLATE}"
    return "; this looks like the spec of one" if "msReplicaSpecs" in value else ""


def _found(api_version: str, kind: str) -> str:
    return f"found kind {kind[:63]} of {api_version[:63]}"


def _describe(value: object) -> str:
    match value:
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case str():
            return "text"
        case None:
            return "nothing"
        case bool():
            return "a boolean"
        case _:
            return "a number"
