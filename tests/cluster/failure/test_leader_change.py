"""Of two operators the one that leads goes while it restarts a job."""

import time
from collections.abc import Callable, Iterator
from typing import Final

import pytest

from support.cluster.cluster import Cluster
from support.cluster.continuity import assert_made_once, made
from support.cluster.faults import kill_training
from support.cluster.installation import NAMESPACE, Installation
from support.cluster.live import Live, since
from support.cluster.recovery import (
    assert_blamed,
    assert_restarts,
    assert_went_on,
    describe_ends,
    measure_first_step,
)
from support.cluster.report import Row
from support.cluster.site import Site
from support.cluster.trainings import SHARED, training
from support.testbed.waiting import wait_for

STEPS: Final = 20


@pytest.fixture
def two(installation: Installation) -> Iterator[Installation]:
    """Two replicas of the operator, which are available; after the test there is one."""
    installation.scale(2)
    try:
        installation.wait_available()
        yield installation
    finally:
        installation.scale(1)
        installation.wait_available()


@pytest.mark.own
@pytest.mark.row("failure", "two operators, the leader killed with SIGKILL in mid-restart")
def test_killed(site: Site, cluster: Cluster, live: Live, two: Installation, row: Row) -> None:
    """Its Lease runs out first; the other one makes the new attempt that it had begun, and no second one."""

    def kill(leader: str) -> None:
        (pod,) = [pod for pod in two.pods() if pod["metadata"]["name"] == leader]
        container = pod["status"]["containerStatuses"][0]["containerID"].removeprefix("containerd://")
        cluster.node.containerd.kill(container)

    change_leader(site, live, two, row, kill)


@pytest.mark.row("failure", "two operators, the leader's pod deleted with grace 0 in mid-restart")
def test_deleted(site: Site, live: Live, two: Installation, row: Row) -> None:
    """The other one makes the new attempt that it had begun, and no second one."""

    def delete(leader: str) -> None:
        live.kubectl("delete", "pod", f"--namespace={NAMESPACE}", leader, "--grace-period=0", "--force")

    change_leader(site, live, two, row, delete)


def change_leader(site: Site, live: Live, two: Installation, row: Row, remove: Callable[[str], None]) -> None:
    """Kill a Worker, and remove the leader once the old pods are told to go and before the last is gone."""
    live.make_claim()
    live.submit(training(site.image("training"), steps=STEPS, sleep=0.3, claim=True, pod=SHARED))
    live.wait_step(7)
    leader = two.leader()
    pod = leader.partition("_")[0]
    assert pod in {item["metadata"]["name"] for item in two.pods()}

    kill_training(live, "worker-1")
    wait_for(lambda: _told_to_go(live), 30, what="the old pods to be told to go", interval=0.05)
    fault = time.monotonic()
    remove(pod)
    assert not made(live, 1), "pods of the new attempt were there before the leader was gone"

    wait_for(lambda: two.leader() not in ("", leader), 60, what="another leader", interval=0.1)
    row.measure("fault to another leader", since(fault))
    row.measure("fault to the new pods", live.new_pods_after(fault, 1, 3))
    measure_first_step(live, row, fault)
    assert live.wait_finished() == "Succeeded"
    assert live.status()["attempt"] == 1
    assert_made_once(live, 1)
    assert_restarts(live, 1, 1)
    assert_blamed(live, "worker-1", exitCode=137, reason="Error", attempt=0, countsTowardsLimit=True)
    assert_went_on(live, row, steps=STEPS)
    row.tell(f"one new attempt, no pod made twice; ends: {describe_ends(live)}")


def _told_to_go(live: Live) -> bool:
    """Whether a new attempt has been decided on, and all pods of the old one that are there are told to go."""
    old = live.pods(0).values()
    return live.status().get("attempt") == 1 and all("deletionTimestamp" in pod["metadata"] for pod in old)
