"""Killed while a pod is removed that hangs on a lost node."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pytest

from support.jobs import template
from support.killed import PATIENCE, Deaths, Point, Points, writes
from support.live_jobs import Jobs
from support.testbed.client import PODS
from support.testbed.nodes import create_node, delete_node, set_node_ready

pytestmark = pytest.mark.timeout(120)


def hangs(jobs: Jobs, name: str) -> bool:
    """Whether the pod on the lost node is all that is left of a job."""
    return list(jobs.pods(name)) == ["worker-1"]


def is_forced(body: dict[str, object]) -> bool:
    """Whether a deletion leaves no time."""
    return body.get("gracePeriodSeconds") == 0


FORCED: Final[Points] = {
    "waiting": Point(world=hangs),
    "not-removed": Point("delete", "pods", when=lambda call: is_forced(call.body)),
    "removal-unheard": Point("delete", "pods", lost="answer", when=lambda call: is_forced(call.body)),
}


@pytest.fixture
def lost(deaths: Deaths) -> Iterator[str]:
    """A Node that a test loses, and with it the kubelet's care for pods that are deleted."""
    client, name = deaths.jobs.client, f"lost-{deaths.jobs.namespace}"
    create_node(client, name)
    deaths.jobs.kubelet.pause()
    yield name
    delete_node(client, name)


def run_on(deaths: Deaths, names: Iterable[str], node: str) -> None:
    """Let jobs run, Worker 1 of each on a Node of its own."""
    for name in names:
        deaths.jobs.wait_pods(3, name, PATIENCE)
        deaths.jobs.set("worker-1", name=name, node=node)
        deaths.run(name, 0)


def fail(jobs: Jobs, names: Iterable[str]) -> None:
    """Let Worker 0 of jobs fail, and let go what is then deleted, but for Worker 1."""
    for name in names:
        jobs.finish("worker-0", name=name, code=1)
    for name in names:
        # Worker 0 has ended, and goes at once.
        jobs.client.wait_until(
            PODS, f"{name}-scheduler-0", jobs.namespace, lambda pod: "deletionTimestamp" in pod["metadata"]
        )
        jobs.kubelet.terminate(jobs.namespace, f"{name}-scheduler-0")


def fields(name: str, seconds: int) -> dict[str, Any]:
    """Fields of a job that is restarted, and whose pods go by force."""
    pod = template(termination_grace_period_seconds=1)
    return {
        "name": name,
        "pod": pod,
        "restart_policy": "OnFailure",
        "run_policy": {"forceDeleteAfterSeconds": seconds},
    }


def test_forced(deaths: Deaths, lost: str) -> None:
    """The node of a Worker is lost: one restart that does not count; the pod goes by force, and only then new ones."""
    jobs = deaths.jobs
    for name in FORCED:
        jobs.create(**fields(name, 7 if name == "waiting" else 1))
    run_on(deaths, FORCED, lost)
    set_node_ready(jobs.client, lost, "Unknown")
    with deaths.at(FORCED):
        fail(jobs, FORCED)

    for name in FORCED:
        deaths.run(name, 1)
        failure = jobs.status(name)["lastFailure"]
        assert (failure["pod"], failure["reason"]) == (f"{name}-worker-1", "NodeLost"), name
        happened = {"MSJobCreated": 1, "MSJobRunning": 2, "MSJobRestarting": 1}
        deaths.judge(name, happened, pods=6, attempts=1, restarts=1)


LEARNED: Final[Points] = {
    "not-written": Point("patch", "msjobs/status", when=writes(restartsCountTowardsLimit=0)),
    "unheard": Point("patch", "msjobs/status", lost="answer", when=writes(restartsCountTowardsLimit=0)),
}


def test_learned_late(deaths: Deaths, lost: str) -> None:
    """That a node was to blame is learned when its survivor was charged: the restart is taken off the count, once."""
    jobs = deaths.jobs
    for name in LEARNED:
        jobs.create(**fields(name, 1))
    run_on(deaths, LEARNED, lost)
    fail(jobs, LEARNED)
    with deaths.at(LEARNED):
        for name in LEARNED:
            assert jobs.status(name)["restartsCountTowardsLimit"] == 1, name
        set_node_ready(jobs.client, lost, "Unknown")

    for name in LEARNED:
        deaths.run(name, 1)
        failure = jobs.status(name)["lastFailure"]
        assert (failure["pod"], failure["reason"]) == (f"{name}-worker-1", "NodeLost"), name
        deaths.history.settle(name)
        assert deaths.history.values(name, "restarts") == [0, 1], name
        assert deaths.history.values(name, "restartsCountTowardsLimit") == [0, 1, 0], name
        assert deaths.history.values(name, "attempt") == [0, 1], name
        assert deaths.history.beside_old(name) == [], name
