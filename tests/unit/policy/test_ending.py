"""The end of a job: one condition that is True, the time, and nothing that contradicts them."""

from copy import deepcopy
from typing import Any

import pytest

from msjob.api import ConditionType, Reason
from msjob_controller.policy.conditions import MESSAGE_LIMIT
from msjob_controller.policy.decision import Event, EventType
from msjob_controller.policy.ending import finish
from support.decisions import whole_state
from support.pods import at, stamp

OPEN: dict[str, Any] = {
    "conditions": [
        {"type": "Suspended", "status": "True", "reason": "x"},
        {"type": "Stalled", "status": "True", "reason": "x"},
        {"type": "PodsReady", "status": "True", "reason": "x"},
        {"type": "Created", "status": "True", "reason": "MSJobCreated"},
        {"type": "Running", "status": "True", "reason": "MSJobRunning"},
    ]
}


@pytest.mark.parametrize(
    ("kind", "reason", "event"),
    [
        (ConditionType.SUCCEEDED, Reason.SUCCEEDED, EventType.NORMAL),
        (ConditionType.FAILED, Reason.FAILED, EventType.WARNING),
        (ConditionType.FAILED, Reason.DEADLINE, EventType.WARNING),
    ],
)
def test_what_was_true_is_not_any_more(kind: ConditionType, reason: Reason, event: EventType) -> None:
    """Everything that would contradict the end is False with its reason; only Created stays, and the end comes last."""
    before = deepcopy(OPEN)
    ended, told = finish(OPEN, kind, reason, "why", at(9))
    assert whole_state(ended) == [
        "Running=False",
        "Suspended=False",
        "Stalled=False",
        "PodsReady=False",
        "Created=True",
        f"{kind}=True",
    ]
    assert {item["reason"] for item in ended["conditions"]} == {"MSJobCreated", reason}
    assert ended["completionTime"] == stamp(9)
    assert told == Event(event, reason, "why")
    assert before == OPEN


def test_restarting() -> None:
    """A job that ends while it is restarted is not restarted any more; it was not running either."""
    status = {"conditions": [{"type": "Created", "status": "True"}, {"type": "Restarting", "status": "True"}]}
    ended, _ = finish(status, ConditionType.FAILED, Reason.DEADLINE, "why", at(9))
    assert whole_state(ended) == ["Created=True", "Failed=True"]


def test_what_was_false_stays() -> None:
    """A condition that is False keeps its reason and its times."""
    listed = [{"type": "Running", "status": "False", "reason": "MSJobSuspended", "lastTransitionTime": stamp(1)}]
    ended, _ = finish({"conditions": listed}, ConditionType.FAILED, Reason.FAILED, "why", at(9))
    assert listed[0] in ended["conditions"]


def test_what_waits_no_more() -> None:
    """Times of restarts to come go; what was counted, and who was to blame, stays."""
    status = {
        "nextRestartTime": stamp(99),
        "replacements": [],
        "restarts": 3,
        "lastFailure": {"pod": "x"},
        "attempt": 2,
    }
    ended, _ = finish(status, ConditionType.FAILED, Reason.FAILED, "why", at(9))
    assert {key: ended[key] for key in ended.keys() - {"conditions", "completionTime"}} == {
        "restarts": 3,
        "lastFailure": {"pod": "x"},
        "attempt": 2,
    }


@pytest.mark.parametrize("status", [{}, {"conditions": None}, {"conditions": []}])
def test_from_nothing(status: dict[str, Any]) -> None:
    """A job can end before anything is known of it."""
    ended, _ = finish(status, ConditionType.FAILED, Reason.FAILED_VALIDATION, "why", at(9))
    assert whole_state(ended) == ["Failed=True"]


def test_messages_are_cut() -> None:
    """The last words of a container may be long."""
    ended, _ = finish({}, ConditionType.FAILED, Reason.FAILED, "x" * 10_000, at(9))
    assert len(ended["conditions"][-1]["message"]) == MESSAGE_LIMIT
