"""``restartScope: Pod``: what restarts alone, and when it takes the job along."""

import pytest

from support.jobs import msjob, role, template
from support.live_jobs import Jobs, moment
from support.rendering import variables
from support.testbed.client import PODS
from support.testbed.podstatus import running

pytestmark = pytest.mark.usefixtures("operator")


def uids(jobs: Jobs, *pods: str) -> set[str]:
    """The uids of pods."""
    return {jobs.pods()[pod]["metadata"]["uid"] for pod in pods}


def wait_replaced(jobs: Jobs, pod: str, uid: str) -> None:
    """Wait until a pod is another one."""

    def replaced() -> bool:
        found = jobs.pods().get(pod)
        return found is not None and found["metadata"]["uid"] != uid

    jobs.client.wait_for(replaced, what=f"{pod} to be made again")


def test_scheduler_alone(jobs: Jobs) -> None:
    """A Scheduler with scope ``Pod`` comes back alone, in the same attempt; its Workers are told to wait for it."""
    scheduler = role(1, restart_policy="OnFailure", restart_scope="Pod")
    jobs.create(scheduler=scheduler, worker=role(2, restart_policy="OnFailure"))
    jobs.run(3)
    assert int(variables(jobs.pods()["worker-0"])["MS_HEARTBEAT_RETRY_TIMEOUT"]) > 0
    (old,) = uids(jobs, "scheduler-0")
    workers = uids(jobs, "worker-0", "worker-1")
    jobs.finish("scheduler-0", code=1)

    wait_replaced(jobs, "scheduler-0", old)
    assert uids(jobs, "worker-0", "worker-1") == workers
    status = jobs.status()
    assert (status["restarts"], status["restartsCountTowardsLimit"]) == (1, 1)
    assert "attempt" not in status
    assert "pod train-scheduler-0" in jobs.conditions()["Restarting"]["message"]
    jobs.run(3)
    assert "replacements" not in jobs.status()
    assert jobs.true() == ["Created", "Running"]

    jobs.finish("worker-0", code=1)
    jobs.wait_status(attempt=1, restarts=2)
    jobs.set_status(nextRestartTime=moment(-1))
    jobs.wait_attempt(1, 3)


def test_both_at_once(jobs: Jobs) -> None:
    """When a Worker has failed as well, whose scope is ``Job``, all pods go."""
    scheduler = role(1, restart_policy="OnFailure", restart_scope="Pod")
    jobs.create(scheduler=scheduler, worker=role(2, restart_policy="OnFailure"))
    jobs.run(3)
    jobs.kubelet.pause()
    jobs.finish("scheduler-0", code=1)
    jobs.wait_status(restarts=1)
    jobs.finish("worker-1", code=1)
    jobs.kubelet.play(run=False)

    jobs.wait_status(attempt=1)
    assert "replacements" not in jobs.status()
    jobs.set_status(nextRestartTime=moment(-1))
    jobs.wait_attempt(1, 3)


def test_standalone(jobs: Jobs) -> None:
    """Workers that are each on their own restart each on their own, with a pause that counts by pod."""
    jobs.create(scheduler=None, worker=3, restart_policy="OnFailure")
    jobs.run(3)
    (old,) = uids(jobs, "worker-1")
    others = uids(jobs, "worker-0", "worker-2")
    jobs.finish("worker-1", code=1)
    wait_replaced(jobs, "worker-1", old)
    jobs.run(3)
    (old,) = uids(jobs, "worker-1")
    jobs.finish("worker-1", code=1)
    wait_replaced(jobs, "worker-1", old)

    assert uids(jobs, "worker-0", "worker-2") == others
    assert jobs.attempts() == {"worker-0": 0, "worker-1": 0, "worker-2": 0}
    assert jobs.status()["restarts"] == 2


def test_standalone_limit(jobs: Jobs) -> None:
    """``backoffLimit`` counts the restarts of all pods together."""
    jobs.create(scheduler=None, worker=2, restart_policy="OnFailure", run_policy={"backoffLimit": 1})
    jobs.run(2)
    (old,) = uids(jobs, "worker-1")
    jobs.finish("worker-1", code=1)
    wait_replaced(jobs, "worker-1", old)
    jobs.run(2)
    jobs.finish("worker-0", code=1)

    assert jobs.wait_state("Failed")["reason"] == "BackoffLimitExceeded"


def test_lone_worker_is_restarted_by_its_kubelet(jobs: Jobs) -> None:
    """A Standalone job of one Worker leaves its restarts to the kubelet, and counts them."""
    jobs.create(scheduler=None, worker=1, restart_policy="OnFailure")
    jobs.run(1)
    pod = jobs.pods()["worker-0"]
    assert pod["spec"]["restartPolicy"] == "OnFailure"
    jobs.set("worker-0", containers={"mindspore": running(restart_count=3)})

    jobs.wait_status(restarts=3)
    assert uids(jobs, "worker-0") == {pod["metadata"]["uid"]}
    jobs.finish("worker-0")
    jobs.wait_state("Succeeded")


def test_lone_worker_with_a_limit(jobs: Jobs) -> None:
    """With a limit, which no kubelet knows, the operator restarts it and keeps the limit."""
    jobs.create(scheduler=None, worker=1, restart_policy="OnFailure", run_policy={"backoffLimit": 1})
    jobs.run(1)
    assert jobs.pods()["worker-0"]["spec"]["restartPolicy"] == "Never"
    (old,) = uids(jobs, "worker-0")
    jobs.finish("worker-0", code=1)
    wait_replaced(jobs, "worker-0", old)
    jobs.run(1)
    jobs.finish("worker-0", code=1)
    assert jobs.wait_state("Failed")["reason"] == "BackoffLimitExceeded"


def test_deleted_pod_of_scope_pod(jobs: Jobs) -> None:
    """A pod that stands for itself and is deleted is simply made again; that is no restart."""
    jobs.create(scheduler=None, worker=2, pod=template(), restart_policy="Never")
    jobs.run(2)
    (old,) = uids(jobs, "worker-1")
    jobs.client.delete(PODS, "train-worker-1", jobs.namespace)

    wait_replaced(jobs, "worker-1", old)
    jobs.run(2)
    assert jobs.status().get("restarts", 0) == 0


def test_scope_job_in_standalone(jobs: Jobs) -> None:
    """A scope that is given counts, in Standalone too."""
    jobs.create(msjob(scheduler=None, worker=role(2, restart_policy="OnFailure", restart_scope="Job")))
    jobs.run(2)
    jobs.finish("worker-1", code=1)
    jobs.wait_attempt(1, 2)


def test_dynamic_workers_come_back_after_a_disruption(jobs: Jobs) -> None:
    """Under ``enableDynamicWorker`` a Worker that is deleted is made again alone; one that failed is not."""
    jobs.create(enable_dynamic_worker=True, worker=3)
    jobs.run(4)
    (old,) = uids(jobs, "worker-1")
    jobs.finish("worker-2", code=1)
    jobs.client.wait_for(lambda: jobs.counts()["Worker"] == (2, 0, 1))
    jobs.client.delete(PODS, "train-worker-1", jobs.namespace)

    wait_replaced(jobs, "worker-1", old)
    jobs.set("worker-1")
    jobs.settle()
    assert set(jobs.attempts().values()) == {0}
    assert jobs.true() == ["Created", "Running"]
    jobs.finish("worker-0", "worker-1")
    jobs.wait_state("Succeeded")
