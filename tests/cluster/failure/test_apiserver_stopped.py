"""The API server is away while a job trains."""

import time
from typing import Final

import pytest

from support.cluster.cluster import Cluster
from support.cluster.continuity import assert_undisturbed, last_step_on_node, measure_change
from support.cluster.live import Live, since
from support.cluster.outage import Outage
from support.cluster.recovery import (
    assert_blamed,
    assert_restarts,
    assert_went_on,
    describe_ends,
    measure_first_step,
)
from support.cluster.report import Row
from support.cluster.site import Site
from support.cluster.trainings import training
from support.testbed.waiting import wait_for

SECONDS: Final = 60
STEPS_WITHOUT: Final = 160
"""So many that the job trains still when the API server is back."""
STEPS: Final = 40


@pytest.mark.own
@pytest.mark.row("failure", f"the API server is stopped for {SECONDS} s in mid-training")
def test_training_goes_on(site: Site, cluster: Cluster, live: Live, outage: Outage, row: Row) -> None:
    """The training makes steps meanwhile, and nothing is restarted afterwards; operator and kubelet come back alone."""
    live.make_claim()
    live.submit(training(site.image("training"), steps=STEPS_WITHOUT, every=20, sleep=0.5, claim=True))
    live.wait_step(3)
    live.wait_condition("Running")

    outage.stop_apiserver()
    before = last_step_on_node(cluster, live, "worker-0")
    time.sleep(SECONDS)  # that long it is away
    meanwhile = last_step_on_node(cluster, live, "worker-0") - before
    back = time.monotonic()
    outage.start_apiserver()
    row.measure("API server started to ready", since(back))
    live.wait_step(before + meanwhile + 1)
    row.measure("API server started to the next line of `msjob logs -f`", since(back))

    assert live.wait_finished() == "Succeeded"
    assert meanwhile > 10
    assert_undisturbed(live, steps=STEPS_WITHOUT)
    row.tell(f"{meanwhile} steps were made meanwhile; no pod was touched, no step made twice")


@pytest.mark.own
@pytest.mark.row("failure", "a Worker is killed, and another follows it, while the API server is stopped")
def test_worker_dies_meanwhile(site: Site, cluster: Cluster, live: Live, outage: Outage, row: Row) -> None:
    """Once the API server is back, the job is restarted for the Worker that fell first."""
    live.make_claim()
    live.submit(training(site.image("training"), steps=STEPS, sleep=0.3, claim=True))
    live.wait_step(7)
    live.wait_condition("Running")
    containers = {pod: live.container_id(pod) for pod in ("worker-0", "worker-1")}

    outage.stop_apiserver(kill=True)
    fault = time.monotonic()
    cluster.node.containerd.kill(containers["worker-1"])
    wait_for(
        lambda: not cluster.node.containerd.runs(containers["worker-0"]), 120, what="worker-0 to end", interval=0.5
    )
    row.measure("fault to the end of the other Worker", since(fault))
    back = time.monotonic()
    outage.start_apiserver()
    late = measure_change(live, row, back, "API server started")
    measure_first_step(live, row, back, "API server started")

    assert live.wait_finished() == "Succeeded"
    assert late <= 2
    assert_restarts(live, 1, 1)
    assert_blamed(live, "worker-1", exitCode=137, reason="Error", attempt=0, countsTowardsLimit=True)
    assert_went_on(live, row, steps=STEPS)
    row.tell(f"ends: {describe_ends(live)}")
