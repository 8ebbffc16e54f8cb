"""A job whose number of Workers was changed."""

from datetime import datetime
from typing import Any

from msjob.api import ConditionType, Job, Reason, Role
from msjob_controller.policy import conditions, messages, restart
from msjob_controller.policy.attempt import Attempt, coordinated, is_old
from msjob_controller.policy.decision import Event, EventType
from msjob_controller.policy.observed import Observed

Status = dict[str, Any]


def made_with(job: Job, status: Status, observed: Observed) -> Status:
    """The status with the number of Workers that the attempt is made with: open until its first pod is made."""
    if not coordinated(job):
        return {key: value for key, value in status.items() if key != "workerReplicas"}
    without_pods = all(is_old(pod, status) for pod in observed.pods.values())
    if status.get("workerReplicas") is None or (without_pods and not _has_begun(status)):
        return {**status, "workerReplicas": job.replicas(Role.WORKER)}
    return status


def _has_begun(status: Status) -> bool:
    """Whether pods of the attempt are known to have run, though none may be there any more."""
    counts = (status.get("replicaStatuses") or {}).values()
    remembers = any(field in (count or {}) for count in counts for field in restart.OF_THE_ATTEMPT)
    return remembers or status.get("readyAttempt") == (status.get("attempt") or 0)


def changed(job: Job, status: Status) -> bool:
    """Whether the attempt was made with another number of Workers than is wanted now."""
    return coordinated(job) and status.get("workerReplicas") != job.replicas(Role.WORKER)


def restart_for_size(job: Job, status: Status, attempt: Attempt, now: datetime) -> tuple[Status, tuple[Event, ...]]:
    """Begin a new attempt with the new world size: every process of a cluster is told how many there are.

    It is no restart in the sense of the limits, and nothing waits.
    """
    before, after = status.get("workerReplicas"), job.replicas(Role.WORKER)
    why = messages.SCALED.format(before=before, after=after)
    message = messages.RESTARTING.format(job=f"{job.namespace}/{job.name}", why=why)
    status = restart.begin_attempt(status, attempt) | {"workerReplicas": after}
    listed = conditions.put(
        status["conditions"], ConditionType.RESTARTING, Reason.RESTARTING, message, now, refresh=True
    )
    return {**status, "conditions": listed}, (Event(EventType.NORMAL, Reason.RESTARTING, message),)
