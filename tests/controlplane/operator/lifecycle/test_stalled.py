"""A job that cannot go on says why, in condition and event; it goes on as soon as it can, and no other job notices."""

import re
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from support.audit import Request, writes
from support.jobs import Json, template
from support.live_jobs import Jobs
from support.testbed.client import PODS, Client
from support.testbed.controlplane import ControlPlane
from support.testbed.errors import ApiError
from support.testbed.podstatus import ContainerState, running, waiting

pytestmark = pytest.mark.usefixtures("operator")

QUOTAS = "v1/resourcequotas"
POLICIES = "admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = "admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"


def resolved(jobs: Jobs) -> None:
    """Wait until a job is no longer stalled, and check that it says so."""
    jobs.client.wait_for(lambda: jobs.conditions()["Stalled"]["status"] == "False", what="the end of the stall")
    assert jobs.conditions()["Stalled"]["reason"] == "Resolved"


# -- told by the pods ----------------------------------------------------------------------------------------------

CAUSES: dict[str, tuple[str, ContainerState, str]] = {
    "image": ("ImagePullBackOff", waiting("ImagePullBackOff", 'Back-off pulling image "x:1"'), "Back-off pulling"),
    "image-name": ("ImagePullBackOff", waiting("InvalidImageName", "couldn't parse image"), "couldn't parse image"),
    "config": ("CreateContainerError", waiting("CreateContainerConfigError", 'secret "s" not found'), '"s" not found'),
}


@pytest.mark.parametrize(("reason", "state", "words"), CAUSES.values(), ids=CAUSES)
def test_container_that_cannot_start(jobs: Jobs, reason: str, state: ContainerState, words: str) -> None:
    """Reason, pod and the kubelet's words are told; State stays what it was. The stall ends when the pod runs."""
    jobs.create(worker=2)
    jobs.wait_pods(3)
    jobs.set("scheduler-0")
    jobs.set("worker-0")
    jobs.set("worker-1", "Pending", containers={"mindspore": state})

    stalled = jobs.wait_stalled()
    assert stalled["reason"] == reason
    assert "pod train-worker-1: container mindspore" in stalled["message"]
    assert words in stalled["message"]
    event = jobs.wait_event(reason)
    assert (event["type"], event["message"]) == ("Warning", stalled["message"])
    assert jobs.state() == "Created"

    jobs.run(3)
    resolved(jobs)
    assert jobs.true() == ["Created", "Running"]
    assert jobs.state() == "Running"


def test_no_place(jobs: Jobs) -> None:
    """The scheduler's words about a pod that fits nowhere are told, and how many more there are."""
    words = "0/5 nodes are available: 5 Insufficient nvidia.com/gpu."
    jobs.create(worker=2)
    jobs.wait_pods(3)
    jobs.set("scheduler-0")
    for pod in ("train-worker-0", "train-worker-1"):
        jobs.kubelet.find_no_place(jobs.namespace, pod, words)

    stalled = jobs.wait_stalled()
    assert stalled["reason"] == "Unschedulable"
    assert "pod train-worker-0" in stalled["message"]
    assert words in stalled["message"]
    jobs.client.wait_for(lambda: len(jobs.client.events(jobs.namespace, about="train", reason="Unschedulable")) == 1)
    jobs.run(3)
    resolved(jobs)


def test_crash_loop(jobs: Jobs) -> None:
    """A lone Worker that the kubelet restarts again and again is told of, also between two of its tries."""
    jobs.create(scheduler=None, worker=1, restart_policy="OnFailure")
    jobs.run(1)
    loop = waiting("CrashLoopBackOff", "back-off 10s restarting failed container")
    jobs.set("worker-0", containers={"mindspore": loop})

    stalled = jobs.wait_stalled()
    assert stalled["reason"] == "CrashLoopBackOff"
    assert "pod train-worker-0" in stalled["message"]
    assert "back-off 10s" in stalled["message"]
    jobs.set("worker-0", containers={"mindspore": running(restart_count=1)})
    jobs.wait_status(restarts=1)
    jobs.settle()
    assert jobs.conditions()["Stalled"]["status"] == "True"
    jobs.finish("worker-0")
    jobs.wait_state("Succeeded")
    assert jobs.conditions()["Stalled"]["status"] == "False"


def test_trouble_of_a_sidecar(jobs: Jobs) -> None:
    """A sidecar in trouble beside a training process that runs keeps no job from going on."""
    jobs.create(scheduler=None, worker=1, pod=template(containers=[{"name": "logs", "image": "example.com/logs:1"}]))
    jobs.wait_pods(1)
    jobs.set("worker-0", containers={"logs": waiting("CrashLoopBackOff")})

    jobs.wait_state("Running")
    jobs.settle()
    assert "Stalled" not in jobs.conditions()


# -- told by the API server ----------------------------------------------------------------------------------------


