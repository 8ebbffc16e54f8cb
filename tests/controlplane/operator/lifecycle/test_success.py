"""When a job has succeeded, and what its status says then."""

import pytest

from support.jobs import msjob, template
from support.live_jobs import SETTLED, Jobs

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
    jobs.client.wait_for(lambda: jobs.pods() == {}, SETTLED, what="the pods to go, which would run for ever")


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


def test_job_of_workers_alone(jobs: Jobs) -> None:
    """A job without a Scheduler succeeds by its Workers in the same way."""
    jobs.create(scheduler=None, worker=3, success_policy="AllWorkers")
    jobs.run(3)
    jobs.finish("worker-0", "worker-2")
    jobs.client.wait_for(lambda: jobs.counts()["Worker"] == (1, 2, 0))
    assert jobs.status()["replicaStatuses"]["Worker"]["completedIndexes"] == "0,2"
    jobs.finish("worker-1")
    jobs.wait_state("Succeeded")


def test_scheduler_that_is_left_running(jobs: Jobs) -> None:
    """When all Workers are done a Scheduler that still runs keeps no job alive: it is told to go if it does not."""
    jobs.create(worker=2, success_policy="AllWorkers")
    jobs.run(3)
    jobs.finish("worker-1", "worker-0")
    jobs.wait_state("Succeeded")
    jobs.client.wait_for(lambda: set(jobs.pods()) == {"worker-0", "worker-1"}, SETTLED, what="the Scheduler to go")
    assert jobs.counts() == {"Scheduler": (0, 1, 0), "Worker": (0, 2, 0)}


@pytest.mark.parametrize("mode", [None, "Standalone"])
def test_worker_that_is_done_and_deleted(jobs: Jobs, mode: str | None) -> None:
    """A Worker that has succeeded is not run again when somebody deletes its pod, and its success still counts."""
    job = msjob(scheduler=1 if mode is None else None, worker=2, success_policy="AllWorkers")
    job["spec"].update({} if mode is None else {"launchMode": mode})
    jobs.create(job)
    pods = 3 if mode is None else 2
    jobs.run(pods)
    jobs.finish("worker-1")
    jobs.client.wait_for(lambda: jobs.counts()["Worker"] == (1, 1, 0))
    jobs.delete_pods(["worker-1"])
    jobs.settle()

    assert len(jobs.pods()) == pods - 1
    assert jobs.counts()["Worker"] == (1, 1, 0)
    assert jobs.true() == ["Created", "Running"]
    assert jobs.status().get("restarts", 0) == 0
    jobs.finish("worker-0")
    assert "all 2 Workers" in jobs.wait_state("Succeeded")["message"]


def test_success_of_an_attempt_that_failed(jobs: Jobs) -> None:
    """What was done in an attempt that then failed is done again: a new attempt begins with nothing completed."""
    jobs.create(worker=2, success_policy="AllWorkers", restart_policy="OnFailure")
    jobs.run(3)
    jobs.finish("worker-0")
    jobs.client.wait_for(lambda: jobs.counts()["Worker"] == (1, 1, 0))
    jobs.finish("worker-1", code=1)
    jobs.wait_attempt(1, 3)
    jobs.run(3)
    assert "completedIndexes" not in jobs.status()["replicaStatuses"]["Worker"]
    jobs.finish("worker-0", "worker-1")
    jobs.wait_state("Succeeded")
