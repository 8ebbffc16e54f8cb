"""Problems: one form for every door."""

import pytest

from msjob.api import Problem, summarise


@pytest.mark.parametrize(
    ("path", "field"),
    [
        (("spec", "msReplicaSpecs", "Worker", "replicas"), "spec.msReplicaSpecs.Worker.replicas"),
        (("spec", "template", "containers", 0, "name"), "spec.template.containers[0].name"),
        ((0, "metadata"), "[0].metadata"),
        ((), ""),
    ],
)
def test_field(path: tuple[str | int, ...], field: str) -> None:
    """A path reads as people write it."""
    assert Problem(path, "is wrong").field == field


def test_text() -> None:
    """The text names the field, unless the problem is about the whole object."""
    assert str(Problem(("spec", "launchMode"), "is wrong")) == "spec.launchMode: is wrong"
    assert str(Problem((), "is too large")) == "is too large"


def test_rule_by_default() -> None:
    """A problem that names no rule is one of types and enums."""
    assert Problem((), "x").rule == "schema"


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "a: 1"), (3, "a: 1; a: 2; a: 3"), (4, "a: 1; a: 2; a: 3; and 1 more"), (9, "a: 1; a: 2; a: 3; and 6 more")],
)
def test_summary(count: int, text: str) -> None:
    """A summary is one line: the first problems, and how many more there are."""
    assert summarise(Problem(("a",), str(number)) for number in range(1, count + 1)) == text
