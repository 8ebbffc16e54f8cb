"""What keeps a job from going on, read from its pods: the pod and the cause in words."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from msjob.api import ConditionType, Job, Reason, meta
from msjob_controller.policy import conditions, messages
from msjob_controller.policy.attempt import Attempt
from msjob_controller.policy.observed import Observed, Outcome, Pod
from msjob_controller.policy.times import parse_time, remaining

TERMINATING_SECONDS: Final = 30.0
"""How long after its deletion timestamp a pod counts as stuck: kubelets are a little late when a node is busy."""
HOLD_SECONDS: Final = 300.0
"""How long a container must run, after the kubelet's last try, until its crash loop counts as over: the kubelet's
longest pause. Without it each try would change the condition twice."""
REFRESH_SECONDS: Final = 30.0
"""How long a message stands before another takes its place: the scheduler's text changes all the time."""

_REASONS: Final = {
    "Unschedulable": Reason.UNSCHEDULABLE,
    "CrashLoopBackOff": Reason.CRASH_LOOP,
    "CreateContainerConfigError": Reason.CONTAINER_CONFIG,
    "CreateContainerError": Reason.CONTAINER_CONFIG,
    "RunContainerError": Reason.CONTAINER_CONFIG,
}
_FROM_PODS: Final = frozenset(
    {
        Reason.IMAGE_PULL,
        Reason.CONTAINER_CONFIG,
        Reason.CRASH_LOOP,
        Reason.UNSCHEDULABLE,
        Reason.TERMINATING,
        Reason.SERVICE,
    }
)
_ORDER: Final = (
    Reason.TERMINATING,
    Reason.IMAGE_PULL,
    Reason.CONTAINER_CONFIG,
    Reason.CRASH_LOOP,
    Reason.UNSCHEDULABLE,
)


class Cause(NamedTuple):
    """Why a job does not go on.

    Attributes:
        reason: of the condition.
        message: names the pod.
    """

    reason: Reason
    message: str


def cause(job: Job, attempt: Attempt, observed: Observed, now: datetime) -> Cause | None:
    """What keeps the job from going on, if pods or Service show it; what hinders making them only the shell knows."""
    found: dict[Reason, list[tuple[Pod, str]]] = {}
    for pod in observed.pods.values():
        if pod.deleting:
            if _overdue(pod, observed, now) == 0:
                found.setdefault(Reason.TERMINATING, []).append((pod, _hangs(job, pod, observed)))
        elif pod.key in attempt.pods and (told := _hindered(pod)) is not None:
            found.setdefault(told[0], []).append((pod, told[1]))
    for reason in _ORDER:
        if reason in found:
            pods = sorted(found[reason], key=lambda item: (item[0].role, item[0].index))
            text = messages.STALLED if len(pods) == 1 else messages.STALLED_PODS
            return Cause(reason, text.format(pod=pods[0][0].name, what=pods[0][1], more=len(pods) - 1))
    service = observed.service
    if job.suspended or job.host_role is None or service is None or service.deleting or service.cluster_ip:
        return None
    return Cause(Reason.SERVICE, messages.NO_ADDRESS.format(service=service.name)) if attempt.missing() else None


def update(
    listed: list[dict[str, Any]], found: Cause | None, observed: Observed, now: datetime, *, missing: bool
) -> tuple[list[dict[str, Any]], bool]:
    """The conditions with `Stalled` as it should be.

    Args:
        listed: the conditions so far.
        found: what the pods show.
        observed: what the job owns.
        now: current time.
        missing: pods are still to be made: a Stalled that the shell has set because it could not stays.

    Returns:
        The conditions, and whether a stall is new or has another reason, so that it is worth an event.
    """
    before = conditions.find(listed, ConditionType.STALLED)
    stalled = before is not None and before.get("status") == "True"
    if found is not None:
        new = not stalled or before is None or before.get("reason") != found.reason
        stale = before is not None and not _stands(before, now)
        return conditions.put(listed, ConditionType.STALLED, found.reason, found.message, now, refresh=stale), new
    if not stalled or before is None:
        return listed, False
    reason = before.get("reason")
    if (missing and reason not in _FROM_PODS) or _hold(before, observed, now):
        return listed, False
    message = messages.RESOLVED
    return conditions.put(listed, ConditionType.STALLED, Reason.RESOLVED, message, now, status=False), False


