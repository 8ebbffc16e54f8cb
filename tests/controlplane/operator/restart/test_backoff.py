"""How long restarts wait, and that they wait no longer."""

from datetime import datetime

import pytest

from support.live_jobs import Jobs, moment

pytestmark = pytest.mark.usefixtures("operator")


def seconds(later: str, earlier: str) -> float:
    """Seconds between two times of Kubernetes."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()


def fail_twice(jobs: Jobs) -> None:
    """Bring a job to the wait before its second restart."""
    jobs.create(worker=1, restart_policy="OnFailure")
    for attempt in (1, 2):
        jobs.run(2)
        jobs.finish("worker-0", code=1)
        jobs.wait_status(attempt=attempt)
        if attempt == 1:
            jobs.wait_attempt(1, 2)


def test_second_restart_waits(jobs: Jobs) -> None:
    """The second restart waits 10 s and says until when; meanwhile there are no pods, but the Service is there."""
    fail_twice(jobs)

    status, restarting = jobs.status(), jobs.conditions()["Restarting"]
    assert 9 <= seconds(status["nextRestartTime"], restarting["lastUpdateTime"]) <= 11
    assert "restart 2, 2 counted, in 10 s" in restarting["message"]
    jobs.client.wait_for(lambda: jobs.pods() == {}, what="the old pods to go")
    jobs.settle()
    assert jobs.pods() == {}
    assert jobs.services() == ["train-scheduler-0"]
    assert jobs.state() == "Restarting"

    jobs.set_status(nextRestartTime=moment(-1))
    jobs.wait_attempt(2, 2)
    jobs.client.wait_for(lambda: "nextRestartTime" not in jobs.status(), what="the wait to be over")
    jobs.run(2)


def test_end_of_the_wait(jobs: Jobs) -> None:
    """When the time has come the pods are made, within a second and without anything else happening."""
    fail_twice(jobs)
    jobs.client.wait_for(lambda: jobs.pods() == {}, what="the old pods to go")
    due = moment(3)
    jobs.set_status(nextRestartTime=due)

    pods = jobs.wait_attempt(2, 2)
    created = [pod["metadata"]["creationTimestamp"] for pod in pods.values()]
    assert all(0 <= seconds(time, due) <= 1 for time in created)


def test_each_wait_is_twice_as_long(jobs: Jobs) -> None:
    """The third restart waits 20 s; from a count of 40 on it is 6 minutes, the longest pause."""
    fail_twice(jobs)
    jobs.set_status(nextRestartTime=moment(-1))
    jobs.wait_attempt(2, 2)
    for number, restarts, pause in ((3, 2, 20), (4, 40, 360)):
        jobs.set_status(restarts=restarts)
        jobs.run(2)
        jobs.finish("worker-0", code=1)
        jobs.wait_status(attempt=number)
        status = jobs.status()
        updated = jobs.conditions()["Restarting"]["lastUpdateTime"]
        assert pause - 1 <= seconds(status["nextRestartTime"], updated) <= pause + 1
        jobs.set_status(nextRestartTime=moment(-1))
        jobs.wait_attempt(number, 2)


@pytest.mark.parametrize("what", ["suspend", "deadline", "delete"])
def test_wait_that_is_cut_short(jobs: Jobs, what: str) -> None:
    """A job that waits for its restart is suspended, ended and deleted as any other; no pod comes afterwards."""
    fail_twice(jobs)
    jobs.client.wait_for(lambda: jobs.pods() == {}, what="the old pods to go")
    match what:
        case "suspend":
            jobs.suspend()
            jobs.wait_state("Suspended")
            assert "nextRestartTime" not in jobs.status()
            jobs.suspend(suspend=False)
            jobs.wait_attempt(3, 2)
        case "deadline":
            jobs.patch({"runPolicy": {"activeDeadlineSeconds": 1}})
            assert jobs.wait_state("Failed")["reason"] == "DeadlineExceeded"
            assert "nextRestartTime" not in jobs.status()
            assert "Restarting" not in jobs.conditions()
        case "delete":
            jobs.delete()
            jobs.client.wait_for(lambda: jobs.services() == [], 20, what="the Service to go")
            jobs.settle()
            assert jobs.pods() == {}
