"""The number of Workers changes while a job runs: one restart with the new world size, or none in Standalone."""

import pytest

from support.history import History
from support.jobs import msjob, role
from support.live_jobs import Jobs, moment
from support.rendering import variables
from support.testbed.client import MSJOBS
from support.testbed.errors import InvalidError
from support.testbed.kubectl import Kubectl, KubectlError

pytestmark = pytest.mark.usefixtures("operator")


def scale(kubectl: Kubectl, jobs: Jobs, replicas: int, name: str = "train") -> None:
    """Scale a job, as a user does."""
    kubectl.run("scale", "-n", jobs.namespace, f"msjob/{name}", f"--replicas={replicas}")


def world(jobs: Jobs) -> set[str]:
    """The numbers of Workers that the pods of the job are told."""
    return {variables(pod)["MS_WORKER_NUM"] for pod in jobs.pods().values()}


@pytest.mark.parametrize(("before", "after"), [(2, 4), (3, 1)])
def test_restart_with_the_new_size(jobs: Jobs, kubectl: Kubectl, before: int, after: int) -> None:
    """``kubectl scale`` restarts the job once with all pods anew, which counts nowhere and waits for nothing."""
    with History(jobs.client, jobs.namespace) as history:
        jobs.create(worker=before, restart_policy="Never", run_policy={"backoffLimit": 0})
        jobs.run(1 + before)
        scale(kubectl, jobs, after)

        jobs.wait_attempt(1, 1 + after)
        assert world(jobs) == {str(after)}
        assert jobs.conditions()["Restarting"]["message"].endswith(f"it is scaled from {before} to {after} Workers.")
        assert jobs.wait_event("MSJobRestarting")["type"] == "Normal"
        jobs.run(1 + after)
        history.settle("train")
    status = jobs.status()
    assert (status.get("restarts", 0), status.get("restartsCountTowardsLimit", 0)) == (0, 0)
    assert status["workerReplicas"] == after
    assert "lastFailure" not in status
    assert status["workersReady"] == f"{after}/{after}"
    assert history.values("train", "attempt") == [0, 1]
    assert history.beside_old("train") == []
    assert len(history.of("train")) == 2 + before + after
    jobs.finish("worker-0")
    jobs.wait_state("Succeeded")


def test_scale_subresource(jobs: Jobs) -> None:
    """What an autoscaler reads: Workers wanted, Workers active, and a selector that finds their pods and no others."""
    jobs.create(worker=2)
    jobs.run(3)
    jobs.client.wait_for(lambda: jobs.counts()["Worker"] == (2, 0, 0))
    found = jobs.client.get(MSJOBS, "train", jobs.namespace, subresource="scale")
    assert (found["spec"]["replicas"], found["status"]["replicas"]) == (2, 2)
    pods = jobs.client.pods(jobs.namespace, found["status"]["selector"])
    assert [pod["metadata"]["name"] for pod in pods] == ["train-worker-0", "train-worker-1"]


def test_twice_in_a_row(jobs: Jobs, kubectl: Kubectl) -> None:
    """A second change before the new pods are made joins the first: they are made once, with the last number."""
    with History(jobs.client, jobs.namespace) as history:
        jobs.create(worker=2)
        jobs.run(3)
        jobs.kubelet.pause()
        scale(kubectl, jobs, 3)
        jobs.wait_status(attempt=1)
        jobs.patch({"msReplicaSpecs": {"Worker": {"replicas": 4}}})
        jobs.settle()
        assert set(jobs.attempts().values()) == {0}
        jobs.kubelet.play(run=False)

        jobs.wait_attempt(1, 5)
        assert world(jobs) == {"4"}
        jobs.run(5)
        history.settle("train")
    assert history.values("train", "attempt") == [0, 1]
    assert len(history.of("train")) == 8


def test_there_and_back(jobs: Jobs) -> None:
    """A change that is taken back while old pods still go ends with the old number, and all pods anew."""
    jobs.create(worker=2)
    jobs.run(3)
    jobs.kubelet.pause()
    jobs.patch({"msReplicaSpecs": {"Worker": {"replicas": 3}}})
    jobs.wait_status(attempt=1)
    jobs.patch({"msReplicaSpecs": {"Worker": {"replicas": 2}}})
    jobs.kubelet.play(run=False)
    jobs.wait_attempt(1, 3)
    assert world(jobs) == {"2"}


def test_while_it_waits_for_a_restart(jobs: Jobs) -> None:
    """A job that is scaled during a pause after failures still waits, and then has the new size in that attempt."""
    jobs.create(worker=1, restart_policy="OnFailure")
    jobs.run(2)
    jobs.set_status(restarts=1)
    jobs.finish("worker-0", code=1)
    jobs.client.wait_for(lambda: "nextRestartTime" in jobs.status() and not jobs.pods(), what="the pause")
    jobs.patch({"msReplicaSpecs": {"Worker": {"replicas": 3}}})
    jobs.settle()
    assert jobs.pods() == {}
    jobs.set_status(nextRestartTime=moment(-1))

    jobs.wait_attempt(1, 4)
    assert world(jobs) == {"3"}


