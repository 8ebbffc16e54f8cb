"""How long a job may run, and how long it may take to start; both counted from its start or resume."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msjob.api import Job, Reason
from msjob_controller.policy import messages
from msjob_controller.policy.times import parse_time, remaining


def exceeded(job: Job, status: Mapping[str, Any], now: datetime) -> tuple[Reason, str] | None:
    """The deadline that has passed, if one has: reason and a sentence about it."""
    if _active(job, status, now) == 0:
        limit = job.run_policy.active_deadline_seconds
        return Reason.DEADLINE, messages.DEADLINE.format(seconds=limit)
    if _startup(job, status, now) == 0:
        limit = job.run_policy.startup_deadline_seconds
        return Reason.STARTUP_DEADLINE, messages.STARTUP_DEADLINE.format(seconds=limit)
    return None


def timers(job: Job, status: Mapping[str, Any], now: datetime) -> list[float | None]:
    """Seconds until each deadline passes, None for one that is not set."""
    return [_active(job, status, now), _startup(job, status, now)]


def _active(job: Job, status: Mapping[str, Any], now: datetime) -> float | None:
    return remaining(parse_time(status.get("startTime")), job.run_policy.active_deadline_seconds, now)


def _startup(job: Job, status: Mapping[str, Any], now: datetime) -> float | None:
    """None from the moment on at which all pods ran: a restart has MindSpore's own time limit."""
    if status.get("readyAttempt") is not None:
        return None
    return remaining(parse_time(status.get("startTime")), job.run_policy.startup_deadline_seconds, now)
