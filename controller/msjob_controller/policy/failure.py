"""Which pod is to blame when a job fails, and what is known of it."""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

from msjob.api import Job, LaunchMode, RestartScope, Role, meta
from msjob_controller.policy import messages
from msjob_controller.policy.attempt import Attempt
from msjob_controller.policy.conditions import cut
from msjob_controller.policy.observed import End, Outcome, Pod, PodKey
from msjob_controller.policy.times import format_time, parse_time

DISRUPTIONS: Final = frozenset(
    {"Evicted", "NodeLost", "NodeShutdown", "Preempted", "Preempting", "Shutdown", "Terminated"}
)
"""Reasons of pods that were put out by their cluster (kubelet: eviction, preemption by critical pods, node shutdown,
which calls itself Terminated, NodeShutdown or Shutdown; node lifecycle: NodeLost)."""

DELETED: Final = "Deleted"
EVICTED: Final = "Evicted"
NODE_LOST: Final = "NodeLost"
NEVER_RAN: Final = "NeverRan"

REASON_LIMIT: Final = 1024
"""Characters kept of a reason, as many as the schema allows."""

_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
_FOLLOWERS: Final = frozenset({1, 137, 143})
"""Exit codes of processes that fell because another one had (measured: 143 when MindSpore signals itself, 1 as PID 1 or
when a collective timed out, 137 after a grace period)."""
FOLLOWS_SECONDS: Final = 190
"""How long after a pod that is replaced alone others may fall because of it: MindSpore looks for a lost Scheduler for
as long as `MS_HEARTBEAT_RETRY_TIMEOUT` says, which the operator sets to 120 s, and then takes up to 70 s (measured)."""
_ORDER: Final = {Role.WORKER: 0, Role.PS: 1, Role.SCHEDULER: 2}


@dataclass(frozen=True, slots=True)
class Failure:
    """What befell the pod to blame.

    Attributes:
        pod: its name.
        role: of it.
        index: likewise.
        uid: likewise, empty for a pod that is gone.
        container: that failed, empty if none did.
        exit_code: of that container.
        reason: for people and rules: of the container or pod, or `Deleted`, `NodeLost`, `NeverRan`.
        message: what container or pod said.
        time: when; None if that is not known.
        node: of the pod.
        disrupted: the cluster or a person took the pod away; it did not fail by itself.
        taken: likewise, and it had not ended when it was: it is no failed pod that a job could go on without.
        exit_codes: of containers, by name, for rules.
        conditions: of the pod, for rules.
        reasons: for rules.
        judged: role whose policy decides: of the pod that exited, which may have waited in vain for the one to blame.
        judged_code: exit code that this policy looks at.
    """

    pod: str
    role: Role
    index: int
    uid: str = ""
    container: str = ""
    exit_code: int | None = None
    reason: str = ""
    message: str = ""
    time: datetime | None = None
    node: str = ""
    disrupted: bool = False
    taken: bool = False
    exit_codes: Mapping[str, int] = field(default_factory=dict)
    conditions: Mapping[str, str] = field(default_factory=dict)
    reasons: frozenset[str] = frozenset()
    judged: Role = Role.WORKER
    judged_code: int | None = None


def tolerated(attempt: Attempt, ignored: AbstractSet[PodKey], *, dynamic: bool) -> frozenset[PodKey]:
    """Failed pods that the job goes on without, whether they are still there or not.

    Args:
        attempt: the present one.
        ignored: failed pods that a rule of `failurePolicy` says to ignore.
        dynamic: `enableDynamicWorker`: every failed Worker is one.
    """
    failed = {key for key, pod in attempt.pods.items() if pod.outcome is Outcome.FAILED}
    found = {key for key in failed if key in ignored or (dynamic and key[0] is Role.WORKER)}
    return frozenset(found) | attempt.ignored


def exhausted(attempt: Attempt, without: AbstractSet[PodKey]) -> bool:
    """Whether nothing is left that could succeed: each Worker (each pod of a job without) is one to go on without."""
    matter = attempt.of(Role.WORKER) or attempt.wanted
    return bool(matter) and all(key in without for key in matter)


