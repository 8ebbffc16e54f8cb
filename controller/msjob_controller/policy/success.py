"""When a job has succeeded.

MindSpore has succeeded when its Workers have: the Scheduler's own exit 0 comes seconds before or after theirs and
decides nothing.
"""

from collections.abc import Set as AbstractSet

from msjob.api import Job, Role, SuccessPolicy
from msjob_controller.policy import messages
from msjob_controller.policy.attempt import Attempt
from msjob_controller.policy.observed import Outcome, PodKey


def succeeded(job: Job, attempt: Attempt, without: AbstractSet[PodKey] = frozenset()) -> str | None:
    """Decide whether the job has succeeded.

    - default policy: Worker 0 or all Workers succeeded (the Go operator's rule);
    - `AllWorkers`: all Workers succeeded;
    - with `enableDynamicWorker`: all Workers have ended and one of them succeeded;
    - a job without Workers: all its pods succeeded.

    Args:
        job: the job.
        attempt: the present one.
        without: failed pods that the job goes on without, see `failure.tolerated`.

    Returns:
        Why, for people; None if it has not.
    """
    workers = attempt.of(Role.WORKER)
    matter = [key for key in workers or attempt.wanted if key not in without]
    outcomes = [attempt.outcome(key) for key in matter]
    good = outcomes.count(Outcome.SUCCEEDED)
    if matter and good == len(matter):
        return _all(len(matter), len(workers), without=len(workers or attempt.wanted) - len(matter))
    early = workers and not job.spec.enable_dynamic_worker and job.success_policy is SuccessPolicy.DEFAULT
    if early and attempt.outcome(workers[0]) is Outcome.SUCCEEDED:
        return messages.WORKER_0
    return None


def _all(good: int, workers: int, *, without: int) -> str:
    if without:
        return messages.SOME.format(count=good, all=good + without, what="Workers" if workers else "pods")
    if not workers:
        return messages.ALL_PODS.format(count=good) if good > 1 else messages.ITS_POD
    return messages.ALL_WORKERS.format(count=good) if good > 1 else messages.ITS_WORKER
