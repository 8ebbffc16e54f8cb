"""The numbers of a status: pods by role and outcome."""

from typing import Any

from msjob.api import Job, Role
from msjob.workload import labels
from msjob_controller.policy.observed import Observed, Outcome

Counts = dict[str, dict[str, Any]]


def replica_statuses(job: Job, observed: Observed) -> Counts:
    """Count pods of each role: active (running), succeeded, failed, and the selector that finds them."""
    counts: Counts = {}
    for role in job.roles:
        outcomes = [pod.outcome for pod in observed.pods.values() if pod.role is role]
        selector = ",".join(f"{key}={value}" for key, value in labels.selector(job, role).items())
        counts[role.value] = {
            "active": outcomes.count(Outcome.RUNNING),
            "succeeded": outcomes.count(Outcome.SUCCEEDED),
            "failed": outcomes.count(Outcome.FAILED),
            "selector": selector,
        }
    return counts


def at_success(counts: Counts) -> Counts:
    """Counts of a job that succeeded: what still runs has done its part (the Go operator's rule)."""
    return {
        role: {**count, "active": 0, "succeeded": count["succeeded"] + count["active"]}
        for role, count in counts.items()
    }


def inactive(counts: Counts) -> Counts:
    """Counts of a job whose running pods are being removed."""
    return {role: {**count, "active": 0} for role, count in counts.items()}


def workers_ready(job: Job, counts: Counts) -> str | None:
    """Workers that run or are done, of those wanted: `3/4`. None for a job without Workers."""
    wanted = job.replicas(Role.WORKER)
    count = counts.get(Role.WORKER.value)
    return f"{count['active'] + count['succeeded']}/{wanted}" if count and wanted else None


def all_running(job: Job, observed: Observed) -> bool:
    """Whether every pod of the job runs or has succeeded, and one still runs.

    With `enableDynamicWorker` failed Workers do not count.
    """
    pods = [observed.pods.get((role, index)) for role in job.roles for index in range(job.replicas(role))]
    dynamic = bool(job.spec.enable_dynamic_worker)
    outcomes = [
        Outcome.PENDING if pod is None or pod.deleting else pod.outcome
        for pod in pods
        if not (dynamic and pod is not None and pod.role is Role.WORKER and pod.outcome is Outcome.FAILED)
    ]
    return Outcome.RUNNING in outcomes and all(o in (Outcome.RUNNING, Outcome.SUCCEEDED) for o in outcomes)
