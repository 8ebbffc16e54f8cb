"""A suspended job has nothing that runs, and a resumed one begins anew."""

import pytest

from support.jobs import template
from support.live_jobs import Jobs
from support.rendering import variables

pytestmark = pytest.mark.usefixtures("operator")


def test_suspended_from_birth(jobs: Jobs) -> None:
    """A job that is created suspended gets no object and no start time, and says so; resumed, it runs."""
    jobs.create(suspend=True)

    suspended = jobs.wait_state("Suspended")
    assert suspended["reason"] == "MSJobSuspended"
    jobs.settle()
    assert jobs.pods() == {}
    assert jobs.services() == []
    assert "startTime" not in jobs.status()
    assert jobs.counts() == {"Scheduler": (0, 0, 0), "Worker": (0, 0, 0)}

    jobs.suspend(suspend=False)
    jobs.run(3)
    assert (
        jobs.conditions()["Suspended"] | {"status": "False", "reason": "MSJobResumed"}
        == (jobs.conditions()["Suspended"])
    )
    assert jobs.true() == ["Created", "Running"]
    assert jobs.status()["observedGeneration"] == 2
    jobs.finish("worker-0")
    jobs.wait_event("MSJobSucceeded")
    reasons = [reason for _, reason in jobs.events()]
    # Created and Suspended are of one pass: their events are written side by side.
    assert sorted(reason for reason in reasons[:2]) == ["MSJobCreated", "MSJobSuspended"]
    wanted = ["MSJobResumed", "MSJobRunning", "MSJobSucceeded"]
    assert [reason for reason in reasons if reason in wanted] == wanted


def test_suspended_while_it_runs(jobs: Jobs) -> None:
    """Pods and Service go, each pod with its grace, and only when the last pod is gone the job is Suspended."""
    jobs.kubelet.pause()
    jobs.create()
    jobs.run(3)
    jobs.suspend()

    jobs.wait_pods(0)
    jobs.client.wait_for(lambda: jobs.services() == [], what="the Service to go")
    for pod in ("worker-1", "scheduler-0"):
        jobs.kubelet.terminate(jobs.namespace, f"train-{pod}")
    jobs.settle()
    assert list(jobs.pods()) == ["worker-0"]
    assert jobs.true() == ["Created", "Running"]

    jobs.kubelet.terminate(jobs.namespace, "train-worker-0")
    jobs.wait_state("Suspended")
    assert jobs.pods() == {}
    assert jobs.true() == ["Created", "Suspended"]
    assert jobs.conditions()["Running"]["reason"] == "MSJobSuspended"
    assert all(counts == (0, 0, 0) for counts in jobs.counts().values())


def test_new_pods_after_resume(jobs: Jobs) -> None:
    """Resumed, a job gets a full set of new pods, which may follow a changed template, and a new start time."""
    jobs.create()
    jobs.run(3)
    before = {pod["metadata"]["uid"] for pod in jobs.pods().values()}
    jobs.suspend()
    jobs.wait_state("Suspended")

    changed = jobs.get()["spec"]["msReplicaSpecs"]["Worker"]["template"]
    changed["spec"]["nodeSelector"] = {"pool": "b"}
    jobs.patch({"runPolicy": {"suspend": False}, "msReplicaSpecs": {"Worker": {"template": changed}}})
    pods = jobs.wait_pods(3)

    assert before.isdisjoint(pod["metadata"]["uid"] for pod in pods.values())
    assert pods["worker-0"]["spec"]["nodeSelector"] == {"pool": "b"}
    assert "nodeSelector" not in pods["scheduler-0"]["spec"]
    jobs.client.wait_for(lambda: "startTime" in jobs.status())
    assert jobs.status()["startTime"] >= jobs.conditions()["Suspended"]["lastTransitionTime"]
    jobs.run(3)


def test_resumed_before_the_last_pod_was_gone(jobs: Jobs) -> None:
    """Changing one's mind while pods still end gives a full set of new ones under the same names."""
    jobs.kubelet.pause()
    jobs.create()
    jobs.run(3)
    jobs.suspend()
    jobs.wait_pods(0)
    jobs.suspend(suspend=False)

    jobs.kubelet.play(run=False)
    jobs.run(3)
    assert jobs.true() == ["Created", "Running"]


