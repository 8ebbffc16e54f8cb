"""The numbers of a status: pods by role and outcome."""

from collections.abc import Set as AbstractSet
from typing import Any

from msjob.api import Job, Role
from msjob.workload import labels
from msjob_controller.policy import indexes
from msjob_controller.policy.attempt import Attempt
from msjob_controller.policy.observed import Observed, Outcome, PodKey

Counts = dict[str, dict[str, Any]]


def replica_statuses(
    job: Job, attempt: Attempt, observed: Observed, without: AbstractSet[PodKey] = frozenset()
) -> Counts:
    """Count pods of each role, and remember which pods need not come back.

    Active are all pods that run, those of an earlier attempt too, as long as they hold what they have. Succeeded and
    failed are pods of the present attempt.
    """
    counts: Counts = {}
    for role in job.roles:
        running = sum(pod.role is role and pod.outcome is Outcome.RUNNING for pod in observed.pods.values())
        failed = sum(key[0] is role and pod.outcome is Outcome.FAILED for key, pod in attempt.pods.items())
        done = [index for found, index in attempt.completed if found is role]
        selector = ",".join(f"{key}={value}" for key, value in labels.selector(job, role).items())
        counts[role.value] = {"active": running, "succeeded": len(done), "failed": failed, "selector": selector}
        if done:
            counts[role.value]["completedIndexes"] = indexes.text(done)
        if left_out := [index for found, index in without if found is role]:
            counts[role.value]["ignoredIndexes"] = indexes.text(left_out)
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


def workers_ready(job: Job, attempt: Attempt) -> str | None:
    """Workers of the present attempt that run or are done, of those wanted: `3/4`. None for a job without Workers."""
    wanted = job.replicas(Role.WORKER)
    outcomes = [attempt.outcome(key) for key in attempt.of(Role.WORKER)]
    return f"{sum(o in (Outcome.RUNNING, Outcome.SUCCEEDED) for o in outcomes)}/{wanted}" if wanted else None


def all_running(attempt: Attempt, without: AbstractSet[PodKey]) -> bool:
    """Whether every pod of the attempt runs or has succeeded, and one still runs.

    Args:
        attempt: the present one.
        without: failed pods that the job goes on without.
    """
    outcomes = [
        Outcome.PENDING if key not in attempt.completed and _leaves(attempt, key) else attempt.outcome(key)
        for key in attempt.wanted
        if key not in without
    ]
    return Outcome.RUNNING in outcomes and all(o in (Outcome.RUNNING, Outcome.SUCCEEDED) for o in outcomes)


def _leaves(attempt: Attempt, key: PodKey) -> bool:
    return key in attempt.pods and attempt.pods[key].deleting


def all_started(attempt: Attempt, without: AbstractSet[PodKey]) -> bool:
    """Whether every pod of the attempt has run, whatever has become of it since.

    Args:
        attempt: the present one.
        without: failed pods that the job goes on without.
    """
    return bool(attempt.wanted) and all(
        key in attempt.completed or key in without or (key in attempt.pods and attempt.pods[key].started)
        for key in attempt.wanted
    )


def ready(attempt: Attempt, without: AbstractSet[PodKey]) -> tuple[int, int]:
    """How many pods of the attempt are ready or have succeeded, and how many it needs."""
    keys = [key for key in attempt.wanted if key not in without]
    good = sum(
        key in attempt.completed or (key in attempt.pods and attempt.pods[key].ready and not attempt.pods[key].deleting)
        for key in keys
    )
    return good, len(keys)
