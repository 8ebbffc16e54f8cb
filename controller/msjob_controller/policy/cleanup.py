"""What is left of a job that has ended."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from msjob.api import CleanPodPolicy, Job
from msjob_controller.policy import settle
from msjob_controller.policy.attempt import is_old
from msjob_controller.policy.observed import Observed, Outcome, Pod, PodKey


class Leftovers(NamedTuple):
    """What goes of a job that has ended.

    Attributes:
        pods: to delete.
        service: whether the Service is to be deleted.
        wait: seconds until pods that may still end by themselves go; None if there are none.
    """

    pods: tuple[PodKey, ...]
    service: bool
    wait: float | None = None


def leftovers(job: Job, status: Mapping[str, Any], observed: Observed, now: datetime) -> Leftovers:
    """Decide what goes once the job has finished.

    `None` keeps everything, `All` keeps nothing, `Running` (default) keeps pods that are over. A pending pod would
    still start, and one whose sidecar runs would hold its devices for good, so both go; one that runs when the job
    succeeds may end by itself for a while. The Service goes with the pod behind it. Pods of an attempt that was given
    up go under every policy.
    """
    policy = job.clean_pod_policy
    left = settle.time_left(status, now)
    there = {key: pod for key, pod in observed.pods.items() if not pod.deleting}
    given_up = {key for key, pod in there.items() if is_old(pod, status)}
    going = {key for key, pod in there.items() if _goes(policy, pod)} - given_up
    settling = {key for key in going if there[key].outcome is Outcome.RUNNING} if left else set()
    behind = observed.pods.get((job.host_role, 0)) if job.host_role is not None else None
    keeps_service = policy is CleanPodPolicy.NONE or (
        behind is not None and (behind.key in settling or (policy is CleanPodPolicy.RUNNING and _over(behind)))
    )
    return Leftovers(
        tuple(key for key in there if key in given_up | (going - settling)),
        _service_there(observed) and not keeps_service,
        left if settling else None,
    )


def stray(observed: Observed) -> tuple[tuple[PodKey, ...], bool]:
    """Decide what goes of a job that cannot be read and so has no policy: all that is not over.

    Returns:
        Pods to delete, and whether to delete the Service.
    """
    return _not_over(observed), _service_there(observed)


def autoscaler_there(observed: Observed) -> bool:
    """Whether there is a HorizontalPodAutoscaler to delete: whatever is left of a job, nothing is to scale it."""
    return observed.autoscaler is not None and not observed.autoscaler.deleting


def _goes(policy: CleanPodPolicy, pod: Pod) -> bool:
    return policy is CleanPodPolicy.ALL or (policy is CleanPodPolicy.RUNNING and not _over(pod))


def _not_over(observed: Observed) -> tuple[PodKey, ...]:
    return tuple(key for key, pod in observed.pods.items() if not pod.deleting and not _over(pod))


def _over(pod: Pod) -> bool:
    return pod.outcome.ended and not pod.lingering


def _service_there(observed: Observed) -> bool:
    return observed.service is not None and not observed.service.deleting
