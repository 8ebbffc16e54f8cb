"""Killed while a job is restarted as a whole: one failure is one restart, and one new attempt."""

from typing import Any, Final

import pytest

from support.killed import Deaths, Point, Points, writes
from support.live_jobs import Jobs

pytestmark = pytest.mark.timeout(120)

RESTART: Final[Points] = {
    "not-written": Point("patch", "msjobs/status", when=writes(restarts=1)),
    "unheard": Point("patch", "msjobs/status", lost="answer", when=writes(restarts=1)),
    "nothing-deleted": Point("delete", "pods"),
    "one-pod-deleted": Point("delete", "pods", after=1),
    "first-deletion-unheard": Point("delete", "pods", lost="answer"),
    "nothing-created": Point("create", "pods"),
    "one-pod-created": Point("create", "pods", after=1),
    "second-creation-unheard": Point("create", "pods", after=1, lost="answer"),
}
DISRUPTION: Final[Points] = {name: RESTART[name] for name in ("not-written", "unheard", "one-pod-deleted")}


def run_all(deaths: Deaths, points: Points, attempt: int = 0) -> None:
    """Let all jobs of a test run."""
    for name in points:
        deaths.run(name, attempt)


def test_failure(deaths: Deaths) -> None:
    """A Worker fails; others follow it while there is no operator. All of that is one counted restart."""
    jobs = deaths.jobs
    for name in RESTART:
        jobs.create(name=name, restart_policy="OnFailure", run_policy={"backoffLimit": 1})
    run_all(deaths, RESTART)

    def follow() -> None:
        for name in ("not-written", "unheard", "nothing-deleted"):
            jobs.finish("scheduler-0", "worker-0", name=name, code=1)

    with deaths.at(RESTART, meanwhile=follow):
        for name in RESTART:
            jobs.finish("worker-1", name=name, code=3)
    run_all(deaths, RESTART, 1)

    for name in RESTART:
        assert deaths.lifecycle(name) == ["Created", "Running"], name
        failure = jobs.status(name)["lastFailure"]
        known = {key: failure[key] for key in ("pod", "exitCode", "attempt", "countsTowardsLimit")}
        wanted = {"pod": f"{name}-worker-1", "exitCode": 3, "attempt": 0, "countsTowardsLimit": True}
        assert known == wanted, name
        happened = {"MSJobCreated": 1, "MSJobRunning": 2, "MSJobRestarting": 1}
        deaths.judge(name, happened, pods=6, attempts=1, restarts=1, counted=1)
    for name in RESTART:
        jobs.finish("worker-0", name=name)
    for name in RESTART:
        deaths.reach(name, "Succeeded")
        deaths.left(name, "worker-0")


def test_disruption(deaths: Deaths) -> None:
    """Somebody deletes a pod: one restart that does not count, whether or not the pod was seen before it was gone."""
    jobs = deaths.jobs
    for name in DISRUPTION:
        jobs.create(name=name, run_policy={"backoffLimit": 0})
    run_all(deaths, DISRUPTION)
    with deaths.at(DISRUPTION):
        for name in DISRUPTION:
            jobs.client.delete("v1/pods", f"{name}-worker-1", jobs.namespace)
    run_all(deaths, DISRUPTION, 1)

    for name in DISRUPTION:
        failure = jobs.status(name)["lastFailure"]
        assert (failure["pod"], failure["reason"]) == (f"{name}-worker-1", "Deleted"), name
        happened = {"MSJobCreated": 1, "MSJobRunning": 2, "MSJobRestarting": 1}
        deaths.judge(name, happened, pods=6, attempts=1, restarts=1)


def test_limit(deaths: Deaths) -> None:
    """The last failure that a job may not have is no restart any more, however it is learned."""
    jobs = deaths.jobs
    points: Points = {
        "not-written": Point("patch", "msjobs/status", when=writes(completionTime=bool)),
        "unheard": Point("patch", "msjobs/status", lost="answer", when=writes(completionTime=bool)),
        "nothing-deleted": Point("delete", "pods"),
    }
    for name in points:
        jobs.create(name=name, restart_policy="OnFailure", run_policy={"backoffLimit": 0})
    run_all(deaths, points)
    with deaths.at(points):
        for name in points:
            jobs.finish("worker-1", name=name, code=3)

    for name in points:
        assert deaths.reach(name, "Failed")["reason"] == "BackoffLimitExceeded", name
        deaths.left(name, "worker-1")
        deaths.judge(name, {"MSJobCreated": 1, "MSJobRunning": 1, "BackoffLimitExceeded": 1}, pods=3)


def has_no_pods(jobs: Jobs, name: str) -> bool:
    """Whether a job has no pods."""
    return not jobs.pods(name)


WAIT: Final[Points] = {
    "not-written": Point("patch", "msjobs/status", when=writes(restarts=2)),
    "unheard": Point("patch", "msjobs/status", lost="answer", when=writes(restarts=2)),
    "nothing-deleted": Point("delete", "pods"),
    "waiting": Point(world=has_no_pods),
}
WAITED: Final[Points] = {
    "nothing-created": Point("create", "pods"),
    "second-creation-unheard": Point("create", "pods", after=1, lost="answer"),
}


def test_wait(deaths: Deaths) -> None:
    """The second restart waits for ten seconds: no successor creates a pod before, and none waits anew."""
    jobs, names = deaths.jobs, [*WAIT, *WAITED]
    for name in names:
        jobs.create(name=name, restart_policy="OnFailure")
    for attempt in (0, 1):
        for name in names:
            deaths.run(name, attempt)
        for name in names if attempt == 0 else ():
            jobs.finish("worker-1", name=name, code=3)
    with deaths.at(WAIT):
        for name in WAIT:
            jobs.finish("worker-0", name=name, code=4)
    with deaths.at(WAITED):
        for name in WAITED:
            jobs.finish("worker-0", name=name, code=4)

    for name in names:
        deaths.run(name, 2)
        happened = {"MSJobCreated": 1, "MSJobRunning": 3, "MSJobRestarting": 2}
        deaths.judge(name, happened, pods=9, attempts=2, restarts=2, counted=2)
        due: list[Any] = deaths.history.values(name, "nextRestartTime", None)
        assert (len(due), due[0], due[-1]) == (3, None, None), name
        created = [life.created for life in deaths.history.of(name) if life.attempt == 2]
        assert min(created) >= due[1], name
