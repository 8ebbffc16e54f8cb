"""When a job has failed, and which pod its message blames."""

from datetime import UTC, datetime, timedelta

import pytest

from support.live_jobs import Jobs

pytestmark = pytest.mark.usefixtures("operator")


def test_failed_worker_fails_the_job(jobs: Jobs) -> None:
    """A Worker that fails ends the job at once, named with its exit code in condition and events."""
    jobs.create()
    jobs.run(3)
    jobs.finish("worker-1", code=17)

    failed = jobs.wait_state("Failed")
    assert failed["reason"] == "MSJobFailed"
    assert "pod train-worker-1" in failed["message"]
    assert "17" in failed["message"]
    assert jobs.true() == ["Created", "Failed"]
    assert "completionTime" in jobs.status()
    assert jobs.wait_event("MSJobFailed")["type"] == "Warning"
    assert "17" in jobs.wait_event("ExitedWithCode")["message"]


def test_pod_that_ended_first_is_to_blame(jobs: Jobs) -> None:
    """Of several failed pods the first one to end is named, whatever code it had and whenever it was reported."""
    jobs.create(enable_dynamic_worker=True, worker=2)
    jobs.run(3)
    now = datetime.now(UTC)
    # Dynamic Workers, so that the operator waits for the second one before it judges.
    jobs.finish("worker-0", code=1, finished=now)
    jobs.finish("worker-1", code=143, finished=now - timedelta(seconds=20))

    message = jobs.wait_state("Failed")["message"]
    assert "pod train-worker-1" in message
    assert "143" in message


def test_failed_scheduler_fails_the_job(jobs: Jobs) -> None:
    """The Scheduler's failure is the job's."""
    jobs.create(worker=1)
    jobs.run(2)
    jobs.finish("scheduler-0", code=1)

    assert "pod train-scheduler-0" in jobs.wait_state("Failed")["message"]


def test_reason_of_the_container(jobs: Jobs) -> None:
    """A container that was killed for its memory is named with that reason."""
    jobs.create(scheduler=None, worker=1)
    jobs.run(1)
    jobs.finish("worker-0", code=137, container_reason="OOMKilled")

    message = jobs.wait_state("Failed")["message"]
    assert "137" in message
    assert "OOMKilled" in message


def test_failure_before_all_pods_ran(jobs: Jobs) -> None:
    """A Worker may fail while another has not even started: nobody waits for that one."""
    jobs.create()
    jobs.wait_pods(3)
    jobs.set("scheduler-0")
    jobs.finish("worker-0", code=2)

    jobs.wait_state("Failed")
    assert jobs.true() == ["Created", "Failed"]
    jobs.client.wait_for(lambda: list(jobs.pods()) == ["worker-0"], what="the pods that were not over to go")
