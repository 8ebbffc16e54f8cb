"""The end of a job: one condition that is True, the time, and nothing that contradicts them."""

from datetime import datetime
from typing import Any

from msjob.api import ConditionType, Reason
from msjob_controller.policy import conditions
from msjob_controller.policy.decision import Event, EventType
from msjob_controller.policy.times import format_time

_OPEN = (ConditionType.RUNNING, ConditionType.SUSPENDED, ConditionType.STALLED, ConditionType.PODS_READY)
_TRANSIENT = ("nextRestartTime", "replacements")


def finish(
    status: dict[str, Any], kind: ConditionType, reason: Reason, message: str, now: datetime
) -> tuple[dict[str, Any], Event]:
    """The status of a job that ends now, and the event that tells of it.

    Args:
        status: its status so far.
        kind: `Succeeded` or `Failed`.
        reason: of the condition.
        message: for people.
        now: current time, which becomes `completionTime`.
    """
    listed = conditions.drop(status.get("conditions") or [], ConditionType.RESTARTING)
    for other in _OPEN:
        found = conditions.find(listed, other) or {}
        if found.get("status") == "True" or found.get("reason") == Reason.SUSPENDING:
            listed = conditions.put(listed, other, reason, message, now, status=False)
    listed = conditions.put(listed, kind, reason, message, now)
    event = Event(EventType.NORMAL if kind is ConditionType.SUCCEEDED else EventType.WARNING, reason, message)
    rest = {key: value for key, value in status.items() if key not in _TRANSIENT}
    return rest | {"conditions": listed, "completionTime": format_time(now)}, event
