"""Nodes that fall silent, early and late, and pods that hang on them."""

from collections.abc import Iterator
from functools import partial

import pytest

from support.jobs import template
from support.live_jobs import Jobs
from support.testbed.client import PODS
from support.testbed.errors import WaitTimeoutError
from support.testbed.nodes import Readiness, delete_node, set_node_ready

pytestmark = pytest.mark.usefixtures("operator")

QUICK = template(termination_grace_period_seconds=1)


@pytest.fixture
def far(jobs: Jobs) -> Iterator[str]:
    """The name of a second Node, for pods that a test binds to it."""
    name = f"far-{jobs.namespace}"
    yield name
    delete_node(jobs.client, name)


def begin(jobs: Jobs, far: str, **run_policy: int) -> None:
    """Run a job whose Worker 1 is on the far Node; from now on pods end at the test's command only."""
    jobs.create(restart_policy="OnFailure", pod=QUICK, run_policy={"backoffLimit": 1, **run_policy})
    jobs.wait_pods(3)
    jobs.set("worker-1", node=far)
    jobs.run(3)
    jobs.kubelet.pause()


def _is_told_to_go(jobs: Jobs, pod: str) -> bool:
    return "deletionTimestamp" in jobs.pods()[pod]["metadata"]


def let_go(jobs: Jobs, *pods: str) -> None:
    """Let pods end once they are being deleted."""
    for pod in pods:
        told = partial(_is_told_to_go, jobs, pod)
        jobs.client.wait_for(told, what=f"{pod} to be told to go")
        jobs.kubelet.terminate(jobs.namespace, f"train-{pod}")


@pytest.mark.parametrize("ready", ["Unknown", "False"])
def test_node_that_is_known_to_be_lost(jobs: Jobs, far: str, ready: Readiness) -> None:
    """When survivors fail after their node was given up, the pod on that node is to blame, and nothing counts."""
    begin(jobs, far)
    set_node_ready(jobs.client, far, ready)
    jobs.settle()
    assert jobs.status().get("restarts", 0) == 0
    jobs.finish("worker-0", code=1)

    jobs.wait_status(attempt=1)
    status = jobs.status()
    assert (status["restarts"], status["restartsCountTowardsLimit"]) == (1, 0)
    failure = status["lastFailure"]
    assert (failure["pod"], failure["node"], failure["reason"]) == ("train-worker-1", far, "NodeLost")
    assert f"was lost with node {far}" in jobs.conditions()["Restarting"]["message"]


def test_node_that_turns_out_to_be_lost(jobs: Jobs, far: str) -> None:
    """A survivor was blamed; when its node is given up later, the restart is taken off the count."""
    begin(jobs, far)
    jobs.finish("worker-0", code=1)
    jobs.wait_status(attempt=1)
    assert jobs.status()["restartsCountTowardsLimit"] == 1
    assert jobs.status()["lastFailure"]["pod"] == "train-worker-0"
    let_go(jobs, "scheduler-0")
    set_node_ready(jobs.client, far, "Unknown")

    jobs.wait_status(restartsCountTowardsLimit=0)
    status = jobs.status()
    assert status["restarts"] == 1
    failure = status["lastFailure"]
    assert (failure["pod"], failure["reason"], failure["node"]) == ("train-worker-1", "NodeLost", far)
    assert failure["countsTowardsLimit"] is False
    assert "train-worker-0" in failure["message"]
    stuck = jobs.wait_stalled()
    assert stuck["reason"] == "PodStuckTerminating"
    assert "train-worker-1" in stuck["message"]
    assert far in stuck["message"]
    assert "forceDeleteAfterSeconds" in stuck["message"]
    assert jobs.attempts() == {"worker-1": 0}

    set_node_ready(jobs.client, far, "True")
    let_go(jobs, "worker-1")
    jobs.wait_attempt(1, 3)
    jobs.run(3)
    assert jobs.conditions()["Stalled"]["status"] == "False"


def test_force(jobs: Jobs, far: str) -> None:
    """With ``forceDeleteAfterSeconds`` a pod on a lost node is removed by itself, and the next attempt begins."""
    begin(jobs, far, forceDeleteAfterSeconds=2)
    set_node_ready(jobs.client, far, "Unknown")
    jobs.finish("worker-0", code=1)
    jobs.client.wait_for(lambda: "deletionTimestamp" in jobs.pods()["worker-1"]["metadata"])
    let_go(jobs, "scheduler-0")
    assert "worker-1" in jobs.pods()

    jobs.wait_attempt(1, 3, timeout=8)
    forced = jobs.wait_event("ForceDeletedPod")
    assert forced["type"] == "Warning"
    assert jobs.status()["restartsCountTowardsLimit"] == 0


def test_no_force_on_a_node_that_answers(jobs: Jobs, far: str) -> None:
    """A pod whose node is well is never removed without its word, however long it takes."""
    begin(jobs, far, forceDeleteAfterSeconds=1)
    jobs.finish("worker-0", code=1)
    jobs.wait_status(attempt=1)
    let_go(jobs, "scheduler-0")
    with pytest.raises(WaitTimeoutError):
        jobs.client.wait_gone(PODS, "train-worker-1", jobs.namespace, timeout=3)
    assert jobs.attempts() == {"worker-1": 0}
    let_go(jobs, "worker-1")
    jobs.wait_attempt(1, 3)


def test_force_while_suspended(jobs: Jobs, far: str) -> None:
    """A job that is suspended gets rid of a pod on a lost node in the same way, and is Suspended only then."""
    begin(jobs, far, forceDeleteAfterSeconds=1)
    set_node_ready(jobs.client, far, "Unknown")
    jobs.suspend()
    jobs.wait_pods(0)
    let_go(jobs, "scheduler-0", "worker-0")

    jobs.wait_state("Suspended", timeout=8)
    assert jobs.pods() == {}


def test_node_that_is_deleted(jobs: Jobs, far: str) -> None:
    """A Node that is gone is lost, too; one that comes back before anything failed does no harm."""
    begin(jobs, far)
    set_node_ready(jobs.client, far, "Unknown")
    set_node_ready(jobs.client, far, "True")
    jobs.settle()
    assert jobs.true() == ["Created", "Running"]
    delete_node(jobs.client, far)
    jobs.finish("worker-0", code=143)

    jobs.wait_status(attempt=1)
    assert jobs.status()["restartsCountTowardsLimit"] == 0
    assert jobs.status()["lastFailure"]["reason"] == "NodeLost"
