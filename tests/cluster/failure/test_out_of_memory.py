"""A Worker needs more memory than its limit."""

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
from support.cluster.trainings import faulty, training

STEPS = 20
HOARDS = faulty('hoard = []\nwhile True:\n    hoard.append(b"x" * 2**24)', step=7, rank=1)


@pytest.mark.row("failure", "a Worker is out of memory")
def test_limit(site: Site, live: Live, row: Row) -> None:
    """The kernel ends it at its limit, and `lastFailure` says why; the job goes on from its checkpoint."""
    live.make_claim()
    live.submit(
        training(site.image("training"), steps=STEPS, sleep=0.3, claim=True, command=HOARDS, limits={"memory": "1Gi"})
    )
    live.wait_step(7)

    fault = time.monotonic()
    late = measure_restart(live, row, fault, "worker-1")
    measure_first_step(live, row, fault)

    assert live.wait_finished() == "Succeeded"
    assert late <= 2
    assert_restarts(live, 1, 1)
    assert_blamed(live, "worker-1", exitCode=137, reason="OOMKilled", attempt=0, countsTowardsLimit=True)
    assert_went_on(live, row, steps=STEPS)
    row.tell(f"ends: {describe_ends(live)}")
