"""From pydantic models to the structural schemas that a CRD may hold.

The API server accepts a narrow dialect of JSON Schema: no references, no null types, a type at every field, and
keywords it does not know are dropped or refused. pydantic emits the wide one. What has no counterpart here raises an
error, so that a constraint is never lost without a word.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

JsonSchema = dict[str, Any]
Path = tuple[str, ...]

INT32: Final = (-(2**31), 2**31 - 1)
INT64: Final = (-(2**63), 2**63 - 1)

EACH: Final = "*"
"""Stands in a path for every value of a map and every item of a list."""

_COPIED: Final = frozenset(
    {"enum", "format", "maxItems", "maxLength", "maxProperties", "maximum", "minItems", "minLength", "minProperties"}
    | {"minimum", "pattern", "type"}
)
_DROPPED: Final = frozenset({"$defs", "description", "propertyNames", "title"})
"""Keywords left out here: descriptions are set by the caller; keys of maps can be bounded by CEL rules only."""


def structural(model: type[BaseModel], replace: Mapping[Path, JsonSchema] | None = None) -> JsonSchema:
    """Turn a model into a structural schema.

    Args:
        model: the root. Fields are named by their aliases; the description of a field wins over that of its type.
        replace: schemas for fields that the model leaves open, by path: `("msReplicaSpecs", "*", "template")`. The
            description of the field is kept.

    Returns:
        The schema. Integers carry `format`: int32 if their bounds say so, else int64. The bounds stay beside int32:
        before Kubernetes 1.36 the API server passes over the format of an integer in a CRD. An integer or a string is
        `x-kubernetes-int-or-string`. Lists are atomic.

    Raises:
        ValueError: the model uses what no structural schema can say, a field without a description included.
    """
    document = model.model_json_schema(by_alias=True)
    transformer = _Transformer(document.get("$defs", {}), replace or {})
    result = transformer.node(document, (), ())
    if unused := set(replace or {}) - transformer.replaced:
        raise ValueError(f"no such field: {sorted(unused)}")
    return result


class _Transformer:
    """Walks one document; `path` is where a node stands in the result, `above` the references it stands below."""

    def __init__(self, definitions: Mapping[str, JsonSchema], replace: Mapping[Path, JsonSchema]) -> None:
        self._definitions = definitions
        self._replace = replace
        self.replaced: set[Path] = set()

    def node(self, source: Mapping[str, Any], path: Path, above: tuple[str, ...]) -> JsonSchema:
        description = source.get("description")
        if path in self._replace:
            self.replaced.add(path)
            result = dict(self._replace[path])
        elif "$ref" in source:
            result = self._reference(source["$ref"], path, above)
        elif "anyOf" in source:
            result = self._any_of(source["anyOf"], path, above)
        else:
            result = self._plain(source, path, above)
        if source.get("default") is not None:
            result["default"] = source["default"]
        if description is not None:
            result["description"] = description
        return result

    def _reference(self, reference: str, path: Path, above: tuple[str, ...]) -> JsonSchema:
        name = reference.rsplit("/", 1)[-1]
        if name in above:
            raise _error(path, f"{name} contains itself")
        return self.node(self._definitions[name], path, (*above, name))

    def _any_of(self, branches: list[Mapping[str, Any]], path: Path, above: tuple[str, ...]) -> JsonSchema:
        branches = [branch for branch in branches if branch.get("type") != "null"]
        if len(branches) == 1:
            return self.node(branches[0], path, above)
        if [branch.get("type") for branch in branches] == ["integer", "string"]:
            return _int_or_string(*branches)
        raise _error(path, "a choice of types other than integer or string")

    def _plain(self, source: Mapping[str, Any], path: Path, above: tuple[str, ...]) -> JsonSchema:
        kind = source.get("type")
        if kind not in ("array", "boolean", "integer", "object", "string"):
            raise _error(path, f"type {kind!r}")
        handled = {"additionalProperties", "const", "default", "items", "properties", "required"}
        if unknown := set(source) - _COPIED - _DROPPED - handled:
            raise _error(path, ", ".join(sorted(unknown)))
        result = {key: value for key, value in source.items() if key in _COPIED}
        if "const" in source:
            result["enum"] = [source["const"]]
        if kind == "integer":
            _settle_integer(result)
        elif kind == "array":
            result["items"] = self.node(source["items"], (*path, EACH), above)
            result["x-kubernetes-list-type"] = "atomic"
        elif kind == "object":
            self._settle_object(source, result, path, above)
        return result

    def _settle_object(self, source: Mapping[str, Any], result: JsonSchema, path: Path, above: tuple[str, ...]) -> None:
        values = source.get("additionalProperties", False)
        if isinstance(values, Mapping):
            result["additionalProperties"] = self.node(values, (*path, EACH), above)
        elif "properties" not in source:
            raise _error(path, "an object without fields")
        else:
            result["properties"] = {key: self._field(key, path, above, of) for key, of in source["properties"].items()}
        if "required" in source:
            result["required"] = sorted(source["required"])

    def _field(self, key: str, path: Path, above: tuple[str, ...], source: Mapping[str, Any]) -> JsonSchema:
        field = self.node(source, (*path, key), above)
        if not field.get("description"):
            raise _error((*path, key), "a field without a description")
        return field


def _int_or_string(integer: Mapping[str, Any], text: Mapping[str, Any]) -> JsonSchema:
    """Join both branches: bounds only ever apply to the number, lengths and patterns to the string."""
    result = {key: value for key, value in {**text, **integer}.items() if key in _COPIED}
    words = [text["const"]] if "const" in text else text.get("enum", [])
    if words:
        alternatives = "|".join(re.escape(word) for word in words)
        result["pattern"] = f"^{alternatives}$" if len(words) == 1 else f"^({alternatives})$"
    result.pop("enum", None)
    del result["type"]
    result["x-kubernetes-int-or-string"] = True
    return result


def _settle_integer(schema: JsonSchema) -> None:
    low, high = schema.get("minimum"), schema.get("maximum")
    within = low is not None and high is not None and low >= INT32[0] and high <= INT32[1]
    schema["format"] = "int32" if within else "int64"
    if low == INT64[0]:
        del schema["minimum"]
    if high == INT64[1]:
        del schema["maximum"]


def _error(path: Path, what: str) -> ValueError:
    return ValueError(f"no structural schema for {'.'.join(path) or 'the root'}: {what}")
