"""A job that is to run and nothing is wrong with: what is missing is made, Service first, and what has to go goes."""

from dataclasses import replace
from typing import Any, NamedTuple

from msjob.api import ConditionType, Reason
from msjob_controller.policy import conditions, counts, deadline, messages, restart
from msjob_controller.policy.attempt import keys
from msjob_controller.policy.decision import Decision, Event, EventType
from msjob_controller.policy.observed import PodKey
from msjob_controller.policy.situation import Situation

Status = dict[str, Any]


class _Replacing(NamedTuple):
    """Pods that are replaced alone.

    Attributes:
        status: with the replacements that are still open.
        delete: failed pods that have to go.
        held: pods that must not be made yet.
        waits: seconds until each of those may be.
    """

    status: Status
    delete: tuple[PodKey, ...]
    held: frozenset[PodKey]
    waits: list[float]


def proceed(at: Situation, status: Status) -> Decision:
    """Decide about a job that goes on.

    Pods of earlier attempts are waited for until they are gone, also those that hang: two processes with one rank would
    spoil each other's checkpoints. A restart that has to wait does so with its Service in place.

    Args:
        at: the job.
        status: its status so far.
    """
    job, attempt = at.job, at.attempt
    status, events = _states(at, status)
    replacing = _replacing(at, status)
    status = replacing.status
    pause = restart.wait(status, at.now)
    waits = (*deadline.timers(job, status, at.now), *replacing.waits, pause)
    decision = Decision(
        status,
        delete_pods=keys(attempt.old) + keys(attempt.surplus) + replacing.delete,
        events=events,
        requeue_after=min((wait for wait in waits if wait), default=None),
    )
    service = at.observed.service
    if job.host_role is not None and service is None:
        return replace(decision, create_service=True)
    if job.host_role is not None and service is not None and (service.deleting or not service.cluster_ip):
        return decision
    if attempt.old or pause is not None:
        return decision
    if service is not None and service.port not in (None, job.port) and not attempt.pods:
        # The Go operator's, of a job with hostNetwork: the next Scheduler listens elsewhere.
        return replace(decision, delete_service=True)
    missing = attempt.missing()
    return replace(
        decision,
        status={key: value for key, value in status.items() if key != "nextRestartTime"},
        create_pods=tuple(key for key in missing if key not in replacing.held),
        create_autoscaler=job.spec.elastic_policy is not None and at.observed.autoscaler is None and not missing,
    )


def _states(at: Situation, status: Status) -> tuple[Status, tuple[Event, ...]]:
    """Running once all pods run, and how many are ready."""
    listed = status["conditions"]
    events: tuple[Event, ...] = ()
    if counts.all_running(at.attempt, at.without) and not conditions.is_true(listed, ConditionType.RUNNING):
        message = messages.RUNNING.format(job=at.name)
        listed = conditions.put(listed, ConditionType.RUNNING, Reason.RUNNING, message, at.now)
        events = (Event(EventType.NORMAL, Reason.RUNNING, message),)
    good, wanted = counts.ready(at.attempt, at.without)
    reason = Reason.PODS_READY if good == wanted else Reason.PODS_NOT_READY
    # Without numbers, which would be old at once: the message stands as long as the reason does.
    message = messages.PODS_READY if good == wanted else messages.PODS_NOT_READY
    listed = conditions.put(listed, ConditionType.PODS_READY, reason, message, at.now, status=good == wanted)
    return {**status, "conditions": listed}, events


def _replacing(at: Situation, status: Status) -> _Replacing:
    """See what becomes of the pods that are replaced alone."""
    attempt = at.attempt
    unfinished = restart.replacements(status, attempt)
    uids = {entry["uid"] for entry in unfinished}
    held = {entry["pod"]: left for entry in unfinished if (left := restart.time_left(entry, at.now)) is not None}
    there = {pod.name for pod in attempt.pods.values()}
    # A replacement whose pod is gone and whose time has come is done: its successor is made in this very pass.
    kept = [entry for entry in unfinished if entry["pod"] in there or entry["pod"] in held]
    rest = {key: value for key, value in status.items() if key != "replacements"}
    return _Replacing(
        status={**rest, **({"replacements": kept} if kept else {})},
        delete=keys(pod for pod in attempt.pods.values() if pod.uid in uids),
        held=frozenset(key for key in attempt.missing() if at.job.pod_name(*key) in held),
        waits=list(held.values()),
    )
