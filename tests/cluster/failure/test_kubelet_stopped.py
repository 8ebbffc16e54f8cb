"""kubelet and containerd are away while a job trains: its containers go on."""

import time
from typing import Final

import pytest

from support.cluster.cluster import Cluster
from support.cluster.continuity import (
    assert_made_once,
    assert_undisturbed,
    last_checkpoint,
    measure_change,
    wait_checkpoint,
)
from support.cluster.live import Live, since
from support.cluster.outage import Outage
from support.cluster.places import NODE
from support.cluster.recovery import assert_lost, assert_went_on, describe_ends, measure_first_step
from support.cluster.report import Row
from support.cluster.site import Site
from support.cluster.trainings import training, unforgiving
from support.testbed.waiting import wait_for

SHORT: Final = 6
"""Seconds; after 12 s without a sign of it the node is not ready any more."""
STEPS: Final = 60
STEPS_LONG: Final = 120
"""So many that the job trains still when the node is back."""


@pytest.mark.own
@pytest.mark.row("failure", f"kubelet and containerd are stopped for {SHORT} s in mid-training, as for an upgrade")
def test_short(site: Site, cluster: Cluster, live: Live, outage: Outage, row: Row) -> None:
    """Nothing happens to the training."""
    live.make_claim()
    live.submit(training(site.image("training"), steps=STEPS, every=2, sleep=0.5, claim=True))
    live.wait_step(3)
    live.wait_condition("Running")

    outage.stop_node()
    before = last_checkpoint(cluster, live)
    time.sleep(SHORT)  # that long they are away
    meanwhile = last_checkpoint(cluster, live) - before
    outage.start_node()
    cluster.node.wait_ready()

    assert live.wait_finished() == "Succeeded"
    assert meanwhile >= 2
    assert_undisturbed(live, steps=STEPS)
    row.tell(f"{meanwhile} steps were made meanwhile; no pod was touched, no step made twice")


@pytest.mark.own
@pytest.mark.usefixtures("neighbour")
@pytest.mark.row("failure", "kubelet and containerd are stopped until the node is given up, the operator on it as well")
def test_long(site: Site, cluster: Cluster, live: Live, outage: Outage, row: Row) -> None:
    """The pods are told to go, and train on; once the node is back they save and go, and the job goes on from there."""
    live.make_claim()
    live.submit(unforgiving(site.image("training"), steps=STEPS_LONG, every=2, sleep=0.5))
    live.wait_step(3)
    live.wait_condition("Running")

    fault = time.monotonic()
    outage.stop_node()
    outage.wait_not_ready()
    row.measure("fault to the node not ready", since(fault))
    wait_for(
        lambda: all("deletionTimestamp" in pod["metadata"] for pod in live.pods(0).values()),
        60,
        what="all pods to be told to go",
        interval=0.2,
    )
    row.measure("fault to the pods told to go", since(fault))
    stalled = live.wait_condition("Stalled")
    row.measure("fault to Stalled", since(fault))
    assert stalled["reason"] == "PodStuckTerminating"
    assert f"on node {NODE}, which is lost" in stalled["message"]
    last = wait_checkpoint(cluster, live, last_checkpoint(cluster, live) + 4)
    assert not live.pods(1), "a second attempt trains beside the first"

    back = time.monotonic()
    outage.start_node()
    measure_change(live, row, back, "node back")
    measure_first_step(live, row, back, "node back")
    assert live.wait_finished() == "Succeeded"
    assert_lost(live)
    start = assert_went_on(live, row, steps=STEPS_LONG)
    assert start >= last, f"step {last} was made before the node came back, and again after {start}"
    assert_made_once(live, 1)
    row.tell(f"ends: {describe_ends(live)}")
