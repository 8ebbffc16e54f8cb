"""Killed while a job ends: it ends once, as it was first written, and what is left of it goes."""

from datetime import UTC, datetime
from typing import Final

import pytest

from support.killed import PATIENCE, Deaths, Point, Points, makes, writes
from support.testbed.client import MSJOBS

pytestmark = pytest.mark.timeout(120)

END: Final[Points] = {
    "not-written": Point("patch", "msjobs/status", when=writes(completionTime=bool)),
    "unheard": Point("patch", "msjobs/status", lost="answer", when=writes(completionTime=bool)),
    "nothing-deleted": Point("delete", "pods"),
    "one-pod-deleted": Point("delete", "pods", after=1),
    "first-deletion-unheard": Point("delete", "pods", lost="answer"),
    "service-left": Point("delete", "services"),
    "service-deletion-unheard": Point("delete", "services", lost="answer"),
}


def test_success(deaths: Deaths) -> None:
    """Worker 0 has done its part: the job has succeeded, and pods that still run, and the Service, go."""
    jobs = deaths.jobs
    for name in END:
        jobs.create(name=name)
    for name in END:
        deaths.run(name, 0)
    with deaths.at(END):
        for name in END:
            jobs.finish("worker-0", name=name)

    for name in END:
        deaths.reach(name, "Succeeded")
        deaths.left(name, "worker-0")
    jobs.settle()
    for name in END:
        assert deaths.lifecycle(name) == ["Created", "Succeeded"], name
        assert jobs.counts(name) == {"Scheduler": (0, 1, 0), "Worker": (0, 2, 0)}, name
        assert len(deaths.history.values(name, "completionTime", None)) == 2, name
        deaths.judge(name, {"MSJobCreated": 1, "MSJobRunning": 1, "MSJobSucceeded": 1}, pods=3)


def test_failure(deaths: Deaths) -> None:
    """A Worker has failed and may not be tried again: the job has failed because of that one, whatever follows."""
    jobs = deaths.jobs
    for name in END:
        jobs.create(name=name)
    for name in END:
        deaths.run(name, 0)
    with deaths.at(END):
        for name in END:
            jobs.finish("worker-1", name=name, code=3)

    messages = {name: deaths.reach(name, "Failed")["message"] for name in END}
    for name in END:
        deaths.left(name, "worker-1")
    jobs.settle()
    for name in END:
        assert f"{name}-worker-1" in messages[name]
        assert jobs.conditions(name)["Failed"]["message"] == messages[name]
        assert deaths.lifecycle(name) == ["Created", "Failed"], name
        assert jobs.counts(name) == {"Scheduler": (0, 0, 0), "Worker": (0, 0, 1)}, name
        assert jobs.status(name)["lastFailure"]["exitCode"] == 3, name
        deaths.judge(name, {"MSJobCreated": 1, "MSJobRunning": 1, "MSJobFailed": 1}, pods=3)


def test_deadline(deaths: Deaths) -> None:
    """A deadline that passes while the operator dies, or while there is none, ends the job once."""
    jobs = deaths.jobs
    points: Points = {**END, "before": Point()}
    for name in points:
        jobs.create(name=name)
    for name in points:
        deaths.run(name, 0)
    with deaths.at(points):
        for name in END:
            jobs.patch({"runPolicy": {"activeDeadlineSeconds": 1}}, name)
        started = datetime.fromisoformat(jobs.status("before")["startTime"])
        limit = (datetime.now(UTC) - started).seconds + 3
        jobs.patch({"runPolicy": {"activeDeadlineSeconds": limit}}, "before")

    for name in points:
        condition = deaths.reach(name, "Failed")
        assert condition["reason"] == "DeadlineExceeded", name
        deaths.left(name)
    jobs.settle()
    for name in points:
        assert deaths.lifecycle(name) == ["Created", "Failed"], name
        assert jobs.counts(name) == {"Scheduler": (0, 0, 0), "Worker": (0, 0, 0)}, name
        deaths.judge(name, {"MSJobCreated": 1, "MSJobRunning": 1, "DeadlineExceeded": 1}, pods=3)


EXPIRY: Final[Points] = {
    "end-not-written": Point("patch", "msjobs/status", when=makes("Succeeded")),
    "not-deleted": Point("delete", "msjobs"),
    "deletion-unheard": Point("delete", "msjobs", lost="answer"),
    "waiting": Point(world=lambda jobs, name: jobs.state(name) == "Succeeded"),
}


def test_expiry(deaths: Deaths) -> None:
    """A job whose time after its end is over is deleted, with all that it had, and nothing of it comes back."""
    jobs = deaths.jobs
    for name in EXPIRY:
        jobs.create(name=name, run_policy={"ttlSecondsAfterFinished": 3 if name == "waiting" else 0})
    for name in EXPIRY:
        deaths.run(name, 0)
    with deaths.at(EXPIRY):
        for name in EXPIRY:
            jobs.finish("worker-0", name=name)

    for name in EXPIRY:
        jobs.client.wait_gone(MSJOBS, name, jobs.namespace, PATIENCE)
        deaths.left(name)
        assert len(deaths.history.of(name)) == 3, name
        assert len(deaths.history.values(name, "completionTime", None)) == 2, name
