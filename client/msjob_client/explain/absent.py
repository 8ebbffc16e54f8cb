"""Jobs that are not there, or that nobody here acts on."""

from datetime import datetime
from typing import Final

from msjob.api import EventReason, meta
from msjob_client.explain import words
from msjob_client.explain.facts import OPERATOR_LABEL, Facts, changed
from msjob_client.explanation import Explanation, Kind
from msjob_client.job import MSJob

PATIENCE: Final = 10.0
"""Seconds within which an operator that is there has acted on a change: it does so within one, and starts in five."""

_INSTALL: Final = "install the operator: `kubectl apply -f dist/`, or `make install` and `make run` to try it"


def not_installed(facts: Facts) -> Explanation:
    """The cluster knows no MSJobs."""
    return Explanation(
        job=facts.name,
        namespace=facts.namespace,
        kind=Kind.NOT_INSTALLED,
        verdict="This cluster knows no MSJobs.",
        because=(f"The CustomResourceDefinition {meta.CRD_NAME} is not installed.",),
        advice=(_INSTALL,),
    )


def not_found(facts: Facts, now: datetime) -> Explanation:
    """There is no such job; perhaps there was one, or there is one elsewhere."""
    lines, advice = [], []
    expired = [event for event in facts.events if event.reason == EventReason.DELETED_JOB]
    if expired:
        lines.append(f"One was deleted {words.ago(expired[-1].time, now)}, as its ttlSecondsAfterFinished had passed.")
    elif facts.events:
        lines.append(f"There was one: its last event came {words.ago(facts.events[-1].time, now)}.")
    if facts.elsewhere:
        lines.append(f"One of that name is in {words.listed(f'namespace {name}' for name in facts.elsewhere)}.")
        advice.append(f"`msjob why {facts.name} -n {facts.elsewhere[0]}`")
    else:
        advice.append("`msjob get -A` lists the jobs of all namespaces")
    return Explanation(
        job=facts.name,
        namespace=facts.namespace,
        kind=Kind.NOT_FOUND,
        verdict=f"There is no MSJob {facts.name} in namespace {facts.namespace}.",
        because=tuple(lines),
        advice=tuple(advice),
    )


def managed_elsewhere(job: MSJob) -> Explanation:
    """Another controller runs the job."""
    return Explanation(
        job=job.name,
        namespace=job.namespace,
        kind=Kind.MANAGED_ELSEWHERE,
        state=job.state,
        verdict=f"MSJob {job.name} is left to {job.managed_by}, and the operator of this cluster does not touch it.",
        because=words.kept(("spec.managedBy, or runPolicy.managedBy, names it.", words.said(job, job.message))),
        advice=(
            "look for the job in the cluster that it was sent to"
            if job.managed_by == meta.MANAGED_BY_MULTIKUEUE
            else f"ask {job.managed_by} about it",
            "a job for this operator is submitted without managedBy: the field cannot be changed",
        ),
    )


def unattended(facts: Facts, job: MSJob, now: datetime) -> Explanation | None:
    """No operator has acted on the job, or on its last change, though there was time to. None if one has."""
    last, _ = changed(job)
    if job.conditions and job.generation <= job.observed_generation:
        return None
    if last is not None and (now - last).total_seconds() < PATIENCE:
        return None
    when = words.ago(last, now)
    seen = f"was last changed {when}" if job.conditions else f"was created {when}"
    done = "that is not in its status" if job.conditions else "has no status"
    lines = [f"It {seen} and {done}." if when else f"It {done}."]
    advice = []
    if facts.operators is None:
        lines.append("Whether the operator is there cannot be seen with your rights.")
        advice.append(f"ask an administrator whether the operator runs: Deployments labelled {OPERATOR_LABEL}")
    elif not facts.operators:
        lines.append("No namespace has a Deployment of the operator; it may also run outside the cluster.")
        advice.append(_INSTALL)
    for found in facts.operators or ():
        where = f"Deployment {found.name} in namespace {found.namespace}"
        lines.append(f"{where} has {found.ready} of {words.count(found.wanted, 'replica')} ready.")
        if found.wanted == 0:
            advice.append(f"`kubectl scale -n {found.namespace} deployment/{found.name} --replicas=1`")
        advice.append(f"`kubectl logs -n {found.namespace} deployment/{found.name}` says what it does")
    return Explanation(
        job=job.name,
        namespace=job.namespace,
        kind=Kind.NO_OPERATOR,
        state=job.state,
        verdict=f"No operator acts on MSJob {job.name}.",
        because=tuple(lines),
        advice=words.kept(advice),
    )


def deleting(facts: Facts, job: MSJob, now: datetime) -> Explanation:
    """The job is on its way out."""
    lines = []
    if facts.pods:
        lines.append(f"{words.count(len(facts.pods), 'pod')} of it {'is' if len(facts.pods) == 1 else 'are'} left.")
    listed = job.raw["metadata"].get("finalizers") if "metadata" in job.raw else None
    finalizers = [item for item in listed if isinstance(item, str)] if isinstance(listed, list) else []
    own = [name for name in finalizers if name != "foregroundDeletion"]
    if own:
        lines.append(f"It goes once {words.listed(own)} {'is' if len(own) == 1 else 'are'} taken off its finalizers.")
    elif finalizers:
        lines.append("It goes once all it owns is gone.")
    stuck = [pod for pod in facts.pods if pod.deleting is not None and pod.deleting < now]
    advice = [f"look at {words.pods(stuck)}, which should be gone: at its node, and its finalizers"] if stuck else []
    return Explanation(
        job=job.name,
        namespace=job.namespace,
        kind=Kind.DELETING,
        state=job.state,
        verdict=f"MSJob {job.name} is being deleted{words.since(job.deleting, now)}.",
        because=tuple(lines),
        advice=tuple(advice),
    )
