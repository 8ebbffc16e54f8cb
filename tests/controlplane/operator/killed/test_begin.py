"""Killed while a job begins: it gets each of its objects once."""

from typing import Final

import pytest

from support.killed import PATIENCE, Deaths, Point, Points, makes
from support.live_jobs import Jobs

pytestmark = pytest.mark.timeout(120)


def has_service(jobs: Jobs, name: str) -> bool:
    """Whether the Service of a job is there."""
    return f"{name}-scheduler-0" in jobs.services()


def is_created(jobs: Jobs, name: str) -> bool:
    """Whether a job is Created."""
    return "Created" in jobs.true(name)


BEGIN: Final[Points] = {
    "status-not-written": Point("patch", "msjobs/status", when=makes("Created"), world=has_service),
    "status-unheard": Point("patch", "msjobs/status", lost="answer", when=makes("Created"), world=has_service),
    "no-service": Point("create", "services", world=is_created),
    "service-unheard": Point("create", "services", lost="answer", world=is_created),
    "no-pod": Point("create", "pods"),
    "one-pod": Point("create", "pods", after=1),
    "second-pod-unheard": Point("create", "pods", after=1, lost="answer"),
    "last-pod-unheard": Point("create", "pods", after=2, lost="answer"),
}
RUNNING: Final[Points] = {
    "not-written": Point("patch", "msjobs/status", when=makes("Running")),
    "unheard": Point("patch", "msjobs/status", lost="answer", when=makes("Running")),
}


def test_begin(deaths: Deaths) -> None:
    """Whatever was made already, the successor adds what is missing, and nothing twice."""
    jobs = deaths.jobs
    with deaths.at(BEGIN):
        for name in BEGIN:
            jobs.create(name=name)

    for name in BEGIN:
        deaths.run(name, 0)
        assert deaths.lifecycle(name) == ["Created", "Running"]
        deaths.judge(name, {"MSJobCreated": 1, "MSJobRunning": 1}, pods=3)
    assert sorted(jobs.services()) == sorted(f"{name}-scheduler-0" for name in BEGIN)


def test_running(deaths: Deaths) -> None:
    """A job whose pods all run is Running once a successor has seen it, and is told of once at most."""
    jobs = deaths.jobs
    for name in RUNNING:
        jobs.create(name=name)
    with deaths.at(RUNNING):
        for name in RUNNING:
            for pod in jobs.wait_pods(3, name, PATIENCE):
                jobs.set(pod, name=name)

    for name in RUNNING:
        deaths.reach(name, "Running")
        deaths.wait(
            lambda: jobs.counts(name) == {"Scheduler": (1, 0, 0), "Worker": (2, 0, 0)},  # noqa: B023
            "the counts",
        )
        deaths.judge(name, {"MSJobCreated": 1, "MSJobRunning": 1}, pods=3)
