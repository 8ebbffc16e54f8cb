"""What the API server makes of an object before it judges it, guided by the structural schema.

Fields that the schema does not know are dropped (or, under strict validation, reported), a null where none is allowed
counts as a field left out, defaults fill in. The same here: what is rendered offline is then what a cluster stores,
and everything that Python can hold and JSON cannot is found before a validator meets it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from typing import Any, Final, Literal

from msjob.api import meta
from msjob.api.problem import Problem
from msjob.structural import INT64, JsonSchema

Unknown = Literal["error", "ignore"]
Path = tuple[str | int, ...]

_SHAPES: Final = {"array": "list", "object": "object"}
_ABSENT: Final = object()


@dataclass(slots=True)
class _Node:
    """A schema, reduced to what pruning asks for; `open` stands for content without a schema, which is left out."""

    shape: Literal["list", "map", "object", "open", "value"]
    nullable: bool
    properties: dict[str, "_Node"]
    defaults: tuple[tuple[str, Any], ...]
    each: "_Node | None"
    keys: tuple[str, ...]
    unique: bool


def _compile(schema: JsonSchema) -> _Node:
    properties = {key: _compile(value) for key, value in schema.get("properties", {}).items()}
    each = schema.get("items") or schema.get("additionalProperties")
    shape: Any = _SHAPES.get(schema.get("type", ""), "value")
    if shape == "object" and schema.get("x-kubernetes-preserve-unknown-fields"):
        shape = "open"
    elif shape == "object" and each:
        shape = "map"
    return _Node(
        shape=shape,
        nullable=schema.get("nullable", False),
        properties=properties,
        defaults=tuple((k, v["default"]) for k, v in schema.get("properties", {}).items() if "default" in v),
        each=_compile(each) if each else None,
        keys=tuple(schema.get("x-kubernetes-list-map-keys", ())),
        unique=schema.get("x-kubernetes-list-type") == "set",
    )


@dataclass(slots=True)
class Pruned:
    """An object as the API server would store it, as far as it can.

    Attributes:
        value: plain JSON. A wrong type is kept as it is if it is a scalar, else as an empty list or object.
        problems: what cannot be stored.
        faulty: paths that `problems` tells of and that hold null in `value`.
        complete: false if the object is so large that the rest was not looked at.
    """

    value: dict[str, Any]
    problems: list[Problem] = field(default_factory=list)
    faulty: set[Path] = field(default_factory=set)
    complete: bool = True


class _TooLargeError(Exception):
    """The object is larger than any job may be."""


class Pruner:
    """Prunes objects of one schema.

    Args:
        schema: structural schema of the root; its defaults are scalars.
    """

    def __init__(self, schema: JsonSchema) -> None:
        self._root = _compile(schema)

    def prune(self, obj: Mapping[Any, Any], unknown: Unknown = "error") -> Pruned:
        """Prune one object.

        Args:
            obj: anything that a YAML or JSON reader gives; it is not changed.
            unknown: whether a field that the schema does not know is a problem, as for the API server under strict
                validation, which `kubectl` asks for, or silently dropped.
        """
        pruned = Pruned({})
        walk = _Walk(pruned, strict=unknown == "error")
        try:
            pruned.value = walk.object(obj, self._root, ())
            walk.spend(0)
        except _TooLargeError:
            pruned.complete = False
        return pruned


class _Walk:
    """One pass over one object.

    `_budget` counts down the bytes that the object has at least as JSON; a job may have half of it, the rest is for
    its status. Aliases of YAML can make an object of many million values from a few lines, so the walk ends where it
    is spent.
    """

    def __init__(self, pruned: Pruned, *, strict: bool) -> None:
        self._pruned = pruned
        self._strict = strict
        self._budget = 2 * meta.MAX_JOB_BYTES

    def spend(self, count: int) -> None:
        """Count down.

        Raises:
            _TooLargeError: the budget is spent.
        """
        self._budget -= count
        if self._budget < 0:
            raise _TooLargeError

    def _fault(self, path: Path, message: str) -> None:
        self._pruned.problems.append(Problem(path, message))
        self._pruned.faulty.add(path)

    def _any(self, value: Any, node: _Node, above: Path, key: str | int) -> Any:  # noqa: ANN401 - JSON of any shape
        shape = node.shape
        if shape == "value":
            if type(value) is str and value.isascii():  # most of a job is this
                self._budget -= len(value) + 2
                return value
            return self._value(value, (*above, key))
        if shape == "object":
            return self.object(value, node, (*above, key))
        if shape == "map":
            return self._map(value, node, (*above, key))
        return self._list(value, node, (*above, key)) if shape == "list" else {}

    def object(self, value: Any, node: _Node, path: Path) -> Any:  # noqa: ANN401
        """Prune an object with known fields."""
        if not isinstance(value, Mapping):
            return self._value(value, path)
        self.spend(len(value) + 2)
        result: dict[str, Any] = {}
        known = node.properties
        for key, item in value.items():
            child = known.get(key)
            if child is None:
                self._unknown(key, node, path)
            elif item is not None:
                self._budget -= len(key) + 3
                result[str(key)] = self._any(item, child, path, key)
            elif child.nullable:
                result[key] = None
        for key, default in node.defaults:
            result.setdefault(key, default)
        return result

    def _map(self, value: Any, node: _Node, path: Path) -> Any:  # noqa: ANN401
        if not isinstance(value, Mapping):
            return self._value(value, path)
        self.spend(len(value) + 2)
        each = node.each or node
        result: dict[str, Any] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                self._fault((*path, _key(key)), f"a key must be a string, not {_name(key)}: put it in quotes")
            elif not self._encodable(key):
                self._fault(path, "a key holds half a character (a lone surrogate), which is no valid text")
            elif item is not None:
                self._budget -= len(key) + 3
                result[str(key)] = self._any(item, each, path, key)
        return result

    def _list(self, value: Any, node: _Node, path: Path) -> Any:  # noqa: ANN401
        if not isinstance(value, list):
            return self._value(value, path)
        self.spend(len(value) + 2)
        each = node.each or node
        result = [self._any(item, each, path, index) for index, item in enumerate(value)]
        if node.keys or node.unique:
            self._check_unique(result, node, path)
        return result

    def _check_unique(self, items: list[Any], node: _Node, path: Path) -> None:
        seen: dict[Any, int] = {}
        for index, item in enumerate(items):
            if node.unique:
                identity: Any = item
                told = "the same value"
            elif isinstance(item, dict):
                identity = tuple(item.get(key, _ABSENT) for key in node.keys)
                told = f"the same {' and '.join(node.keys)}"
            else:
                continue
            try:
                first = seen.setdefault(identity, index)
            except TypeError:  # a value of a wrong type, which the schema tells of
                continue
            if first != index:
                self._fault((*path, index), f"has {told} as item [{first}]: each may be named once")

    def _unknown(self, key: Any, node: _Node, path: Path) -> None:  # noqa: ANN401
        if not self._strict:
            return
        if not isinstance(key, str):
            self._fault((*path, _key(key)), f"unknown field (a key must be a string, not {_name(key)})")
            return
        close = get_close_matches(key, node.properties, n=1)
        self._fault((*path, key), f"unknown field{f'; did you mean {close[0]}?' if close else ''}")

    def _value(self, value: Any, path: Path) -> Any:  # noqa: ANN401, PLR0911 - one return per type of JSON
        if isinstance(value, str):
            self.spend(len(value) + 2)
            if self._encodable(value):
                return str(value)
            fault = "holds half a character (a lone surrogate), which is no valid text"
        elif value is None or isinstance(value, bool):
            return value
        elif isinstance(value, int):
            if INT64[0] <= value <= INT64[1]:
                return int(value)
            fault = "is a number beyond 64 bits"
        elif isinstance(value, float) and math.isfinite(value):
            return int(value) if value.is_integer() and INT64[0] <= value <= INT64[1] else float(value)
        elif isinstance(value, list):
            return []
        elif isinstance(value, Mapping):
            return {}
        elif isinstance(value, date):
            fault = "must be a string, not a date: put it in quotes"
        else:
            fault = f"is {value if isinstance(value, float) else _name(value)}, which JSON cannot hold"
        self._fault(path, fault)
        return None

    @staticmethod
    def _encodable(text: str) -> bool:
        if text.isascii():
            return True
        try:
            text.encode()
        except UnicodeEncodeError:
            return False
        return True


def _name(value: object) -> str:
    return f"a Python {type(value).__name__}"


def _key(key: object) -> str:
    """A key that is no string, as part of a path."""
    plain = key is None or isinstance(key, float) or (isinstance(key, int) and INT64[0] <= key <= INT64[1])
    return str(key) if plain else f"({type(key).__name__})"
