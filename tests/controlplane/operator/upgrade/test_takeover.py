"""Jobs that the Go operator has begun: this one goes on with them, and no pod that runs is touched."""

import pytest

from support.audit import writes
from support.live_jobs import SERVICES, SETTLED, moment
from support.rendering import variables
from support.testbed.client import MSJOBS, PODS

from .conftest import RUNNING, After


def check_untouched(after: After, name: str) -> None:
    """Check that a job has exactly the pods that it had."""
    found = {pod: item["metadata"]["uid"] for pod, item in after.jobs.pods(name).items()}
    assert found == after.uids(name)


@pytest.mark.parametrize("name", [*RUNNING, "starts", "one"])
def test_nothing_is_touched(after: After, name: str) -> None:
    """Pods and Service are those of before; no event tells of a creation; the State stays."""
    check_untouched(after, name)
    pods = {f"{name}-{pod}" for pod in after.jobs.pods(name)}
    written = writes(after.control_plane, after.jobs.namespace)
    children = [item for item in written if item.resource in ("pods", "services") and item.name in pods]
    assert children == []
    states = [item["type"] for item in after.statuses[name]["conditions"]]
    assert after.jobs.true(name) == states
    assert "MSJobCreated" not in [reason for _, reason in after.jobs.events(name)]


def test_status(after: After) -> None:
    """What the Go operator wrote is kept; numbers and the selector of the scale subresource are added."""
    before, now = after.statuses["succeeds"], after.jobs.status("succeeds")
    assert now["startTime"] == before["startTime"]
    assert now["lastReconcileTime"] == before["lastReconcileTime"]
    assert now["workersReady"] == "2/2"
    worker = now["replicaStatuses"]["Worker"]
    assert (worker["active"], "selector" in worker) == (2, True)
    assert now["workerReplicas"] == 2
    assert [item for item in now["conditions"] if item["type"] != "PodsReady"] == before["conditions"]


def test_success(after: After) -> None:
    """Such a job succeeds and is cleaned up by our rules."""
    jobs = after.jobs
    jobs.finish("worker-0", name="succeeds")
    jobs.wait_state("Succeeded", "succeeds")
    jobs.client.wait_for(lambda: list(jobs.pods("succeeds")) == ["worker-0"], SETTLED, what="the other pods to go")
    jobs.client.wait_for(lambda: not jobs.client.exists(SERVICES, "succeeds-scheduler-0", jobs.namespace))


def test_restart(after: After) -> None:
    """A failed pod restarts the whole job; the pods of the next attempt are ours, and numbered by node."""
    jobs = after.jobs
    jobs.finish("worker-1", code=9, name="restarts")
    pods = jobs.wait_attempt(1, 3, "restarts")
    assert variables(pods["worker-1"])["MS_NODE_ID"] == "1"
    address = jobs.client.get(SERVICES, "restarts-scheduler-0", jobs.namespace)["spec"]["clusterIP"]
    assert variables(pods["worker-1"])["MS_SCHED_HOST"] == address
    jobs.run(3, "restarts")
    jobs.finish("worker-0", name="restarts")
    jobs.wait_state("Succeeded", "restarts")


def test_failure(after: After) -> None:
    """A permanent exit code ends the job, with a time of completion, which the Go operator would leave out."""
    after.jobs.finish("worker-1", code=2, name="fails")
    after.jobs.wait_state("Failed", "fails")
    assert "completionTime" in after.jobs.status("fails")


def test_suspension(after: After) -> None:
    """A field that the Go operator does not know works on its jobs."""
    jobs = after.jobs
    jobs.suspend("suspends")
    jobs.wait_state("Suspended", "suspends")
    assert jobs.pods("suspends") == {}
    jobs.suspend("suspends", suspend=False)
    jobs.wait_attempt(1, 3, "suspends")


def test_scale(after: After) -> None:
    """So does scaling."""
    kubectl = after.control_plane.kubectl()
    kubectl.run("scale", "-n", after.jobs.namespace, "msjob/scales", "--replicas=3")
    after.jobs.wait_attempt(1, 4, "scales")


def test_deleted_pod(after: After) -> None:
    """A pod of the Go operator's that is deleted restarts the job like any other."""
    jobs = after.jobs
    jobs.client.delete(PODS, "deleted-pod-worker-0", jobs.namespace)
    jobs.wait_attempt(1, 3, "deleted-pod")
    assert jobs.status("deleted-pod")["restartsCountTowardsLimit"] == 0


def test_start(after: After) -> None:
    """A job whose pods were made and did not run yet is Running once they do."""
    after.jobs.run(3, "starts")
    check_untouched(after, "starts")


def test_lone_worker(after: After) -> None:
    """A Standalone Worker that its kubelet restarts goes on being restarted by it."""
    assert after.jobs.pods("one")["worker-0"]["spec"]["restartPolicy"] == "OnFailure"
    after.jobs.finish("worker-0", name="one")
    after.jobs.wait_state("Succeeded", "one")


def test_restart_that_was_under_way(after: After) -> None:
    """A pod that the Go operator had deleted to restart it alone is made again, and the job runs."""
    jobs = after.jobs
    jobs.wait_pods(3, "restarting")
    kept = {pod: item["metadata"]["uid"] for pod, item in jobs.pods("restarting").items() if pod != "worker-1"}
    assert kept == after.uids("restarting")
    jobs.run(3, "restarting")
    assert jobs.true("restarting") == ["Created", "Running"]
    assert jobs.status("restarting").get("restarts", 0) == 0


def test_overdue_deadline(after: After) -> None:
    """A deadline that the Go operator forgot acts at once."""
    assert after.jobs.conditions("overdue")["Failed"]["reason"] == "DeadlineExceeded"


@pytest.mark.parametrize("name", ["done", "gone"])
def test_finished_jobs(after: After, name: str) -> None:
    """Nothing of the status of a job that had ended is changed; its Service, which has no pod any more, goes."""
    assert after.jobs.status(name) == after.statuses[name]
    assert after.jobs.pods(name) == {}
    assert [reason for _, reason in after.jobs.events(name) if reason != "SuccessfulDeleteService"] == []
    assert f"{name}-scheduler-0" not in after.jobs.services()


def test_expiry(after: After) -> None:
    """The TTL of a job that had ended holds, which the Go operator only acts on when something else happens."""
    after.jobs.set_status("gone", completionTime=moment(-100))
    after.jobs.patch({"runPolicy": {"ttlSecondsAfterFinished": 50}}, "gone")
    after.jobs.client.wait_gone(MSJOBS, "gone", after.jobs.namespace)