def told(listed: Sequence[dict[str, Any]], found: Cause | None) -> str:
    """What keeps a job from going on, for the message of its end, after which nothing else tells it any more.

    Args:
        listed: the conditions, whose `Stalled` may tell what the shell has met.
        found: what the pods show; it is newer.
    """
    if found is not None:
        return found.message.rstrip(".")
    before = conditions.find(listed, ConditionType.STALLED)
    return "" if before is None or before.get("status") != "True" else str(before.get("message") or "").rstrip(".")


def timers(listed: Iterable[Mapping[str, Any]], observed: Observed, now: datetime) -> list[float | None]:
    """Seconds until something here changes although nothing happens."""
    waits: list[float | None] = [_overdue(pod, observed, now) for pod in observed.pods.values() if pod.deleting]
    return [*waits, *(_hold(item, observed, now) for item in listed if item.get("type") == ConditionType.STALLED)]


def outdated(listed: Sequence[dict[str, Any]], found: Cause | None, now: datetime) -> float | None:
    """Seconds until the message of `Stalled` is replaced by what the pods show by now; None if it says just that."""
    told = conditions.find(listed, ConditionType.STALLED)
    if found is None or told is None or told.get("message") == conditions.cut(found.message):
        return None
    return _stands(told, now)


def _hindered(pod: Pod) -> tuple[Reason, str] | None:
    """A pod that does not get to run its `mindspore` container. A sidecar's trouble beside it hinders nothing."""
    trouble = pod.trouble
    if trouble is None or pod.outcome.ended:
        return None
    if pod.outcome is Outcome.RUNNING and pod.started and trouble.container not in ("", meta.CONTAINER):
        return None
    what = ": ".join(filter(None, (trouble.reason, trouble.message)))
    if trouble.container:
        what = messages.IN_CONTAINER.format(container=trouble.container, what=what)
    return _REASONS.get(trouble.reason, Reason.IMAGE_PULL), what


def _overdue(pod: Pod, observed: Observed, now: datetime) -> float | None:
    """Seconds until a pod that is being deleted counts as stuck: when its grace is over if its node is lost."""
    if pod.gone_by is None:
        return None
    slack = 0.0 if pod.node in observed.lost_nodes else TERMINATING_SECONDS
    return max(0.0, (pod.gone_by - now).total_seconds() + slack)


def _hangs(job: Job, pod: Pod, observed: Observed) -> str:
    if pod.node not in observed.lost_nodes:
        return messages.HANGS.format(node=pod.node or "(none)")
    limit = job.run_policy.force_delete_after_seconds
    hope = messages.HOPE_BY_HAND if limit is None else messages.HOPE_BY_FORCE.format(seconds=limit)
    return messages.HANGS_ON_LOST_NODE.format(node=pod.node, hope=hope)


def _stands(condition: Mapping[str, Any], now: datetime) -> float | None:
    """Seconds for which the message of a condition still stands."""
    return remaining(parse_time(condition.get("lastUpdateTime")), REFRESH_SECONDS, now)


def _hold(condition: Mapping[str, Any], observed: Observed, now: datetime) -> float | None:
    """Seconds until a crash loop that shows no more counts as over."""
    if condition.get("status") != "True" or condition.get("reason") != Reason.CRASH_LOOP:
        return None
    tries = (pod.started_at for pod in observed.pods.values() if pod.restart_count)
    since = max(filter(None, (parse_time(condition.get("lastUpdateTime")), *tries)), default=None)
    return remaining(since, HOLD_SECONDS, now)
