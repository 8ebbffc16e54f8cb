"""Jobs that start, run, or are restarted."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from msjob.api import ConditionType, EventReason
from msjob_client.explain import blame, words
from msjob_client.explain.facts import Facts, timer
from msjob_client.explanation import Explanation, Kind
from msjob_client.job import Condition, MSJob
from msjob_client.pod import PodView
from msjob_client.reading import at, objects, text

NEAR: Final = 600.0
"""Seconds before a deadline from which on the verdict speaks of it."""
_USUAL: Final = frozenset({"", "ContainerCreating", "PodInitializing"})
_MOUNTS: Final = frozenset({"FailedMount", "FailedAttachVolume", "FailedBinding", "ProvisioningFailed"})
_SHOWN: Final = 3


def running(facts: Facts, job: MSJob, now: datetime) -> Explanation:
    """All pods that the job needs run."""
    condition = job.condition(ConditionType.RUNNING) or Condition("", "")
    deadline = timer(job.start_time, facts.policy("activeDeadlineSeconds"))
    near = deadline is not None and (deadline - now).total_seconds() < NEAR
    end = f", and fails {words.at(deadline, now)} unless it ends before" if deadline is not None and near else ""
    ready = f"{job.workers} Workers ready" if job.workers else ""
    lines = [
        f"{ready}." if ready else "",
        *_not_ready(facts),
        f"It fails {words.at(deadline, now)} unless it ends before (activeDeadlineSeconds)." if deadline else "",
        *_history(job, now),
    ]
    return Explanation(
        job=job.name,
        namespace=job.namespace,
        kind=Kind.RUNNING,
        state=job.state,
        reason=condition.reason,
        verdict=f"MSJob {job.name} runs{words.since(condition.changed, now)}{end}.",
        because=words.kept(lines),
        advice=("raise runPolicy.activeDeadlineSeconds now: it may be changed while the job runs",) if near else (),
        next_time=deadline,
    )


def restarting(facts: Facts, job: MSJob, now: datetime) -> Explanation:
    """The job is between two attempts."""
    condition = job.condition(ConditionType.RESTARTING) or Condition("", "")
    going = [pod for pod in facts.pods if pod.attempt < job.attempt]
    when = job.next_restart_time
    if when is not None and when > now:
        wait = f"its pods come {words.at(when, now)}"
    elif going:
        wait = f"it waits for {words.pods(going)} of the attempt before to go"
    elif facts.pods:
        wait = f"{_ready_of(facts.pods)} of attempt {job.attempt} run"
    else:
        wait = "its pods are being made"
    limit = facts.policy("backoffLimit")
    tally = f"{job.restarts_counted} of {limit} restarts are used up." if limit is not None else ""
    failure = job.last_failure
    return Explanation(
        job=job.name,
        namespace=job.namespace,
        kind=Kind.RESTARTING,
        state=job.state,
        reason=condition.reason,
        verdict=f"MSJob {job.name} is being restarted: {wait}.",
        because=words.kept(
            (
                words.said(job, condition.message),
                *(blame.because(failure) if failure is not None else ()),
                tally,
                *_starting(facts, now),
            )
        ),
        advice=words.kept((*_help(facts), *(blame.advice(facts, job, failure) if failure is not None else ()))),
        pod=failure.pod if failure is not None else "",
        node=failure.node if failure is not None else "",
        exit_code=failure.exit_code if failure is not None else None,
        next_time=when,
    )


def starting(facts: Facts, job: MSJob, now: datetime) -> Explanation:
    """Not all pods run yet."""
    deadline = timer(job.start_time, facts.policy("startupDeadlineSeconds"))
    limit = f"It fails {words.at(deadline, now)} unless all run by then (startupDeadlineSeconds)." if deadline else ""
    if not facts.pods:
        return Explanation(
            job=job.name,
            namespace=job.namespace,
            kind=Kind.WAITING,
            state=job.state,
            reason=job.reason,
            verdict=f"MSJob {job.name} has no pods yet: {_before_pods(facts, job)}.",
            because=words.kept((*_failed_creations(facts), limit)),
            next_time=deadline,
        )
    waiting = [pod for pod in facts.pods if not _runs(pod)]
    first = waiting[0] if waiting else None
    return Explanation(
        job=job.name,
        namespace=job.namespace,
        kind=Kind.STARTING,
        state=job.state,
        reason=_reason(first) if first is not None else job.reason,
        verdict=f"MSJob {job.name} is starting: {_ready_of(facts.pods)} run.",
        because=words.kept((*_starting(facts, now), limit, *_history(job, now))),
        advice=words.kept(_help(facts)),
        pod="" if first is None else first.name,
        node="" if first is None else first.node,
        next_time=deadline,
    )


def _before_pods(facts: Facts, job: MSJob) -> str:
    """What is to come before the first pod."""
    if not job.conditions:
        return "the operator has not looked at it yet"
    if "Scheduler" in job.roles and not any(text(at(item, "spec", "clusterIP")) for item in facts.services):
        return "its Service has no address yet, which they need as MS_SCHED_HOST"
    return "the operator is making them"


def _runs(pod: PodView) -> bool:
    main = pod.container()
    return pod.ended or (pod.phase == "Running" and (main is None or main.state != "waiting"))


def _ready_of(pods: Sequence[PodView]) -> str:
    return f"{sum(map(_runs, pods))} of {words.count(len(pods), 'pod')}"


def _reason(pod: PodView) -> str:
    if pod.unschedulable:
        return "Unschedulable"
    return next((view.reason for view in pod.containers if view.state == "waiting" and view.reason), "")


def _starting(facts: Facts, now: datetime) -> Iterator[str]:
    """What each pod that does not run waits for; pods that wait for the same are told of once."""
    found: dict[str, list[PodView]] = {}
    for pod in facts.pods:
        if not _runs(pod) and pod.deleting is None:
            found.setdefault(_wait(facts, pod, now), []).append(pod)
    for what, pods in list(found.items())[:_SHOWN]:
        name = words.pods(pods)
        yield f"{name[:1].upper()}{name[1:]}: {what}"


def _wait(facts: Facts, pod: PodView, now: datetime) -> str:
    gates = [text(item.get("name")) for item in objects(at(pod.raw, "spec", "schedulingGates"))]
    if gates:
        return f"held back by {words.listed(gates)}, until whoever set that takes it off."
    if pod.unschedulable:
        return words.sentence(f"no place: {pod.unschedulable}")
    if not pod.node:
        return "no node yet."
    return _container(pod, now) or _warning(facts, pod) or "on a node; images are pulled and containers are made."


def _container(pod: PodView, now: datetime) -> str:
    """What the first container says that waits for something unusual, or that others wait for."""
    for view in pod.containers:
        if view.state == "waiting" and view.reason not in _USUAL:
            return words.sentence(f"container {view.name}: {view.reason}: {view.message}".rstrip(": "))
        if view.init and not view.restarts_alone and view.state == "running":
            return f"init container {view.name} runs{words.since(view.started, now)}."
    return ""


def _warning(facts: Facts, pod: PodView) -> str:
    """The last warning about a pod."""
    told = next(iter(facts.warnings(pod.name)), None)
    if told is None:
        return ""
    times = f" ({told.count} times)" if told.count > 1 else ""
    return words.sentence(f"{told.reason}: {told.message}{times}")


def _help(facts: Facts) -> Iterator[str]:
    """Advice about pods that do not start, where their state or events call for some."""
    for pod in facts.pods:
        if _runs(pod):
            continue
        if pod.unschedulable:
            yield "compare what the pod asks for with what nodes have: `kubectl describe nodes`"
        if any(event.reason in _MOUNTS for event in facts.warnings(pod.name)):
            yield "see that all behind its volumes is there: `kubectl get pvc,configmap,secret`"


def _not_ready(facts: Facts) -> Iterator[str]:
    late = [pod for pod in facts.pods if pod.phase == "Running" and not pod.ready and pod.deleting is None]
    if late:
        name = words.pods(late)
        verb = "is" if len(late) == 1 else "are"
        why = "a probe says so, or a container beside mindspore has ended"
        yield f"{name[:1].upper()}{name[1:]} {verb} not ready: {why}."


def _failed_creations(facts: Facts) -> Iterator[str]:
    """The last warnings about what could not be made."""
    for event in facts.warnings(facts.name):
        if event.reason in (EventReason.FAILED_CREATE_POD, EventReason.FAILED_CREATE_SERVICE):
            yield words.sentence(event.message)


def _history(job: MSJob, now: datetime) -> Iterator[str]:
    if job.restarts and job.last_failure is not None:
        when = words.ago(job.last_failure.time, now)
        yield (
            f"It was restarted {words.count(job.restarts, 'time')}; the last one because {blame.what(job.last_failure)}"
            f"{' ' + when if when else ''}."
        )
