"""A job comes to life: Created, then Running once all its pods run."""

from functools import partial

import pytest

from support.live_jobs import Jobs
from support.testbed.kubectl import Kubectl
from support.testbed.podstatus import waiting

pytestmark = pytest.mark.usefixtures("operator")


def test_created_before_anything_runs(jobs: Jobs) -> None:
    """A new job is Created, with a start time, counts of zero, the generation that was looked at, and events."""
    job = jobs.create()

    jobs.wait_pods(3)
    status = jobs.status()
    assert jobs.conditions()["Created"] == {
        "type": "Created",
        "status": "True",
        "reason": "MSJobCreated",
        "message": f"MSJob {jobs.namespace}/train is created.",
        "lastUpdateTime": status["startTime"],
        "lastTransitionTime": status["startTime"],
    }
    assert jobs.true() == ["Created"]
    assert status["startTime"] >= job["metadata"]["creationTimestamp"]
    assert status["observedGeneration"] == 1
    assert "completionTime" not in status
    assert jobs.counts() == {"Scheduler": (0, 0, 0), "Worker": (0, 0, 0)}
    jobs.wait_event("SuccessfulCreatePod")
    assert jobs.events() == [
        ("Normal", "MSJobCreated"),
        ("Normal", "SuccessfulCreateService"),
        ("Normal", "SuccessfulCreatePod"),
    ]


def test_running_only_with_every_pod(jobs: Jobs) -> None:
    """A job is Running when the last of its pods runs and not before; until then its pods are counted all the same."""
    jobs.create(worker=3)
    jobs.wait_pods(4)
    for pod in ("scheduler-0", "worker-0", "worker-2"):
        jobs.set(pod)

    jobs.client.wait_for(lambda: jobs.counts() == {"Scheduler": (1, 0, 0), "Worker": (2, 0, 0)}, what="the counts")
    assert jobs.state() == "Created"
    assert jobs.status()["workersReady"] == "2/3"

    jobs.set("worker-1")
    running = jobs.wait_state("Running")
    assert (running["reason"], running["status"]) == ("MSJobRunning", "True")
    assert jobs.true() == ["Created", "Running"]
    jobs.client.wait_for(lambda: jobs.status()["workersReady"] == "3/3")
    assert jobs.wait_event("MSJobRunning")["type"] == "Normal"


def test_pod_that_cannot_start_is_no_running_pod(jobs: Jobs) -> None:
    """A pod whose container waits for its image holds the job back."""
    jobs.create(worker=1)
    jobs.wait_pods(2)
    jobs.set("scheduler-0")
    jobs.set("worker-0", "Pending", containers={"mindspore": waiting("ImagePullBackOff")})

    jobs.settle()
    assert jobs.true() == ["Created"]


def test_ready(jobs: Jobs) -> None:
    """``PodsReady`` follows the probes of the pods; the job is Running all the same, and shows that as its state."""
    jobs.create(worker=1)
    jobs.wait_pods(2)
    jobs.set("scheduler-0")
    jobs.set("worker-0", ready=False)
    jobs.wait_state("Running")
    assert (
        jobs.conditions()["PodsReady"] | {"status": "False", "reason": "PodsNotReady"}
        == (jobs.conditions()["PodsReady"])
    )

    for ready, reason in ((True, "PodsReady"), (False, "PodsNotReady"), (True, "PodsReady")):
        jobs.set("worker-0", ready=ready)
        wanted = (str(ready), reason)
        jobs.client.wait_for(partial(is_told, jobs, wanted), what=reason)
        assert jobs.state() == "Running"
    jobs.finish("worker-0")
    jobs.wait_state("Succeeded")
    assert jobs.conditions()["PodsReady"]["status"] == "False"


def is_told(jobs: Jobs, wanted: tuple[str, str]) -> bool:
    """Whether `PodsReady` has this status and reason."""
    found = jobs.conditions()["PodsReady"]
    return (found["status"], found["reason"]) == wanted


def test_generation_that_was_looked_at(jobs: Jobs) -> None:
    """``observedGeneration`` follows the spec, also when a change of it changes nothing else."""
    jobs.create(worker=1)
    jobs.run(2)
    for generation in (2, 3):
        jobs.patch({"runPolicy": {"backoffLimit": generation}})
        jobs.wait_status(observedGeneration=generation)
    assert jobs.state() == "Running"


def test_early_end_of_scheduler_is_neither_success_nor_failure(jobs: Jobs) -> None:
    """The Scheduler may exit 0 before its Workers do: the job goes on."""
    jobs.create(worker=1)
    jobs.run(2)
    jobs.finish("scheduler-0")

    jobs.client.wait_for(lambda: jobs.counts()["Scheduler"] == (0, 1, 0))
    assert jobs.true() == ["Created", "Running"]

    jobs.finish("worker-0")
    jobs.wait_state("Succeeded")


def test_columns_of_kubectl(jobs: Jobs, kubectl: Kubectl) -> None:
    """``kubectl get`` shows state and age, and with ``-o wide`` the Workers that are ready, restarts and the reason."""
    jobs.create(worker=2)
    jobs.wait_pods(3)
    assert _table(kubectl, jobs) == {"NAME": "train", "STATE": "Created"}

    for pod in ("scheduler-0", "worker-0"):
        jobs.set(pod)
    jobs.client.wait_for(lambda: jobs.status().get("workersReady") == "1/2")
    wide = _table(kubectl, jobs, "-o", "wide")
    assert wide["WORKERS"] == "1/2"
    assert wide["REASON"] == "MSJobCreated"
    assert "RESTARTS" in wide

    jobs.set("worker-1")
    jobs.wait_state("Running")
    assert _table(kubectl, jobs)["STATE"] == "Running"
    jobs.finish("worker-1", code=3)
    jobs.wait_state("Failed")
    assert _table(kubectl, jobs, "-o", "wide") | {"STATE": "Failed", "REASON": "MSJobFailed"} == _table(
        kubectl, jobs, "-o", "wide"
    )


def test_columns_of_a_restart(jobs: Jobs, kubectl: Kubectl) -> None:
    """A restart is a state, and is counted."""
    jobs.create(worker=1, restart_policy="OnFailure")
    jobs.run(2)
    jobs.finish("worker-0", code=1)
    jobs.wait_attempt(1, 2)
    wide = _table(kubectl, jobs, "-o", "wide")
    assert wide | {"STATE": "Restarting", "RESTARTS": "1", "REASON": "MSJobRestarting", "WORKERS": "0/1"} == wide


def _table(kubectl: Kubectl, jobs: Jobs, *flags: str) -> dict[str, str]:
    """What ``kubectl get msjob`` shows of the one job, but its age."""
    header, row = kubectl.run("get", "msjob", "-n", jobs.namespace, *flags).splitlines()
    starts = [header.index(word) for word in header.split()]
    cells = [row[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True)]
    table = dict(zip(header.split(), cells, strict=True))
    assert table.pop("AGE")
    return table
