"""Jobs are created, read, changed and deleted through a real API server, and refused with a reason."""

import time
from datetime import UTC, datetime

import pytest

from msjob_client import (
    AsyncMSJobClient,
    InvalidJobError,
    JobExistsError,
    JobFinishedError,
    JobNotFoundError,
    JobSuspendedError,
    JobWaitTimeoutError,
    MSJobClient,
    MSJobError,
    RequestFailedError,
    Until,
)
from support.jobs import Json, msjob, role
from support.live_jobs import Jobs
from support.testbed.client import MSJOBS

pytestmark = pytest.mark.usefixtures("operator")


def job(name: str = "train", **fields: object) -> Json:
    """A job that names no namespace."""
    return msjob(name, namespace=None, **fields)  # type: ignore[arg-type]


def succeed(jobs: Jobs) -> None:
    """Let the job `train` with one Worker succeed."""
    jobs.run(2)
    jobs.finish("worker-0")
    jobs.wait_state("Succeeded")


# -- create --------------------------------------------------------------------------------------------------------


def test_submit_and_read(client: MSJobClient, jobs: Jobs, namespace: str) -> None:
    """What is submitted is stored, in the namespace of the client; reading it shows where it stands."""
    body = job(worker=3)
    stored = client.submit(body)

    assert (stored.name, stored.namespace, stored.state) == ("train", namespace, "")
    assert stored.uid
    assert "namespace" not in body["metadata"]
    jobs.run(4)
    found = client.get("train")
    assert (found.uid, found.state, found.running, found.finished) == (stored.uid, "Running", True, False)
    assert found.workers == "3/3"
    assert found.roles["Worker"].active == 3
    assert found.raw["spec"]["msReplicaSpecs"]["Worker"]["replicas"] == 3
    assert [pod.name for pod in client.pods("train")] == [
        "train-scheduler-0",
        "train-worker-0",
        "train-worker-1",
        "train-worker-2",
    ]
    assert [pod.rank for pod in client.pods("train")] == [None, 0, 1, 2]


def test_dry_run(client: MSJobClient) -> None:
    """The API server judges, fills in defaults, and stores nothing."""
    body = job()
    del body["spec"]["msReplicaSpecs"]["Worker"]["replicas"]
    assert client.submit(body, dry_run=True).raw["spec"]["msReplicaSpecs"]["Worker"]["replicas"] == 1
    with pytest.raises(JobNotFoundError):
        client.get("train")


def test_what_is_wrong_is_named(client: MSJobClient) -> None:
    """Schema and rules of the CRD, unknown fields and mismatched namespaces: each names the field."""
    with pytest.raises(InvalidJobError, match=r"spec.msReplicaSpecs.Worker.replicas") as caught:
        client.submit(job(worker=role(-1)))
    assert "spec.msReplicaSpecs.Worker.replicas" in {problem.field for problem in caught.value.problems}
    assert "\n" not in str(caught.value)
    with pytest.raises(InvalidJobError, match=r'unknown field "spec.colour"'):
        client.submit(job(colour="red"))
    with pytest.raises(InvalidJobError, match=r"metadata.namespace: it is default, and the job is to go to other"):
        client.submit(msjob(), namespace="other")
    with pytest.raises(InvalidJobError, match=r"it is no JSON: .*date .*; put quotes around such values"):
        client.submit(job(annotations={"made": datetime.now(UTC).date()}))
    with pytest.raises(RequestFailedError, match=r"MSJobs in namespace .* cannot be listed: found '='"):
        client.list(selector="a=,=")
    with pytest.raises(RequestFailedError, match="namespace nowhere is not there; `kubectl create namespace nowhere`"):
        client.submit(job(), namespace="nowhere")


def test_a_name_is_taken(client: MSJobClient, jobs: Jobs) -> None:
    """One that has not ended is never replaced; one that has is, with its pods, if that is asked for."""
    first = client.submit(job(worker=1, run_policy={"cleanPodPolicy": "None"}))
    for replace in (False, True):
        with pytest.raises(JobExistsError, match="has not ended"):
            client.submit(job(), replace=replace)
    succeed(jobs)
    with pytest.raises(JobExistsError, match=r"has ended \(Succeeded\): .*--replace"):
        client.submit(job())

    tried = client.submit(job(worker=2), replace=True, dry_run=True)
    assert tried.name == "train"
    assert client.get("train").uid == first.uid

    second = client.submit(job(worker=2), replace=True)
    assert second.uid != first.uid
    jobs.run(3)
    assert {pod.attempt for pod in client.pods("train")} == {0}


