"""A job that is deleted takes all it owns with it."""

from datetime import UTC, datetime, timedelta

import pytest

from support.jobs import msjob
from support.live_jobs import Jobs
from support.testbed.client import MSJOBS, PODS

pytestmark = pytest.mark.usefixtures("operator")


def test_children_go_with_the_job(jobs: Jobs) -> None:
    """The garbage collector removes pods and Service, and the operator makes none again."""
    jobs.create()
    jobs.run(3)
    jobs.delete()

    jobs.client.wait_for(lambda: not jobs.pods() and not jobs.services(), 20, what="pods and Service to go")
    jobs.settle()
    assert jobs.pods() == {}
    assert jobs.services() == []
    assert not jobs.client.exists(MSJOBS, "train", jobs.namespace)


def test_foreground_deletion(jobs: Jobs) -> None:
    """While a job waits for its pods to go, as ``--cascade=foreground`` has it, none is made again."""
    jobs.kubelet.pause()
    jobs.create()
    jobs.run(3)
    jobs.client.delete(MSJOBS, "train", jobs.namespace, propagation="Foreground")
    jobs.wait_pods(0, timeout=20)
    jobs.kubelet.terminate(jobs.namespace, "train-worker-0")
    jobs.settle()
    assert set(jobs.pods()) == {"scheduler-0", "worker-1"}

    jobs.kubelet.play(run=False)
    jobs.client.wait_gone(MSJOBS, "train", jobs.namespace, 20)
    assert jobs.pods() == {}


def test_successor_of_the_same_name(jobs: Jobs) -> None:
    """A job deleted and created again at once gets pods of its own as the old ones go, whatever those did last."""
    old = jobs.create()
    jobs.run(3)
    jobs.finish("worker-0")
    jobs.delete()
    jobs.client.wait_gone(MSJOBS, "train", jobs.namespace)
    new = jobs.create()

    def pods_are_new() -> bool:
        owners = [pod["metadata"]["ownerReferences"][0]["uid"] for pod in jobs.pods().values()]
        return owners == [new["metadata"]["uid"]] * 3

    jobs.client.wait_for(pods_are_new, 30, what="the new pods")
    service = jobs.client.get("v1/services", "train-scheduler-0", jobs.namespace)
    assert service["metadata"]["ownerReferences"][0]["uid"] == new["metadata"]["uid"] != old["metadata"]["uid"]
    jobs.run(3)
    assert jobs.true() == ["Created", "Running"]


def test_many_successors(jobs: Jobs) -> None:
    """A name that is used again and again, each time before anything of the last job is gone, ends in one job."""
    for _ in range(5):
        last = jobs.create(msjob(worker=2))
        jobs.client.delete(MSJOBS, "train", jobs.namespace, propagation="Background")
    last = jobs.create(msjob(worker=2))

    def pods_are_of_the_last() -> bool:
        owners = [pod["metadata"]["ownerReferences"][0]["uid"] for pod in jobs.client.list(PODS, jobs.namespace)]
        return owners == [last["metadata"]["uid"]] * 3

    jobs.client.wait_for(pods_are_of_the_last, 30, what="the pods of the last job")
    jobs.run(3)


def test_last_word_of_a_deletion(jobs: Jobs) -> None:
    """What a pod exits with because it was deleted fails no job, also when its kubelet is done with it.

    A kubelet that has stopped a pod deletes it once more, without grace. The API server then says that its deletion was
    asked for at that moment, which is after its end. A finalizer keeps the pod in that state for a while, and the next
    attempt waits for it.
    """
    hold = {"metadata": {"finalizers": ["example.com/hold"]}}
    jobs.create()
    jobs.run(3)
    jobs.kubelet.pause()
    jobs.client.patch(PODS, "train-worker-1", hold, jobs.namespace)
    jobs.client.delete(PODS, "train-worker-1", jobs.namespace)
    jobs.finish("worker-1", code=143)
    ended = jobs.pods()["worker-1"]["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"]
    later = datetime.fromisoformat(ended) + timedelta(seconds=1)
    jobs.client.wait_for(lambda: datetime.now(UTC) >= later, what="the next second")
    jobs.client.delete(PODS, "train-worker-1", jobs.namespace, grace=0)
    held = jobs.pods()["worker-1"]["metadata"]
    assert (held["deletionTimestamp"] > ended, held["deletionGracePeriodSeconds"]) == (True, 0)

    jobs.kubelet.play(run=False)
    jobs.client.wait_for(lambda: list(jobs.pods()) == ["worker-1"], what="the other pods to go")
    jobs.settle()
    assert list(jobs.pods()) == ["worker-1"]
    assert jobs.true() == ["Created", "Restarting"]
    status = jobs.status()
    assert (status["restarts"], status["restartsCountTowardsLimit"]) == (1, 0)
    assert status["lastFailure"]["reason"] == "Deleted"
    jobs.client.patch(PODS, "train-worker-1", {"metadata": {"finalizers": None}}, jobs.namespace)
    jobs.wait_attempt(1, 3)
    jobs.run(3)
    jobs.finish("worker-0")
    jobs.wait_state("Succeeded")