def find(
    job: Job,
    attempt: Attempt,
    without: AbstractSet[PodKey],
    lost: AbstractSet[str],
    replaced: AbstractSet[str],
) -> list[Failure]:
    """The failures of an attempt, the one that counts first.

    It is the one that came first, never inferred from the exit code: 1, 137 and 143 can all be codes of pods that only
    followed (measured). Times have whole seconds. In the same second a pod that cannot be a follower comes first, then
    a Worker before PS and Scheduler, which fall with it, then the lowest index. A pod without a time did not end
    through its container: it was evicted, never started, or is gone, which no follower is, so it comes before all
    others. So does one on a node that is lost, if pods have failed that may have followed it: that shows late, after
    the survivors have ended.

    Args:
        job: the job.
        attempt: the present one.
        without: pods that the job goes on without, see `tolerated`; unless nothing else is left.
        lost: names of lost nodes.
        replaced: uids of pods that are being replaced already.

    Returns:
        Empty if nothing has failed. If one of them is of a role whose scope is `Job`, all others may have caused it or
        followed it; else each stands for itself.
    """
    if exhausted(attempt, without):
        without = frozenset()
    found = [
        failure
        for failure in _candidates(job, attempt, lost)
        if (failure.role, failure.index) not in without and failure.uid not in replaced
    ]
    if takes_all_along(job, found):
        found += [
            _taken(pod, NODE_LOST, None)
            for key, pod in attempt.pods.items()
            if pod.node in lost and not pod.outcome.ended and key not in without
        ]
    found.sort(key=_first)
    # A pod that is made again alone is the one that failed, and one of a Standalone job has waited for no other.
    if takes_all_along(job, found) and job.launch_mode is not LaunchMode.STANDALONE:
        return [_never_ran(job, attempt, found[0]), *found[1:]]
    return found


def takes_all_along(job: Job, failures: Iterable[Failure]) -> bool:
    """Whether failures concern the whole job, and no pod alone."""
    return any(job.roles[failure.judged].restart_scope is RestartScope.JOB for failure in failures)


def follows(job: Job, status: Mapping[str, Any], attempt: Attempt, failure: Failure) -> bool:
    """Whether a pod fell because one that is replaced alone had, which the status has charged already.

    Args:
        job: the job.
        status: its status; `lastFailure` tells of the pod that fell first.
        attempt: the present one.
        failure: of a pod that takes the whole job along.
    """
    last = status.get("lastFailure") or {}
    role, time = Role.parse(last.get("role") or ""), parse_time(last.get("time"))
    if job.launch_mode is LaunchMode.STANDALONE or not _is_follower(failure) or last.get("attempt") != attempt.number:
        return False
    if role is None or role not in job.roles or time is None or failure.time is None:
        return False
    alone = job.roles[role].restart_scope is RestartScope.POD and last.get("pod") != failure.pod
    return alone and 0 <= (failure.time - time).total_seconds() <= FOLLOWS_SECONDS


def describe(failure: Failure) -> str:
    """The failure in a sentence."""
    if failure.reason == DELETED:
        return messages.POD_DELETED.format(pod=failure.pod)
    if failure.reason == NODE_LOST:
        return messages.POD_LOST.format(pod=failure.pod, node=failure.node or "of unknown name")
    if failure.reason == NEVER_RAN:
        return f"{messages.POD_NEVER_RAN.format(pod=failure.pod)}{f' ({failure.message})' if failure.message else ''}"
    cause = ": ".join(filter(None, (failure.reason, failure.message)))
    if failure.exit_code is None:
        return f"{messages.POD_FAILED.format(pod=failure.pod)} ({cause or 'no reason given'})"
    cause = "" if cause == "Error" else f" ({cause})" if cause else ""
    exited = messages.POD_EXITED.format(pod=failure.pod, container=failure.container, code=failure.exit_code)
    return f"{exited}{cause}"


def rejoins(job: Job, role: Role) -> bool:
    """Whether a lost pod of a role is made again alone: it works by itself, or the job can do without it."""
    dynamic = bool(job.spec.enable_dynamic_worker) and role is Role.WORKER
    return dynamic or job.roles[role].restart_scope is RestartScope.POD


def _candidates(job: Job, attempt: Attempt, lost: AbstractSet[str]) -> Iterator[Failure]:
    for pod in attempt.pods.values():
        if pod.outcome is Outcome.FAILED:
            yield _of(pod, disrupted=_put_out(pod) or bool(pod.reasons & DISRUPTIONS))
        elif pod.deleting and pod.started and pod.key not in attempt.completed and not rejoins(job, pod.role):
            reason = EVICTED if _put_out(pod) else DELETED
            # Its node was lost long before: what has ended since may have followed it.
            time = None if pod.given_up else pod.asked_to_go
            taken = _taken(pod, NODE_LOST if pod.given_up and pod.node in lost else reason, time)
            yield replace(taken, reasons=taken.reasons | {reason})
    if attempt.ran:
        for role, index in attempt.missing():
            if not rejoins(job, role):
                yield Failure(
                    job.pod_name(role, index),
                    role,
                    index,
                    reason=DELETED,
                    reasons=frozenset({DELETED}),
                    disrupted=True,
                    taken=True,
                    judged=role,
                )


