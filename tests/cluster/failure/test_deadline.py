"""`activeDeadlineSeconds` passes while a job trains."""

from datetime import UTC, datetime

import pytest

from support.cluster.live import Live
from support.cluster.recovery import assert_restarts, describe_ends
from support.cluster.report import Row
from support.cluster.site import Site
from support.cluster.trainings import training
from support.testbed.waiting import wait_for

STEPS = 1000
AHEAD = 5
"""Seconds from when the deadline is set, which may be while a job runs."""


@pytest.mark.row("failure", "`activeDeadlineSeconds` while a job trains")
def test_while_it_trains(site: Site, live: Live, row: Row) -> None:
    """The job fails within 2 s of its deadline, nobody is blamed, its pods go, and what they did is saved."""
    live.make_claim()
    live.submit(training(site.image("training"), steps=STEPS, every=STEPS, sleep=0.3, claim=True))
    live.wait_step(3)
    begin = datetime.fromisoformat(live.status()["startTime"])
    deadline = int((datetime.now(UTC) - begin).total_seconds()) + AHEAD
    live.patch_run_policy(activeDeadlineSeconds=deadline)

    failed = live.wait_condition("Failed", timeout=AHEAD + 20)
    assert failed["reason"] == "DeadlineExceeded"
    assert f"activeDeadlineSeconds {deadline}" in failed["message"]
    end = datetime.fromisoformat(live.status()["completionTime"])
    late = (end - begin).total_seconds() - deadline
    row.measure("deadline to Failed", late)
    assert 0 <= late <= 2
    wait_for(lambda: not live.pods(), 60, what="the pods to go", interval=0.1)
    row.measure("deadline to the last pod gone", (datetime.now(UTC) - begin).total_seconds() - deadline)

    assert live.wait_finished() == "Failed"
    assert_restarts(live, 0, 0)
    assert "lastFailure" not in live.status()
    assert live.texts(r"saved a checkpoint after step \d+")
    row.tell(f"saved after SIGTERM; ends: {describe_ends(live)}")
