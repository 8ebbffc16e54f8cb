"""What a failed pod means: restartPolicy, exit codes, backoffLimit."""

import pytest

from support.jobs import role
from support.live_jobs import Jobs
from support.testbed.podstatus import waiting

pytestmark = pytest.mark.usefixtures("operator")

RESTARTS = [
    ("OnFailure", 1),
    ("OnFailure", 137),
    ("Always", 2),
    ("ExitCode", 128),
    ("ExitCode", 137),
    ("ExitCode", 255),
]
FINAL = [("Never", 1), ("Never", 137), (None, 143), ("ExitCode", 1), ("ExitCode", 127)]


@pytest.mark.parametrize(("policy", "code"), RESTARTS)
def test_restart(jobs: Jobs, policy: str, code: int) -> None:
    """``OnFailure`` and ``Always`` restart after any failure, ``ExitCode`` after 128 and above; it counts."""
    jobs.create(worker=1, restart_policy=policy)
    jobs.run(2)
    jobs.finish("worker-0", code=code)

    jobs.wait_attempt(1, 2)
    status = jobs.status()
    assert (status["attempt"], status["restarts"], status["restartsCountTowardsLimit"]) == (1, 1, 1)
    assert (status["lastFailure"]["exitCode"], status["lastFailure"]["countsTowardsLimit"]) == (code, True)
    assert jobs.true() == ["Created", "Restarting"]
    jobs.run(2)
    assert jobs.true() == ["Created", "Running"]
    assert "Restarting" not in jobs.conditions()


@pytest.mark.parametrize(("policy", "code"), FINAL)
def test_final(jobs: Jobs, policy: str | None, code: int) -> None:
    """Under ``Never``, the default, every failure fails the job; under ``ExitCode`` one below 128 does."""
    jobs.create(worker=1, restart_policy=policy)
    jobs.run(2)
    jobs.finish("worker-0", code=code)

    failed = jobs.wait_state("Failed")
    assert failed["reason"] == "MSJobFailed"
    assert "pod train-worker-0" in failed["message"]
    status = jobs.status()
    assert "attempt" not in status
    assert not status.get("restarts")
    assert (status["lastFailure"]["exitCode"], status["lastFailure"]["countsTowardsLimit"]) == (code, False)


@pytest.mark.parametrize("policy", ["Never", "OnFailure", "Always", "ExitCode"])
def test_exit_0_is_done_under_every_policy(jobs: Jobs, policy: str) -> None:
    """A Worker that exits 0 has done its part and is not started again."""
    jobs.create(worker=2, restart_policy=policy, success_policy="AllWorkers")
    jobs.run(3)
    jobs.finish("worker-1")
    jobs.client.wait_for(lambda: jobs.counts()["Worker"] == (1, 1, 0))
    jobs.settle()
    assert jobs.attempts() == {"scheduler-0": 0, "worker-0": 0, "worker-1": 0}
    jobs.finish("worker-0")
    jobs.wait_state("Succeeded")


def test_failure_without_an_exit_code(jobs: Jobs) -> None:
    """Under ``ExitCode`` a pod that failed outside its process is worth another try."""
    jobs.create(worker=1, restart_policy="ExitCode")
    jobs.run(2)
    jobs.set("worker-0", "Failed", reason="UnexpectedAdmissionError", containers={"mindspore": waiting()})

    jobs.wait_attempt(1, 2)
    failure = jobs.status()["lastFailure"]
    assert (failure["reason"], "exitCode" in failure, failure["countsTowardsLimit"]) == (
        "UnexpectedAdmissionError",
        False,
        True,
    )


def test_policy_of_the_role_that_failed(jobs: Jobs) -> None:
    """Each role has a policy of its own: that of the pod that failed counts."""
    jobs.create(scheduler=role(1, restart_policy="Never"), worker=role(1, restart_policy="OnFailure"))
    jobs.run(2)
    jobs.finish("worker-0", code=1)
    jobs.wait_attempt(1, 2)
    jobs.run(2)
    jobs.finish("scheduler-0", code=1)

    assert "pod train-scheduler-0" in jobs.wait_state("Failed")["message"]


@pytest.mark.parametrize("limit", [0, 1])
def test_backoff_limit(jobs: Jobs, limit: int) -> None:
    """A job has at most ``backoffLimit`` counted restarts; the next failure ends it, and says so."""
    jobs.create(worker=1, restart_policy="OnFailure", run_policy={"backoffLimit": limit})
    for attempt in range(limit):
        jobs.run(2)
        jobs.finish("worker-0", code=3)
        jobs.wait_attempt(attempt + 1, 2)
    jobs.run(2)
    jobs.finish("worker-0", code=5)

    failed = jobs.wait_state("Failed")
    assert failed["reason"] == "BackoffLimitExceeded"
    assert f"backoffLimit {limit}" in failed["message"]
    assert "5" in failed["message"]
    assert jobs.wait_event("BackoffLimitExceeded")["type"] == "Warning"
    status = jobs.status()
    assert (status.get("restarts", 0), status.get("restartsCountTowardsLimit", 0)) == (limit, limit)
    assert status["lastFailure"]["exitCode"] == 5
    assert "completionTime" in status
    jobs.client.wait_for(lambda: list(jobs.pods()) == ["worker-0"], what="all but the failed pod to go")


def test_limit_that_is_raised_in_time(jobs: Jobs) -> None:
    """The limit that counts is the one at the moment of the failure."""
    jobs.create(worker=1, restart_policy="OnFailure", run_policy={"backoffLimit": 0})
    jobs.run(2)
    jobs.patch({"runPolicy": {"backoffLimit": 1}})
    jobs.settle()
    jobs.finish("worker-0", code=1)
    jobs.wait_attempt(1, 2)
