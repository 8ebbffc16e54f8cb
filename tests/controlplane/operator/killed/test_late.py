"""Requests of a dead operator that arrive when its successor has long done their work."""

from typing import Final

import pytest

from support.killed import PATIENCE, Deaths, Point, Points, writes
from support.testbed.client import MSJOBS

pytestmark = pytest.mark.timeout(120)

RESTART: Final[Points] = {
    "status": Point("patch", "msjobs/status", when=writes(restarts=1)),
    "deletions": Point("delete", "pods"),
}
CREATION: Final[Points] = {
    "suspended": Point("create", "pods", after=1),
    "smaller": Point("create", "pods", after=1),
    "deleted": Point("create", "pods", after=1),
}


def test_restart(deaths: Deaths) -> None:
    """A status and deletions that are late change nothing: they name what they were meant for."""
    jobs = deaths.jobs
    for name in RESTART:
        jobs.create(name=name, restart_policy="OnFailure")
    for name in RESTART:
        deaths.run(name, 0)
    with deaths.at(RESTART, late=True):
        for name in RESTART:
            jobs.finish("worker-1", name=name, code=3)
    for name in RESTART:
        deaths.run(name, 1)
    deaths.deliver()

    jobs.settle()
    for name in RESTART:
        assert len(jobs.pods(name)) == 3, name
        happened = {"MSJobCreated": 1, "MSJobRunning": 2, "MSJobRestarting": 1}
        deaths.judge(name, happened, pods=6, attempts=1, restarts=1, counted=1)


def test_creation(deaths: Deaths) -> None:
    """A pod that comes late to a job that has no place for it any more goes again, and nothing is made of it."""
    jobs = deaths.jobs

    def turn() -> None:
        jobs.suspend("suspended")
        jobs.patch({"msReplicaSpecs": {"Worker": {"replicas": 1}}}, "smaller")
        jobs.delete("deleted")

    with deaths.at(CREATION, meanwhile=turn, late=True):
        for name in CREATION:
            jobs.create(name=name, worker=3)
    deaths.reach("suspended", "Suspended")
    deaths.run("smaller", 1, 2)
    jobs.client.wait_gone(MSJOBS, "deleted", jobs.namespace, PATIENCE)
    deaths.wait(lambda: not jobs.pods("deleted"), "the first pod of the deleted job to go")
    deaths.deliver()

    for name, left in (("suspended", 0), ("smaller", 2), ("deleted", 0)):
        deaths.wait(
            lambda: len(deaths.history.of(name)) > 1 and len(jobs.pods(name)) == left,  # noqa: B023
            f"pods of {name} that came late to go",
        )
    jobs.settle()
    assert deaths.lifecycle("suspended") == ["Created", "Suspended"]
    assert deaths.lifecycle("smaller") == ["Created", "Running"]
    deaths.judge("suspended", {"MSJobCreated": 1, "MSJobSuspended": 1}, pods=4, attempts=1)
    deaths.judge("smaller", {"MSJobCreated": 1, "MSJobRestarting": 1, "MSJobRunning": 1}, pods=5, attempts=1)


def test_expiry(deaths: Deaths) -> None:
    """A deletion of a job that is over does not hit another job of its name."""
    jobs = deaths.jobs
    jobs.create(worker=1, run_policy={"ttlSecondsAfterFinished": 0})
    deaths.run("train", 0, 2)
    with deaths.at({"train": Point("delete", "msjobs")}, late=True):
        jobs.finish("worker-0")
    jobs.client.wait_gone(MSJOBS, "train", jobs.namespace, PATIENCE)
    deaths.left("train")
    again = jobs.create(worker=1)["metadata"]["uid"]
    deaths.run("train", 0, 2)
    deaths.deliver()

    jobs.settle()
    assert jobs.get()["metadata"]["uid"] == again
    assert "deletionTimestamp" not in jobs.get()["metadata"]
