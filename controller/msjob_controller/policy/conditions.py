"""The list of conditions: how one is set, and the order in which they stand.

`kubectl get` shows the type of the last condition as the state of the job, so the lifecycle condition that is True
stays last. Rules of kubeflow/common, kept for compatibility: a condition that changes moves to the end; one whose
status is unchanged keeps its lastTransitionTime; one that is unchanged in type, status and reason is left alone.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from msjob.api import AUXILIARY, FINISHED, ConditionType, Reason
from msjob_controller.policy.times import format_time

Condition = dict[str, Any]

_REPLACES: Final = {
    ConditionType.RUNNING: ConditionType.RESTARTING,
    ConditionType.RESTARTING: ConditionType.RUNNING,
}

_KNOWN: Final = frozenset(kind.value for kind in ConditionType)
MOST_CONDITIONS: Final = 16
"""Conditions that the schema has room for."""

MESSAGE_LIMIT: Final = 4096
"""Characters kept of a message. What a construct or a container says has no bound; the schema has one (32768)."""


def find(conditions: Sequence[Condition], kind: ConditionType) -> Condition | None:
    """The condition of a type, or None."""
    return next((item for item in conditions if item.get("type") == kind), None)


def is_true(conditions: Sequence[Condition], kind: ConditionType) -> bool:
    """Whether the condition of a type is there and True."""
    return (find(conditions, kind) or {}).get("status") == "True"


def finished(conditions: Sequence[Condition]) -> bool:
    """Whether the job has ended: nothing changes after that."""
    return any(is_true(conditions, kind) for kind in FINISHED)


def put(
    conditions: Sequence[Condition],
    kind: ConditionType,
    reason: Reason,
    message: str,
    now: datetime,
    *,
    status: bool = True,
    refresh: bool = False,
) -> list[Condition]:
    """A new list with one condition set. Running and Restarting replace each other.

    Args:
        conditions: the list so far; it is not changed.
        kind: which condition.
        reason: one of the documented reasons.
        message: what happened, for people; cut to `MESSAGE_LIMIT`.
        now: time of the change.
        status: True or False.
        refresh: take a new message although type, status and reason are what they were.
    """
    text = "True" if status else "False"
    before = find(conditions, kind)
    message = cut(message)
    unchanged = before is not None and before.get("status") == text and before.get("reason") == reason
    if before is not None and unchanged and not (refresh and before.get("message") != message):
        return list(conditions)
    same = before is not None and before.get("status") == text
    stamp = format_time(now)
    changed = {
        "type": kind.value,
        "status": text,
        "reason": reason.value,
        "message": message,
        "lastUpdateTime": stamp,
        "lastTransitionTime": before.get("lastTransitionTime", stamp) if before is not None and same else stamp,
    }
    replaced = {kind, _REPLACES.get(kind)}
    return ordered([*(item for item in conditions if item.get("type") not in replaced), changed])


def drop(conditions: Sequence[Condition], kind: ConditionType) -> list[Condition]:
    """A new list without the condition of a type."""
    return [item for item in conditions if item.get("type") != kind]


def cut(message: str) -> str:
    """A message, cut to `MESSAGE_LIMIT`."""
    return message if len(message) <= MESSAGE_LIMIT else f"{message[: MESSAGE_LIMIT - 1]}…"


def ordered(conditions: Sequence[Condition]) -> list[Condition]:
    """Conditions that are not True first, the auxiliary ones with them; each part in the order it had.

    There is one of a type, the last; and where there are more than the schema has room for, those that somebody else
    has put there go.
    """
    conditions = list({item.get("type"): item for item in conditions}.values())
    surplus = len(conditions) - MOST_CONDITIONS
    foreign = [item for item in conditions if item.get("type") not in _KNOWN][: max(0, surplus)]
    conditions = [item for item in conditions if not any(item is gone for gone in foreign)]
    last = [c for c in conditions if c.get("status") == "True" and c.get("type") not in AUXILIARY]
    return [item for item in conditions if not any(item is kept for kept in last)] + last
