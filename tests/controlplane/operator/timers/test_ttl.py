"""``ttlSecondsAfterFinished``: a finished job is deleted in time, and with it all that it owns."""

import time
from datetime import UTC, datetime

import pytest

from support.jobs import template
from support.live_jobs import Jobs, moment
from support.testbed.client import MSJOBS
from support.testbed.errors import WaitTimeoutError

pytestmark = pytest.mark.usefixtures("operator")


def finish(jobs: Jobs, ttl: int | None, code: int = 0, **fields: str) -> None:
    """Bring a job to its end."""
    policy = {} if ttl is None else {"ttlSecondsAfterFinished": ttl}
    jobs.create(worker=1, run_policy={**policy, **fields})
    jobs.run(2)
    jobs.finish("worker-0", code=code)


def wait_gone(jobs: Jobs, timeout: float = 10) -> None:
    """Wait until the job is gone."""
    jobs.client.wait_gone(MSJOBS, "train", jobs.namespace, timeout)


@pytest.mark.parametrize("code", [0, 1])
def test_deleted_in_time(jobs: Jobs, code: int) -> None:
    """So many seconds after its end, and at most one more, a job is gone, failed or not; its pods follow."""
    finish(jobs, 2, code, cleanPodPolicy="None")
    jobs.wait_state("Failed" if code else "Succeeded")
    ended = datetime.fromisoformat(jobs.status()["completionTime"])

    wait_gone(jobs)
    passed = (datetime.now(UTC) - ended).total_seconds()
    # completionTime has whole seconds, and lies up to one of them before the end.
    assert 2 <= passed <= 2 + 1 + 0.5
    assert jobs.wait_event("SuccessfulDeleteJob")["type"] == "Normal"
    jobs.client.wait_for(lambda: not jobs.pods() and not jobs.services(), 20, what="all it owned to go")


def test_at_once(jobs: Jobs) -> None:
    """With 0 a job goes as soon as it has ended, once that is stored and told."""
    finish(jobs, 0)
    wait_gone(jobs, 3)
    jobs.client.wait_for(lambda: not jobs.pods() and not jobs.services(), 20, what="all it owned to go")
    assert ("Normal", "MSJobSucceeded") in jobs.events()


def test_raised_in_time(jobs: Jobs) -> None:
    """A job whose TTL is raised before it passes stays; lowered again, it goes."""
    finish(jobs, 2)
    jobs.wait_state("Succeeded")
    jobs.patch({"runPolicy": {"ttlSecondsAfterFinished": 3600}})
    with pytest.raises(WaitTimeoutError):
        wait_gone(jobs, 3.5)
    jobs.patch({"runPolicy": {"ttlSecondsAfterFinished": 4}})
    wait_gone(jobs, 3)


def test_set_afterwards(jobs: Jobs) -> None:
    """A TTL that is set on a job that ended long ago acts at once."""
    finish(jobs, None)
    jobs.wait_state("Succeeded")
    jobs.set_status(completionTime=moment(-100))
    jobs.settle()
    assert jobs.state() == "Succeeded"
    jobs.patch({"runPolicy": {"ttlSecondsAfterFinished": 60}})
    wait_gone(jobs, 3)


def test_never_while_suspended(jobs: Jobs) -> None:
    """A finished job that is suspended is kept, and goes when it is so no more."""
    finish(jobs, 3600)
    jobs.wait_state("Succeeded")
    jobs.suspend()
    jobs.patch({"runPolicy": {"ttlSecondsAfterFinished": 0}})
    jobs.settle()
    time.sleep(1)
    assert jobs.state() == "Succeeded"
    jobs.suspend(suspend=False)
    wait_gone(jobs, 3)


def test_not_before_the_end(jobs: Jobs) -> None:
    """A job that has not ended, or waits suspended for its first start, has no TTL."""
    jobs.create(name="runs", worker=1, run_policy={"ttlSecondsAfterFinished": 0})
    jobs.create(name="waits", worker=1, run_policy={"ttlSecondsAfterFinished": 0, "suspend": True})
    jobs.run(2, "runs")
    jobs.wait_state("Suspended", "waits")
    jobs.settle()
    assert jobs.state("runs") == "Running"
    assert jobs.state("waits") == "Suspended"


@pytest.mark.parametrize("shift", [-7200, 3])
def test_clock_that_was_set(jobs: Jobs, shift: int) -> None:
    """An end that lies far back lets the job go at once; one that lies ahead keeps it until then."""
    finish(jobs, 3600 if shift < 0 else 1)
    jobs.wait_state("Succeeded")
    jobs.set_status(completionTime=moment(shift))
    if shift > 0:
        with pytest.raises(WaitTimeoutError):
            wait_gone(jobs, 2.5)
    wait_gone(jobs, 4)


def test_without_completion_time(jobs: Jobs) -> None:
    """A job that ended under an operator that stored no completionTime goes by the time of its condition."""
    finish(jobs, None)
    jobs.wait_state("Succeeded")
    jobs.set_status(completionTime=None)
    jobs.settle()
    assert jobs.state() == "Succeeded"
    jobs.patch({"runPolicy": {"ttlSecondsAfterFinished": 1}})
    wait_gone(jobs, 4)


def test_invalid_job(jobs: Jobs) -> None:
    """A job that turned out to be invalid has ended like any other, and its TTL holds."""
    pod = template(container={"volumeMounts": [{"name": "nowhere", "mountPath": "/data"}]})
    jobs.create(worker=1, pod=pod, run_policy={"ttlSecondsAfterFinished": 2})
    assert jobs.wait_state("Failed")["reason"] == "MSJobFailedValidation"
    assert "completionTime" in jobs.status()
    wait_gone(jobs, 4)
