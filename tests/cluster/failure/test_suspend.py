"""A training is suspended and resumed."""

import time
from typing import Final

import pytest

from msjob.api import meta
from support.cluster.continuity import assert_made_once, measure_change, uids
from support.cluster.live import Live, since
from support.cluster.recovery import (
    assert_restarts,
    assert_went_on,
    describe_ends,
    measure_first_step,
)
from support.cluster.report import Row
from support.cluster.site import Site
from support.cluster.trainings import training
from support.jobs import Json
from support.testbed.waiting import wait_for

STEPS: Final = 20


@pytest.mark.core
@pytest.mark.row("failure", "suspend in mid-training, and resume")
def test_goes_on(site: Site, live: Live, row: Row) -> None:
    """SIGTERM lets the Workers save, so no step is lost; nothing runs while suspended, and none of it is a restart."""
    live.make_claim()
    live.submit(training(site.image("training"), steps=STEPS, sleep=0.3, claim=True, restart_policy="Never"))
    live.wait_step(7)
    live.wait_condition("Running")
    running = uids(live)

    asked = time.monotonic()
    live.patch_run_policy(suspend=True)
    idle = wait_for(lambda: without_active_pods(live), 60, what="no pod to be active", interval=0.1)
    # Whoever sees that no pod is active may count on what they had being free: those that are there have ended.
    left = {pod: found["status"]["phase"] for pod, found in live.pods().items()}
    assert set(left.values()) <= {"Succeeded", "Failed"}, f"{left} although none is active"
    assert live.wait_condition("Suspended")["reason"] == "MSJobSuspended"
    assert not live.pods(), "pods are there although the job is suspended"
    row.measure("suspend to the last pod gone", since(asked))
    assert live.condition("Running")["status"] == "False"
    assert "startTime" not in live.status()
    assert idle["replicaStatuses"].keys() == {"Scheduler", "Worker"}
    assert not site.client.list("v1/services", live.namespace, labels=f"{meta.LABEL_JOB_NAME}=train")
    assert_made_once(live, 0, running)

    asked = time.monotonic()
    live.patch_run_policy(suspend=False)
    late = measure_change(live, row, asked, "resume")
    measure_first_step(live, row, asked, "resume")
    assert live.wait_finished() == "Succeeded"
    assert late <= 2
    assert live.status()["attempt"] == 1
    assert_restarts(live, 0, 0)
    assert "lastFailure" not in live.status()
    start = assert_went_on(live, row, steps=STEPS)
    last = max(step.step for step in live.steps(0, 0))
    assert start >= last, f"step {last} was made, and made again: the checkpoint is of step {start}"
    row.tell(f"ends: {describe_ends(live)}")


def without_active_pods(live: Live) -> Json:
    """The status of a job that says that no pod is active; empty if it says that one is."""
    status = live.status()
    active = [count.get("active", 0) for count in (status.get("replicaStatuses") or {}).values()]
    return {} if any(active) else status
