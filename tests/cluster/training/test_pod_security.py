"""A namespace whose pods must keep to the Restricted profile of Pod Security."""

import json

import pytest

from support.cluster.live import Live
from support.cluster.outcome import KEPT, assert_ends_well, assert_one_model
from support.cluster.report import Row
from support.cluster.site import Site
from support.cluster.trainings import training
from support.testbed.waiting import wait_for

ENFORCE = "pod-security.kubernetes.io/enforce"


@pytest.mark.row("training", "a namespace with Restricted Pod Security")
def test_restricted(site: Site, live: Live, row: Row) -> None:
    """A template that breaks the profile stalls its job, in the words of the admission; mended, the job trains.

    It is mended as Kubernetes lets one do it: the job is suspended, and resumed with another template.
    """
    labels = site.client.get("v1/namespaces", live.namespace)["metadata"]["labels"]
    assert labels[ENFORCE] == "restricted"
    good = training(site.images["training"], run_policy=KEPT)
    bad = json.loads(json.dumps(good))
    bad["metadata"]["namespace"] = live.namespace
    pod = bad["spec"]["msReplicaSpecs"]["Worker"]["template"]["spec"]
    pod["containers"][0]["securityContext"].pop("capabilities")
    live.kubectl("apply", "-f", "-", stdin=json.dumps(bad))

    stalled = live.wait_condition("Stalled")
    refusal = f'violates PodSecurity "{labels[ENFORCE]}:latest": unrestricted capabilities'
    assert stalled["reason"] == "Forbidden"
    assert refusal in stalled["message"]
    events = wait_for(
        lambda: live.site.client.events(live.namespace, about="train", reason="FailedCreatePod"), 10, what="the event"
    )
    assert any(event["type"] == "Warning" and refusal in event["message"] for event in events)
    assert not any(name.startswith("worker") for name in live.pods())

    live.patch_run_policy(suspend=True)
    live.wait_condition("Suspended")
    good["spec"]["runPolicy"]["suspend"] = False
    live.submit(good)
    assert_ends_well(live, row, {"Scheduler": 1, "Worker": 2}, resumed=True)
    assert_one_model(live, row, 10, {0: [0], 1: [1]})
    row.tell(f"{ENFORCE}={labels[ENFORCE]}; before: {stalled['reason']}: {stalled['message']}")
