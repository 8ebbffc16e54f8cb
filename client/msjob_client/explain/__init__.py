"""Why a job is where it is: one sentence, what bears it out, and what to do. Pure functions of facts and the time."""

from datetime import datetime

from msjob.api import ConditionType
from msjob_client.explain import absent, alive, ending, halted
from msjob_client.explain.facts import Facts, Operator
from msjob_client.explanation import Explanation
from msjob_client.job import MSJob

__all__ = ["Facts", "Operator", "explain"]


def explain(facts: Facts, now: datetime) -> Explanation:
    """Explain a job.

    Args:
        facts: What the cluster says of it.
        now: The time.
    """
    if not facts.installed:
        return absent.not_installed(facts)
    if facts.job is None:
        return absent.not_found(facts, now)
    return _out_of_hand(facts, facts.job, now) or _at_work(facts, facts.job, now)


def _out_of_hand(facts: Facts, job: MSJob, now: datetime) -> Explanation | None:
    """A job that has ended, or that no operator acts on; None for any other."""
    if job.deleting is not None:
        return absent.deleting(facts, job, now)
    if job.succeeded:
        return ending.succeeded(facts, job, now)
    if job.failed:
        return ending.failed(facts, job, now)
    return absent.managed_elsewhere(job) if job.managed_by else absent.unattended(facts, job, now)


def _at_work(facts: Facts, job: MSJob, now: datetime) -> Explanation:
    """A job that an operator looks after."""
    if job.suspend:
        return halted.suspended(facts, job, now)
    if job.stalled is not None:
        return halted.stalled(facts, job, job.stalled, now)
    if job.running:
        return alive.running(facts, job, now)
    if job.is_true(ConditionType.RESTARTING):
        return alive.restarting(facts, job, now)
    return alive.starting(facts, job, now)