def test_success_outlives_a_suspension(jobs: Jobs) -> None:
    """A job whose Worker had finished when it was suspended has succeeded: its work is not done twice."""
    jobs.create(worker=1)
    jobs.run(2)
    jobs.suspend()
    jobs.wait_pods(0)

    jobs.wait_state("Suspended")
    jobs.suspend(suspend=False)
    jobs.run(2)
    jobs.finish("worker-0")
    jobs.wait_state("Succeeded")
    jobs.suspend()
    jobs.settle()
    assert jobs.state() == "Succeeded"


def test_grace_and_service(jobs: Jobs) -> None:
    """Each pod has the grace of its template to save a checkpoint, and none is hurried; the Service goes, too."""
    jobs.create(worker=1, pod=template(termination_grace_period_seconds=120))
    jobs.run(2)
    jobs.kubelet.pause()
    jobs.suspend()

    jobs.wait_pods(0)
    jobs.settle()
    assert [pod["metadata"]["deletionGracePeriodSeconds"] for pod in jobs.pods().values()] == [120, 120]
    assert jobs.counts() == {"Scheduler": (1, 0, 0), "Worker": (1, 0, 0)}
    assert jobs.services() == []
    assert jobs.status()["startTime"]
    jobs.kubelet.terminate(jobs.namespace, "train-scheduler-0")
    jobs.settle()
    assert jobs.counts()["Worker"] == (1, 0, 0)
    assert jobs.state() == "Running"
    jobs.kubelet.terminate(jobs.namespace, "train-worker-0", exit_code=0)

    jobs.wait_state("Suspended")
    assert jobs.counts() == {"Scheduler": (0, 0, 0), "Worker": (0, 0, 0)}
    assert jobs.conditions()["PodsReady"] | {"status": "False"} == jobs.conditions()["PodsReady"]
    for field in ("startTime", "readyAttempt", "workersReady", "workerReplicas"):
        assert field not in jobs.status()


def test_what_pods_exit_with_while_they_are_told_to_go(jobs: Jobs) -> None:
    """A failure during the deletion is no failure of the job, and no restart."""
    jobs.create(worker=1, restart_policy="Never")
    jobs.run(2)
    jobs.kubelet.pause()
    jobs.suspend()
    jobs.wait_pods(0)
    jobs.kubelet.terminate(jobs.namespace, "train-worker-0", exit_code=1)
    jobs.kubelet.play(run=False)

    jobs.wait_state("Suspended")
    assert jobs.status().get("restarts", 0) == 0
    assert "lastFailure" not in jobs.status()


def test_each_resume_is_an_attempt(jobs: Jobs) -> None:
    """Pods of each run carry a number of their own; a job that never ran begins with 0."""
    jobs.create(worker=1, suspend=True)
    jobs.wait_state("Suspended")
    for attempt in range(3):
        jobs.suspend(suspend=False)
        pods = jobs.wait_attempt(attempt, 2)
        assert {variables(pod)["MSJOB_RESTART_ATTEMPT"] for pod in pods.values()} == {str(attempt)}
        jobs.run(2)
        jobs.suspend()
        jobs.wait_state("Suspended")
    assert jobs.status().get("restarts", 0) == 0


def test_suspended_while_it_restarts(jobs: Jobs) -> None:
    """A restart that is under way ends in the suspension, and is counted; resumed, the job does not wait for it."""
    jobs.create(worker=2, restart_policy="OnFailure")
    jobs.run(3)
    jobs.kubelet.pause()
    jobs.finish("worker-1", code=1)
    jobs.wait_status(attempt=1)
    jobs.suspend()
    jobs.settle()
    assert jobs.state() == "Restarting"
    jobs.kubelet.play(run=False)

    jobs.wait_state("Suspended")
    assert "Restarting" not in jobs.conditions()
    assert jobs.status()["restarts"] == 1
    assert jobs.pods() == {}
    jobs.suspend(suspend=False)
    jobs.wait_attempt(2, 3)
    jobs.run(3)
    assert jobs.true() == ["Created", "Running"]


def test_suspended_before_all_pods_ran(jobs: Jobs) -> None:
    """A job that was never Running is suspended as well; its Running condition is not invented."""
    jobs.create(worker=2)
    jobs.wait_pods(3)
    jobs.set("scheduler-0")
    jobs.suspend()
    jobs.wait_state("Suspended")
    assert jobs.pods() == {}
    assert "Running" not in jobs.conditions()
