"""Killed while one pod is replaced alone: it has one successor, and its neighbours never notice."""

from typing import Any, Final

import pytest

from support.killed import PATIENCE, Deaths, Point, Points, writes
from support.live_jobs import Jobs

pytestmark = pytest.mark.timeout(120)

REPLACE: Final[Points] = {
    "not-written": Point("patch", "msjobs/status", when=writes(restarts=1)),
    "unheard": Point("patch", "msjobs/status", lost="answer", when=writes(restarts=1)),
    "not-deleted": Point("delete", "pods"),
    "deletion-unheard": Point("delete", "pods", lost="answer"),
    "not-created": Point("create", "pods"),
    "creation-unheard": Point("create", "pods", lost="answer"),
}


def alone(**more: Any) -> dict[str, Any]:
    """Fields of a job of two Workers, each on its own."""
    return {"scheduler": None, "worker": 2, "restart_policy": "OnFailure", **more}


def has_successor(jobs: Jobs, name: str, uid: str, pod: str = "worker-1") -> bool:
    """Whether there is another pod of that name."""
    found = jobs.pods(name)
    return pod in found and found[pod]["metadata"]["uid"] != uid


def test_replacement(deaths: Deaths) -> None:
    """One failure is one restart of one pod, in the same attempt."""
    jobs = deaths.jobs
    for name in REPLACE:
        jobs.create(name=name, **alone())
    for name in REPLACE:
        deaths.run(name, 0, 2)
    before = {name: {pod: item["metadata"]["uid"] for pod, item in jobs.pods(name).items()} for name in REPLACE}
    with deaths.at(REPLACE):
        for name in REPLACE:
            jobs.finish("worker-1", name=name, code=3)

    for name in REPLACE:
        deaths.wait(
            lambda: has_successor(jobs, name, before[name]["worker-1"]),  # noqa: B023
            f"the successor of {name}-worker-1",
        )
        deaths.run(name, 0, 2)
        assert deaths.lifecycle(name) == ["Created", "Running"], name
        deaths.wait(lambda: "replacements" not in jobs.status(name), "no open replacement")  # noqa: B023
        assert jobs.pods(name)["worker-0"]["metadata"]["uid"] == before[name]["worker-0"], name
        happened = {"MSJobCreated": 1, "MSJobRunning": 2, "MSJobRestarting": 1}
        deaths.judge(name, happened, pods=3, restarts=1, counted=1, replaced=1)


def test_wait(deaths: Deaths) -> None:
    """Killed while the pod that failed twice waits for its successor: it comes when it is due, and not before."""
    jobs = deaths.jobs
    jobs.create(**alone(worker=1, run_policy={"backoffLimit": 5}))
    deaths.run("train", 0, 1)
    first = jobs.pods()["worker-0"]["metadata"]["uid"]
    jobs.finish("worker-0", code=3)
    deaths.wait(lambda: has_successor(jobs, "train", first, "worker-0"), "the first successor")
    deaths.run("train", 0, 1)
    with deaths.at({"train": Point(world=lambda jobs, name: not jobs.pods(name))}):
        jobs.finish("worker-0", code=3)
    due = jobs.status()["replacements"][0]["time"]

    jobs.wait_pods(1, timeout=PATIENCE)
    deaths.run("train", 0, 1)
    assert deaths.history.of("train")[-1].created >= due
    happened = {"MSJobCreated": 1, "MSJobRunning": 3, "MSJobRestarting": 2}
    deaths.judge("train", happened, pods=3, restarts=2, counted=2, replaced=3)
