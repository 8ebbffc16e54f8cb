"""A pod that cannot run: its image does not exist, or no node has room for it."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from support.cluster.live import Live
from support.cluster.recovery import assert_restarts
from support.cluster.report import Row
from support.cluster.site import Site
from support.cluster.trainings import training
from support.jobs import Json
from support.msjob_program import MsjobProgram
from support.testbed.waiting import wait_for

NO_IMAGE = "registry.invalid/training:none"
"""A name that nobody can have: RFC 6761 keeps `invalid` free."""
IMAGE = "/spec/msReplicaSpecs/Worker/template/spec/containers/0/image"
DEADLINE = 12


def without_image(image: str, run_policy: Json | None = None) -> Json:
    """A job whose Workers have an image that does not exist."""
    job = training(image, claim=True, run_policy=run_policy)
    (container,) = job["spec"]["msReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]
    container["image"] = NO_IMAGE
    return job


def why(live: Live, folder: Path) -> str:
    """What `msjob why` says of the job."""
    said = MsjobProgram(live.site.kubeconfig, folder)("why", "train", "--namespace", live.namespace)
    return said.out


def after_the_deadline(live: Live) -> float:
    """Seconds from the deadline to the end of the job, as its status has them."""
    status = live.status()
    begin, end = (datetime.fromisoformat(status[key]) for key in ("startTime", "completionTime"))
    return (end - begin).total_seconds() - DEADLINE


@pytest.mark.row("failure", "an image that does not exist, put right by suspend, edit, resume")
def test_image(site: Site, live: Live, row: Row, tmp_path: Path) -> None:
    """The stall names pod, container, reason and the kubelet's words, as `msjob why` does; a better image trains."""
    live.make_claim()
    live.submit(without_image(site.image("training")))

    stalled = live.wait_condition("Stalled")
    assert stalled["reason"] == "ImagePullBackOff"
    assert "pod train-worker-" in stalled["message"]
    assert "container mindspore: " in stalled["message"]
    assert NO_IMAGE in stalled["message"]
    row.tell(f"Stalled: {stalled['message'][:160]}")
    said = why(live, tmp_path)
    assert ": an image cannot be pulled." in said
    assert "pod train-worker-" in said
    assert NO_IMAGE in said
    assert live.condition("Running") == {}

    program = MsjobProgram(site.kubeconfig, tmp_path)
    assert program("suspend", "train", "--namespace", live.namespace).code == 0
    live.wait_condition("Suspended")
    edit = [{"op": "replace", "path": IMAGE, "value": site.image("training")}]
    live.kubectl("patch", "msjob", "train", "--type=json", "--patch", json.dumps(edit))
    assert program("resume", "train", "--namespace", live.namespace).code == 0

    assert live.wait_finished() == "Succeeded"
    assert live.condition("Stalled")["status"] == "False"
    assert_restarts(live, 0, 0)
    assert "lastFailure" not in live.status()
    assert len(live.steps(rank=0)) == 10


@pytest.mark.row("failure", "an image that does not exist, `startupDeadlineSeconds`")
def test_image_deadline(site: Site, live: Live, row: Row, tmp_path: Path) -> None:
    """The job fails at its deadline, for the Worker that never ran and not for the Scheduler, which waits for it."""
    live.make_claim()
    live.submit(without_image(site.image("training"), {"startupDeadlineSeconds": DEADLINE}))

    failed = live.wait_condition("Failed")
    assert failed["reason"] == "StartupDeadlineExceeded"
    assert f"startupDeadlineSeconds {DEADLINE}" in failed["message"]
    late = after_the_deadline(live)
    row.measure("deadline to Failed", late)
    assert 0 <= late <= 2
    assert_restarts(live, 0, 0)
    assert live.status().get("lastFailure", {}).get("role") != "Scheduler"
    assert "pod train-worker-" in failed["message"]
    row.tell(failed["message"][:200])
    assert NO_IMAGE in why(live, tmp_path)
    wait_for(lambda: not live.pods(), 60, what="the pods to go")


@pytest.mark.row("failure", "a request that no node has, `startupDeadlineSeconds`")
def test_unschedulable(site: Site, live: Live, row: Row, tmp_path: Path) -> None:
    """The stall has the words of the scheduler; the deadline ends the job."""
    live.make_claim()
    live.submit(
        training(
            site.image("training"),
            claim=True,
            limits={"cpu": "10000"},
            run_policy={"startupDeadlineSeconds": DEADLINE},
        )
    )

    stalled = live.wait_condition("Stalled", timeout=DEADLINE)
    assert stalled["reason"] == "Unschedulable"
    assert "pod train-worker-" in stalled["message"]
    assert "Insufficient cpu" in stalled["message"]
    row.tell(f"Stalled: {stalled['message'][:160]}")
    said = why(live, tmp_path)
    assert "pod train-worker-" in said
    assert "Insufficient cpu" in said

    failed = live.wait_condition("Failed")
    assert failed["reason"] == "StartupDeadlineExceeded"
    assert "Insufficient cpu" in failed["message"]
    late = after_the_deadline(live)
    row.measure("deadline to Failed", late)
    assert 0 <= late <= 2
    assert_restarts(live, 0, 0)
    wait_for(lambda: not live.pods(), 60, what="the pods to go")
