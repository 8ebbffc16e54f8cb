"""When a job has failed, and which pod is to blame."""

from datetime import UTC, datetime
from typing import Final

from msjob.api import Job, Role
from msjob_controller.policy.observed import Observed, Outcome, Pod

_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


def culprit(job: Job, observed: Observed) -> Pod | None:
    """The pod whose failure fails the job.

    It is the one that ended first, never inferred from the exit code: 1, 137 and 143 can all be codes of pods that only
    followed (measured). Times have whole seconds; a tie goes to a Worker before the Scheduler, which falls with its
    Workers, then to the lowest index. A pod without a time did not end through its container: it was evicted, lost its
    node or could not start, which no follower does, so it comes before all others.

    With `enableDynamicWorker` a failed Worker is to blame only when every Worker has failed.

    Returns:
        The pod, or None if the job has not failed.
    """
    failed = [
        pod for pod in observed.pods.values() if pod.outcome is Outcome.FAILED and pod.index < job.replicas(pod.role)
    ]
    if job.spec.enable_dynamic_worker:
        lost = sum(pod.role is Role.WORKER for pod in failed)
        if lost < job.replicas(Role.WORKER):
            failed = [pod for pod in failed if pod.role is not Role.WORKER]
    return min(failed, key=_blame, default=None)


def describe(pod: Pod) -> str:
    """The failure in a sentence."""
    if pod.exit_code is None:
        return f"pod {pod.name} failed ({pod.cause or 'no reason given'})"
    cause = "" if pod.cause in ("", "Error") else f" ({pod.cause})"
    return f"pod {pod.name} failed: container mindspore exited with code {pod.exit_code}{cause}"


def _blame(pod: Pod) -> tuple[datetime, bool, str, int]:
    return (pod.finished_at or _EARLIEST, pod.role is Role.SCHEDULER, pod.role.value, pod.index)
