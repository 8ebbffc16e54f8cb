"""A pod of a job that trains is deleted by hand."""

import time

import pytest

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
from support.cluster.trainings import unforgiving

STEPS = 20


@pytest.mark.row("failure", "a pod is deleted by hand, `restartPolicy: Never`")
def test_worker(site: Site, live: Live, row: Row) -> None:
    """It is a disruption: the job is restarted under every policy, and that counts towards no limit.

    The Worker hears SIGTERM and tells the others, so all save and leave after the same step, which is not made again.
    """
    live.make_claim()
    live.submit(unforgiving(site.image("training"), steps=STEPS))
    live.wait_step(7)

    fault = time.monotonic()
    live.kubectl("delete", "pod", "train-worker-1", "--wait=false")
    late = measure_restart(live, row, fault, "worker-1")
    measure_first_step(live, row, fault)

    assert live.wait_finished() == "Succeeded"
    assert late <= 2
    assert_restarts(live, 1, 0)
    assert_blamed(live, "worker-1", reason="Deleted", attempt=0, countsTowardsLimit=False)
    start = assert_went_on(live, row, steps=STEPS)
    assert start >= max(step.step for step in live.steps(0, 0))
    row.tell(f"ends: {describe_ends(live)}")
