"""``activeDeadlineSeconds`` and ``startupDeadlineSeconds``: each acts by itself, in time, from what is stored."""

from datetime import datetime
from typing import Any

import pytest

from support.jobs import template
from support.live_jobs import Jobs, moment
from support.rendering import variables
from support.testbed.podstatus import waiting

pytestmark = pytest.mark.usefixtures("operator")


LONG = 3600


def lasted(status: dict[str, Any]) -> float:
    """Seconds from start to end, as the status tells."""
    times = (datetime.fromisoformat(status[key]) for key in ("startTime", "completionTime"))
    start, end = times
    return (end - start).total_seconds()


def test_active_deadline(jobs: Jobs) -> None:
    """A job that is active too long fails within a second after that, although nothing happens; its pods go."""
    jobs.create(run_policy={"activeDeadlineSeconds": LONG})
    jobs.run(3)
    jobs.set_status(startTime=moment(3 - LONG))

    failed = jobs.wait_state("Failed", timeout=6)
    assert failed["reason"] == "DeadlineExceeded"
    assert f"activeDeadlineSeconds {LONG}" in failed["message"]
    status = jobs.status()
    assert LONG <= lasted(status) <= LONG + 1
    assert jobs.conditions()["Running"]["reason"] == "DeadlineExceeded"
    assert jobs.wait_event("DeadlineExceeded")["type"] == "Warning"
    assert "lastFailure" not in status
    jobs.client.wait_for(lambda: jobs.pods() == {}, what="the pods to go")
    assert jobs.services() == []
    assert all(numbers == (0, 0, 0) for numbers in jobs.counts().values())


def test_startup_deadline(jobs: Jobs) -> None:
    """A job of which one pod does not run in time fails within a second after that; MindSpore is told the limit."""
    jobs.create(run_policy={"startupDeadlineSeconds": LONG})
    pods = jobs.wait_pods(3)
    for pod in ("scheduler-0", "worker-0"):
        jobs.set(pod)
    jobs.set("worker-1", "Pending", containers={"mindspore": waiting("ImagePullBackOff", "no such image")})
    assert {variables(pod)["MS_TOPO_TIMEOUT"] for pod in pods.values()} == {str(LONG)}
    jobs.wait_stalled()
    jobs.set_status(startTime=moment(3 - LONG))

    failed = jobs.wait_state("Failed", timeout=6)
    assert failed["reason"] == "StartupDeadlineExceeded"
    assert f"startupDeadlineSeconds {LONG}" in failed["message"]
    assert LONG <= lasted(jobs.status()) <= LONG + 1
    assert jobs.conditions()["Stalled"]["status"] == "False"
    assert "Running" not in jobs.conditions()
    assert jobs.wait_event("StartupDeadlineExceeded")["type"] == "Warning"
    jobs.client.wait_for(lambda: jobs.pods() == {}, what="the pods to go")


def test_startup_deadline_of_a_job_that_started(jobs: Jobs) -> None:
    """Once all pods ran the start-up is over, also while the job restarts later on."""
    jobs.create(worker=1, restart_policy="OnFailure", run_policy={"startupDeadlineSeconds": 2})
    jobs.run(2)
    jobs.finish("worker-0", code=1)
    jobs.wait_attempt(1, 2)
    jobs.set_status(startTime=moment(-60))
    jobs.settle()
    assert jobs.true() == ["Created", "Restarting"]


def test_startup_deadline_after_resume(jobs: Jobs) -> None:
    """A job that is resumed has to start anew, in the same time."""
    jobs.create(worker=1, run_policy={"startupDeadlineSeconds": 60})
    jobs.run(2)
    jobs.suspend()
    jobs.wait_state("Suspended")
    jobs.suspend(suspend=False)
    jobs.wait_attempt(1, 2)
    jobs.set_status(startTime=moment(-61))
    assert jobs.wait_state("Failed")["reason"] == "StartupDeadlineExceeded"


