"""A job that is to have no pods, and one that is to have them again."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msjob.api import ConditionType, Job, Reason
from msjob_controller.policy import conditions, messages, restart
from msjob_controller.policy.attempt import Attempt
from msjob_controller.policy.cleanup import autoscaler_there
from msjob_controller.policy.decision import Decision, Event, EventType
from msjob_controller.policy.observed import Observed
from msjob_controller.policy.times import format_time

_OF_THE_RUN = ("startTime", "workersReady", "readyAttempt", "workerReplicas", "nextRestartTime", "replacements")


def suspend(job: Job, status: dict[str, Any], attempt: Attempt, observed: Observed, now: datetime) -> Decision:
    """Decide about a job whose `suspend` is true and that has not ended.

    Pods, Service and autoscaler are deleted; the job is Suspended only when the last pod is gone, so that active 0 is
    reliable. Until then Suspended is False and its reason says that it is under way, also to who resumes the job in the
    meantime. Its next pods are those of another attempt, if it has been started at all.
    """
    pods = tuple(key for key, pod in observed.pods.items() if not pod.deleting)
    service = observed.service is not None and not observed.service.deleting
    autoscaler = autoscaler_there(observed)
    listed = status["conditions"]
    # Pods may have been made although the status that tells of their start was never written.
    started = "startTime" in status or is_under_way(listed)
    if observed.pods and not conditions.is_true(listed, ConditionType.SUSPENDED):
        message = messages.SUSPENDING.format(job=f"{job.namespace}/{job.name}")
        listed = conditions.put(listed, ConditionType.SUSPENDED, Reason.SUSPENDING, message, now, status=False)
        status = {**status, "conditions": listed}
    elif attempt.pods or attempt.surplus:
        # Made after a resumption that was never written.
        status = restart.begin_attempt(status, attempt)
    if observed.pods or conditions.is_true(listed, ConditionType.SUSPENDED):
        return Decision(status, delete_pods=pods, delete_service=service, delete_autoscaler=autoscaler)
    message = messages.SUSPENDED.format(job=f"{job.namespace}/{job.name}")
    if conditions.is_true(listed, ConditionType.RESTARTING):
        # It takes the place of Restarting; the two are never there together.
        listed = conditions.put(listed, ConditionType.RUNNING, Reason.SUSPENDED, message, now, status=False)
    for other in (ConditionType.RUNNING, ConditionType.STALLED, ConditionType.PODS_READY):
        if conditions.is_true(listed, other):
            listed = conditions.put(listed, other, Reason.SUSPENDED, message, now, status=False)
    listed = conditions.put(listed, ConditionType.SUSPENDED, Reason.SUSPENDED, message, now)
    numbers = {
        role: {key: value for key, value in count.items() if key not in restart.OF_THE_ATTEMPT}
        | {"active": 0, "succeeded": 0}
        for role, count in status["replicaStatuses"].items()
    }
    status = {key: value for key, value in status.items() if key not in _OF_THE_RUN}
    status |= {"conditions": listed, "replicaStatuses": numbers}
    if started:
        status["attempt"] = attempt.number + 1
    event = Event(EventType.NORMAL, Reason.SUSPENDED, message)
    return Decision(status, delete_service=service, delete_autoscaler=autoscaler, events=(event,))


def resume(
    job: Job, status: dict[str, Any], attempt: Attempt, now: datetime
) -> tuple[dict[str, Any], tuple[Event, ...]]:
    """The status of a job that may run, and what to tell: a job that was suspended starts its clock anew.

    One that is resumed before its last pod is gone begins another attempt all the same: its pods have been told to go.
    """
    listed = status["conditions"]
    under_way = is_under_way(listed)
    if not (under_way or conditions.is_true(listed, ConditionType.SUSPENDED)):
        return status, ()
    message = messages.RESUMED.format(job=f"{job.namespace}/{job.name}")
    if under_way:
        status = restart.begin_attempt(status, attempt)
        for kind in (ConditionType.RUNNING, ConditionType.RESTARTING):
            if conditions.is_true(listed, kind):
                listed = conditions.put(listed, ConditionType.RUNNING, Reason.SUSPENDED, message, now, status=False)
    listed = conditions.put(listed, ConditionType.SUSPENDED, Reason.RESUMED, message, now, status=False)
    rest = {key: value for key, value in status.items() if key not in _OF_THE_RUN}
    return {**rest, "conditions": listed, "startTime": format_time(now)}, (
        Event(EventType.NORMAL, Reason.RESUMED, message),
    )


def is_under_way(listed: Sequence[conditions.Condition]) -> bool:
    """Whether the pods of a job have been told to go because it is suspended, and some are still there."""
    found = conditions.find(listed, ConditionType.SUSPENDED) or {}
    return found.get("status") == "False" and found.get("reason") == Reason.SUSPENDING
