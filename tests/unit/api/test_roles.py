"""Roles: keys matched without regard to case, in the order in which pods are created."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msjob.api import Role
from msjob.api.roles import by_role, duplicates


@pytest.mark.parametrize("spelling", [str, str.lower, str.upper, str.swapcase])
@pytest.mark.parametrize("role", Role)
def test_parse_without_regard_to_case(role: Role, spelling: type) -> None:
    """Any spelling of a role is that role."""
    assert Role.parse(spelling(role.value)) is role


@pytest.mark.parametrize("key", ["", "Chief", "Workers", "Worker ", "ｗorker", "Wor\u212aer", "P S"])  # noqa: RUF001 - look-alikes
def test_parse_unknown(key: str) -> None:
    """What is no role is none, however close it looks."""
    assert Role.parse(key) is None


def test_names_of_a_role() -> None:
    """Slugs go into names and labels; MindSpore has role names of its own."""
    assert [(role.slug, role.ms_role) for role in Role] == [
        ("scheduler", "MS_SCHED"),
        ("ps", "MS_PSERVER"),
        ("worker", "MS_WORKER"),
    ]


@given(keys=st.permutations(["worker", "PS", "sCHEDULER", "Other"]))
def test_by_role_has_one_order(keys: list[str]) -> None:
    """Whatever the order of the keys, roles come as Scheduler, PS, Worker; unknown keys are left out."""
    ordered = by_role({key: key for key in keys})

    assert [*ordered.items()] == [(Role.SCHEDULER, "sCHEDULER"), (Role.PS, "PS"), (Role.WORKER, "worker")]


def test_by_role_takes_the_first_spelling() -> None:
    """A role named twice is read as it was first written."""
    assert by_role({"worker": 1, "Worker": 2}) == {Role.WORKER: 1}


def test_duplicates() -> None:
    """Each later spelling of a key is paired with the first one."""
    assert duplicates(["Worker", "PS", "worker", "WORKER"]) == [("Worker", "worker"), ("Worker", "WORKER")]
    assert duplicates(["Worker", "PS"]) == []
