"""Killed while a job is suspended or resumed: in the end it has no pods, or one new set of them."""

from typing import Final

import pytest

from support.killed import Deaths, Point, Points, makes, writes
from support.live_jobs import Jobs

pytestmark = pytest.mark.timeout(120)


def has_service(jobs: Jobs, name: str) -> bool:
    """Whether the Service of a job is there."""
    return f"{name}-scheduler-0" in jobs.services()


def is_resumed(jobs: Jobs, name: str) -> bool:
    """Whether a job is no longer Suspended."""
    return "Suspended" not in jobs.true(name)


SUSPEND: Final[Points] = {
    "nothing-deleted": Point("delete", "pods"),
    "one-pod-deleted": Point("delete", "pods", after=1),
    "first-deletion-unheard": Point("delete", "pods", lost="answer"),
    "service-left": Point("delete", "services"),
    "not-written": Point("patch", "msjobs/status", when=makes("Suspended")),
    "unheard": Point("patch", "msjobs/status", lost="answer", when=makes("Suspended")),
}
RESUME: Final[Points] = {
    "not-written": Point("patch", "msjobs/status", when=writes(startTime=bool), world=has_service),
    "unheard": Point("patch", "msjobs/status", lost="answer", when=writes(startTime=bool), world=has_service),
    "no-service": Point("create", "services", world=is_resumed),
    "service-unheard": Point("create", "services", lost="answer", world=is_resumed),
    "one-pod": Point("create", "pods", after=1),
    "second-pod-unheard": Point("create", "pods", after=1, lost="answer"),
}


def test_suspend(deaths: Deaths) -> None:
    """All pods and the Service go, and the job is Suspended; resumed, it gets new ones of the next attempt."""
    jobs = deaths.jobs
    for name in SUSPEND:
        jobs.create(name=name)
    for name in SUSPEND:
        deaths.run(name, 0)
    with deaths.at(SUSPEND):
        for name in SUSPEND:
            jobs.suspend(name)

    for name in SUSPEND:
        deaths.reach(name, "Suspended")
    deaths.wait(lambda: not jobs.services(), "the Services to go")
    jobs.settle()
    for name in SUSPEND:
        assert jobs.pods(name) == {}, name
        assert deaths.lifecycle(name) == ["Created", "Suspended"], name
        assert "startTime" not in jobs.status(name), name
        assert len(deaths.history.of(name)) == 3, name
        jobs.suspend(name, suspend=False)
    happened = {"MSJobCreated": 1, "MSJobRunning": 2, "MSJobSuspended": 1, "MSJobResumed": 1}
    for name in SUSPEND:
        deaths.run(name, 1)
        deaths.judge(name, happened, pods=6, attempts=1)


def test_resume(deaths: Deaths) -> None:
    """A job that is resumed gets each of its objects once, all of the next attempt; its clock starts once."""
    jobs = deaths.jobs
    for name in RESUME:
        jobs.create(name=name)
    for name in RESUME:
        deaths.run(name, 0)
        jobs.suspend(name)
    for name in RESUME:
        deaths.reach(name, "Suspended")
    with deaths.at(RESUME):
        for name in RESUME:
            jobs.suspend(name, suspend=False)

    happened = {"MSJobCreated": 1, "MSJobRunning": 2, "MSJobSuspended": 1, "MSJobResumed": 1}
    for name in RESUME:
        deaths.run(name, 1)
        assert deaths.lifecycle(name) == ["Created", "Running"], name
        # None, the first start, none while it is suspended, the second start.
        assert len(deaths.history.values(name, "startTime", None)) == 4, name
        deaths.judge(name, happened, pods=6, attempts=1)