# -- read ----------------------------------------------------------------------------------------------------------


def test_list_and_table(client: MSJobClient, namespace: str) -> None:
    """By namespace, label and everywhere; the table has the columns of kubectl get."""
    client.submit(job("b", labels={"team": "x"}, suspend=True))
    client.submit(job("a", suspend=True))
    client.wait("a", until=Until.SUSPENDED, timeout=20)

    assert [found.name for found in client.list()] == ["a", "b"]
    assert [found.name for found in client.list(selector="team=x")] == ["b"]
    assert {(found.namespace, found.name) for found in client.list(all_namespaces=True)} >= {
        (namespace, "a"),
        (namespace, "b"),
    }
    assert client.list(namespace="default", selector="team=nobody") == []
    table = client.table()
    names = [column.name for column in table.columns]
    assert names[:3] == ["Name", "State", "Age"]
    assert [column.priority for column in table.columns][:3] == [0, 0, 0]
    assert [(row.name, row.namespace) for row in table.rows] == [("a", namespace), ("b", namespace)]
    assert table.rows[0].cells[1] == "Suspended"
    assert [row.name for row in client.table("b").rows] == ["b"]
    with pytest.raises(JobNotFoundError):
        client.table("c")


def test_events_of_the_job_and_its_pods(client: MSJobClient, jobs: Jobs) -> None:
    """Those of other jobs, and of an earlier job of the name, are left out; what repeats is counted."""
    jobs.create(worker=1)
    jobs.create(name="train-2", worker=1)
    jobs.run(2)
    jobs.run(2, "train-2")
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    for number, when in enumerate((now, now, "2020-01-01T00:00:00Z")):
        jobs.client.create(
            "v1/events",
            {
                "metadata": {"name": f"e{number}", "namespace": jobs.namespace},
                "involvedObject": {"kind": "Pod", "name": "train-worker-0", "namespace": jobs.namespace},
                "type": "Warning",
                "reason": "BackOff",
                "message": "odd",
                "lastTimestamp": when,
            },
        )
    jobs.wait_event("MSJobRunning")

    events = client.events("train")
    assert {event.name for event in events} == {"train", "train-worker-0"}
    assert [event.count for event in events if event.reason == "BackOff"] == [2]
    assert {"MSJobCreated", "MSJobRunning"} <= {event.reason for event in events}
    assert all(event.time is not None for event in events)


@pytest.mark.parametrize("call", ["get", "pods", "events", "suspend", "resume", "restart", "delete"])
def test_no_such_job(client: MSJobClient, namespace: str, call: str) -> None:
    """Name and namespace are told."""
    with pytest.raises(JobNotFoundError, match=f"there is no MSJob missing in namespace {namespace}"):
        getattr(client, call)("missing")


def test_an_empty_name_is_not_that_of_all(client: MSJobClient, jobs: Jobs) -> None:
    """Which `DELETE …/msjobs/` would be."""
    jobs.create(suspend=True)
    for call in (client.get, client.delete, client.suspend):
        with pytest.raises(InvalidJobError, match="the name of an MSJob is empty"):
            call("")
    assert client.get("train").name == "train"


# -- change --------------------------------------------------------------------------------------------------------


def test_suspend_and_resume(client: MSJobClient, jobs: Jobs) -> None:
    """Both may be asked for again."""
    jobs.create(worker=1)
    jobs.run(2)
    assert client.suspend("train").suspend
    assert client.wait("train", until=Until.SUSPENDED, timeout=20).suspended
    generation = client.suspend("train").generation
    assert client.suspend("train").generation == generation
    assert not client.resume("train").suspend
    jobs.wait_pods(2)
    assert not client.resume("train").suspend


def test_restart(client: MSJobClient, jobs: Jobs) -> None:
    """All pods are replaced once, which does not count."""
    jobs.create(worker=2, restart_policy="OnFailure")
    jobs.run(3)
    before = {pod.uid for pod in client.pods("train")}
    client.restart("train")
    jobs.wait_attempt(1, 3)
    jobs.run(3)
    found = client.get("train")
    assert not before & {pod.uid for pod in client.pods("train")}
    assert (found.restarts, found.restarts_counted, found.attempt) == (1, 0, 1)


