"""A job that has ended has ended for good."""

import pytest

from support.live_jobs import Jobs
from support.operator import Operators


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize("code", [0, 1])
def test_nothing_is_made_again(jobs: Jobs, code: int) -> None:
    """After the end, whatever is deleted stays deleted, and the status is never written again."""
    jobs.create(run_policy={"cleanPodPolicy": "None"})
    jobs.run(3)
    jobs.finish("worker-0", code=code)
    jobs.wait_state("Failed" if code else "Succeeded")
    ended = jobs.get()

    jobs.delete_pods(jobs.pods())
    jobs.client.delete("v1/services", "train-scheduler-0", jobs.namespace)
    jobs.settle()

    assert jobs.pods() == {}
    assert jobs.services() == []
    assert jobs.get() == ended


@pytest.mark.usefixtures("operator")
def test_pods_that_change_afterwards_change_nothing(jobs: Jobs) -> None:
    """A Worker that fails after the job has succeeded is no failure of the job."""
    jobs.create(run_policy={"cleanPodPolicy": "None"})
    jobs.run(3)
    jobs.finish("worker-0")
    jobs.wait_state("Succeeded")
    ended = jobs.get()

    jobs.finish("worker-1", code=1)
    jobs.finish("scheduler-0", code=1)
    jobs.settle()

    assert jobs.get() == ended


@pytest.mark.usefixtures("operator")
def test_changes_of_a_finished_job_bring_it_not_back(jobs: Jobs) -> None:
    """Suspending and resuming a job that has ended does nothing to it."""
    jobs.create(scheduler=None, worker=1)
    jobs.run(1)
    jobs.finish("worker-0")
    jobs.wait_state("Succeeded")
    ended = jobs.status()

    jobs.suspend()
    jobs.settle()
    jobs.suspend(suspend=False)
    jobs.settle()

    assert jobs.status() == ended
    assert list(jobs.pods()) == ["worker-0"]


def test_restart_of_the_operator_changes_nothing(own_operators: Operators, jobs: Jobs) -> None:
    """A new operator writes nothing for jobs that ended under an earlier one, nor for one that just runs."""
    first = own_operators.start().wait_leading()
    for name in ("done", "failed", "goes-on"):
        jobs.create(name=name, run_policy={"cleanPodPolicy": "None"})
        jobs.run(3, name)
    jobs.finish("worker-0", name="done")
    jobs.finish("worker-0", name="failed", code=1)
    jobs.wait_state("Succeeded", "done")
    jobs.wait_state("Failed", "failed")
    jobs.settle()
    jobs.delete_pods(jobs.pods("done"), "done")
    jobs.settle()
    first.terminate()
    before = [jobs.get(name) for name in ("done", "failed", "goes-on")]

    own_operators.start().wait_leading()
    jobs.settle()

    assert [jobs.get(name) for name in ("done", "failed", "goes-on")] == before
    assert jobs.pods("done") == {}
    assert len(jobs.pods("goes-on")) == 3
