"""Killed while a pod is removed that hangs on a lost node."""

from typing import Final

import pytest

from support.jobs import template
from support.killed import Deaths, Point, Points
from support.live_jobs import Jobs
from support.testbed.client import PODS
from support.testbed.nodes import create_node, delete_node, set_node_ready


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


def test_forced(deaths: Deaths, request: pytest.FixtureRequest) -> None:
    """The node of a Worker is lost: one restart that does not count; the pod goes by force, and only then new ones."""
    jobs, lost = deaths.jobs, f"lost-{deaths.jobs.namespace}"
    create_node(jobs.client, lost)
    request.addfinalizer(lambda: delete_node(jobs.client, lost))
    jobs.kubelet.pause()
    pod = template(termination_grace_period_seconds=1)
    for name in FORCED:
        limit = 7 if name == "waiting" else 1
        jobs.create(name=name, pod=pod, restart_policy="OnFailure", run_policy={"forceDeleteAfterSeconds": limit})
    for name in FORCED:
        jobs.wait_pods(3, name)
        jobs.set("worker-1", name=name, node=lost)
        jobs.run(3, name)
    set_node_ready(jobs.client, lost, "Unknown")
    with deaths.at(FORCED):
        for name in FORCED:
            jobs.finish("worker-0", name=name, code=1)
        for name in FORCED:
            # Worker 0 has ended, and goes at once.
            jobs.client.wait_until(
                PODS, f"{name}-scheduler-0", jobs.namespace, lambda pod: "deletionTimestamp" in pod["metadata"]
            )
            jobs.kubelet.terminate(jobs.namespace, f"{name}-scheduler-0")

    for name in FORCED:
        deaths.run(name, 1)
        failure = jobs.status(name)["lastFailure"]
        assert (failure["pod"], failure["reason"]) == (f"{name}-worker-1", "NodeLost"), name
        happened = {"MSJobCreated": 1, "MSJobRunning": 2, "MSJobRestarting": 1}
        deaths.judge(name, happened, pods=6, attempts=1, restarts=1)
