"""What cleanPodPolicy leaves of a job that has ended, its Service too."""

import time

import pytest

from support.live_jobs import SETTLED, Jobs

pytestmark = pytest.mark.usefixtures("operator")

FINISHED = {"worker-0", "worker-1"}


@pytest.mark.parametrize(
    ("policy", "left", "service"),
    [
        ("None", {"scheduler-0", "worker-0", "worker-1", "worker-2"}, True),
        ("Running", FINISHED, False),
        (None, FINISHED, False),
        ("All", set(), False),
    ],
)
def test_policy(jobs: Jobs, policy: str | None, left: set[str], service: bool) -> None:  # noqa: FBT001
    """``None`` keeps all, ``Running``, the default, what has ended, ``All`` nothing; the Service goes with its pod.

    Worker 2 is pending, and would start later if it stayed.
    """
    jobs.create(worker=3, enable_dynamic_worker=None, run_policy={"cleanPodPolicy": policy} if policy else None)
    jobs.wait_pods(4)
    jobs.set("scheduler-0")
    jobs.finish("worker-1")
    jobs.client.wait_for(lambda: jobs.counts()["Worker"] == (0, 1, 0))
    jobs.finish("worker-0")

    jobs.wait_state("Succeeded")
    jobs.client.wait_for(lambda: set(jobs.pods()) == left, SETTLED, what=f"{left} to be left")
    jobs.client.wait_for(lambda: jobs.services() == (["train-scheduler-0"] if service else []), what="the Service")
    jobs.settle()
    assert set(jobs.pods()) == left
    assert jobs.state() == "Succeeded"
    assert all(active == 0 for active, _, _ in jobs.counts().values())


def test_service_stays_with_a_scheduler_that_has_ended(jobs: Jobs) -> None:
    """Under ``Running`` a Scheduler that is over stays, and its Service with it."""
    jobs.create(worker=1)
    jobs.run(2)
    jobs.finish("scheduler-0")
    jobs.client.wait_for(lambda: jobs.counts()["Scheduler"] == (0, 1, 0))
    jobs.finish("worker-0")

    jobs.wait_state("Succeeded")
    jobs.settle()
    assert set(jobs.pods()) == {"scheduler-0", "worker-0"}
    assert jobs.services() == ["train-scheduler-0"]


def test_what_runs_may_end_by_itself(jobs: Jobs) -> None:
    """A Scheduler that ends after its Workers has succeeded, and stays with its log and its Service."""
    jobs.create(worker=1)
    jobs.run(2)
    jobs.finish("worker-0")
    jobs.wait_state("Succeeded")
    jobs.settle()
    jobs.finish("scheduler-0")

    time.sleep(SETTLED - 5)
    phases = {name: pod["status"]["phase"] for name, pod in jobs.pods().items()}
    assert phases == {"scheduler-0": "Succeeded", "worker-0": "Succeeded"}
    assert jobs.services() == ["train-scheduler-0"]


def test_failed_job_keeps_the_pods_that_tell_why(jobs: Jobs) -> None:
    """By default what failed stays for its log, and what still runs goes."""
    jobs.create()
    jobs.run(3)
    jobs.finish("worker-1", code=1)

    jobs.wait_state("Failed")
    jobs.client.wait_for(lambda: list(jobs.pods()) == ["worker-1"], what="all but the failed pod to go")


def test_pods_are_asked_to_end_before_they_are_killed(jobs: Jobs) -> None:
    """A pod that goes has the grace of its template, and the job is over without waiting for it."""
    jobs.kubelet.pause()
    jobs.create(worker=2)
    jobs.run(3)
    jobs.finish("worker-0")

    jobs.wait_state("Succeeded")
    jobs.client.wait_for(lambda: "deletionTimestamp" in jobs.pods()["worker-1"]["metadata"], SETTLED)
    assert jobs.pods()["worker-1"]["metadata"]["deletionGracePeriodSeconds"] == 10
