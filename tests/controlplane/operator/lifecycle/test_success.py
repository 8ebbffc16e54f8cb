"""When a job has succeeded, and what its status says then."""

import pytest

from support.jobs import msjob, template
from support.live_jobs import Jobs

pytestmark = pytest.mark.usefixtures("operator")


def test_succeeds_with_worker_0(jobs: Jobs) -> None:
    """By default the exit 0 of Worker 0 ends the job; pods that still ran count as succeeded, then go."""
    jobs.create()
    jobs.run(3)
    jobs.finish("worker-0")

    succeeded = jobs.wait_state("Succeeded")
    status = jobs.status()
    assert succeeded["reason"] == "MSJobSucceeded"
    assert "Worker 0" in succeeded["message"]
    assert jobs.true() == ["Created", "Succeeded"]
    assert jobs.conditions()["Running"]["status"] == "False"
    assert status["startTime"] <= status["completionTime"]
    assert jobs.counts() == {"Scheduler": (0, 1, 0), "Worker": (0, 2, 0)}
    assert jobs.wait_event("MSJobSucceeded")["type"] == "Normal"


def test_succeeds_when_all_workers_have_although_worker_0_was_last(jobs: Jobs) -> None:
    """The exit 0 of other Workers does not end the job as long as Worker 0 works."""
    jobs.create()
    jobs.run(3)
    jobs.finish("worker-1")

    jobs.client.wait_for(lambda: jobs.counts()["Worker"] == (1, 1, 0))
    assert jobs.state() == "Running"
    jobs.finish("worker-0")
    jobs.wait_state("Succeeded")


def test_all_workers(jobs: Jobs) -> None:
    """With ``successPolicy: AllWorkers`` Worker 0 alone is not enough."""
    jobs.create(success_policy="AllWorkers")
    jobs.run(3)
    jobs.finish("worker-0")

    jobs.client.wait_for(lambda: jobs.counts()["Worker"] == (1, 1, 0))
    assert jobs.true() == ["Created", "Running"]
    jobs.finish("worker-1")
    assert "all 2 Workers" in jobs.wait_state("Succeeded")["message"]


def test_sidecar_that_still_runs_keeps_no_job_alive(jobs: Jobs) -> None:
    """The exit of the ``mindspore`` container is the outcome of a pod, and the pod with its sidecar goes."""
    sidecar = {"name": "logs", "image": "example.com/logs:1"}
    jobs.create(worker=1, pod=template(containers=[sidecar]))
    jobs.run(2)
    jobs.finish("worker-0", sidecars="run")

    jobs.wait_state("Succeeded")
    jobs.client.wait_for(lambda: jobs.pods() == {}, what="the pods to go, which would run for ever")


@pytest.mark.parametrize("name", ["before-it-ran", "ran"])
def test_pod_that_was_too_quick_to_be_seen_running(jobs: Jobs, name: str) -> None:
    """A job whose Worker ended before anyone saw it run has succeeded, with or without having been Running."""
    jobs.create(name=name, scheduler=None, worker=1)
    jobs.wait_pods(1, name)
    if name == "ran":
        jobs.run(1, name)
    jobs.finish("worker-0", name=name)

    jobs.wait_state("Succeeded", name)
    assert jobs.true(name) == ["Created", "Succeeded"]
    assert ("Running" in jobs.conditions(name)) == (name == "ran")


def test_dynamic_workers(jobs: Jobs) -> None:
    """With ``enableDynamicWorker`` a job goes on without a failed Worker and succeeds when one of the rest did."""
    jobs.create(enable_dynamic_worker=True, run_policy={"cleanPodPolicy": "None"})
    jobs.run(3)
    jobs.finish("worker-0", code=1)

    jobs.client.wait_for(lambda: jobs.counts()["Worker"] == (1, 0, 1))
    assert jobs.state() == "Running"
    jobs.finish("worker-1")
    assert "1 of 2 Workers" in jobs.wait_state("Succeeded")["message"]


def test_job_without_workers(jobs: Jobs) -> None:
    """A job of a Scheduler and PS alone succeeds when all its pods have."""
    jobs.create(msjob(scheduler=1, ps=1, worker=None, launch_mode="None"))
    jobs.run(2)
    jobs.finish("ps-0")

    jobs.client.wait_for(lambda: jobs.counts()["PS"] == (0, 1, 0))
    assert jobs.state() == "Running"
    jobs.finish("scheduler-0")
    jobs.wait_state("Succeeded")
