"""Trouble that passes: the job tells of it, waits, and goes on; no other job notices."""

import pytest

from support.jobs import template
from support.live_jobs import Jobs
from support.testbed.client import PODS
from support.testbed.controlplane import ControlPlane

pytestmark = pytest.mark.usefixtures("operator")

QUOTAS = "v1/resourcequotas"


def test_quota(jobs: Jobs) -> None:
    """A job over its quota gets the pods that fit and tells of the rest; it is whole once the quota is raised."""
    jobs.client.create(QUOTAS, {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "2"}}}, jobs.namespace)
    jobs.client.wait_until(QUOTAS, "few", jobs.namespace, lambda quota: quota.get("status", {}).get("hard"))
    jobs.create(worker=3)

    event = jobs.wait_event("FailedCreatePod")
    assert event["type"] == "Warning"
    assert "exceeded quota: few" in event["message"]
    jobs.wait_pods(2)
    assert jobs.state() == "Created"

    jobs.client.patch(QUOTAS, "few", {"spec": {"hard": {"pods": "10"}}}, jobs.namespace)
    jobs.run(4, timeout=30)
    assert jobs.true() == ["Created", "Running"]


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


def test_name_taken_by_a_stranger(jobs: Jobs) -> None:
    """A pod that does not belong to the job and has one of its names stays as it is; the job tells of it and waits."""
    stranger = jobs.client.create(PODS, {"metadata": {"name": "train-worker-1"}, **template()}, jobs.namespace)
    jobs.create()

    event = jobs.wait_event("FailedCreatePod")
    assert "train-worker-1" in event["message"]
    assert "does not belong to this job" in event["message"]
    jobs.wait_pods(2)
    found = jobs.client.get(PODS, "train-worker-1", jobs.namespace)
    assert found["metadata"] == stranger["metadata"]

    jobs.client.delete(PODS, "train-worker-1", jobs.namespace)
    jobs.run(3, timeout=30)


def test_name_of_the_service_taken(jobs: Jobs) -> None:
    """Likewise for the Service: the job has no pods, since they could not find their Scheduler through another's."""
    body = {"metadata": {"name": "train-scheduler-0"}, "spec": {"ports": [{"port": 1}]}}
    jobs.client.create("v1/services", body, jobs.namespace)
    jobs.create()

    event = jobs.wait_event("FailedCreateService")
    assert "train-scheduler-0" in event["message"]
    jobs.settle()
    assert jobs.pods() == {}

    jobs.client.delete("v1/services", "train-scheduler-0", jobs.namespace)
    jobs.run(3, timeout=30)
