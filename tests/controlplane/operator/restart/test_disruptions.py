"""Pods that were taken away: the job restarts whatever its restartPolicy says, and that does not count."""

from collections.abc import Callable
from functools import partial

import pytest

from support.live_jobs import Jobs
from support.testbed.client import PODS
from support.testbed.podstatus import ended, waiting

pytestmark = pytest.mark.usefixtures("operator")

POD = "train-worker-1"
PRESSURE = {"reason": "Evicted", "message": "The node was low on resource: memory."}


def deleted(jobs: Jobs, grace: int | None = None) -> None:
    """Somebody deletes the pod."""
    jobs.client.delete(PODS, POD, jobs.namespace, grace=grace)


def preempted(jobs: Jobs) -> None:
    """The scheduler needs its place for another one, so it marks and deletes it."""
    jobs.kubelet.set_condition(jobs.namespace, POD, "DisruptionTarget", "True", "PreemptionByScheduler", "preempted")
    jobs.client.delete(PODS, POD, jobs.namespace)


def marked_and_failed(jobs: Jobs) -> None:
    """A pod that the cluster put out ends before it is deleted."""
    jobs.kubelet.set_condition(jobs.namespace, POD, "DisruptionTarget", "True", "TerminationByKubelet", "shutdown")
    jobs.finish("worker-1", code=137)


def fails_with(reason: str, jobs: Jobs) -> None:
    """The kubelet ends the pod for a reason of its own."""
    jobs.set("worker-1", "Failed", reason=reason, containers={"mindspore": ended(137)})


WAYS: dict[str, tuple[Callable[[Jobs], None], str]] = {
    "deleted": (deleted, "Deleted"),
    "deleted-by-force": (partial(deleted, grace=0), "Deleted"),
    "eviction-api": (lambda jobs: jobs.evict("worker-1"), "Evicted"),
    "preempted": (preempted, "Evicted"),
    "marked-and-failed": (marked_and_failed, "Error"),
    "evicted-by-kubelet": (partial(fails_with, "Evicted"), "Evicted"),
    "node-shutdown": (partial(fails_with, "Terminated"), "Terminated"),
    "node-lost": (partial(fails_with, "NodeLost"), "NodeLost"),
    "preempted-by-kubelet": (partial(fails_with, "Preempting"), "Preempting"),
}


@pytest.mark.parametrize(("way", "reason"), WAYS.values(), ids=WAYS)
def test_not_counted(jobs: Jobs, way: Callable[[Jobs], None], reason: str) -> None:
    """No way of losing a pod to the cluster or to a person uses up the limit or fails the job."""
    jobs.create(restart_policy="Never", run_policy={"backoffLimit": 0})
    jobs.run(3)
    jobs.kubelet.pause()
    way(jobs)
    jobs.wait_status(attempt=1)
    jobs.kubelet.play(run=False)

    jobs.wait_attempt(1, 3)
    status = jobs.status()
    assert (status["restarts"], status["restartsCountTowardsLimit"]) == (1, 0)
    failure = status["lastFailure"]
    assert (failure["pod"], failure["reason"], failure["countsTowardsLimit"]) == (POD, reason, False)
    assert "restart 1, 0 of 0 counted" in jobs.conditions()["Restarting"]["message"]
    assert jobs.wait_event("MSJobRestarting")["type"] == "Warning"
    jobs.run(3)
    jobs.finish("worker-0")
    jobs.wait_state("Succeeded")


def test_words_of_the_node(jobs: Jobs) -> None:
    """What the kubelet says about an eviction is in condition and lastFailure, also for a pod that never started."""
    jobs.create()
    jobs.wait_pods(3)
    jobs.set("worker-1", "Failed", containers={"mindspore": waiting()}, **PRESSURE)

    jobs.wait_attempt(1, 3)
    assert jobs.status()["lastFailure"] | PRESSURE == jobs.status()["lastFailure"]
    assert "low on resource: memory" in jobs.conditions()["Restarting"]["message"]


def test_survivors_are_not_to_blame(jobs: Jobs) -> None:
    """Those that fall because a pod was deleted change nothing about who is to blame, nor about the count."""
    jobs.create(worker=3, restart_policy="OnFailure", run_policy={"backoffLimit": 0})
    jobs.run(4)
    jobs.kubelet.pause()
    jobs.client.delete(PODS, POD, jobs.namespace)
    jobs.finish("worker-0", "worker-2", code=1)
    jobs.kubelet.play(run=False)

    jobs.wait_attempt(1, 4)
    status = jobs.status()
    assert (status["restarts"], status["restartsCountTowardsLimit"]) == (1, 0)
    assert (status["lastFailure"]["pod"], status["lastFailure"]["reason"]) == (POD, "Deleted")


def test_pod_that_vanishes_before_all_ran(jobs: Jobs) -> None:
    """Before all pods of an attempt have run a missing one is simply made again."""
    jobs.create()
    jobs.wait_pods(3)
    jobs.set("scheduler-0")
    gone = jobs.pods()["worker-1"]["metadata"]["uid"]
    jobs.delete_pods(["worker-1"])

    def is_back() -> bool:
        pod = jobs.pods().get("worker-1")
        return pod is not None and pod["metadata"]["uid"] != gone

    jobs.client.wait_for(is_back, what="worker-1 to be made again")
    jobs.run(3)
    assert set(jobs.attempts().values()) == {0}
    assert jobs.status().get("restarts", 0) == 0


def test_several_disruptions(jobs: Jobs) -> None:
    """Disruptions without end never fail a job, but from the second on it waits."""
    jobs.create(worker=1, run_policy={"backoffLimit": 0})
    jobs.run(2)
    jobs.evict("worker-0")
    jobs.wait_attempt(1, 2)
    jobs.run(2)
    jobs.evict("worker-0")

    jobs.wait_status(attempt=2)
    status = jobs.status()
    assert (status["restarts"], status["restartsCountTowardsLimit"]) == (2, 0)
    assert "nextRestartTime" in status
