"""A training gets another number of Workers."""

import time
from typing import Final

import pytest

from support.cluster.continuity import PODS_OF_TWO, assert_made_once, measure_change
from support.cluster.live import Live
from support.cluster.recovery import assert_restarts, assert_went_on, describe_ends, measure_first_step
from support.cluster.report import Row
from support.cluster.site import Site
from support.cluster.trainings import unforgiving

STEPS: Final = 20


@pytest.mark.row("failure", "`kubectl scale` from 2 to 3 Workers in mid-training")
def test_more_workers(site: Site, live: Live, row: Row) -> None:
    """All are begun anew once, with the new world size, and go on with the same losses; it is no restart."""
    live.make_claim()
    live.submit(unforgiving(site.image("training"), steps=STEPS))
    live.wait_step(7)

    asked = time.monotonic()
    live.kubectl("scale", "msjob/train", "--replicas=3")
    late = measure_change(live, row, asked, "scale", count=4)
    assert "scaled from 2 to 3 Workers" in live.condition("Restarting")["message"]
    measure_first_step(live, row, asked, "scale")

    assert live.wait_finished() == "Succeeded"
    assert late <= 2
    assert live.status()["attempt"] == 1
    assert_restarts(live, 0, 0)
    assert "lastFailure" not in live.status()
    assert {step.size for step in live.steps(0)} == {2}
    assert {(step.rank, step.size) for step in live.steps(1)} == {(0, 3), (1, 3), (2, 3)}
    assert_made_once(live, 1, (*PODS_OF_TWO, "worker-2"))
    start = assert_went_on(live, row, steps=STEPS, workers=3)
    assert start >= max(step.step for step in live.steps(0, 0))
    row.tell(f"ends: {describe_ends(live)}")
