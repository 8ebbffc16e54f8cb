"""Structural schemas in the words of plain JSON Schema, and the sentences made of the validator's errors."""

from typing import Any

import pytest

from msjob.structure import Structure, strict


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "description": "D.", "default": "a", "maxLength": 3}, {"type": "string", "maxLength": 3}),
        ({"type": "integer"}, {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}),
        (
            {"type": "integer", "format": "int32", "minimum": 0},
            {"type": "integer", "minimum": 0, "maximum": 2**31 - 1},
        ),
        (
            {"x-kubernetes-int-or-string": True, "pattern": "^a$", "maximum": 9},
            {"type": ["integer", "string"], "pattern": "^a$", "minimum": -(2**63), "maximum": 9},
        ),
        (
            {"type": "string", "format": "date-time", "nullable": True},
            {"type": ["string", "null"], "format": "date-time"},
        ),
        (
            {"type": "array", "items": {"type": "boolean"}, "x-kubernetes-list-type": "atomic", "maxItems": 2},
            {"type": "array", "items": {"type": "boolean"}, "maxItems": 2},
        ),
        (
            {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]},
            {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]},
        ),
        (
            {"type": "object", "additionalProperties": {"type": "boolean"}, "maxProperties": 3},
            {"type": "object", "additionalProperties": {"type": "boolean"}, "maxProperties": 3},
        ),
    ],
)
def test_strict(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    """What the API server understands by a structural schema is said in keywords that any validator knows."""
    assert expected == strict(schema)


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "string", "pattern": "^[a-c]$"}, "d", 'must match ^[a-c]$, not "d"'),
        ({"type": "string", "minLength": 2}, "d", "must have at least 2 characters, not 1"),
        ({"type": "string", "minLength": 1}, "", "must not be empty"),
        ({"type": "array", "items": {"type": "string"}, "minItems": 1}, [], "must not be empty"),
        (
            {"type": "array", "items": {"type": "string"}, "minItems": 2},
            ["a"],
            "must have at least 2 entries, not 1",
        ),
        (
            {"type": "array", "items": {"type": "string"}, "maxItems": 1},
            ["a", "b"],
            "must have at most 1 entries, not 2",
        ),
        ({"type": "string", "enum": ["a", ""]}, "x" * 500, f'must be one of a, not "{"x" * 79}…'),
        ({"type": "string", "format": "date-time"}, "2026-01-02", 'must be a date-time, not "2026-01-02"'),
        ({"type": "object", "properties": {}}, ["a"], "must be a mapping, not a list"),
        ({"type": "array", "items": {"type": "string"}}, {"a": 1}, "must be a list, not a mapping"),
    ],
)
def test_message(schema: dict[str, Any], value: Any, expected: str) -> None:
    """Every error becomes one short sentence."""
    structure = Structure({"type": "object", "properties": {"field": schema}})

    (problem,) = structure.check({"field": value})

    assert problem.path == ("field",)
    assert expected == problem.message


def test_good() -> None:
    """A good value has no problem."""
    structure = Structure({"type": "object", "properties": {"time": {"type": "string", "format": "date-time"}}})

    assert [*structure.check({"time": "2026-01-02T03:04:05.678Z"})] == []
