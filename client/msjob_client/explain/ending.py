"""Jobs that have ended."""

from collections.abc import Iterator
from datetime import datetime

from msjob.api import ConditionType, Reason
from msjob_client.explain import blame, words
from msjob_client.explain.facts import Facts, timer
from msjob_client.explanation import Explanation, Kind
from msjob_client.job import Condition, MSJob


def succeeded(facts: Facts, job: MSJob, now: datetime) -> Explanation:
    """The job has done its work."""
    condition = job.condition(ConditionType.SUCCEEDED) or Condition("", "")
    took = ""
    if job.start_time is not None and job.completion_time is not None:
        took = f" after {words.span((job.completion_time - job.start_time).total_seconds())}"
    expiry = _expiry(facts, job)
    return Explanation(
        job=job.name,
        namespace=job.namespace,
        kind=Kind.SUCCEEDED,
        state=job.state,
        reason=condition.reason,
        verdict=f"MSJob {job.name} succeeded{_when(job, now)}{took}.",
        because=words.kept((words.said(job, condition.message), _restarts(job), *_expires(expiry, now))),
        exit_code=0,
        next_time=expiry,
    )


def failed(facts: Facts, job: MSJob, now: datetime) -> Explanation:
    """The job has failed: why, and what to do."""
    condition = job.condition(ConditionType.FAILED) or Condition("", "")
    failure = job.last_failure
    expiry = _expiry(facts, job)
    guilty = failure if failure is not None and condition.reason in (Reason.FAILED, Reason.BACKOFF_LIMIT) else None
    advice: list[str] = list(_advice(facts, job, condition))
    lines = [words.said(job, condition.message)]
    if failure is not None:
        if guilty is None and condition.reason != Reason.FAILED_VALIDATION:
            lines.append(f"Before that {blame.what(failure)}.")
        if condition.reason != Reason.FAILED_VALIDATION:
            lines += blame.because(failure)
            advice = [*blame.advice(facts, job, failure), *advice]
    again = f"`msjob submit --replace -n {job.namespace} -f FILE` runs it anew, once that is mended"
    return Explanation(
        job=job.name,
        namespace=job.namespace,
        kind=Kind.FAILED,
        state=job.state,
        reason=condition.reason,
        verdict=f"MSJob {job.name} failed{_when(job, now)}: {_cause(facts, job, condition)}.",
        because=words.kept((*lines, _restarts(job), *_expires(expiry, now))),
        advice=words.kept((*advice, again)),
        pod=failure.pod if failure is not None else "",
        node=failure.node if failure is not None else "",
        exit_code=failure.exit_code if failure is not None else None,
        next_time=expiry,
    )


def _cause(facts: Facts, job: MSJob, condition: Condition) -> str:
    """Half a sentence about the end."""
    match condition.reason:
        case Reason.DEADLINE:
            limit = facts.policy("activeDeadlineSeconds")
            return f"it ran longer than the {limit} s of activeDeadlineSeconds" if limit else "activeDeadlineSeconds"
        case Reason.STARTUP_DEADLINE:
            limit = facts.policy("startupDeadlineSeconds")
            said = f" of {limit} s" if limit else ""
            return f"not all of its pods ran within startupDeadlineSeconds{said}"
        case Reason.FAILED_VALIDATION:
            return "it breaks a rule"
    if job.last_failure is None:
        return "a pod failed"
    limit = facts.policy("backoffLimit")
    used = f", and backoffLimit {limit} is used up" if condition.reason == Reason.BACKOFF_LIMIT else ""
    return f"{blame.what(job.last_failure)}{used}"


def _advice(facts: Facts, job: MSJob, condition: Condition) -> Iterator[str]:
    match condition.reason:
        case Reason.DEADLINE:
            yield "raise runPolicy.activeDeadlineSeconds, or let the program go on from its last checkpoint"
        case Reason.STARTUP_DEADLINE:
            yield f"`kubectl get events -n {job.namespace}` tells for an hour why pods did not run"
            yield "raise runPolicy.startupDeadlineSeconds if nodes or images take that long"
        case Reason.FAILED_VALIDATION:
            yield "mend what the message names; `msjob validate -f FILE` finds the line"
        case Reason.BACKOFF_LIMIT:
            yield "mend the cause before raising runPolicy.backoffLimit"
        case Reason.FAILED if job.last_failure is not None and not facts.policy("backoffLimit"):
            yield "restartPolicy OnFailure with a backoffLimit lets a job try again by itself"


def _when(job: MSJob, now: datetime) -> str:
    ended = words.ago(job.completion_time, now)
    return f" {ended}" if ended else ""


def _restarts(job: MSJob) -> str:
    if not job.restarts:
        return ""
    counted = f", {job.restarts_counted} of them counted" if job.restarts_counted != job.restarts else ""
    return f"It was restarted {words.count(job.restarts, 'time')}{counted}."


def _expiry(facts: Facts, job: MSJob) -> datetime | None:
    """When a finished job is deleted; one that is suspended stays."""
    return None if job.suspend else timer(job.completion_time, facts.policy("ttlSecondsAfterFinished"))


def _expires(expiry: datetime | None, now: datetime) -> Iterator[str]:
    if expiry is not None:
        yield f"It is deleted {words.at(expiry, now)} (ttlSecondsAfterFinished)."
