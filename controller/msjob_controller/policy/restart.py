"""Restarts: of the whole job, which begins a new attempt, or of one pod alone.

A restart is one change of the status, made before anything is deleted: the attempt that failed is then an old one, and
nothing that becomes of its pods counts again, however often or late the operator looks. So no failure is charged twice.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from msjob.api import ConditionType, FailureAction, Job, Reason, RestartScope, Role
from msjob_controller.policy import backoff, conditions, messages
from msjob_controller.policy.attempt import Attempt
from msjob_controller.policy.decision import Event, EventType
from msjob_controller.policy.failure import NODE_LOST, Failure, describe, of_last_end, record
from msjob_controller.policy.observed import Observed, Pod
from msjob_controller.policy.times import format_time, parse_time
from msjob_controller.policy.verdict import Verdict

MOST_REPLACEMENTS: Final = 100
"""Pods of a job that are replaced at once, as many as the status has room for; more of them wait for their turn."""

OF_THE_ATTEMPT: Final = frozenset({"completedIndexes", "ignoredIndexes"})
"""What `replicaStatuses` remembers of one attempt only."""

Status = dict[str, Any]


def restart_job(
    job: Job, status: Status, attempt: Attempt, failure: Failure, judged: Verdict, now: datetime
) -> tuple[Status, tuple[Event, ...]]:
    """Begin a new attempt because of a failure.

    Returns:
        The status, and what to tell. All pods of the old attempt are to be deleted.
    """
    status = _charge(status, attempt, failure, judged, now)
    pause = backoff.pause(status["restarts"])
    status = begin_attempt(status, attempt)
    if pause:
        status["nextRestartTime"] = format_time(now + timedelta(seconds=pause))
    return _restarting(job, status, f"{describe(failure)}{_why(judged)}; {_tally(job, status, pause)}", now)


def replace_pod(
    job: Job, status: Status, attempt: Attempt, failure: Failure, judged: Verdict, now: datetime
) -> tuple[Status, tuple[Event, ...]]:
    """Replace a failed pod alone.

    Back-off counts restarts by pod, on average: a hundred pods that each fail once are no pod that fails a hundred
    times.

    Returns:
        The status, and what to tell. The pod is to be deleted.
    """
    status = _charge(status, attempt, failure, judged, now)
    pause = backoff.pause(-(-status["restarts"] // max(1, job.replicas(failure.role))))
    due = format_time(now + timedelta(seconds=pause))
    entry = {"pod": failure.pod, "uid": failure.uid, "time": due}
    status["replacements"] = [*(status.get("replacements") or []), entry]
    return _restarting(
        job, status, f"{describe(failure)}{_why(judged)}; {_tally(job, status, pause)}", now, messages.REPLACING
    )


def begin_attempt(status: Status, attempt: Attempt) -> Status:
    """The status of a job whose next pods are those of a new attempt."""
    status = {key: value for key, value in status.items() if key not in ("nextRestartTime", "replacements")}
    numbers = {
        role: {key: value for key, value in count.items() if key not in OF_THE_ATTEMPT}
        for role, count in (status.get("replicaStatuses") or {}).items()
    }
    if (status.get("readyAttempt") or 0) > attempt.number:
        # A status that was edited; pods of an attempt that is to come cannot have run.
        del status["readyAttempt"]
    return {**status, "attempt": attempt.number + 1, "replicaStatuses": numbers}


def wait(status: Mapping[str, Any], now: datetime) -> float | None:
    """Seconds until the pods of the attempt may be created; None if they may be."""
    since = parse_time(status.get("nextRestartTime"))
    # The pause is not stored, and a clock that was set back must not make it longer than the longest there is.
    left = None if since is None else min((since - now).total_seconds(), float(backoff.LONGEST_SECONDS))
    return left if left is not None and left > 0 else None


def replacements(status: Mapping[str, Any], attempt: Attempt) -> list[dict[str, Any]]:
    """Replacements that are not done yet: those whose successor is not there."""
    uids = {pod.name: pod.uid for pod in attempt.pods.values()}
    return [entry for entry in status.get("replacements") or [] if uids.get(entry["pod"], entry["uid"]) == entry["uid"]]


def time_left(entry: Mapping[str, Any], now: datetime) -> float | None:
    """Seconds until the successor of a replaced pod may be created; None if it may be."""
    return wait({"nextRestartTime": entry.get("time")}, now)


def reattribute(job: Job, status: Status, attempt: Attempt, observed: Observed) -> Status:
    """Take a restart off the count whose cause turns out to be a node.

    A node that is gone shows late: its pods fall silent, the survivors fail, and only after 40 s does the cluster give
    the node up. By then the attempt was restarted for a survivor, and the pods on the node still hang in deletion. A
    pod that was restarted alone is no survivor: something else has ended its attempt.
    """
    last = status.get("lastFailure") or {}
    if not last.get("countsTowardsLimit") or last.get("attempt") != attempt.number - 1:
        return status
    role = Role.parse(last.get("role") or "")
    if role is not None and role in job.roles and job.roles[role].restart_scope is RestartScope.POD:
        return status
    for pod in attempt.old:
        if pod.attempt == last["attempt"] and pod.node in observed.lost_nodes and not pod.outcome.ended:
            blamed = {
                "pod": pod.name,
                "role": pod.role.value,
                "index": pod.index,
                "reason": NODE_LOST,
                "message": messages.LEARNED_LATE.format(pod=last.get("pod")),
                "time": last.get("time"),
                "node": pod.node,
                "attempt": last["attempt"],
                "countsTowardsLimit": False,
            }
            counted = max(0, (status.get("restartsCountTowardsLimit") or 0) - 1)
            return {**status, "lastFailure": blamed, "restartsCountTowardsLimit": counted}
    return status


def by_kubelet(status: Status, attempt: Attempt, now: datetime) -> Status:
    """Count what the kubelet restarts where that is left to it, and tell what for.

    The status keeps the sum over the pods that are there. It falls when one of them is replaced, which is no restart by
    the kubelet.
    """
    pods = [pod for pod in attempt.pods.values() if pod.kubelet_restarts and pod.restart_count > 0]
    known, seen = status.get("kubeletRestarts") or 0, sum(pod.restart_count for pod in pods)
    if seen == known:
        return status
    status = {**status, "kubeletRestarts": seen}
    if seen > known:
        for field in ("restarts", "restartsCountTowardsLimit"):
            status[field] = _sum(status, field, seen - known)
        last = max((pod for pod in pods if pod.last_end is not None), key=_ended, default=None)
        if last is not None and last.last_end is not None:
            status["lastFailure"] = record(of_last_end(last, last.last_end), attempt.number, now, counts=True)
    return status


def _ended(pod: Pod) -> datetime:
    """When the container of a pod ended before its last restart."""
    when = None if pod.last_end is None else pod.last_end.finished_at
    return when or datetime.min.replace(tzinfo=UTC)


def _sum(status: Status, field: str, more: int) -> int:
    """A number of the status with so many more, as far as the schema has room for it."""
    return min((status.get(field) or 0) + more, 2**31 - 1)


def _charge(status: Status, attempt: Attempt, failure: Failure, judged: Verdict, now: datetime) -> Status:
    counts = judged.action is FailureAction.RESTART
    charged = {
        **status,
        "restarts": _sum(status, "restarts", 1),
        "restartsCountTowardsLimit": _sum(status, "restartsCountTowardsLimit", counts),
    }
    if not judged.follows:
        charged["lastFailure"] = record(failure, attempt.number, now, counts=counts)
    return charged


def _why(judged: Verdict) -> str:
    """Why a restart does not count."""
    return f" ({judged.why})" if judged.action is FailureAction.RESTART_IGNORING_LIMIT else ""


def _tally(job: Job, status: Status, pause: int) -> str:
    limit = job.run_policy.backoff_limit
    text = messages.TALLY if limit is None else messages.TALLY_OF
    counted = status["restartsCountTowardsLimit"]
    tally = text.format(restarts=status["restarts"], counted=counted, limit=limit)
    return f"{tally}{messages.LATER.format(seconds=pause) if pause else ''}"


def _restarting(
    job: Job, status: Status, why: str, now: datetime, text: str = messages.RESTARTING
) -> tuple[Status, tuple[Event, ...]]:
    message = text.format(job=f"{job.namespace}/{job.name}", why=why)
    listed = conditions.put(
        status["conditions"], ConditionType.RESTARTING, Reason.RESTARTING, message, now, refresh=True
    )
    event = Event(EventType.WARNING, Reason.RESTARTING, message)
    return {**status, "conditions": listed}, (event,)
