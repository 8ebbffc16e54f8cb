"""The operator goes while a job trains."""

import time
from collections.abc import Iterator
from typing import Final

import pytest

from support.cluster.continuity import assert_undisturbed, measure_change
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
from support.jobs import Json
from support.testbed.waiting import wait_for

STEPS: Final = 20
STEPS_WITHOUT: Final = 60
"""So many that the job trains still when the next operator is there."""


@pytest.mark.row("failure", "the operator's pod is deleted in mid-training")
def test_deleted(site: Site, live: Live, installation: Installation, row: Row) -> None:
    """Nothing happens to the training."""
    live.make_claim()
    live.submit(training(site.image("training"), steps=STEPS_WITHOUT, every=20, sleep=0.5, claim=True))
    live.wait_step(3)
    (old,) = installation.pods()

    fault = time.monotonic()
    live.kubectl("delete", "pod", f"--namespace={NAMESPACE}", old["metadata"]["name"], "--wait=false")
    # What the Deployment says may be of the old pod.
    wait_for(
        lambda: any(is_ready(pod) for pod in installation.pods() if pod["metadata"]["uid"] != old["metadata"]["uid"]),
        60,
        what="the next operator to be ready",
        interval=0.1,
    )
    row.measure("operator deleted to the next one ready", since(fault))
    assert not live.ended()

    assert live.wait_finished() == "Succeeded"
    assert_undisturbed(live, steps=STEPS_WITHOUT)
    row.tell("no pod was touched, no step made twice")


def is_ready(pod: Json) -> bool:
    """Whether a pod is ready."""
    conditions = pod["status"].get("conditions") or []
    return any(found["type"] == "Ready" and found["status"] == "True" for found in conditions)


@pytest.fixture
def stopped(installation: Installation) -> Iterator[Installation]:
    """The operator, which a test may stop; after the test it is there again."""
    yield installation
    installation.scale(1)
    installation.wait_available()


@pytest.mark.row("failure", "a Worker is killed, and another follows it, while there is no operator")
def test_absent(site: Site, live: Live, stopped: Installation, row: Row) -> None:
    """Once there is an operator, it restarts the job for the Worker that fell first, as if it had been there."""
    live.make_claim()
    live.submit(training(site.image("training"), steps=STEPS, sleep=0.3, claim=True, pod=SHARED))
    live.wait_step(7)
    live.wait_condition("Running")

    stopped.stop()
    fault = time.monotonic()
    kill_training(live, "worker-1")
    row.measure("fault to the kubelet's report", live.reported("worker-1") - fault)
    row.measure("fault to the end of the other Worker", live.reported("worker-0", timeout=120) - fault)
    assert "attempt" not in live.status()
    assert live.pods(1) == {}

    back = time.monotonic()
    stopped.scale(1)
    stopped.wait_available()
    row.measure("operator wanted to the operator available", since(back))
    late = measure_change(live, row, back, "operator wanted")
    measure_first_step(live, row, back, "operator wanted")

    assert live.wait_finished() == "Succeeded"
    assert late <= 2
    assert_restarts(live, 1, 1)
    assert_blamed(live, "worker-1", exitCode=137, reason="Error", attempt=0, countsTowardsLimit=True)
    assert_went_on(live, row, steps=STEPS)
    row.tell(f"ends: {describe_ends(live)}")
