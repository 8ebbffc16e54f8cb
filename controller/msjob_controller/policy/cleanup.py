"""What is left of a job that has ended."""

from msjob.api import CleanPodPolicy, Job
from msjob_controller.policy.observed import Observed, PodKey


def leftovers(job: Job, observed: Observed) -> tuple[tuple[PodKey, ...], bool]:
    """Decide what goes once the job has finished.

    `None` keeps everything, `All` keeps nothing, `Running` (default) keeps pods whose training process is over; a
    pending pod would still start, so it goes. The Service goes with the pod behind it.

    Returns:
        Pods to delete, and whether to delete the Service.
    """
    policy = job.clean_pod_policy
    if policy is CleanPodPolicy.NONE:
        return (), False
    keep_ended = policy is not CleanPodPolicy.ALL
    pods = tuple(
        key for key, pod in observed.pods.items() if not pod.deleting and not (keep_ended and pod.outcome.ended)
    )
    return pods, _service_goes(job, observed, keep_ended=keep_ended)


def _service_goes(job: Job, observed: Observed, *, keep_ended: bool) -> bool:
    if observed.service is None or observed.service.deleting:
        return False
    behind = observed.pods.get((job.host_role, 0)) if job.host_role is not None else None
    return not (keep_ended and behind is not None and behind.outcome.ended)
