"""A container that does not hear SIGTERM."""

import time

import pytest

from support.cluster.live import Live, since
from support.cluster.recovery import assert_restarts, assert_went_on, describe_ends
from support.cluster.report import Row
from support.cluster.site import Site
from support.cluster.trainings import faulty, training
from support.testbed.client import MSJOBS, PODS
from support.testbed.waiting import wait_for

GRACE = 5
STEPS = 60
"""So many that the Workers, which train until they are killed, do not come to the end."""
DEAF = faulty("signal.signal(signal.SIGTERM, signal.SIG_IGN)", step=1)


@pytest.mark.row("failure", "a container ignores SIGTERM, the job is suspended")
def test_suspend(site: Site, live: Live, row: Row) -> None:
    """The job is suspending until the kubelet has killed the last pod, then suspended; resumed, it goes on."""
    live.make_claim()
    grace = {"terminationGracePeriodSeconds": GRACE}
    live.submit(
        training(
            site.image("training"), steps=STEPS, sleep=0.3, claim=True, command=DEAF, pod=grace, scheduler_pod=grace
        )
    )
    live.wait_step(7)

    fault = time.monotonic()
    live.jobs.suspend("train")
    meanwhile = wait_for(lambda: live.condition("Suspended"), 10, what="the condition Suspended", interval=0.05)
    assert (meanwhile["status"], meanwhile["reason"]) == ("False", "MSJobSuspending")
    assert meanwhile["message"].endswith("/train is being suspended: its pods are told to go.")
    assert live.wait_condition("Suspended")["reason"] == "MSJobSuspended"
    assert not live.pods()
    conditions = {item["type"]: item["status"] for item in live.status()["conditions"]}
    assert conditions == {"Created": "True", "PodsReady": "False", "Running": "False", "Suspended": "True"}

    gone = max(item.at for item in live.recorder.seen if item.resource == PODS and item.type == "DELETED")
    told = live.recorder.first(MSJOBS, lambda seen: _is_suspended(seen.object))
    assert told is not None
    row.measure("suspend to the last pod gone", gone - fault)
    row.measure("last pod gone to Suspended", told.at - gone)
    assert gone - fault >= GRACE
    assert {code for (_, pod), code in live.codes().items() if pod != "scheduler-0"} == {137}
    row.tell(f"ends: {describe_ends(live)}")

    resumed = time.monotonic()
    live.jobs.resume("train")
    live.wait_step(1, attempt=1)
    row.measure("resume to the next step", since(resumed))
    assert live.wait_finished() == "Succeeded"
    assert_restarts(live, 0, 0)
    assert "lastFailure" not in live.status()
    assert_went_on(live, row, steps=STEPS)


def _is_suspended(job: dict[str, object]) -> bool:
    status = job.get("status")
    conditions = status.get("conditions") or [] if isinstance(status, dict) else []
    return any(item["type"] == "Suspended" and item["status"] == "True" for item in conditions)
