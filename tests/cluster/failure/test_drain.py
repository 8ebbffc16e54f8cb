"""The node of a training is drained and given back."""

import time
from collections.abc import Iterator
from typing import Final

import pytest

from msjob.api import meta
from support.cluster.continuity import assert_made_once, measure_change
from support.cluster.installation import Installation
from support.cluster.live import Live, since
from support.cluster.places import NODE
from support.cluster.recovery import assert_restarts, assert_went_on, describe_ends, measure_first_step
from support.cluster.report import Row
from support.cluster.site import Site
from support.cluster.trainings import unforgiving

STEPS: Final = 20


def submit(site: Site, live: Live) -> None:
    """Let a job train that no failure may restart."""
    live.make_claim()
    live.submit(unforgiving(site.image("training"), steps=STEPS))
    live.wait_step(7)


def assert_disrupted(live: Live, row: Row) -> None:
    """The job has succeeded after one restart that does not count and blames no process, with no step made twice."""
    assert live.wait_finished() == "Succeeded"
    assert_restarts(live, 1, 0)
    failure = live.status()["lastFailure"]
    assert failure["countsTowardsLimit"] is False
    assert "exitCode" not in failure
    assert failure["reason"] in {"Evicted", "Deleted"}
    assert_made_once(live, 1)
    start = assert_went_on(live, row, steps=STEPS)
    assert start >= max(step.step for step in live.steps(0, 0))
    row.tell(f"`lastFailure`: {failure['pod']} {failure['reason']}; ends: {describe_ends(live)}")


@pytest.mark.own
@pytest.mark.usefixtures("outage")
@pytest.mark.row("failure", "`kubectl drain` of the only node, with the operator on it, and `uncordon`")
def test_all_of_it(site: Site, live: Live, installation: Installation, row: Row) -> None:
    """The operator is evicted with the job, and comes back with the node; it finds out what happened meanwhile."""
    submit(site, live)
    (before,) = installation.pods()

    asked = time.monotonic()
    live.kubectl("drain", NODE, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=60s", timeout=90)
    row.measure("drain", since(asked))
    assert not [pod for pod in live.pods(0).values() if "deletionTimestamp" not in pod["metadata"]]
    (waiting,) = installation.pods()
    assert waiting["metadata"]["uid"] != before["metadata"]["uid"]
    assert waiting["status"]["phase"] == "Pending"

    back = time.monotonic()
    live.kubectl("uncordon", NODE)
    installation.wait_available()
    row.measure("uncordon to the operator available", since(back))
    measure_change(live, row, back, "uncordon")
    measure_first_step(live, row, back, "uncordon")
    assert_disrupted(live, row)


@pytest.fixture
def node(site: Site, live: Live) -> Iterator[str]:
    """The node of Worker 1, which takes new pods again after the test."""
    submit(site, live)
    name = str(live.pods()["worker-1"]["spec"]["nodeName"])
    yield name
    site.kubectl.run("uncordon", name)


@pytest.mark.row("failure", "`kubectl drain --pod-selector` of the node of a Worker, and `uncordon`")
def test_pods_of_the_job(site: Site, live: Live, node: str, row: Row) -> None:
    """All pods are made anew, also those elsewhere; where there is no other node they wait, and the job says so."""
    asked = time.monotonic()
    selector = f"--pod-selector={meta.LABEL_JOB_NAME}=train"
    live.kubectl("drain", node, selector, "--ignore-daemonsets", "--timeout=60s", timeout=90)
    row.measure("drain", since(asked))
    late = measure_change(live, row, asked, "drain")
    if site.cluster is not None:
        stalled = live.wait_condition("Stalled")
        assert stalled["reason"] == "Unschedulable"
        assert "unschedulable" in stalled["message"]
        assert all(item["status"]["phase"] == "Pending" for item in live.pods(1).values())

    back = time.monotonic()
    live.kubectl("uncordon", node)
    measure_first_step(live, row, back, "uncordon")
    assert_disrupted(live, row)
    assert late <= 2
    assert live.status()["lastFailure"]["reason"] == "Evicted"
