"""When a job has succeeded.

MindSpore has succeeded when its Workers have: the Scheduler's own exit 0 comes seconds before or after theirs and
decides nothing.
"""

from msjob.api import Job, Role, SuccessPolicy
from msjob_controller.policy.observed import Observed, Outcome


def succeeded(job: Job, observed: Observed) -> str | None:
    """Decide whether the job has succeeded.

    - default policy: Worker 0 or all Workers succeeded (the Go operator's rule);
    - `AllWorkers`: all Workers succeeded;
    - with `enableDynamicWorker`: all Workers have ended and one of them succeeded;
    - a job without Workers: all its pods succeeded.

    Returns:
        Why, for people; None if it has not.
    """
    workers = [observed.pods.get((Role.WORKER, index)) for index in range(job.replicas(Role.WORKER))]
    outcomes = [Outcome.PENDING if worker is None else worker.outcome for worker in workers]
    if not workers:
        return _all_pods(job, observed)
    if job.spec.enable_dynamic_worker:
        good = outcomes.count(Outcome.SUCCEEDED)
        return f"{good} of {len(workers)} Workers succeeded" if good and all(o.ended for o in outcomes) else None
    if all(outcome is Outcome.SUCCEEDED for outcome in outcomes):
        return f"all {len(workers)} Workers succeeded" if len(workers) > 1 else "its Worker succeeded"
    if job.success_policy is SuccessPolicy.DEFAULT and outcomes[0] is Outcome.SUCCEEDED:
        return "Worker 0 succeeded"
    return None


def _all_pods(job: Job, observed: Observed) -> str | None:
    keys = [(role, index) for role in job.roles for index in range(job.replicas(role))]
    good = all(key in observed.pods and observed.pods[key].outcome is Outcome.SUCCEEDED for key in keys)
    return f"all {len(keys)} pods succeeded" if keys and good else None
