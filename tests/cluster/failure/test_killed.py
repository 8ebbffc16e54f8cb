"""The process of a Worker is killed while it trains, as the kernel does, and whatever else ends a process at once."""

import time

import pytest

from support.cluster.cluster import Cluster
from support.cluster.faults import kill_training
from support.cluster.live import Live
from support.cluster.recovery import (
    assert_blamed,
    assert_restarts,
    assert_went_on,
    describe_ends,
    measure_first_step,
    measure_restart,
)
from support.cluster.report import Row
from support.cluster.site import Site
from support.cluster.trainings import SHARED, training

STEPS = 20
PATIENCE = {"TRAIN_PATIENCE": "0.2"}
"""Processes that wait for the one that was killed end that long after SIGTERM."""


@pytest.mark.core
@pytest.mark.own
@pytest.mark.row("failure", "kill -9 of a Worker's process 1")
def test_process_1(site: Site, cluster: Cluster, live: Live, row: Row) -> None:
    """The job is restarted once, for that Worker, and goes on from its checkpoint; new pods come within 2 s.

    The others end when they are told to, as samples/training does: that is the time from the kubelet's report on.
    """
    live.make_claim()
    job = training(site.image("training"), steps=STEPS, sleep=0.3, claim=True, env=PATIENCE)
    live.submit(job)
    live.wait_step(7)

    fault = time.monotonic()
    cluster.node.containerd.kill(live.container_id("worker-1"))
    late = measure_restart(live, row, fault, "worker-1")
    assert_blamed(live, "worker-1", exitCode=137, reason="Error", attempt=0, countsTowardsLimit=True)
    measure_first_step(live, row, fault)

    assert live.wait_finished() == "Succeeded"
    assert late <= 2
    assert row.seconds["report to the new pods"] <= 2
    assert_restarts(live, 1, 1)
    assert_blamed(live, "worker-1", exitCode=137)
    assert_went_on(live, row, steps=STEPS)
    # The Scheduler may be told to go before it has ended, and has a second for that.
    ends = {pod: code for (attempt, pod), code in live.codes().items() if attempt == 1 and "worker" in pod}
    assert ends == {"worker-0": 0, "worker-1": 0}
    row.tell(f"ends: {describe_ends(live)}")


@pytest.mark.row("failure", "kill -9 of a Worker through the API, `restartPolicy: ExitCode`, the grace of the operator")
def test_through_the_api(site: Site, live: Live, row: Row) -> None:
    """Exit code 137 restarts the whole job under `ExitCode`; the others, which wait in vain, are not blamed."""
    live.make_claim()
    job = training(
        site.image("training"),
        steps=STEPS,
        sleep=0.3,
        claim=True,
        restart_policy="ExitCode",
        pod=SHARED,
    )
    live.submit(job)
    live.wait_step(7)

    fault = time.monotonic()
    kill_training(live, "worker-1")
    restarting = live.wait_condition("Restarting")["message"]
    assert "pod train-worker-1 failed: container mindspore exited with code 137" in restarting
    assert "restart 1, 1 counted" in restarting
    late = measure_restart(live, row, fault, "worker-1")
    measure_first_step(live, row, fault)

    assert live.wait_finished() == "Succeeded"
    assert late <= 2
    assert_restarts(live, 1, 1)
    assert_blamed(live, "worker-1", exitCode=137, reason="Error", attempt=0, countsTowardsLimit=True)
    assert_went_on(live, row, steps=STEPS)
    row.tell(f"ends: {describe_ends(live)}")
