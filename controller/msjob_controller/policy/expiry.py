"""When a finished job is removed."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msjob.api import FINISHED, Job
from msjob_controller.policy import conditions
from msjob_controller.policy.times import parse_time, remaining


def time_left(job: Job, status: Mapping[str, Any], now: datetime) -> float | None:
    """Seconds until a finished job is to be deleted; 0 if it is, None if it is to stay.

    A suspended job stays: whoever suspends a job means to keep it (training-operator v1.9).
    """
    if job.suspended:
        return None
    return remaining_ttl(status, job.run_policy.ttl_seconds_after_finished, now)


def remaining_ttl(status: Mapping[str, Any], ttl: int | None, now: datetime) -> float | None:
    """Seconds until a job that ended as its status says has been over for its time to live."""
    return remaining(completed_at(status), ttl, now)


def of_unreadable(obj: Mapping[str, Any]) -> int | None:
    """The time to live of a job that breaks the rules, if that much of it can be read and it is not suspended.

    Args:
        obj: JSON of an MSJob of any shape.
    """
    spec = obj.get("spec")
    policy = spec.get("runPolicy") if isinstance(spec, Mapping) else None
    if not isinstance(policy, Mapping) or policy.get("suspend"):
        return None
    ttl = policy.get("ttlSecondsAfterFinished")
    return ttl if isinstance(ttl, int) and not isinstance(ttl, bool) and ttl >= 0 else None


def completed_at(status: Mapping[str, Any]) -> datetime | None:
    """When the job ended. The Go operator leaves completionTime out on some paths; its condition has the time, too."""
    listed = status.get("conditions") or []
    ended = (conditions.find(listed, kind) for kind in FINISHED if conditions.is_true(listed, kind))
    end = next(ended, None) or {}
    return parse_time(status.get("completionTime")) or parse_time(end.get("lastTransitionTime"))