def test_before_all_pods_ran(jobs: Jobs) -> None:
    """A job whose pods are made and do not all run yet is restarted as well: those that run know the old number."""
    jobs.create(worker=1)
    jobs.wait_pods(2)
    jobs.set("scheduler-0")
    jobs.patch({"msReplicaSpecs": {"Worker": {"replicas": 2}}})
    jobs.wait_attempt(1, 3)
    assert world(jobs) == {"2"}
    jobs.run(3)


def test_while_suspended(jobs: Jobs, kubectl: Kubectl) -> None:
    """A suspended job is resumed with the number that it has then; that is no restart."""
    jobs.create(worker=2)
    jobs.run(3)
    jobs.suspend()
    jobs.wait_state("Suspended")
    scale(kubectl, jobs, 3)
    jobs.settle()
    assert jobs.state() == "Suspended"
    jobs.suspend(suspend=False)
    jobs.wait_attempt(1, 4)
    assert world(jobs) == {"3"}
    jobs.run(4)
    assert jobs.status().get("restarts", 0) == 0


def test_failure_of_the_new_size(jobs: Jobs) -> None:
    """A scaled attempt is judged like any other."""
    jobs.create(worker=1, restart_policy="OnFailure", run_policy={"backoffLimit": 1})
    jobs.run(2)
    jobs.patch({"msReplicaSpecs": {"Worker": {"replicas": 2}}})
    jobs.wait_attempt(1, 3)
    jobs.run(3)
    jobs.finish("worker-1", code=1)
    jobs.wait_attempt(2, 3)
    assert jobs.status()["restarts"] == 1
    assert world(jobs) == {"2"}


def test_standalone(jobs: Jobs, kubectl: Kubectl) -> None:
    """Workers that know nothing of each other are added and removed; the others run on."""
    jobs.create(scheduler=None, worker=2)
    jobs.run(2)
    before = {name: pod["metadata"]["uid"] for name, pod in jobs.pods().items()}
    scale(kubectl, jobs, 4)
    jobs.wait_pods(4)
    jobs.run(4)
    scale(kubectl, jobs, 1)
    jobs.client.wait_for(lambda: list(jobs.pods()) == ["worker-0"], what="all but the first to go")
    jobs.settle()
    assert jobs.pods()["worker-0"]["metadata"]["uid"] == before["worker-0"]
    assert jobs.true() == ["Created", "Running"]
    assert jobs.status().get("restarts", 0) == 0
    assert "attempt" not in jobs.status()
    assert jobs.status()["workersReady"] == "1/1"


def test_finished_job(jobs: Jobs, kubectl: Kubectl) -> None:
    """The number of Workers of a job that has ended cannot be changed."""
    jobs.create(worker=1)
    jobs.run(2)
    jobs.finish("worker-0")
    jobs.wait_state("Succeeded")
    with pytest.raises(KubectlError):
        scale(kubectl, jobs, 2)
    assert jobs.get()["spec"]["msReplicaSpecs"]["Worker"]["replicas"] == 1


def test_templates_of_a_running_job(jobs: Jobs) -> None:
    """Nothing else of the roles may change while a job runs."""
    jobs.create(worker=1)
    jobs.run(2)
    with pytest.raises(InvalidError):
        jobs.patch({"msReplicaSpecs": {"Worker": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}}})


def test_role_in_lower_case(jobs: Jobs, kubectl: Kubectl) -> None:
    """A job whose Workers stand under another key than ``Worker`` says that it cannot be scaled from outside.

    The API server reads ``spec.msReplicaSpecs.Worker.replicas`` and nothing else. In the job itself the number may be
    changed all the same.
    """
    job = msjob(scheduler=None, worker=None)
    job["spec"]["msReplicaSpecs"] = {"Scheduler": role(1), "worker": role(1)}
    jobs.create(job)
    jobs.run(2)
    assert "worker" in jobs.wait_event("ScaleUnavailable")["message"]
    with pytest.raises(KubectlError):
        scale(kubectl, jobs, 2)
    jobs.patch({"msReplicaSpecs": {"worker": {"replicas": 2}}})
    jobs.wait_attempt(1, 3)
    assert world(jobs) == {"2"}


def test_elastic_role_in_lower_case(jobs: Jobs) -> None:
    """With an elastic policy such a key is refused."""
    job = msjob(scheduler=None, worker=None, elastic_policy={"maxReplicas": 3})
    job["spec"]["msReplicaSpecs"] = {"Scheduler": role(1), "worker": role(1)}
    with pytest.raises(InvalidError, match="elasticPolicy"):
        jobs.create(job)
