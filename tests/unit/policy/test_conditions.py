"""The list of conditions."""

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msjob.api import AUXILIARY, ConditionType, Reason
from msjob_controller.policy.conditions import (
    MESSAGE_LIMIT,
    MOST_CONDITIONS,
    Condition,
    cut,
    drop,
    find,
    finished,
    is_true,
    ordered,
    put,
)
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


def test_refresh() -> None:
    """A message may be taken anew: then the condition has been updated, but has made no transition."""
    before = put([], ConditionType.STALLED, Reason.UNSCHEDULABLE, "0/3 nodes", at(0))
    (after,) = put(before, ConditionType.STALLED, Reason.UNSCHEDULABLE, "0/4 nodes", at(9), refresh=True)
    assert (after["message"], after["lastUpdateTime"], after["lastTransitionTime"]) == ("0/4 nodes", stamp(9), stamp(0))
    assert put([after], ConditionType.STALLED, Reason.UNSCHEDULABLE, "0/4 nodes", at(20), refresh=True) == [after]


def test_a_long_message_is_refreshed_once() -> None:
    """What is compared is what is kept of it, else each look would write the same status again."""
    before = put([], ConditionType.STALLED, Reason.UNSCHEDULABLE, "x" * 9_999, at(0))
    assert put(before, ConditionType.STALLED, Reason.UNSCHEDULABLE, "x" * 9_999, at(9), refresh=True) == before


def test_running_and_restarting_replace_each_other() -> None:
    """The one is not there once the other is set, True or not, and the list stays as long as it was."""
    listed = put([], ConditionType.CREATED, Reason.CREATED, "text", at(0))
    listed = put(listed, ConditionType.RUNNING, Reason.RUNNING, "text", at(1))
    listed = put(listed, ConditionType.RESTARTING, Reason.RESTARTING, "text", at(2))
    assert types(listed) == ["Created=True", "Restarting=True"]
    listed = put(listed, ConditionType.RUNNING, Reason.RUNNING, "text", at(3))
    assert types(listed) == ["Created=True", "Running=True"]
    assert find(listed, ConditionType.RUNNING) == {
        "type": "Running",
        "status": "True",
        "reason": "MSJobRunning",
        "message": "text",
        "lastUpdateTime": stamp(3),
        "lastTransitionTime": stamp(3),
    }
    listed = put(listed, ConditionType.RESTARTING, Reason.RESTARTING, "text", at(4))
    listed = put(listed, ConditionType.RUNNING, Reason.SUSPENDED, "text", at(5), status=False)
    assert types(listed) == ["Running=False", "Created=True"]


def test_drop() -> None:
    """A condition can go; one that is not there is no loss."""
    listed = [{"type": "Restarting", "status": "True"}, {"type": "Created", "status": "True"}]
    assert drop(listed, ConditionType.RESTARTING) == listed[1:]
    assert drop(listed, ConditionType.FAILED) == listed


def test_auxiliary_conditions_stand_before_the_state() -> None:
    """PodsReady and Stalled are no states of a job, however late they are set."""
    listed = put([], ConditionType.RUNNING, Reason.RUNNING, "text", at(0))
    listed = put(listed, ConditionType.STALLED, Reason.IMAGE_PULL, "text", at(1))
    listed = put(listed, ConditionType.PODS_READY, Reason.PODS_READY, "text", at(2))
    assert types(listed) == ["Stalled=True", "PodsReady=True", "Running=True"]


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
    (short,) = put([], ConditionType.FAILED, Reason.FAILED, "x" * 100_000, at(0))
    assert whole["message"] == "x" * MESSAGE_LIMIT
    assert short["message"] == "x" * (MESSAGE_LIMIT - 1) + "…"
    assert (cut(""), cut("x"), len(cut("…" * 5_000))) == ("", "x", MESSAGE_LIMIT)


@given(_changes)
def test_any_life(changes: list[tuple[ConditionType, Reason, bool, int]]) -> None:
    """Whatever happens: one condition of a type, True lifecycle conditions last, the old list unchanged.

    None is lost but Running to Restarting and Restarting to Running, and a repetition changes nothing.
    """
    rivals = {ConditionType.RUNNING: "Restarting", ConditionType.RESTARTING: "Running"}
    listed: list[Condition] = []
    for kind, reason, status, second in changes:
        before = deepcopy(listed)
        after = put(listed, kind, reason, "text", at(second), status=status)
        assert listed == before
        unchanged = after == before
        lost = set() if unchanged else {rivals.get(kind)}
        assert {item["type"] for item in after} == ({item["type"] for item in before} | {kind.value}) - lost
        assert not {"Running", "Restarting"} <= {item["type"] for item in after}
        assert len(after) == len({item["type"] for item in after})
        true = [item["type"] not in AUXILIARY and item["status"] == "True" for item in after]
        assert true == sorted(true)
        if status and kind not in AUXILIARY and not is_true(before, kind):
            assert after[-1]["type"] == kind
        assert put(after, kind, reason, "again", at(second + 1), status=status) == after
        listed = after


def test_room() -> None:
    """Where the list is full, conditions that somebody else has put there make room; the operator's own never do."""
    own = [{"type": kind.value, "status": "False"} for kind in (ConditionType.CREATED, ConditionType.RUNNING)]
    foreign = [{"type": f"Foreign{number}", "status": "True"} for number in range(20)]
    after = put([*own, *foreign], ConditionType.STALLED, Reason.QUOTA, "text", at(0))
    assert len(after) == MOST_CONDITIONS
    assert {"Created", "Running", "Stalled", "Foreign19"} <= {item["type"] for item in after}