def test_scale(client: MSJobClient, jobs: Jobs) -> None:
    """The number of Workers is changed under the key that the job uses."""
    jobs.create(launch_mode="Standalone", scheduler=None, worker=1)
    jobs.run(1)
    assert client.scale("train", 3).roles["Worker"].replicas == 3
    jobs.run(3)
    assert client.scale("train", 3).generation == client.get("train").generation
    with pytest.raises(InvalidJobError, match=r"MSJob train cannot be scaled: .*replicas"):
        client.scale("train", -1)


def test_a_job_of_odd_spelling_is_scaled(client: MSJobClient, jobs: Jobs) -> None:
    """`WORKER` is a role, too, though the scale subresource does not find it."""
    body = msjob(namespace=jobs.namespace, suspend=True)
    body["spec"]["msReplicaSpecs"]["WORKER"] = body["spec"]["msReplicaSpecs"].pop("Worker")
    jobs.create(body)
    assert client.scale("train", 5).raw["spec"]["msReplicaSpecs"]["WORKER"]["replicas"] == 5


def test_what_a_job_that_has_ended_refuses(client: MSJobClient, jobs: Jobs) -> None:
    """Nothing of it changes any more, and the way to run it again is told."""
    jobs.create(worker=1)
    succeed(jobs)
    for call in (client.suspend, client.resume, client.restart):
        with pytest.raises(JobFinishedError, match=r"MSJob train has succeeded .*`msjob submit --replace`"):
            call("train")
    with pytest.raises(JobFinishedError) as caught:
        client.scale("train", 3)
    assert caught.value.job is not None
    assert caught.value.job.succeeded


def test_what_a_job_of_another_controller_refuses(client: MSJobClient, jobs: Jobs) -> None:
    """Its pods are not here."""
    jobs.create(managed_by="kueue.x-k8s.io/multikueue")
    with pytest.raises(MSJobError, match=r"is left to kueue.x-k8s.io/multikueue, which has its pods: restart it there"):
        client.restart("train")


def test_what_a_suspended_job_refuses(client: MSJobClient, jobs: Jobs) -> None:
    """There is nothing to restart."""
    jobs.create(suspend=True)
    with pytest.raises(JobSuspendedError, match="`msjob resume train`"):
        client.restart("train")


def test_a_job_without_workers(client: MSJobClient, jobs: Jobs) -> None:
    """It has nothing that can be scaled."""
    jobs.create(worker=None, suspend=True)
    with pytest.raises(InvalidJobError, match="there is no role Worker"):
        client.scale("train", 2)


# -- delete --------------------------------------------------------------------------------------------------------


def test_delete(client: MSJobClient, jobs: Jobs) -> None:
    """It may be waited for, which also waits for pods; a time limit says what is left."""
    jobs.create(worker=1)
    jobs.run(2)
    jobs.kubelet.pause()
    with pytest.raises(JobWaitTimeoutError, match=r"has not been deleted within 0.5 s"):
        client.delete("train", wait=True, timeout=0.5)
    assert jobs.client.exists(MSJOBS, "train", jobs.namespace)
    jobs.kubelet.play(run=False)
    client.wait("train", until=Until.DELETED, timeout=20)
    assert client.wait("train", until=Until.DELETED, timeout=20).uid == ""
    assert jobs.pods() == {}

    jobs.create(worker=1)
    client.delete("train")
    jobs.client.wait_gone(MSJOBS, "train", jobs.namespace)


async def test_asynchronously(aclient: AsyncMSJobClient, jobs: Jobs) -> None:
    """The asynchronous client does the same."""
    stored = await aclient.submit(job(worker=1, suspend=True))
    assert (await aclient.wait("train", until=Until.SUSPENDED, timeout=20)).uid == stored.uid
    assert [found.name for found in await aclient.list()] == ["train"]
    assert (await aclient.why("train")).verdict.startswith("MSJob train is suspended")
    await aclient.delete("train", wait=True, timeout=20)
    assert await aclient.list() == []
    assert jobs.pods() == {}
