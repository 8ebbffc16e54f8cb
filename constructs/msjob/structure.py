"""Whether an object has the types and bounds that a structural schema asks for.

The structural schema is compiled to plain JSON Schema, which says the same in other words, and handed to a compiled
validator. Its errors quote whole values; here each becomes a field and one short sentence.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from jsonschema_rs import Draft202012Validator, ValidationError, ValidationErrorKind

from msjob.api.problem import Problem
from msjob.api.types import QUANTITY
from msjob.structural import INT32, INT64, JsonSchema

_SHOWN: Final = 80
_COPIED: Final = ("enum", "maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties", "pattern")
_BOUNDS: Final = {"int32": INT32, "int64": INT64}
_WORD: Final = re.compile(r"\^([A-Za-z]+)\$")
_TYPES: Final = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "object": "a mapping",
    "string": "a string",
}


class Structure:
    """Checks objects against one structural schema.

    Args:
        schema: the structural schema. Unknown fields are no matter of it: objects are pruned before.
    """

    def __init__(self, schema: JsonSchema) -> None:
        self._validator = Draft202012Validator(strict(schema), validate_formats=True)

    def check(self, value: dict[str, Any]) -> Iterator[Problem]:
        """Check one object.

        Args:
            value: plain JSON, such as `msjob.pruning` gives.

        Yields:
            One problem per fault.
        """
        if not self._validator.is_valid(value):
            yield from map(_problem, self._validator.iter_errors(value))


def strict(schema: JsonSchema) -> JsonSchema:
    """Say a structural schema in plain JSON Schema.

    Args:
        schema: the structural schema.

    Returns:
        A schema in which an int-or-string is a choice of types, a nullable type one more of them, and the format of
        an integer its bounds. Descriptions, defaults and extensions are left out.
    """
    result: JsonSchema = {key: schema[key] for key in _COPIED if key in schema}
    types = ["integer", "string"] if schema.get("x-kubernetes-int-or-string") else [schema["type"]]
    if "integer" in types:
        low, high = _BOUNDS[schema.get("format", "int64")]
        result["minimum"] = max(low, schema.get("minimum", low))
        result["maximum"] = min(high, schema.get("maximum", high))
    elif "format" in schema:
        result["format"] = schema["format"]
    if schema.get("nullable"):
        types.append("null")
    result["type"] = types if len(types) > 1 else types[0]
    for key in ("items", "additionalProperties"):
        if key in schema:
            result[key] = strict(schema[key])
    if "properties" in schema:
        result["properties"] = {key: strict(value) for key, value in schema["properties"].items()}
    if "required" in schema:
        result["required"] = schema["required"]
    return result


def _problem(error: ValidationError) -> Problem:
    path = tuple(error.instance_path)
    kind = error.kind
    if isinstance(kind, ValidationErrorKind.Required):
        return Problem((*path, kind.property), "is required")
    return Problem(path, _message(kind, error.instance))


def _message(kind: ValidationErrorKind, value: Any) -> str:  # noqa: ANN401, PLR0911 - any JSON; a line per keyword
    match kind:
        case ValidationErrorKind.Type(types=types):
            wanted = " or ".join(_TYPES.get(name, name) for name in types if name != "null")
            return f"must be {wanted}, not {_shown(value)}{_advice(types, value)}"
        case ValidationErrorKind.Enum(options=options):
            known = ", ".join(str(option) for option in options if option != "")
            return f"must be one of {known}, not {_shown(value)}"
        case ValidationErrorKind.Pattern(pattern=pattern):
            return _pattern_message(pattern, value)
        case ValidationErrorKind.Minimum(limit=limit):
            return f"must be at least {limit}, not {_shown(value)}"
        case ValidationErrorKind.Maximum(limit=limit):
            return f"must be at most {limit}, not {_shown(value)}"
        case ValidationErrorKind.Format(format=name):
            return f"must be a {name}, not {_shown(value)}"
    return _size_message(kind, value)


def _size_message(kind: ValidationErrorKind, value: Any) -> str:  # noqa: ANN401
    match kind:
        case ValidationErrorKind.MinLength(limit=limit):
            return f"must have at least {limit} characters, not {len(value)}" if value else "must not be empty"
        case ValidationErrorKind.MaxLength(limit=limit):
            return f"must have at most {limit} characters, not {len(value)}"
        case ValidationErrorKind.MinItems(limit=limit) | ValidationErrorKind.MinProperties(limit=limit):
            return f"must have at least {limit} entries, not {len(value)}" if value else "must not be empty"
        case ValidationErrorKind.MaxItems(limit=limit) | ValidationErrorKind.MaxProperties(limit=limit):
            return f"must have at most {limit} entries, not {len(value)}"
    return f"breaks {kind.name}"


def _pattern_message(pattern: str, value: Any) -> str:  # noqa: ANN401
    if pattern == QUANTITY:
        return f"must be a quantity, such as 500m, 2 or 4Gi, not {_shown(value)}"
    if word := _WORD.fullmatch(pattern):
        return f"must be an integer or {word[1]}, not {_shown(value)}"
    return f"must match {pattern}, not {_shown(value)}"


def _advice(types: list[str], value: Any) -> str:  # noqa: ANN401
    if "string" in types and isinstance(value, bool | int | float):
        return ": put it in quotes"
    return ""


def _shown(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "a mapping"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
