"""Why a job is where it is, from what a real cluster says of it."""

import pytest

from msjob_client import Kind, MSJobClient, Until
from support.live_jobs import Jobs
from support.operator import Operators
from support.testbed.podstatus import waiting
from support.testbed.waiting import wait_for


def kind(client: MSJobClient, name: str = "train") -> Kind:
    """What a job's explanation is about."""
    return client.why(name).kind


@pytest.mark.usefixtures("operator")
def test_the_life_of_a_job(client: MSJobClient, jobs: Jobs, namespace: str) -> None:
    """From nothing over a stall, a restart and its pause to the end; each verdict is about the present."""
    assert client.why("train").verdict == f"There is no MSJob train in namespace {namespace}."
    jobs.create(restart_policy="OnFailure", run_policy={"backoffLimit": 1})
    jobs.wait_pods(3)
    wait_for(lambda: kind(client) is Kind.STARTING)
    assert client.why("train").verdict == "MSJob train is starting: 0 of 3 pods run."

    jobs.kubelet.find_no_place(namespace, "train-worker-0", "0/3 nodes are available: 3 Insufficient cpu.")
    jobs.wait_stalled()
    stalled = client.why("train")
    assert (stalled.kind, stalled.reason, stalled.pod) == (Kind.STALLED, "Unschedulable", "train-worker-0")
    assert "0/3 nodes are available: 3 Insufficient cpu." in stalled.because[0]

    jobs.run(3)
    assert kind(client) is Kind.RUNNING
    jobs.finish("worker-1", code=137, container_reason="OOMKilled")
    jobs.wait_attempt(1, 3)
    restarting = client.why("train")
    assert (restarting.kind, restarting.exit_code) == (Kind.RESTARTING, 137)
    assert "1 of 1 restarts are used up." in restarting.because

    jobs.run(3)
    jobs.finish("worker-0", code=3)
    jobs.wait_state("Failed")
    failed = client.why("train")
    assert failed.verdict.endswith(
        "container mindspore of pod train-worker-0 ended with exit code 3, and backoffLimit 1 is used up."
    )
    assert f"read its log with `msjob logs train -n {namespace} --role worker --index 0`" in failed.advice
    assert (failed.node, failed.exit_code) == (jobs.kubelet.node, 3)


@pytest.mark.usefixtures("operator")
def test_pods_that_do_not_start(client: MSJobClient, jobs: Jobs) -> None:
    """A warning of the kubelet that the operator does not take for a stall is told, too."""
    jobs.create(scheduler=None, worker=1)
    jobs.wait_pods(1)
    jobs.set("worker-0", "Pending", containers={"mindspore": waiting()})
    about = {"kind": "Pod", "name": "train-worker-0", "namespace": jobs.namespace}
    jobs.client.create(
        "v1/events",
        {
            "metadata": {"name": "mount", "namespace": jobs.namespace},
            "involvedObject": about,
            "type": "Warning",
            "reason": "FailedMount",
            "message": 'secret "data" not found',
        },
    )
    wait_for(lambda: client.why("train").because == ('Pod train-worker-0: FailedMount: secret "data" not found.',))


@pytest.mark.usefixtures("operator")
def test_suspended_and_deleted(client: MSJobClient, jobs: Jobs) -> None:
    """Who suspended it is told; a job on its way out waits for its pods."""
    jobs.create(worker=1)
    jobs.run(2)
    client.suspend("train")
    client.wait("train", until=Until.SUSPENDED, timeout=20)
    suspended = client.why("train")
    assert suspended.kind is Kind.SUSPENDED
    assert suspended.because[0].startswith("msjob set runPolicy.suspend")
    client.resume("train")
    jobs.run(2)
    jobs.kubelet.pause()
    jobs.client.delete("mindspore.gitee.com/v1/msjobs", "train", jobs.namespace, propagation="Foreground")
    deleting = client.why("train")
    assert (deleting.kind, deleting.because) == (
        Kind.DELETING,
        ("2 pods of it are left.", "It goes once all it owns is gone."),
    )


@pytest.mark.usefixtures("operator")
def test_done_and_elsewhere(client: MSJobClient, jobs: Jobs) -> None:
    """A job that has succeeded, one that another controller runs, and one that is in another namespace."""
    jobs.create(worker=1)
    jobs.run(2)
    jobs.finish("worker-0")
    jobs.wait_state("Succeeded")
    assert kind(client) is Kind.SUCCEEDED
    jobs.create(name="other", managed_by="kueue.x-k8s.io/multikueue")
    assert kind(client, "other") is Kind.MANAGED_ELSEWHERE
    elsewhere = client.why("other", namespace="default")
    assert elsewhere.kind is Kind.NOT_FOUND
    assert f"namespace {jobs.namespace}" in " ".join(elsewhere.because)


@pytest.mark.usefixtures("own_operators")
def test_no_operator(operators: Operators, client: MSJobClient, jobs: Jobs) -> None:
    """A job that nobody acts on: its Deployment is there, and none of its pods is."""
    operators.rest()
    jobs.create()
    found = client.why("train")
    assert found.verdict == "MSJob train has no pods yet: the operator has not looked at it yet."
    wait_for(lambda: kind(client) is Kind.NO_OPERATOR, 20)
    deployed = " ".join(client.why("train").because)
    assert "Deployment ms-operator-controller-manager in namespace ms-operator-system has 0 of 1 replica" in deployed