def test_deadline_counts_from_resume(jobs: Jobs) -> None:
    """Time before and during a suspension does not count, and none runs out while the job is suspended."""
    jobs.create(worker=1, run_policy={"activeDeadlineSeconds": 60})
    jobs.run(2)
    jobs.set_status(startTime=moment(-55))
    jobs.suspend()
    jobs.wait_state("Suspended")
    assert "startTime" not in jobs.status()
    jobs.suspend(suspend=False)
    jobs.run(2)
    assert jobs.status()["startTime"] >= moment(-10)
    jobs.set_status(startTime=moment(-61))
    assert jobs.wait_state("Failed")["reason"] == "DeadlineExceeded"


@pytest.mark.parametrize("way", ["lowered", "raised", "removed"])
def test_deadline_that_is_changed(jobs: Jobs, way: str) -> None:
    """The deadline that counts is the one of the present spec."""
    jobs.create(worker=1, run_policy={"activeDeadlineSeconds": 600 if way == "lowered" else 3})
    jobs.run(2)
    match way:
        case "lowered":
            jobs.patch({"runPolicy": {"activeDeadlineSeconds": 1}})
            assert jobs.wait_state("Failed", timeout=4)["reason"] == "DeadlineExceeded"
        case _:
            jobs.patch({"runPolicy": {"activeDeadlineSeconds": 600 if way == "raised" else None}})
            jobs.settle()
            jobs.set_status(startTime=moment(-4))
            jobs.settle()
            assert jobs.true() == ["Created", "Running"]


def test_success_at_the_last_moment(jobs: Jobs) -> None:
    """A job whose Workers were done when its deadline passed unseen has succeeded."""
    jobs.create(worker=1, run_policy={"activeDeadlineSeconds": 3600})
    jobs.run(2)
    jobs.finish("worker-0")
    jobs.set_status(startTime=moment(-7200))
    jobs.wait_state("Succeeded")


def test_grace_at_the_deadline(jobs: Jobs) -> None:
    """Pods that go because of a deadline are asked to end first, as long as their template gives them."""
    pod = template(termination_grace_period_seconds=45)
    jobs.create(worker=1, pod=pod, run_policy={"activeDeadlineSeconds": 3600})
    jobs.run(2)
    jobs.kubelet.pause()
    jobs.set_status(startTime=moment(-3600))

    jobs.wait_state("Failed")
    jobs.wait_pods(0)
    assert [pod["metadata"]["deletionGracePeriodSeconds"] for pod in jobs.pods().values()] == [45, 45]


def test_clock_that_was_set_forward(jobs: Jobs) -> None:
    """A start that lies long back makes deadlines pass at once."""
    jobs.create(worker=1, run_policy={"activeDeadlineSeconds": 3600})
    jobs.run(2)
    jobs.set_status(startTime="2001-01-01T00:00:00Z")
    assert jobs.wait_state("Failed")["reason"] == "DeadlineExceeded"
    assert jobs.status()["completionTime"] >= moment(-10)


def test_clock_that_was_set_back(jobs: Jobs) -> None:
    """A start that lies ahead is taken for now: the deadline is no longer than it is, and passes by itself."""
    jobs.create(worker=1, run_policy={"activeDeadlineSeconds": 2})
    jobs.wait_pods(2)
    jobs.set_status(startTime=moment(3600))

    assert jobs.wait_state("Failed", timeout=8)["reason"] == "DeadlineExceeded"
    assert jobs.status()["startTime"] <= moment(0)
    assert 2 <= lasted(jobs.status()) <= 3


@pytest.mark.parametrize("policy", ["None", "Running", "All"])
def test_clean_up_at_the_deadline(jobs: Jobs, policy: str) -> None:
    """At a deadline pods go as at every end: by cleanPodPolicy."""
    jobs.create(worker=2, run_policy={"activeDeadlineSeconds": 3600, "cleanPodPolicy": policy})
    jobs.run(3)
    jobs.finish("worker-1")
    jobs.client.wait_for(lambda: jobs.counts()["Worker"] == (1, 1, 0))
    jobs.set_status(startTime=moment(-3600))
    jobs.wait_state("Failed")
    left = {"None": {"scheduler-0", "worker-0", "worker-1"}, "Running": {"worker-1"}, "All": set()}[policy]
    jobs.client.wait_for(lambda: set(jobs.pods()) == left, what=f"{left} to be left")
