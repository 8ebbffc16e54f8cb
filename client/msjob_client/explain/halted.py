"""Jobs that are suspended, or that something keeps from going on."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from msjob.api import ConditionType, Reason
from msjob_client.explain import words
from msjob_client.explain.facts import Facts, suspender, timer
from msjob_client.explanation import Explanation, Kind
from msjob_client.job import Condition, MSJob

_VERDICTS: Final[Mapping[str, str]] = {
    Reason.UNSCHEDULABLE: "the scheduler finds no place for a pod",
    Reason.IMAGE_PULL: "an image cannot be pulled",
    Reason.CONTAINER_CONFIG: "a container cannot be made",
    Reason.CRASH_LOOP: "a container ends again and again",
    Reason.TERMINATING: "a pod of before does not go",
    Reason.SERVICE: "its Service has no address yet, which its pods need",
    Reason.QUOTA: "a quota of the namespace is used up",
    Reason.FORBIDDEN: "the operator may not make a pod",
    Reason.ADMISSION: "an admission webhook or policy denies a pod",
    Reason.NAME_TAKEN: "a name that it needs belongs to something else",
    Reason.CREATE_FAILED: "the API server could not make what it needs",
    Reason.RENDER_FAILED: "the construct of this site failed on it",
}
_ADVICE: Final[Mapping[str, tuple[str, ...]]] = {
    Reason.UNSCHEDULABLE: (
        "compare resources, nodeSelector and tolerations of the pod with what nodes have: `kubectl describe nodes`",
        "lower the requests or the number of Workers, or wait until nodes are free",
    ),
    Reason.IMAGE_PULL: (
        "check the name and tag of the image, and that the nodes reach the registry",
        "for a private registry name a Secret in imagePullSecrets of the pod template",
    ),
    Reason.CONTAINER_CONFIG: ("make the ConfigMap or Secret that the message names, in the namespace of the job",),
    Reason.CRASH_LOOP: ("read what the container says last: `msjob logs {job} -n {namespace}`",),
    Reason.TERMINATING: ("look at the node that the message names: `kubectl describe node`",),
    Reason.SERVICE: ("if it lasts, the range of Service addresses of the cluster may be used up",),
    Reason.QUOTA: (
        "see what is used with `kubectl describe resourcequota -n {namespace}`",
        "free some of it, lower the requests of the job, or ask for a larger quota",
    ),
    Reason.FORBIDDEN: (
        "ask an administrator to look at the rights of the operator, and at the limits of the namespace",
    ),
    Reason.ADMISSION: ("change the pod template as the message asks, or ask who keeps the policy",),
    Reason.NAME_TAKEN: ("delete or rename the object that the message names, or submit the job by another name",),
    Reason.CREATE_FAILED: ("the operator goes on trying; look at the API server if it lasts",),
    Reason.RENDER_FAILED: ("ask who keeps the construct; the log of the operator has all of it",),
}


def suspended(facts: Facts, job: MSJob, now: datetime) -> Explanation:
    """The job is suspended, or about to be."""
    condition = job.condition(ConditionType.SUSPENDED)
    time, manager = suspender(job)
    who = f"{manager or 'Somebody'} set runPolicy.suspend {words.ago(time, now)}." if time is not None else ""
    if condition is not None and condition.true:
        return Explanation(
            job=job.name,
            namespace=job.namespace,
            kind=Kind.SUSPENDED,
            state=job.state,
            reason=condition.reason,
            verdict=f"MSJob {job.name} is suspended{words.since(condition.changed, now)}.",
            because=words.kept((who, "It has no pods while that lasts, and no time limit runs.")),
            advice=(
                f"`msjob resume {job.name} -n {job.namespace}` lets it run; a queue such as Kueue does so by itself",
            ),
        )
    left = [pod for pod in facts.pods if not pod.ended]
    stalled = job.stalled
    lines = [
        who,
        f"It waits for {words.pods(left)} to go." if left else "",
        words.sentence(stalled.message) if stalled is not None else "",
    ]
    return Explanation(
        job=job.name,
        namespace=job.namespace,
        kind=Kind.SUSPENDING,
        state=job.state,
        reason=stalled.reason if stalled is not None else "",
        verdict=f"MSJob {job.name} is being suspended: its pods are told to go.",
        because=words.kept(lines),
        advice=_advice(job, stalled) if stalled is not None else (),
    )


def stalled(facts: Facts, job: MSJob, found: Condition, now: datetime) -> Explanation:
    """Something keeps the job from going on, and the operator has said what."""
    verdict = _VERDICTS.get(found.reason, found.reason)
    state = f" (it is {job.state} all the same)" if job.running else ""
    pod = next((pod for pod in facts.pods if pod.name in found.message), None)
    deadline = None
    if not job.running:
        deadline = timer(job.start_time, facts.policy("startupDeadlineSeconds")) if not _was_ready(job) else None
        deadline = deadline or timer(job.start_time, facts.policy("activeDeadlineSeconds"))
    return Explanation(
        job=job.name,
        namespace=job.namespace,
        kind=Kind.STALLED,
        state=job.state,
        reason=found.reason,
        verdict=f"MSJob {job.name} cannot go on{words.since(found.changed, now)}: {verdict}{state}.",
        because=words.kept(
            (
                words.sentence(found.message),
                f"The operator goes on trying; the job fails {words.at(deadline, now)} if that does not help."
                if deadline is not None
                else "",
            )
        ),
        advice=_advice(job, found),
        pod="" if pod is None else pod.name,
        node="" if pod is None else pod.node,
        next_time=deadline,
    )


def _was_ready(job: MSJob) -> bool:
    status = job.raw.get("status")
    return isinstance(status, Mapping) and status.get("readyAttempt") is not None


def _advice(job: MSJob, found: Condition) -> tuple[str, ...]:
    return tuple(text.format(job=job.name, namespace=job.namespace) for text in _ADVICE.get(found.reason, ()))
