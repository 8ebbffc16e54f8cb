"""Killed while a job gets another number of Workers."""

from typing import Final

import pytest

from support.killed import Deaths, Point, Points, writes
from support.live_jobs import Jobs
from support.rendering import variables

pytestmark = pytest.mark.timeout(120)

AUTOSCALERS = "autoscaling/v2/horizontalpodautoscalers"

SCALE: Final[Points] = {
    "not-written": Point("patch", "msjobs/status", when=writes(attempt=1)),
    "unheard": Point("patch", "msjobs/status", lost="answer", when=writes(attempt=1)),
    "nothing-deleted": Point("delete", "pods"),
    "one-pod-deleted": Point("delete", "pods", after=1),
    "nothing-created": Point("create", "pods"),
    "second-creation-unheard": Point("create", "pods", after=1, lost="answer"),
}
JOBS: Final = {
    f"{way}-{name}": (before, after, point)
    for way, before, after in (("up", 1, 2), ("down", 3, 1))
    for name, point in SCALE.items()
}
"""Workers before and after, and the point, of each job."""


def test_restart(deaths: Deaths) -> None:
    """One change of the number is one new attempt with that number, and no restart that is counted anywhere."""
    jobs = deaths.jobs
    for name, (before, _, _) in JOBS.items():
        jobs.create(name=name, worker=before)
    for name, (before, _, _) in JOBS.items():
        deaths.run(name, 0, before + 1)
    with deaths.at({name: point for name, (_, _, point) in JOBS.items()}):
        for name, (_, after, _) in JOBS.items():
            jobs.patch({"msReplicaSpecs": {"Worker": {"replicas": after}}}, name)

    for name, (before, after, _) in JOBS.items():
        deaths.run(name, 1, after + 1)
        assert jobs.status(name)["workerReplicas"] == after, name
        told = {variables(pod)["MS_WORKER_NUM"] for pod in jobs.pods(name).values()}
        assert told == {str(after)}, name
        happened = {"MSJobCreated": 1, "MSJobRunning": 2, "MSJobRestarting": 1}
        deaths.judge(name, happened, pods=before + after + 2, attempts=1)


def test_changed_again(deaths: Deaths) -> None:
    """A number that changes again before the pods of the new attempt are made is that of this attempt."""
    jobs = deaths.jobs
    jobs.create(worker=1)
    deaths.run("train", 0, 2)
    with deaths.at(
        {"train": Point("delete", "pods")},
        meanwhile=lambda: jobs.patch({"msReplicaSpecs": {"Worker": {"replicas": 3}}}),
    ):
        jobs.patch({"msReplicaSpecs": {"Worker": {"replicas": 2}}})

    deaths.run("train", 1, 4)
    assert {variables(pod)["MS_WORKER_NUM"] for pod in jobs.pods().values()} == {"3"}
    deaths.judge("train", {"MSJobCreated": 1, "MSJobRunning": 2, "MSJobRestarting": 1}, pods=6, attempts=1)


def test_without_restart(deaths: Deaths) -> None:
    """Workers that know nothing of each other come and go, and those that stay never notice."""
    jobs = deaths.jobs
    points: Points = {
        "up-one-created": Point("create", "pods", after=1),
        "up-creation-unheard": Point("create", "pods", lost="answer"),
        "down-one-deleted": Point("delete", "pods", after=1),
        "down-deletion-unheard": Point("delete", "pods", lost="answer"),
    }
    size = {name: (1, 3) if name.startswith("up") else (3, 1) for name in points}
    for name, (before, _) in size.items():
        jobs.create(name=name, scheduler=None, worker=before)
    for name, (before, _) in size.items():
        deaths.run(name, 0, before)
    first = {name: jobs.pods(name)["worker-0"]["metadata"]["uid"] for name in points}
    with deaths.at(points):
        for name, (_, after) in size.items():
            jobs.patch({"msReplicaSpecs": {"Worker": {"replicas": after}}}, name)

    for name, (_, after) in size.items():
        deaths.run(name, 0, after)
        assert jobs.pods(name)["worker-0"]["metadata"]["uid"] == first[name], name
        deaths.judge(name, {"MSJobCreated": 1, "MSJobRunning": 1}, pods=3)


def has_autoscaler(jobs: Jobs, name: str) -> bool:
    """Whether the HorizontalPodAutoscaler of a job is there."""
    return jobs.client.exists(AUTOSCALERS, name, jobs.namespace)


AUTOSCALER: Final[Points] = {
    "not-created": Point("create", "horizontalpodautoscalers"),
    "creation-unheard": Point("create", "horizontalpodautoscalers", lost="answer"),
}
NO_AUTOSCALER: Final[Points] = {
    "not-created": Point("delete", "horizontalpodautoscalers"),
    "creation-unheard": Point("delete", "horizontalpodautoscalers", lost="answer"),
}


def test_autoscaler(deaths: Deaths) -> None:
    """An elastic job has its HorizontalPodAutoscaler once its pods are there, and none once it is over."""
    jobs = deaths.jobs
    with deaths.at(AUTOSCALER):
        for name in AUTOSCALER:
            jobs.create(name=name, elastic_policy={"maxReplicas": 4})
    for name in AUTOSCALER:
        deaths.run(name, 0)
        deaths.wait(lambda: has_autoscaler(jobs, name), f"the autoscaler of {name}")  # noqa: B023
    with deaths.at(NO_AUTOSCALER):
        for name in NO_AUTOSCALER:
            jobs.finish("worker-0", name=name)

    for name in NO_AUTOSCALER:
        deaths.reach(name, "Succeeded")
        deaths.wait(lambda: not has_autoscaler(jobs, name), f"the autoscaler of {name} to go")  # noqa: B023
        deaths.judge(name, {"MSJobCreated": 1, "MSJobRunning": 1, "MSJobSucceeded": 1}, pods=3)
