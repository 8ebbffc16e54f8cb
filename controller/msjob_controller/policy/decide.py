"""The decision about one job: the policies in their order."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from msjob.api import CleanPodPolicy, ConditionType, EventReason, Job, Problem, Reason, summarise
from msjob.workload.notices import notices
from msjob_controller.policy import cleanup, conditions, counts, failure, success, suspend
from msjob_controller.policy.decision import Decision, Event, EventType
from msjob_controller.policy.observed import Observed, Pod, PodKey
from msjob_controller.policy.times import format_time

_NOTHING: Final = Observed({})


def decide(job: Job, status: Mapping[str, Any], observed: Observed, now: datetime) -> Decision:
    """Decide what to do about a job.

    Args:
        job: a valid job that this operator manages and nobody is deleting.
        status: its stored status.
        observed: what it owns.
        now: current time, UTC.

    Returns:
        A decision. Carrying it out any number of times, also half or against a stale view, does no harm: children have
        deterministic names, and the next look corrects the rest.
    """
    if conditions.finished(status.get("conditions") or []):
        pods, service = cleanup.leftovers(job, observed)
        return Decision(dict(status), delete_pods=pods, delete_service=service)
    current, events = _begin(job, status, now)
    # A job that has done its work before its pods were told to go need not do it again.
    if job.suspended and success.succeeded(job, observed) is None:
        decision = suspend.suspend(job, current, observed, now)
        return _with_events(decision, events)
    current, resumed = suspend.resume(job, current, now)
    current.setdefault("startTime", format_time(now))
    numbers = counts.replica_statuses(job, observed)
    current |= {"replicaStatuses": numbers, "workersReady": counts.workers_ready(job, numbers)}
    current = {key: value for key, value in current.items() if value is not None}
    events += resumed
    end = _end(job, current, observed, now)
    if end is not None:
        return _with_events(end, events)
    return _go_on(job, current, observed, now, events)


def reject(
    status: Mapping[str, Any], problems: list[Problem], generation: int, now: datetime, observed: Observed = _NOTHING
) -> Decision:
    """Decide about a job that breaks a rule: it fails for good, its faults in condition and event, and gets no pods.

    Args:
        status: its stored status.
        problems: at least one.
        generation: of the spec that was judged.
        now: current time.
        observed: what it owns all the same: a job may be older than the rule it breaks.
    """
    pods, service = cleanup.stray(observed)
    if conditions.finished(status.get("conditions") or []):
        return Decision(dict(status), delete_pods=pods, delete_service=service)
    ended = _finish(
        dict(status) | {"observedGeneration": generation},
        ConditionType.FAILED,
        Reason.FAILED_VALIDATION,
        f"The job is invalid: {summarise(problems)}",
        now,
    )
    return Decision(ended.status, delete_pods=pods, delete_service=service, events=ended.events)


def stall(status: Mapping[str, Any], reason: Reason, message: str, now: datetime) -> Decision:
    """Decide about a job that cannot go on for now: a condition and an event; the shell tries again later."""
    listed = status.get("conditions") or []
    changed = conditions.put(listed, ConditionType.STALLED, reason, message, now)
    events = () if changed == listed else (Event(EventType.WARNING, reason, message),)
    return Decision(dict(status) | {"conditions": changed}, events=events)


def _begin(job: Job, status: Mapping[str, Any], now: datetime) -> tuple[dict[str, Any], tuple[Event, ...]]:
    """The status of a job that the operator knows, and what to tell at the first sight of it."""
    current = dict(status) | {"observedGeneration": job.generation}
    listed = list(status.get("conditions") or [])
    events: list[Event] = []
    if conditions.find(listed, ConditionType.CREATED) is None:
        message = f"MSJob {job.namespace}/{job.name} is created."
        listed = conditions.put(listed, ConditionType.CREATED, Reason.CREATED, message, now)
        events.append(Event(EventType.NORMAL, Reason.CREATED, message))
        events += [Event(EventType.WARNING, notice.reason, notice.message) for notice in notices(job)]
    return current | {"conditions": listed}, tuple(events)


def _end(job: Job, status: dict[str, Any], observed: Observed, now: datetime) -> Decision | None:
    """The decision that ends the job, if it has come to an end. Success first: its policy says which pods matter."""
    events: tuple[Event, ...] = ()
    why = success.succeeded(job, observed)
    culprit = None if why is not None else failure.culprit(job, observed)
    if why is not None:
        status["replicaStatuses"] = counts.at_success(status["replicaStatuses"])
        message = f"MSJob {job.namespace}/{job.name} successfully completed: {why}."
        ended = _finish(status, ConditionType.SUCCEEDED, Reason.SUCCEEDED, message, now)
    elif culprit is not None:
        message = f"MSJob {job.namespace}/{job.name} has failed: {failure.describe(culprit)}."
        ended = _finish(status, ConditionType.FAILED, Reason.FAILED, message, now)
        events = _exit_event(job, culprit)
    else:
        return None
    pods, service = cleanup.leftovers(job, observed)
    if job.clean_pod_policy is not CleanPodPolicy.NONE:
        ended.status["replicaStatuses"] = counts.inactive(ended.status["replicaStatuses"])
    return Decision(ended.status, delete_pods=pods, delete_service=service, events=events + ended.events)


def _exit_event(job: Job, pod: Pod) -> tuple[Event, ...]:
    if pod.exit_code is None:
        return ()
    message = f"Pod {job.namespace}/{pod.name} exited with code {pod.exit_code}"
    return (Event(EventType.WARNING, EventReason.EXITED_WITH_CODE, message),)


def _finish(status: dict[str, Any], kind: ConditionType, reason: Reason, message: str, now: datetime) -> Decision:
    listed = status.get("conditions") or []
    for other in (ConditionType.RUNNING, ConditionType.SUSPENDED, ConditionType.STALLED):
        if conditions.is_true(listed, other):
            listed = conditions.put(listed, other, reason, message, now, status=False)
    listed = conditions.put(listed, kind, reason, message, now)
    event = Event(EventType.NORMAL if kind is ConditionType.SUCCEEDED else EventType.WARNING, reason, message)
    return Decision(status | {"conditions": listed, "completionTime": format_time(now)}, events=(event,))


def _go_on(job: Job, status: dict[str, Any], observed: Observed, now: datetime, events: tuple[Event, ...]) -> Decision:
    """The decision about a job that is to run: what is missing is made, Service first."""
    if counts.all_running(job, observed) and not conditions.is_true(status["conditions"], ConditionType.RUNNING):
        message = f"MSJob {job.namespace}/{job.name} is running."
        status["conditions"] = conditions.put(status["conditions"], ConditionType.RUNNING, Reason.RUNNING, message, now)
        events += (Event(EventType.NORMAL, Reason.RUNNING, message),)
    surplus = tuple(
        key for key, pod in observed.pods.items() if pod.index >= job.replicas(pod.role) and not pod.deleting
    )
    service = observed.service
    if job.host_role is not None and service is None:
        return Decision(status, create_service=True, delete_pods=surplus, events=events)
    if job.host_role is not None and service is not None and (service.deleting or not service.cluster_ip):
        return Decision(status, delete_pods=surplus, events=events)
    missing = _missing(job, observed)
    if not missing and conditions.is_true(status["conditions"], ConditionType.STALLED):
        message = f"All that MSJob {job.namespace}/{job.name} needs has been created."
        status["conditions"] = conditions.put(
            status["conditions"], ConditionType.STALLED, Reason.CREATED, message, now, status=False
        )
    return Decision(status, create_pods=missing, delete_pods=surplus, events=events)


def _missing(job: Job, observed: Observed) -> tuple[PodKey, ...]:
    return tuple(
        (role, index) for role in job.roles for index in range(job.replicas(role)) if (role, index) not in observed.pods
    )


def _with_events(decision: Decision, earlier: tuple[Event, ...]) -> Decision:
    return Decision(
        decision.status,
        create_service=decision.create_service,
        create_pods=decision.create_pods,
        delete_service=decision.delete_service,
        delete_pods=decision.delete_pods,
        events=earlier + decision.events,
        requeue_after=decision.requeue_after,
    )