def _put_out(pod: Pod) -> bool:
    """Whether the cluster says of a pod that it is put out: drained, preempted, or deleted for its node's sake."""
    return pod.conditions.get("DisruptionTarget") == "True"


def _taken(pod: Pod, reason: str, time: datetime | None) -> Failure:
    """What befell a pod that was taken away: whatever it exits with is only the answer to that."""
    return replace(
        _of(pod, disrupted=True),
        taken=True,
        container="",
        exit_code=None,
        reason=reason,
        message="",
        time=time,
        exit_codes={},
        reasons=pod.reasons | {reason},
        judged_code=None,
    )


def _of(pod: Pod, *, disrupted: bool) -> Failure:
    return Failure(
        pod=pod.name,
        role=pod.role,
        index=pod.index,
        uid=pod.uid,
        container=pod.container if pod.exit_code is not None else "",
        exit_code=pod.exit_code,
        reason=pod.reason,
        message=pod.message,
        time=pod.finished_at,
        node=pod.node,
        disrupted=disrupted,
        exit_codes=pod.exit_codes,
        conditions=pod.conditions,
        reasons=pod.reasons,
        judged=pod.role,
        judged_code=pod.exit_code,
    )


def _first(failure: Failure) -> tuple[datetime, bool, int, int]:
    return (failure.time or _EARLIEST, _is_follower(failure), _ORDER[failure.role], failure.index)


def _is_follower(failure: Failure) -> bool:
    """Whether a pod may have fallen because another one had."""
    return not failure.disrupted and failure.exit_code in _FOLLOWERS and failure.reason != "OOMKilled"


def _never_ran(job: Job, attempt: Attempt, failure: Failure) -> Failure:
    """The pod to blame when one exited because the cluster never formed.

    MindSpore gives up after its topology timeout, and who exits first is chance (measured). A pod that ran for that
    long while another never started waited for that one. A process that fails earlier fails by itself.
    """
    pod = attempt.pods.get((failure.role, failure.index))
    if attempt.ran or failure.disrupted or pod is None or pod.started_at is None or pod.finished_at is None:
        return failure
    if (pod.finished_at - pod.started_at).total_seconds() < job.topology_timeout:
        return failure
    for key in attempt.wanted:
        other = attempt.pods.get(key)
        if key in attempt.completed or (other is not None and (other.started or other.outcome is Outcome.FAILED)):
            continue
        trouble = other.trouble if other is not None else None
        return replace(
            failure,
            pod=job.pod_name(*key),
            role=key[0],
            index=key[1],
            uid="",
            container="",
            exit_code=None,
            reason=NEVER_RAN,
            reasons=failure.reasons | {NEVER_RAN},
            message=f"{trouble.reason}: {trouble.message}".strip(": ") if trouble is not None else "",
            node=other.node if other is not None else "",
        )
    return failure


def of_last_end(pod: Pod, end: End) -> Failure:
    """What befell a container that the kubelet has started again."""
    return replace(
        _of(pod, disrupted=False),
        container=meta.CONTAINER,
        exit_code=end.exit_code,
        reason=end.reason,
        message=end.message,
        time=end.finished_at,
    )


def record(failure: Failure, attempt: int, now: datetime, *, counts: bool) -> dict[str, Any]:
    """The failure as `status.lastFailure`.

    Args:
        failure: the failure.
        attempt: number of the attempt it ended.
        now: stands for a time that is not known.
        counts: whether a restart for it counts towards the limit.
    """
    known = {
        "pod": failure.pod,
        "role": failure.role.value,
        "index": failure.index,
        "container": failure.container or None,
        "exitCode": failure.exit_code,
        "reason": failure.reason[:REASON_LIMIT] or None,
        "message": cut(failure.message) or None,
        "time": format_time(failure.time or now),
        "node": failure.node or None,
        "attempt": attempt,
        "countsTowardsLimit": counts,
    }
    return {key: value for key, value in known.items() if value is not None}
