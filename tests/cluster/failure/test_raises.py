"""A Worker raises an exception while it trains."""

import time

import pytest

from support.cluster.live import Live, since
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
from support.jobs import Json
from support.testbed.waiting import wait_for

STEPS = 20
RAISES = faulty('raise ValueError("the data end here")', step=7, rank=1)


def raising(image: str, restart_policy: str) -> Json:
    """A job whose Worker 1 raises after step 7 of its first attempt; the end of its log is its last message."""
    job = training(image, steps=STEPS, sleep=0.3, claim=True, command=RAISES, restart_policy=restart_policy)
    (container,) = job["spec"]["msReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]
    container["terminationMessagePolicy"] = "FallbackToLogsOnError"
    return job


@pytest.mark.row("failure", "a Worker raises, `restartPolicy: OnFailure`")
def test_on_failure(site: Site, live: Live, row: Row) -> None:
    """The job is restarted once, for that Worker, and goes on from its checkpoint."""
    live.make_claim()
    live.submit(raising(site.image("training"), "OnFailure"))
    live.wait_step(7)

    fault = time.monotonic()
    late = measure_restart(live, row, fault, "worker-1")
    measure_first_step(live, row, fault)

    assert live.wait_finished() == "Succeeded"
    assert late <= 2
    assert_restarts(live, 1, 1)
    failure = assert_blamed(live, "worker-1", exitCode=1, reason="Error", attempt=0, countsTowardsLimit=True)
    assert "ValueError: the data end here" in failure["message"]
    assert_went_on(live, row, steps=STEPS)
    row.tell(f"ends: {describe_ends(live)}")


@pytest.mark.row("failure", "a Worker raises, `restartPolicy: ExitCode`")
def test_exit_code(site: Site, live: Live, row: Row) -> None:
    """Exit code 1 is final: the job fails at once, for that Worker, in its words, and the other pods go."""
    live.make_claim()
    live.submit(raising(site.image("training"), "ExitCode"))
    live.wait_step(7)

    fault = time.monotonic()
    report = live.reported("worker-1")
    row.measure("fault to the kubelet's report", report - fault)
    failed = live.wait_condition("Failed")
    row.measure("report to Failed", since(report))
    wait_for(lambda: list(live.pods()) == ["worker-1"], 60, what="the other pods to go", interval=0.1)
    row.measure("report to the other pods gone", since(report))

    assert live.wait_finished() == "Failed"
    assert failed["reason"] == "MSJobFailed"
    assert "pod train-worker-1 failed: container mindspore exited with code 1" in failed["message"]
    failure = assert_blamed(live, "worker-1", exitCode=1, reason="Error", attempt=0, countsTowardsLimit=False)
    assert "ValueError: the data end here" in failure["message"]
    assert_restarts(live, 0, 0)
    assert not live.pods(attempt=1)
    row.tell(f"ends: {describe_ends(live)}")
