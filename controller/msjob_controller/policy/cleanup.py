"""What is left of a job that has ended."""

from msjob.api import CleanPodPolicy, Job
from msjob_controller.policy.observed import Observed, Pod, PodKey


def leftovers(job: Job, observed: Observed) -> tuple[tuple[PodKey, ...], bool]:
    """Decide what goes once the job has finished.

    `None` keeps everything, `All` keeps nothing, `Running` (default) keeps pods that are over. A pending pod would
    still start, and one whose sidecar runs would hold its devices for good, so both go. The Service goes with the pod
    behind it.

    Returns:
        Pods to delete, and whether to delete the Service.
    """
    policy = job.clean_pod_policy
    if policy is CleanPodPolicy.NONE:
        return (), False
    behind = observed.pods.get((job.host_role, 0)) if job.host_role is not None else None
    if policy is CleanPodPolicy.ALL:
        return tuple(key for key, pod in observed.pods.items() if not pod.deleting), _service_there(observed)
    return _not_over(observed), _service_there(observed) and (behind is None or not _over(behind))


def stray(observed: Observed) -> tuple[tuple[PodKey, ...], bool]:
    """Decide what goes of a job that cannot be read and so has no policy: all that is not over.

    Returns:
        Pods to delete, and whether to delete the Service.
    """
    return _not_over(observed), _service_there(observed)


def _not_over(observed: Observed) -> tuple[PodKey, ...]:
    return tuple(key for key, pod in observed.pods.items() if not pod.deleting and not _over(pod))


def _over(pod: Pod) -> bool:
    return pod.outcome.ended and not pod.lingering


def _service_there(observed: Observed) -> bool:
    return observed.service is not None and not observed.service.deleting
