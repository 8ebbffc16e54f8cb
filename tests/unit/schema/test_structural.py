"""The transformer from pydantic models to structural schemas, construct by construct."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, create_model

from msjob.structural import EACH, structural

INT32 = {"type": "integer", "format": "int32", "minimum": -(2**31), "maximum": 2**31 - 1}


class Colour(StrEnum):
    """Of a test."""

    RED = "red"
    BLUE = "blue"


class Inner(BaseModel):
    """A nested model."""

    size: int | None = Field(None, description="Of the inner one.")


class Loop(BaseModel):
    """A model that no CRD can hold."""

    inner: "Loop | None" = Field(None, description="Itself.")


def field(annotation: Any, default: Any = None) -> dict[str, Any]:
    """The schema of a field of some type, without its description."""
    model = create_model("Model", field=(annotation, Field(default, description="A field.")))
    schema: dict[str, Any] = structural(model)["properties"]["field"]
    assert schema.pop("description") == "A field."
    return schema


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (str, {"type": "string"}),
        (str | None, {"type": "string"}),
        (Annotated[str, Field(max_length=63, pattern="^a$")], {"type": "string", "maxLength": 63, "pattern": "^a$"}),
        (bool | None, {"type": "boolean"}),
        (datetime | None, {"type": "string", "format": "date-time"}),
        (Colour | None, {"type": "string", "enum": ["red", "blue"]}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal["a"] | None, {"type": "string", "enum": ["a"]}),
        (int, {"type": "integer", "format": "int64"}),
        (Annotated[int, Field(ge=0)], {"type": "integer", "format": "int64", "minimum": 0}),
        (Annotated[int, Field(ge=1, le=9)], {"type": "integer", "format": "int32", "minimum": 1, "maximum": 9}),
        (Annotated[int, Field(ge=-(2**31), le=2**31 - 1)], INT32),
        (Annotated[int, Field(ge=0, le=2**31 - 1)], {**INT32, "minimum": 0}),
        (Annotated[int, Field(ge=-(2**63), le=2**63 - 1)], {"type": "integer", "format": "int64"}),
        (Annotated[int, Field(ge=0, le=2**53)], {"type": "integer", "format": "int64", "minimum": 0, "maximum": 2**53}),
        (int | str, {"x-kubernetes-int-or-string": True}),
        (int | Annotated[str, Field(pattern="^x$")] | None, {"x-kubernetes-int-or-string": True, "pattern": "^x$"}),
        (
            Annotated[int, Field(ge=1, le=9)] | Literal["auto"],
            {"x-kubernetes-int-or-string": True, "minimum": 1, "maximum": 9, "pattern": "^auto$"},
        ),
        (int | Literal["a.b", "c"], {"x-kubernetes-int-or-string": True, "pattern": r"^(a\.b|c)$"}),
        (
            Annotated[list[str], Field(max_length=3)] | None,
            {"type": "array", "items": {"type": "string"}, "maxItems": 3, "x-kubernetes-list-type": "atomic"},
        ),
        (
            Annotated[dict[Annotated[str, Field(max_length=63)], bool], Field(max_length=3)],
            {"type": "object", "additionalProperties": {"type": "boolean"}, "maxProperties": 3},
        ),
    ],
)
def test_field(annotation: Any, expected: dict[str, Any]) -> None:
    """Each type becomes what the API server accepts, with its bounds, and an optional one is no null."""
    assert expected == field(annotation)


def test_field_nested() -> None:
    """References are inlined, and the description of the field wins over that of its type."""
    assert field(Inner | None) == {
        "type": "object",
        "properties": {"size": {"type": "integer", "format": "int64", "description": "Of the inner one."}},
    }


def test_items_nested() -> None:
    """The type of list items and map values keeps its own description."""
    items = field(list[Inner])["items"]

    assert items["description"] == "A nested model."
    assert field(dict[str, Inner])["additionalProperties"] == items


def test_default() -> None:
    """A default is kept, null is none."""
    assert field(int | None, 1)["default"] == 1
    assert "default" not in field(int | None, None)


def test_required() -> None:
    """Fields without a default are required, in the order of the alphabet."""
    model = create_model(
        "Model",
        b=(str, Field(description="B.")),
        a=(str, Field(description="A.")),
        c=(str, Field("", description="C.")),
    )

    assert structural(model)["required"] == ["a", "b"]


def test_replace() -> None:
    """A field that the model leaves open takes the schema handed in, below maps too, and keeps its description."""
    role = create_model("Role", template=(dict[str, Any], Field(description="The template.")))
    model = create_model("Model", roles=(dict[str, role], Field(description="Roles.")))

    schema = structural(model, {("roles", EACH, "template"): {"type": "object", "properties": {}}})

    assert schema["properties"]["roles"]["additionalProperties"]["properties"]["template"] == {
        "type": "object",
        "properties": {},
        "description": "The template.",
    }


def test_replace_unknown() -> None:
    """A replacement for a field that is not there is an error: a renamed field would lose its schema in silence."""
    with pytest.raises(ValueError, match="no such field"):
        structural(Inner, {("gone",): {"type": "object"}})


@pytest.mark.parametrize(
    ("annotation", "what"),
    [
        (dict[str, Any], "field"),
        (Any, "type None"),
        (float, "type 'number'"),
        (str | bool, "choice of types"),
        (int | str | bool, "choice of types"),
        (Annotated[int, Field(gt=0)], "exclusiveMinimum"),
        (Annotated[int, Field(multiple_of=2)], "multipleOf"),
        (set[str], "uniqueItems"),
        (tuple[int, str], "prefixItems"),
        (Loop, "contains itself"),
    ],
)
def test_unsupported(annotation: Any, what: str) -> None:
    """What a structural schema cannot say is an error that names the field, never a constraint lost."""
    with pytest.raises(ValueError, match=what) as caught:
        field(annotation)
    assert "field" in str(caught.value)


def test_undescribed() -> None:
    """A field without a description is an error: users read it in `kubectl explain`."""
    with pytest.raises(ValueError, match="size: a field without a description"):
        structural(create_model("Model", size=(int, 1)))
