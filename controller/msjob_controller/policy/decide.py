"""The decision about one job: the policies in their order."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from msjob.api import (
    CleanPodPolicy,
    ConditionType,
    EventReason,
    FailureAction,
    Job,
    Problem,
    Reason,
    summarise,
)
from msjob.workload.notices import notices
from msjob_controller.policy import (
    cleanup,
    closing,
    conditions,
    counts,
    deadline,
    expiry,
    failure,
    forced,
    messages,
    restart,
    scale,
    skew,
    stalled,
    success,
    suspend,
    verdict,
)
from msjob_controller.policy.attempt import keys, present
from msjob_controller.policy.decision import Decision, Event, EventType
from msjob_controller.policy.ending import finish
from msjob_controller.policy.failure import Failure
from msjob_controller.policy.observed import Observed
from msjob_controller.policy.proceed import proceed
from msjob_controller.policy.situation import Situation
from msjob_controller.policy.times import format_time
from msjob_controller.policy.verdict import Verdict

_NOTHING: Final = Observed({})

DELETED_SECONDS: Final = 1.0
"""How long after a deletion a job is looked at again: only then it shows until when its pods may take to go, and a node
that is silent sends no event."""


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
    force, waits = forced.overdue(job, observed, now)
    if conditions.finished(status.get("conditions") or []):
        decision = _finished(job, status, observed, now)
    else:
        decision = _unfinished(job, status, observed, now)
        listed = decision.status.get("conditions") or []
        waits += [wait for wait in stalled.timers(listed, observed, now) if wait]
    left = closing.kept(decision.delete_pods, observed, now).union(force)
    if decision.delete_pods:
        # Those that are left alone for now, too.
        waits.append(DELETED_SECONDS)
    return replace(
        decision,
        force_delete_pods=force,
        delete_pods=tuple(key for key in decision.delete_pods if key not in left),
        requeue_after=_soonest([decision.requeue_after, *waits]),
    )


def reject(
    status: Mapping[str, Any],
    problems: list[Problem],
    generation: int,
    now: datetime,
    observed: Observed = _NOTHING,
    *,
    ttl: int | None = None,
) -> Decision:
    """Decide about a job that breaks a rule: it fails for good, its faults in condition and event, and gets no pods.

    Args:
        status: its stored status.
        problems: at least one.
        generation: of the spec that was judged.
        now: current time.
        observed: what it owns all the same: a job may be older than the rule it breaks.
        ttl: its `ttlSecondsAfterFinished` as far as that can be read, see `expiry.of_unreadable`.
    """
    pods, service = cleanup.stray(observed)
    ended = dict(status)
    events: tuple[Event, ...] = ()
    if not conditions.finished(status.get("conditions") or []):
        message = messages.INVALID.format(problems=summarise(problems))
        current = dict(status) | {"observedGeneration": generation}
        ended, event = finish(current, ConditionType.FAILED, Reason.FAILED_VALIDATION, message, now)
        events = (event,)
    left = expiry.remaining_ttl(ended, ttl, now)
    return Decision(
        ended,
        delete_pods=pods,
        delete_service=service,
        delete_autoscaler=cleanup.autoscaler_there(observed),
        delete_job=left == 0 and not events,
        events=events,
        requeue_after=left if left or events else None,
    )


def stall(status: Mapping[str, Any], reason: Reason, message: str, now: datetime) -> Decision:
    """Decide about a job that cannot go on for now: a condition and an event; the shell tries again later."""
    listed = status.get("conditions") or []
    changed = conditions.put(listed, ConditionType.STALLED, reason, message, now)
    events = () if changed == listed else (Event(EventType.WARNING, reason, message),)
    return Decision(dict(status) | {"conditions": changed}, events=events)


def _finished(job: Job, status: Mapping[str, Any], observed: Observed, now: datetime) -> Decision:
    """Nothing changes any more; what is left is removed, and in the end the job itself."""
    gone = cleanup.leftovers(job, status, observed, now)
    left = expiry.time_left(job, status, now)
    return Decision(
        dict(status),
        delete_pods=gone.pods,
        delete_service=gone.service,
        delete_autoscaler=cleanup.autoscaler_there(observed),
        delete_job=left == 0,
        requeue_after=_soonest([left, gone.wait]) or None,
    )


def _unfinished(job: Job, status: Mapping[str, Any], observed: Observed, now: datetime) -> Decision:
    current, events = _begin(job, skew.mend(status, now), now)
    if not job.suspended:
        current = scale.made_with(job, current, observed)
    at = _look(job, current, observed, now)
    # Asked first: a job that has done its work before its pods were told to go need not do it again.
    why = success.succeeded(job, at.attempt, at.without)
    if job.suspended and why is None:
        decision = suspend.suspend(job, _count(at, current), at.attempt, observed, now)
        return _stalled(at, decision, events)
    if why is None:
        current, resumed = suspend.resume(job, current, at.attempt, now)
        if resumed:
            current = scale.made_with(job, current, observed)
            at = _look(job, current, observed, now)
            events += resumed
    current = _count(at, current)
    current.setdefault("startTime", format_time(now))
    current["workersReady"] = counts.workers_ready(job, at.attempt)
    if counts.all_started(at.attempt, at.without):
        # Seen late, it holds all the same: a deadline of the start that passed while nobody looked was met.
        current["readyAttempt"] = at.attempt.number
    current = {key: value for key, value in current.items() if value is not None}
    if why is not None:
        current["replicaStatuses"] = counts.at_success(current["replicaStatuses"])
        message = messages.SUCCEEDED.format(job=at.name, why=why)
        return _end(at, current, ConditionType.SUCCEEDED, Reason.SUCCEEDED, message, events)
    return _unsuccessful(at, current, events) or _go_on(at, current, events)


def _look(job: Job, status: Mapping[str, Any], observed: Observed, now: datetime) -> Situation:
    attempt = present(job, status, observed)
    ignored = verdict.ignored(job, attempt)
    tolerated = failure.tolerated(attempt, ignored, dynamic=bool(job.spec.enable_dynamic_worker))
    # A pod that is being replaced is not left out, and neither is any once nothing else is left: it has to come back.
    replaced = {entry["uid"] for entry in status.get("replacements") or []}
    without = frozenset(key for key in tolerated if key not in attempt.pods or attempt.pods[key].uid not in replaced)
    if failure.exhausted(attempt, without):
        attempt, without = replace(attempt, ignored=frozenset()), frozenset()
    return Situation(job, attempt, observed, without, now)


def _go_on(at: Situation, status: dict[str, Any], events: tuple[Event, ...]) -> Decision:
    """The decision about a job that nothing is wrong with."""
    if not scale.changed(at.job, status):
        return _stalled(at, proceed(at, status), events)
    status, told = scale.restart_for_size(at.job, status, at.attempt, at.now)
    return Decision(status, delete_pods=keys(at.observed.pods.values()), events=events + told, requeue_after=0)


def _begin(job: Job, status: Mapping[str, Any], now: datetime) -> tuple[dict[str, Any], tuple[Event, ...]]:
    """The status of a job that the operator knows, and what to tell at the first sight of it."""
    current = dict(status) | {"observedGeneration": job.generation}
    listed = list(status.get("conditions") or [])
    events: list[Event] = []
    if conditions.find(listed, ConditionType.CREATED) is None:
        message = messages.CREATED.format(job=f"{job.namespace}/{job.name}")
        listed = conditions.put(listed, ConditionType.CREATED, Reason.CREATED, message, now)
        events.append(Event(EventType.NORMAL, Reason.CREATED, message))
        events += [Event(EventType.WARNING, notice.reason, notice.message) for notice in notices(job)]
    return current | {"conditions": listed}, tuple(events)


def _count(at: Situation, status: dict[str, Any]) -> dict[str, Any]:
    """The status with numbers, and with the number of the attempt, which is left out while it is 0."""
    status = {**status, "replicaStatuses": counts.replica_statuses(at.job, at.attempt, at.observed, at.without)}
    status.pop("attempt", None)
    if at.attempt.number:
        status["attempt"] = at.attempt.number
    return restart.reattribute(at.job, restart.by_kubelet(status, at.attempt, at.now), at.attempt, at.observed)


def _unsuccessful(at: Situation, status: dict[str, Any], events: tuple[Event, ...]) -> Decision | None:
    """The decision about a failure or a deadline; None if there is neither.

    A failure that is final comes before a deadline, which may have passed only while nobody looked; a restart after it.
    """
    failures = _failures(at, status)
    judged = _judge(at, status, failures[0]) if failures else None
    if judged is not None and judged.action is FailureAction.FAIL_JOB:
        return _fail(at, status, failures[0], judged, events)
    expired = _kubelet_limit(at, status) or deadline.exceeded(at.job, status, at.now)
    if expired is not None:
        reason, why = expired
        if reason is Reason.STARTUP_DEADLINE:
            why = _hindered(at, status, why)
        message = messages.FAILED.format(job=at.name, why=why)
        return _end(at, status, ConditionType.FAILED, reason, message, events)
    if judged is None:
        return None
    if not failure.takes_all_along(at.job, failures):
        return _replace_pods(at, status, failures, events)
    status, told = restart.restart_job(at.job, status, at.attempt, failures[0], judged, at.now)
    events += _exit_events(at.job, failures[0]) + told
    return Decision(status, delete_pods=keys(at.observed.pods.values()), events=events, requeue_after=0)


def _hindered(at: Situation, status: Mapping[str, Any], why: str) -> str:
    """Why a job did not start, with what kept it from that: its pods go, and `Stalled` with them."""
    what = stalled.told(status["conditions"], stalled.cause(at.job, at.attempt, at.observed, at.now))
    return messages.STARTUP_HINDERED.format(why=why, what=what) if what else why


def _failures(at: Situation, status: Mapping[str, Any]) -> list[Failure]:
    replaced = {entry["uid"] for entry in status.get("replacements") or []}
    return failure.find(at.job, at.attempt, at.without, at.observed.lost_nodes, replaced)


def _judge(at: Situation, status: Mapping[str, Any], found: Failure) -> Verdict:
    if failure.follows(at.job, status, at.attempt, found):
        first = status["lastFailure"]["pod"]
        return Verdict(FailureAction.RESTART_IGNORING_LIMIT, messages.FOLLOWED.format(pod=first), follows=True)
    return verdict.judge(at.job, found, status.get("restartsCountTowardsLimit") or 0)


def _replace_pods(
    at: Situation, status: dict[str, Any], failures: list[Failure], events: tuple[Event, ...]
) -> Decision:
    """The decision about failures of pods that stand for themselves."""
    room = max(0, restart.MOST_REPLACEMENTS - len(status.get("replacements") or []))
    for number, found in enumerate(failures):
        judged = _judge(at, status, found)
        if judged.action is FailureAction.FAIL_JOB:
            return _fail(at, status, found, judged, events)
        if number >= room:
            continue
        status, told = restart.replace_pod(at.job, status, at.attempt, found, judged, at.now)
        events += _exit_events(at.job, found) + told
    # Not yet those of another number of Workers, which nothing would render: that begins an attempt first.
    return _go_on(at, status, events)


def _fail(
    at: Situation, status: dict[str, Any], found: Failure, judged: Verdict, events: tuple[Event, ...]
) -> Decision:
    status = {**status, "lastFailure": failure.record(found, at.attempt.number, at.now, counts=False)}
    why = "; ".join(filter(None, (failure.describe(found), judged.why)))
    message = messages.FAILED.format(job=at.name, why=why)
    return _end(at, status, ConditionType.FAILED, judged.reason, message, events + _exit_events(at.job, found))


def _end(
    at: Situation, status: dict[str, Any], kind: ConditionType, reason: Reason, message: str, events: tuple[Event, ...]
) -> Decision:
    """The decision that ends the job."""
    ended, event = finish(status, kind, reason, message, at.now)
    if at.job.clean_pod_policy is not CleanPodPolicy.NONE:
        ended["replicaStatuses"] = counts.inactive(ended["replicaStatuses"])
    left = _finished(at.job, ended, at.observed, at.now)
    # The job itself goes in a pass of its own, once its end is stored.
    return replace(
        left, delete_job=False, events=(*events, event), requeue_after=0 if left.delete_job else left.requeue_after
    )


def _stalled(at: Situation, decision: Decision, earlier: tuple[Event, ...]) -> Decision:
    """A decision with what its pods show to be in the way, and the events before it."""
    no_service = at.job.host_role is not None and at.observed.service is None
    missing = not at.job.suspended and (bool(at.attempt.missing()) or no_service or decision.create_autoscaler)
    found = stalled.cause(at.job, at.attempt, at.observed, at.now)
    changed, new = stalled.update(decision.status["conditions"], found, at.observed, at.now, missing=missing)
    events = earlier + decision.events
    if new and found is not None:
        events += (Event(EventType.WARNING, found.reason, found.message),)
    return replace(
        decision,
        status={**decision.status, "conditions": changed},
        events=events,
        requeue_after=_soonest([decision.requeue_after, stalled.outdated(changed, found, at.now)]),
    )


def _kubelet_limit(at: Situation, status: Mapping[str, Any]) -> tuple[Reason, str] | None:
    """Whether the kubelet, which knows no limit, has restarted a pod more often than the job may be."""
    limit = at.job.run_policy.backoff_limit
    if limit is None or not any(pod.kubelet_restarts for pod in at.attempt.pods.values()):
        return None
    if (status.get("restartsCountTowardsLimit") or 0) <= limit:
        return None
    return Reason.BACKOFF_LIMIT, messages.KUBELET_LIMIT.format(limit=limit)


def _exit_events(job: Job, found: Failure) -> tuple[Event, ...]:
    if found.exit_code is None:
        return ()
    message = messages.EXITED.format(pod=f"{job.namespace}/{found.pod}", code=found.exit_code)
    return (Event(EventType.WARNING, EventReason.EXITED_WITH_CODE, message),)


def _soonest(waits: Iterable[float | None]) -> float | None:
    return min((wait for wait in waits if wait is not None), default=None)
