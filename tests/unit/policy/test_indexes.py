"""Sets of replica indices as text."""

from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msjob.api import meta
from msjob_controller.policy import indexes


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((), ""),
        ((0,), "0"),
        ((7,), "7"),
        ((0, 1), "0-1"),
        ((0, 2), "0,2"),
        ((0, 2, 3, 4), "0,2-4"),
        ((4, 3, 2, 0, 3), "0,2-4"),
        ((9, 10, 11, 99, 100), "9-11,99-100"),
    ],
)
def test_text(numbers: Collection[int], text: str) -> None:
    """Neighbours make a run, in ascending order, whatever the order given; and the text reads back as the same set."""
    assert indexes.text(numbers) == text
    assert indexes.parse(text) == frozenset(numbers)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (None, ()),
        ("", ()),
        (",", ()),
        ("x", ()),
        ("-", ()),
        ("-3", ()),
        ("2-", (2,)),
        ("1,x,3", (1, 3)),
        ("1-x,5", (5,)),
        ("4-2", ()),
        (" 1", ()),
        ("1.5,2", (2,)),
        ("1-2-3,7", (7,)),
        ("²,3", (3,)),
    ],
)
def test_what_cannot_be_read(text: str | None, numbers: Collection[int]) -> None:
    """A part that is no index or run is left out, and the others hold."""
    assert indexes.parse(text) == frozenset(numbers)


@pytest.mark.parametrize(
    "text", ["0-99999999999", "99999999999", "0-" + "9" * 5000, ",".join(["0-99999"] * 5_000)], ids=len
)
def test_what_no_job_can_have(text: str) -> None:
    """A text that names more pods than a job can have costs no more than such a job."""
    assert all(index < meta.MAX_REPLICAS for index in indexes.parse(text))


@given(st.sets(st.integers(0, 300)))
def test_round_trip(numbers: set[int]) -> None:
    """Any set reads back as it was written, in as few parts as there are gaps."""
    text = indexes.text(numbers)
    assert indexes.parse(text) == numbers
    assert len([part for part in text.split(",") if part]) == sum(number - 1 not in numbers for number in numbers)


@given(st.text("0123456789,- x", max_size=30))
def test_any_text(text: str) -> None:
    """Whatever stands there is read, and what was understood is written in its one form."""
    found = indexes.parse(text)
    assert indexes.parse(indexes.text(found)) == found
