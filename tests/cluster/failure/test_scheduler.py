"""The MindSpore Scheduler is killed while its Workers train."""

import itertools
import time

import pytest

from support.cluster.faults import kill_training
from support.cluster.live import Live, attempt_of, exit_code
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
from support.cluster.trainings import training
from support.testbed.client import PODS
from support.testbed.waiting import wait_for

STEPS = 20
STEPS_ALONE = 40
"""So many that the Workers train until the new Scheduler is there, and some more."""


@pytest.mark.core
@pytest.mark.row("failure", "kill -9 of the Scheduler, `restartScope: Job`")
def test_whole_job(site: Site, live: Live, row: Row) -> None:
    """All pods are made anew, though the Workers still train; what they did until they are told to go is not lost."""
    live.make_claim()
    live.submit(training(site.image("training"), steps=STEPS, sleep=0.3, claim=True))
    live.wait_step(7)

    fault = time.monotonic()
    kill_training(live, "scheduler-0")
    late = measure_restart(live, row, fault, "scheduler-0")
    measure_first_step(live, row, fault)

    assert live.wait_finished() == "Succeeded"
    assert late <= 2
    assert_restarts(live, 1, 1)
    assert_blamed(live, "scheduler-0", exitCode=137, reason="Error", attempt=0, countsTowardsLimit=True)
    assert_went_on(live, row, steps=STEPS)
    row.tell(f"ends: {describe_ends(live)}")


@pytest.mark.core
@pytest.mark.row("failure", "kill -9 of the Scheduler, `restartScope: Pod`")
def test_alone(site: Site, live: Live, row: Row) -> None:
    """A new Scheduler comes alone: the Workers register with it and go on, no step is made twice, all end with 0."""
    live.make_claim()
    live.submit(
        training(
            site.image("training"),
            steps=STEPS_ALONE,
            every=20,
            sleep=0.5,
            claim=True,
            scheduler_role={"restartScope": "Pod"},
            run_policy={"cleanPodPolicy": "None"},
            success_policy="AllWorkers",
        )
    )
    live.wait_step(3)
    before = {pod: item["metadata"]["uid"] for pod, item in live.pods().items()}

    fault = time.monotonic()
    kill_training(live, "scheduler-0")
    report = live.reported("scheduler-0")
    row.measure("fault to the kubelet's report", report - fault)
    gone = wait_for(lambda: _gone(live, before["scheduler-0"]), 60, what="the old Scheduler to go", interval=0.1)
    new = wait_for(lambda: _successor(live, before["scheduler-0"]), 60, what="a new Scheduler", interval=0.1)
    row.measure("report to the new pod", new - report)
    row.measure("old pod gone to the new pod", new - gone)

    assert live.wait_finished() == "Succeeded"
    wait_for(
        lambda: all(exit_code(pod) is not None for pod in live.pods().values()),
        60,
        what="all pods to end",
        interval=0.2,
    )
    after = live.pods()
    assert {pod: exit_code(item) for pod, item in after.items()} == {"scheduler-0": 0, "worker-0": 0, "worker-1": 0}
    assert {pod for pod in after if after[pod]["metadata"]["uid"] == before[pod]} == {"worker-0", "worker-1"}
    assert new - gone <= 2
    assert "attempt" not in live.status()
    assert {attempt_of(pod) for pod in after.values()} == {0}
    assert_restarts(live, 1, 1)
    assert_blamed(live, "scheduler-0", exitCode=137, reason="Error", attempt=0, countsTowardsLimit=True)
    for rank in (0, 1):
        assert [step.step for step in live.steps(rank=rank)] == list(range(1, STEPS_ALONE + 1))
    row.measure("longest pause between two steps", _longest_pause(live))
    row.tell("the Workers went on, no step was made twice, all ended with 0")


def _successor(live: Live, uid: str) -> float:
    """When a Scheduler of another uid was heard of."""
    found = live.recorder.first(
        PODS, lambda seen: seen.type == "ADDED" and "-scheduler-" in seen.name and seen.uid != uid
    )
    return found.at if found else 0


def _gone(live: Live, uid: str) -> float:
    """When a pod had gone."""
    found = live.recorder.first(PODS, lambda seen: seen.type == "DELETED" and seen.uid == uid)
    return found.at if found else 0


def _longest_pause(live: Live) -> float:
    """Seconds between two steps of Worker 0, the longest."""
    times = [line.time for line in live.lines if line.index == 0 and " loss " in line.text and line.role == "Worker"]
    known = [when for when in times if when is not None]
    return max((later - earlier).total_seconds() for earlier, later in itertools.pairwise(known))
