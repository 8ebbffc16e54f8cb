"""The difference between two statuses."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msjob_controller.status_patch import merge_patch, only_counters

# A null in a status means the same as no field at all: the API server stores none.
_scalars = st.booleans() | st.integers() | st.text(max_size=3)
_values = st.recursive(
    _scalars | st.lists(_scalars, max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3) | st.lists(inner, max_size=2),
    max_leaves=8,
)
_statuses = st.dictionaries(st.sampled_from("abcd"), _values, max_size=4)


def apply(target: Any, patch: Any) -> Any:
    """What the API server does with a merge patch: the algorithm of RFC 7396, section 2."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = apply(result.get(name), value)
    return result


@given(_statuses, _statuses)
def test_applying_the_patch(old: dict[str, Any], new: dict[str, Any]) -> None:
    """The patch makes the new status of the old one, whatever they are, and leaves both as they were."""
    before = deepcopy((old, new))
    assert apply(old, merge_patch(old, new)) == new
    assert (old, new) == before


@given(_statuses)
def test_nothing_to_do(status: dict[str, Any]) -> None:
    """Between equal statuses there is no difference, so nothing is sent."""
    assert merge_patch(status, deepcopy(status)) == {}


@pytest.mark.parametrize(
    ("old", "new", "patch"),
    [
        ({}, {"a": {}}, {"a": {}}),
        ({"a": 1}, {}, {"a": None}),
        ({"a": {"x": 1, "y": 2}}, {"a": {"x": 1, "y": 3}}, {"a": {"y": 3}}),
        ({"a": {"x": 1, "y": 2}}, {"a": {"x": 1}}, {"a": {"y": None}}),
        ({"a": [1, 2]}, {"a": [1]}, {"a": [1]}),
        ({"a": [1]}, {"a": {"x": 1}}, {"a": {"x": 1}}),
        ({"a": {"x": 1}}, {"a": [1]}, {"a": [1]}),
    ],
)
def test_only_what_differs(old: dict[str, Any], new: dict[str, Any], patch: dict[str, Any]) -> None:
    """Objects are compared field by field, lists as a whole; null takes a field away."""
    assert merge_patch(old, new) == patch


@pytest.mark.parametrize(
    ("patch", "counters"),
    [
        ({"replicaStatuses": {"Worker": {"active": 1}}}, True),
        ({"workersReady": "1/2"}, True),
        ({"workersReady": None, "replicaStatuses": {}}, True),
        ({"conditions": []}, False),
        ({"workersReady": "1/2", "completionTime": "2026-01-02T03:04:05Z"}, False),
        ({"startTime": None}, False),
    ],
)
def test_only_counters(patch: dict[str, Any], *, counters: bool) -> None:
    """A change of numbers may wait for the next one; a condition or a time goes at once."""
    assert only_counters(patch) is counters
