"""A restart of the whole job: one write of the status, all pods gone, then all pods anew."""

import pytest

from support.history import History
from support.jobs import template
from support.live_jobs import Jobs, moment
from support.rendering import variables
from support.testbed.client import MSJOBS
from support.testbed.podstatus import ended, waiting

pytestmark = pytest.mark.usefixtures("operator")

LAST_WORDS = "AllReduce failed: device 3 is gone"


def test_course_of_a_restart(jobs: Jobs) -> None:
    """All pods go at once and come back with the next number in label and environment; the Service stays."""
    with History(jobs.client, jobs.namespace) as history:
        jobs.create(restart_policy="OnFailure", run_policy={"backoffLimit": 3})
        jobs.run(3)
        service = jobs.client.get("v1/services", "train-scheduler-0", jobs.namespace)
        before = {pod["metadata"]["uid"] for pod in jobs.pods().values()}
        jobs.finish("worker-1", code=9)

        pods = jobs.wait_attempt(1, 3)
        assert before.isdisjoint(pod["metadata"]["uid"] for pod in pods.values())
        assert {variables(pod)["MSJOB_RESTART_ATTEMPT"] for pod in pods.values()} == {"1"}
        assert jobs.client.get("v1/services", "train-scheduler-0", jobs.namespace) == service
        restarting = jobs.conditions()["Restarting"]
        assert restarting["reason"] == "MSJobRestarting"
        assert "pod train-worker-1" in restarting["message"]
        assert "restart 1, 1 of 3 counted" in restarting["message"]
        assert "Running" not in jobs.conditions()
        assert "nextRestartTime" not in jobs.status()
        event = jobs.wait_event("MSJobRestarting")
        assert (event["type"], event["message"]) == ("Warning", restarting["message"])
        assert "exited with code 9" in jobs.wait_event("ExitedWithCode")["message"]
        jobs.run(3)
        jobs.finish("worker-0")
        jobs.wait_state("Succeeded")
        history.settle("train")

    assert history.beside_old("train") == []
    assert history.twins("train") == []
    assert history.values("train", "attempt") == [0, 1]
    assert history.values("train", "restarts") == [0, 1]
    assert jobs.status()["lastFailure"]["pod"] == "train-worker-1"


def test_attempt_is_stored_before_a_pod_goes(jobs: Jobs) -> None:
    """The first pod is asked to go only when the status already tells of the next attempt and of the failure."""
    jobs.create(restart_policy="OnFailure")
    jobs.run(3)
    jobs.kubelet.pause()
    with jobs.client.watch(MSJOBS, jobs.namespace) as watch:
        jobs.finish("worker-1", code=1)
        version = next(
            int(job["metadata"]["resourceVersion"]) for _, job in watch if (job.get("status") or {}).get("attempt") == 1
        )
    jobs.wait_pods(0)
    going = [int(pod["metadata"]["resourceVersion"]) for pod in jobs.pods().values()]
    assert len(going) == 2
    assert all(version < later for later in going)


def test_pod_that_hangs_holds_the_next_attempt(jobs: Jobs) -> None:
    """As long as one old pod is there, no new one is made: two processes of one rank would spoil each other's work."""
    jobs.create(restart_policy="OnFailure")
    jobs.run(3)
    jobs.kubelet.pause()
    jobs.finish("worker-0", code=1)
    jobs.wait_pods(0)
    for pod in ("scheduler-0", "worker-1"):
        assert jobs.pods()[pod]["metadata"]["deletionGracePeriodSeconds"] == 10
    jobs.kubelet.terminate(jobs.namespace, "train-scheduler-0")
    jobs.settle()
    assert jobs.attempts() == {"worker-1": 0}
    assert jobs.true() == ["Created", "Restarting"]
    assert jobs.status()["restarts"] == 1

    jobs.kubelet.terminate(jobs.namespace, "train-worker-1", exit_code=77)
    jobs.kubelet.play(run=False)
    jobs.wait_attempt(1, 3)
    assert jobs.status()["lastFailure"]["exitCode"] == 1


def test_followers_count_once(jobs: Jobs) -> None:
    """All pods of a job fall within a minute of the first: that is one restart, and one pod is to blame."""
    jobs.create(worker=3, restart_policy="OnFailure")
    jobs.run(4)
    jobs.kubelet.pause()
    jobs.finish("worker-2", code=139, finished=moment(-30))
    jobs.wait_pods(0)
    jobs.finish("worker-0", "worker-1", "scheduler-0", code=1)
    jobs.settle()
    jobs.kubelet.play(run=False)

    jobs.wait_attempt(1, 4)
    status = jobs.status()
    assert (status["restarts"], status["restartsCountTowardsLimit"]) == (1, 1)
    assert status["lastFailure"]["pod"] == "train-worker-2"


def test_last_failure(jobs: Jobs) -> None:
    """All that is known of the failed pod is kept, with its last words, when no pod is left."""
    jobs.create(worker=2, run_policy={"cleanPodPolicy": "All"})
    jobs.run(3)
    at = moment(-3)
    jobs.set("worker-1", "Failed", containers={"mindspore": ended(17, "Error", message=LAST_WORDS, finished=at)})

    failed = jobs.wait_state("Failed")
    jobs.client.wait_for(lambda: jobs.pods() == {}, what="all pods to go")
    assert LAST_WORDS in failed["message"]
    assert jobs.status()["lastFailure"] == {
        "pod": "train-worker-1",
        "role": "Worker",
        "index": 1,
        "container": "mindspore",
        "exitCode": 17,
        "reason": "Error",
        "message": LAST_WORDS,
        "time": at,
        "node": jobs.kubelet.node,
        "attempt": 0,
        "countsTowardsLimit": False,
    }


def test_init_container(jobs: Jobs) -> None:
    """An init container that failed is named."""
    jobs.create(scheduler=None, worker=1, pod=template(init_containers=[{"name": "fetch", "image": "example.com/f:1"}]))
    jobs.wait_pods(1)
    jobs.set(
        "worker-0", "Failed", containers={"fetch": ended(4, message="no data"), "mindspore": waiting("PodInitializing")}
    )

    failed = jobs.wait_state("Failed")
    assert "container fetch exited with code 4" in failed["message"]
    failure = jobs.status()["lastFailure"]
    assert (failure["container"], failure["exitCode"], failure["message"]) == ("fetch", 4, "no data")


def test_newer_status_than_pods(jobs: Jobs) -> None:
    """Pods of a lower attempt than the status knows are nobody's failure: they go, and the job has its pods anew."""
    jobs.create()
    jobs.run(3)
    jobs.kubelet.pause()
    jobs.set_status(attempt=7)
    jobs.wait_pods(0)
    jobs.finish("worker-0", code=1)
    jobs.kubelet.play(run=False)

    jobs.wait_attempt(7, 3)
    assert jobs.status().get("restarts", 0) == 0
    jobs.run(3)


def test_older_status_than_pods(jobs: Jobs) -> None:
    """A status that was restored from a backup takes over the number that the pods have; no pod is touched."""
    jobs.create(restart_policy="OnFailure")
    jobs.run(3)
    jobs.finish("worker-0", code=1)
    jobs.wait_attempt(1, 3)
    jobs.run(3)
    before = {pod["metadata"]["uid"] for pod in jobs.pods().values()}
    jobs.set_status(attempt=None)

    jobs.wait_status(attempt=1)
    jobs.settle()
    assert {pod["metadata"]["uid"] for pod in jobs.pods().values()} == before
    assert jobs.true() == ["Created", "Running"]
