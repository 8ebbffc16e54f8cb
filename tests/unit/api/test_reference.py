"""The reference of the spec: every field, once, with tests that exist."""

import ast
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from msjob.api.rules import RULES
from msjob.api.types import MSJobSpec
from support.programs import ROOT

PAGE = (ROOT / "docs" / "reference" / "fields.md").read_text()
TEST = re.compile(r"`((?:unit|snapshot|controlplane)/[^`]+\.py::[^`]+)`")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines() if line.startswith("| `spec")
]


def models(annotation: Any, suffix: str = "") -> Iterator[tuple[type[BaseModel], str]]:
    """Models in the type of a field, and what stands between the name of the field and theirs."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, suffix
    origin = getattr(annotation, "__origin__", None)
    more = "[]" if origin is list else ".*" if origin is dict else ""
    for inner in get_args(annotation):
        yield from models(inner, suffix + more)


def fields(model: type[BaseModel], path: str = "spec") -> Iterator[str]:
    """Every field below a model, by its path."""
    for name, field in model.model_fields.items():
        place = f"{path}.{to_camel(name)}"
        yield place
        for inner, suffix in models(field.annotation):
            yield from fields(inner, place + suffix)


def defined(path: str) -> set[str]:
    """Names of the tests in a file, those in classes with the name of the class."""
    found = set()
    for node in ast.parse((ROOT / "tests" / path).read_text()).body:
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
        elif isinstance(node, ast.FunctionDef):
            found.add(node.name)
    return found


def test_fields() -> None:
    """Every field of the spec has one row, and no row is about a field that is not there."""
    documented = [row[0].strip("` ") for row in ROWS]

    assert sorted(documented) == sorted(fields(MSJobSpec))
    assert "spec.runPolicy.failurePolicy.rules[].onPodConditions[].status" in documented
    assert "spec.msReplicaSpecs.*.replicas" in documented


def test_rows_are_whole() -> None:
    """Each row says something in every column, and ends with tests or the admission that there is none."""
    for row in ROWS:
        assert all(row), row
        assert TEST.findall(row[-1]) or row[-1] == "-", row


@pytest.mark.parametrize("test", sorted(set(TEST.findall(PAGE))))
def test_proofs_exist(test: str) -> None:
    """Each test that the page names is there, in that file."""
    path, name = test.split("::", 1)

    assert name.startswith(("test_", "Test"))
    assert name in defined(path)


def test_rules_of_changes() -> None:
    """The page tells every rule about changes."""
    for rule in RULES:
        if rule.check is None:
            assert f"`{rule.id}`" in PAGE
