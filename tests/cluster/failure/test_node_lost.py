"""The node of a training goes for good, with all that runs on it; the operator is elsewhere."""

import time
from collections.abc import Iterator
from typing import Final

import pytest

from support.cluster.cluster import Cluster
from support.cluster.continuity import PODS_OF_TWO, assert_made_once, measure_change
from support.cluster.installation import Installation
from support.cluster.live import Live, since
from support.cluster.outage import Outage
from support.cluster.places import NODE
from support.cluster.recovery import assert_lost, assert_went_on, measure_first_step
from support.cluster.report import Row
from support.cluster.site import Site
from support.cluster.trainings import unforgiving
from support.operator import Operator
from support.testbed.waiting import wait_for

STEPS: Final = 20
FORCE: Final = 5


@pytest.fixture
def elsewhere(cluster: Cluster, installation: Installation, outage: Outage) -> Iterator[Operator]:
    """An operator that is not on the node, with the ServiceAccount and flags of the one in the cluster, instead of it.

    The outage ends after it: the one in the cluster comes back then.
    """
    assert outage is not None
    installation.stop()
    operator = Operator(cluster.control_plane, "operator-elsewhere", "--leader-elect")
    try:
        yield operator.wait_leading(60)
    finally:
        operator.terminate()


def lose(site: Site, live: Live, outage: Outage, row: Row, **run_policy: int) -> float:
    """Let a job train that no failure may restart, and let its node go; give the moment of that."""
    live.make_claim()
    live.submit(unforgiving(site.image("training"), steps=STEPS, **run_policy))
    live.wait_step(7)
    live.wait_condition("Running")
    fault = time.monotonic()
    outage.lose_node()
    outage.wait_not_ready()
    row.measure("fault to the node not ready", since(fault))
    return fault


@pytest.mark.own
@pytest.mark.usefixtures("elsewhere", "neighbour")
@pytest.mark.row("failure", "the node is gone, and comes back")
def test_comes_back(site: Site, live: Live, outage: Outage, row: Row) -> None:
    """No pod is made while nobody knows whether the old ones run; the job says so, and goes on with the node."""
    fault = lose(site, live, outage, row)
    stalled = live.wait_condition("Stalled")
    row.measure("fault to Stalled", since(fault))
    assert stalled["reason"] == "PodStuckTerminating"
    assert f"on node {NODE}, which is lost; set runPolicy.forceDeleteAfterSeconds" in stalled["message"]
    assert live.pods(0).keys() == set(PODS_OF_TWO)
    assert not live.pods(1)
    assert_lost(live)

    back = time.monotonic()
    outage.start_node()
    late = measure_change(live, row, back, "node back")
    measure_first_step(live, row, back, "node back")
    assert live.wait_finished() == "Succeeded"
    assert late <= 2
    assert_lost(live)
    assert_went_on(live, row, steps=STEPS)


@pytest.mark.own
@pytest.mark.usefixtures("elsewhere", "neighbour")
@pytest.mark.row("failure", f"the node is gone, `forceDeleteAfterSeconds: {FORCE}`")
def test_by_force(site: Site, live: Live, outage: Outage, row: Row) -> None:
    """The old pods are removed without the word of the node, and new ones wait for another; an event tells of it."""
    fault = lose(site, live, outage, row, forceDeleteAfterSeconds=FORCE)
    measure_change(live, row, fault, "fault")
    (event,) = wait_for(lambda: site.client.events(live.namespace, reason="ForceDeletedPod"), 30, what="the event")
    assert event["type"] == "Warning"
    assert event["message"] == f"Removed from lost nodes by force: {len(PODS_OF_TWO)} pods"
    wait_for(
        lambda: live.condition("Stalled").get("reason") == "Unschedulable",
        60,
        what="the job to say that it finds no node",
    )
    stalled = live.condition("Stalled")
    assert stalled["status"] == "True"
    assert_lost(live)

    back = time.monotonic()
    outage.start_node()
    measure_first_step(live, row, back, "node back")
    assert live.wait_finished() == "Succeeded"
    assert_lost(live)
    assert_made_once(live, 1)
    assert_went_on(live, row, steps=STEPS)
