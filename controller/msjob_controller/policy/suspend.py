"""A job that is to have no pods, and one that is to have them again."""

from datetime import datetime
from typing import Any

from msjob.api import ConditionType, Job, Reason
from msjob_controller.policy import conditions, counts
from msjob_controller.policy.decision import Decision, Event, EventType
from msjob_controller.policy.observed import Observed
from msjob_controller.policy.times import format_time


def suspend(job: Job, status: dict[str, Any], observed: Observed, now: datetime) -> Decision:
    """Decide about a job whose `suspend` is true and that has not ended.

    Pods and Service are deleted; the job is Suspended only when the last pod is gone, so that active 0 is reliable.
    """
    pods = tuple(key for key, pod in observed.pods.items() if not pod.deleting)
    service = observed.service is not None and not observed.service.deleting
    numbers = counts.replica_statuses(job, observed)
    status = {**status, "replicaStatuses": numbers}
    if observed.pods or conditions.is_true(status["conditions"], ConditionType.SUSPENDED):
        return Decision(status, delete_pods=pods, delete_service=service)
    message = f"MSJob {job.namespace}/{job.name} is suspended."
    listed = status["conditions"]
    for other in (ConditionType.RUNNING, ConditionType.STALLED):
        if conditions.is_true(listed, other):
            listed = conditions.put(listed, other, Reason.SUSPENDED, message, now, status=False)
    status["conditions"] = conditions.put(listed, ConditionType.SUSPENDED, Reason.SUSPENDED, message, now)
    status.pop("startTime", None)
    status.pop("workersReady", None)
    return Decision(status, delete_service=service, events=(Event(EventType.NORMAL, Reason.SUSPENDED, message),))


def resume(job: Job, status: dict[str, Any], now: datetime) -> tuple[dict[str, Any], tuple[Event, ...]]:
    """The status of a job that may run, and what to tell: a job that was suspended starts its clock anew."""
    if not conditions.is_true(status["conditions"], ConditionType.SUSPENDED):
        return status, ()
    message = f"MSJob {job.namespace}/{job.name} is resumed."
    listed = conditions.put(status["conditions"], ConditionType.SUSPENDED, Reason.RESUMED, message, now, status=False)
    resumed = {**status, "conditions": listed, "startTime": format_time(now)}
    return resumed, (Event(EventType.NORMAL, Reason.RESUMED, message),)
