"""The list of conditions."""

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msjob.api import ConditionType, Reason
from msjob_controller.policy.conditions import MESSAGE_LIMIT, Condition, find, finished, is_true, ordered, put
from support.pods import at, stamp

_kinds = st.sampled_from(list(ConditionType))
_changes = st.lists(st.tuples(_kinds, st.sampled_from(list(Reason)), st.booleans(), st.integers(0, 100)), max_size=12)


def types(conditions: list[Condition]) -> list[str]:
    """What `kubectl` would list, in order."""
    return [f"{item['type']}={item['status']}" for item in conditions]


def test_first() -> None:
    """A new condition carries everything that a reader may look for."""
    assert put([], ConditionType.CREATED, Reason.CREATED, "MSJob a/b is created.", at(0)) == [
        {
            "type": "Created",
            "status": "True",
            "reason": "MSJobCreated",
            "message": "MSJob a/b is created.",
            "lastUpdateTime": stamp(0),
            "lastTransitionTime": stamp(0),
        }
    ]


def test_nothing_new() -> None:
    """A condition that has its status and reason already is left as it is, its times and message, too."""
    before = put([], ConditionType.RUNNING, Reason.RUNNING, "first", at(0))
    assert put(before, ConditionType.RUNNING, Reason.RUNNING, "second", at(9)) == before


def test_another_reason() -> None:
    """With another reason the condition has been updated, but has made no transition."""
    before = put([], ConditionType.STALLED, Reason.RENDER_FAILED, "first", at(0))
    (after,) = put(before, ConditionType.STALLED, Reason.CREATED, "second", at(9))
    assert (after["reason"], after["message"]) == ("MSJobCreated", "second")
    assert (after["lastUpdateTime"], after["lastTransitionTime"]) == (stamp(9), stamp(0))


def test_another_status() -> None:
    """With another status the condition has made a transition."""
    before = put([], ConditionType.SUSPENDED, Reason.SUSPENDED, "off", at(0))
    (after,) = put(before, ConditionType.SUSPENDED, Reason.RESUMED, "on", at(9), status=False)
    assert (after["status"], after["lastTransitionTime"]) == ("False", stamp(9))


def test_a_condition_without_times() -> None:
    """A condition that somebody wrote without times gets them at its next update."""
    stored = [{"type": "Stalled", "status": "True", "reason": "Other"}]
    (after,) = put(stored, ConditionType.STALLED, Reason.RENDER_FAILED, "text", at(9))
    assert after["lastTransitionTime"] == stamp(9)


def test_the_order_of_a_life() -> None:
    """The last condition is where the job stands, from its birth to its end."""
    life: list[Condition] = []
    seen = []
    steps = [
        (ConditionType.CREATED, Reason.CREATED, True),
        (ConditionType.SUSPENDED, Reason.SUSPENDED, True),
        (ConditionType.SUSPENDED, Reason.RESUMED, False),
        (ConditionType.STALLED, Reason.RENDER_FAILED, True),
        (ConditionType.STALLED, Reason.CREATED, False),
        (ConditionType.RUNNING, Reason.RUNNING, True),
        (ConditionType.RUNNING, Reason.SUCCEEDED, False),
        (ConditionType.SUCCEEDED, Reason.SUCCEEDED, True),
    ]
    for second, (kind, reason, status) in enumerate(steps):
        life = put(life, kind, reason, "text", at(second), status=status)
        seen.append(life[-1]["type"])
    assert seen == ["Created", "Suspended", "Created", "Created", "Created", "Running", "Created", "Succeeded"]
    assert types(life) == ["Suspended=False", "Stalled=False", "Running=False", "Created=True", "Succeeded=True"]


def test_the_order_of_what_others_wrote() -> None:
    """A stored list in any order comes out with the lifecycle condition that is True at the end."""
    listed = [
        {"type": "Running", "status": "True"},
        {"type": "Stalled", "status": "True"},
        {"type": "Suspended", "status": "False"},
        {"type": "Other", "status": "Unknown"},
    ]
    assert types(ordered(listed)) == ["Stalled=True", "Suspended=False", "Other=Unknown", "Running=True"]


@pytest.mark.parametrize(
    ("conditions", "done"),
    [
        ([], False),
        ([{"type": "Running", "status": "True"}], False),
        ([{"type": "Failed", "status": "False"}], False),
        ([{"type": "Failed", "status": "True"}], True),
        ([{"type": "Succeeded", "status": "True"}, {"type": "Running", "status": "False"}], True),
    ],
)
def test_finished(conditions: list[Condition], *, done: bool) -> None:
    """A job has ended when one of its end states is True, wherever that stands."""
    assert finished(conditions) is done


def test_find() -> None:
    """Conditions are found by type; one that is missing or False is not True."""
    listed = [{"type": "Running", "status": "False"}, {"type": "Created", "status": "True"}]
    assert find(listed, ConditionType.CREATED) is listed[1]
    assert find(listed, ConditionType.FAILED) is None
    assert is_true(listed, ConditionType.CREATED)
    assert not is_true(listed, ConditionType.RUNNING)
    assert not is_true(listed, ConditionType.FAILED)


def test_messages_are_cut() -> None:
    """What a container or a construct says may be of any length; the API server takes so much, and people read less."""
    (whole,) = put([], ConditionType.FAILED, Reason.FAILED, "x" * MESSAGE_LIMIT, at(0))
    (cut,) = put([], ConditionType.FAILED, Reason.FAILED, "x" * 100_000, at(0))
    assert whole["message"] == "x" * MESSAGE_LIMIT
    assert cut["message"] == "x" * (MESSAGE_LIMIT - 1) + "…"


@given(_changes)
def test_any_life(changes: list[tuple[ConditionType, Reason, bool, int]]) -> None:
    """Whatever happens: one condition of a type, none is lost, True lifecycle conditions last, the old list unchanged.

    And a repetition changes nothing.
    """
    listed: list[Condition] = []
    for kind, reason, status, second in changes:
        before = deepcopy(listed)
        after = put(listed, kind, reason, "text", at(second), status=status)
        assert listed == before
        assert {item["type"] for item in after} == {item["type"] for item in before} | {kind.value}
        assert len(after) == len({item["type"] for item in after})
        true = [item["type"] != "Stalled" and item["status"] == "True" for item in after]
        assert true == sorted(true)
        if status and kind is not ConditionType.STALLED and not is_true(before, kind):
            assert after[-1]["type"] == kind
        assert put(after, kind, reason, "again", at(second + 1), status=status) == after
        listed = after