def test_quota(jobs: Jobs) -> None:
    """A job over its quota gets the pods that fit and tells of the rest; it is whole once the quota is raised."""
    jobs.client.create(QUOTAS, {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "2"}}}, jobs.namespace)
    jobs.client.wait_until(QUOTAS, "few", jobs.namespace, lambda quota: quota.get("status", {}).get("hard"))
    jobs.create(worker=3)

    stalled = jobs.wait_stalled()
    assert stalled["reason"] == "QuotaExceeded"
    assert re.match(r"train-(scheduler|worker)-\d cannot be created: .*exceeded quota: few", stalled["message"])
    event = jobs.wait_event("FailedCreatePod")
    assert event["type"] == "Warning"
    assert "exceeded quota: few" in event["message"]
    assert jobs.wait_event("QuotaExceeded")["type"] == "Warning"
    jobs.wait_pods(2)
    assert jobs.state() == "Created"

    jobs.client.patch(QUOTAS, "few", {"spec": {"hard": {"pods": "10"}}}, jobs.namespace)
    jobs.run(4, timeout=30)
    assert jobs.true() == ["Created", "Running"]
    resolved(jobs)


def test_quota_of_one_namespace_holds_up_no_other(jobs: Jobs, control_plane: ControlPlane) -> None:
    """Thirty jobs that wait for quota, more than the operator has workers, do not keep others from running."""
    jobs.client.create(QUOTAS, {"metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}}, jobs.namespace)
    jobs.client.wait_until(QUOTAS, "none", jobs.namespace, lambda quota: quota.get("status", {}).get("hard"))
    for number in range(30):
        jobs.create(name=f"waits-{number}", scheduler=None, worker=1)
    jobs.wait_event("FailedCreatePod", "waits-29")

    other = control_plane.create_namespace(f"{jobs.namespace}-b")
    elsewhere = Jobs(jobs.client, other, jobs.kubelet)
    elsewhere.create(scheduler=None, worker=1)
    elsewhere.wait_pods(1, timeout=5)
    jobs.client.delete("v1/namespaces", other)


@pytest.fixture
def denial(admin: Client, namespace: str) -> Iterator[str]:
    """A policy that lets nobody make Workers in the namespace of the test; its name."""
    name = f"no-workers-{namespace}"
    rule: Json = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    here = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}
    denies = {"expression": "!object.metadata.name.contains('-worker-')", "message": "Workers need a ticket"}
    constraints = {"resourceRules": [rule], **here}
    spec: Any = {"failurePolicy": "Fail", "matchConstraints": constraints, "validations": [denies]}
    binding = {"policyName": name, "validationActions": ["Deny"], "matchResources": here}
    admin.create(POLICIES, {"metadata": {"name": name}, "spec": spec})
    admin.create(BINDINGS, {"metadata": {"name": name}, "spec": binding})
    probe = {"metadata": {"name": "a-worker-0"}, **template()}
    admin.wait_for(lambda: _denied(admin, namespace, probe, "ticket"), what="the policy to be in force")
    yield name
    for kind in (BINDINGS, POLICIES):
        if admin.exists(kind, name):
            admin.delete(kind, name)


def _denied(admin: Client, namespace: str, pod: Json, word: str) -> bool:
    try:
        admin.create(PODS, pod, namespace, dryRun="All")
    except ApiError as error:
        return word in str(error)
    return False


def test_denied_by_a_policy(jobs: Jobs, denial: str) -> None:
    """What an admission policy denies is told in its own words and waited for; it is no fault of the job."""
    jobs.create(worker=1)

    stalled = jobs.wait_stalled()
    assert stalled["reason"] == "AdmissionDenied"
    assert "train-worker-0" in stalled["message"]
    assert "Workers need a ticket" in stalled["message"]
    assert jobs.wait_event("AdmissionDenied")["message"] == stalled["message"]
    assert jobs.state() == "Created"

    jobs.client.delete(BINDINGS, denial)
    jobs.run(2, timeout=30)
    resolved(jobs)


def test_account_that_does_not_exist(jobs: Jobs) -> None:
    """A ServiceAccount that a template names and that is not there keeps the job waiting until it is."""
    jobs.create(worker=1, pod=template(service_account_name="trainer"))

    stalled = jobs.wait_stalled()
    assert stalled["reason"] == "Forbidden"
    assert 'serviceaccount "trainer" not found' in stalled["message"]
    assert jobs.wait_event("Forbidden")["message"] == stalled["message"]
    jobs.client.create("v1/serviceaccounts", {"metadata": {"name": "trainer"}}, jobs.namespace)
    jobs.run(2, timeout=30)
    resolved(jobs)


def test_pod_security(jobs: Jobs) -> None:
    """Likewise a namespace whose Pod Security forbids what the template asks for."""
    level = "pod-security.kubernetes.io/enforce"
    jobs.client.patch("v1/namespaces", jobs.namespace, {"metadata": {"labels": {level: "baseline"}}})
    probe = {"metadata": {"name": "probe"}, **template(host_network=True)}
    jobs.client.wait_for(lambda: _denied(jobs.client, jobs.namespace, probe, "PodSecurity"), what="Pod Security")
    jobs.create(worker=1, pod=template(host_network=True))

    stalled = jobs.wait_stalled()
    assert stalled["reason"] == "Forbidden"
    assert "violates PodSecurity" in stalled["message"]
    jobs.client.patch("v1/namespaces", jobs.namespace, {"metadata": {"labels": {level: None}}})
    jobs.run(2, timeout=30)
    resolved(jobs)


def test_name_taken_by_a_stranger(jobs: Jobs) -> None:
    """A pod that does not belong to the job and has one of its names stays as it is; the job tells of it and waits."""
    stranger = jobs.client.create(PODS, {"metadata": {"name": "train-worker-1"}, **template()}, jobs.namespace)
    jobs.create()

    event = jobs.wait_event("FailedCreatePod")
    assert "train-worker-1" in event["message"]
    assert "does not belong to this job" in event["message"]
    stalled = jobs.wait_stalled()
    assert stalled["reason"] == "NameTaken"
    assert "train-worker-1" in stalled["message"]
    jobs.wait_pods(2)
    found = jobs.client.get(PODS, "train-worker-1", jobs.namespace)
    assert found["metadata"] == stranger["metadata"]

    jobs.client.delete(PODS, "train-worker-1", jobs.namespace)
    jobs.run(3, timeout=30)
    resolved(jobs)


def test_name_of_the_service_taken(jobs: Jobs) -> None:
    """Likewise for the Service: the job has no pods, since they could not find their Scheduler through another's."""
    body = {"metadata": {"name": "train-scheduler-0"}, "spec": {"ports": [{"port": 1}]}}
    jobs.client.create("v1/services", body, jobs.namespace)
    jobs.create()

    event = jobs.wait_event("FailedCreateService")
    assert "train-scheduler-0" in event["message"]
    assert jobs.wait_stalled()["reason"] == "NameTaken"
    jobs.settle()
    assert jobs.pods() == {}

    jobs.client.delete("v1/services", "train-scheduler-0", jobs.namespace)
    jobs.run(3, timeout=30)
    resolved(jobs)


def test_told_without_flooding(jobs: Jobs, control_plane: ControlPlane) -> None:
    """What goes on for long is written once and told once, however often it is tried and however the words change."""
    jobs.client.create(QUOTAS, {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "2"}}}, jobs.namespace)
    jobs.client.wait_until(QUOTAS, "few", jobs.namespace, lambda quota: quota.get("status", {}).get("hard"))
    jobs.create(worker=3)
    assert jobs.wait_stalled()["reason"] == "QuotaExceeded"
    pod = f"train-{next(iter(jobs.wait_pods(2)))}"
    for number in range(5):
        jobs.kubelet.find_no_place(jobs.namespace, pod, f"0/{number} nodes are available")
        time.sleep(0.3)
    jobs.client.wait_for(lambda: jobs.conditions()["Stalled"]["reason"] == "Unschedulable", what="the pod's own cause")
    settled, before = len(status_writes(control_plane, jobs.namespace)), told(jobs)
    time.sleep(2)

    # Created, stalled for the quota, stalled for the place.
    assert len(status_writes(control_plane, jobs.namespace)) == settled <= 4
    after = told(jobs)
    assert after["Unschedulable"] == 1
    # Tries come after pauses that grow, and those for one reason are one event with a count.
    assert after["FailedCreatePod"] - before["FailedCreatePod"] <= 3
    assert len(jobs.client.events(jobs.namespace, about="train", reason="QuotaExceeded")) == 1
    assert len(jobs.client.events(jobs.namespace, about="train", reason="FailedCreatePod")) <= 3


def told(jobs: Jobs) -> Counter[str]:
    """How often each event of the job was told, by reason."""
    counts: Counter[str] = Counter()
    for event in jobs.client.events(jobs.namespace, about="train"):
        counts[event["reason"]] += event["count"]
    return counts


def status_writes(control_plane: ControlPlane, namespace: str) -> list[Request]:
    """Writes of the status of the job so far."""
    return [item for item in writes(control_plane, namespace) if item.resource == "msjobs/status"]


def test_suspended_while_stalled(jobs: Jobs) -> None:
    """A job that was stalled and is suspended is stalled no more; resumed into the same trouble, it is again."""
    jobs.client.create(QUOTAS, {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "1"}}}, jobs.namespace)
    jobs.client.wait_until(QUOTAS, "few", jobs.namespace, lambda quota: quota.get("status", {}).get("hard"))
    jobs.create(worker=1)
    jobs.wait_stalled()
    jobs.suspend()

    jobs.wait_state("Suspended")
    assert jobs.conditions()["Stalled"]["status"] == "False"
    jobs.suspend(suspend=False)
    assert jobs.wait_stalled()["reason"] == "QuotaExceeded"
