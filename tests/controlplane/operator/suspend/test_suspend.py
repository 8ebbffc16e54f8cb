"""A suspended job has nothing that runs, and a resumed one begins anew."""

import pytest

from support.live_jobs import Jobs

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
    jobs.wait_state("Succeeded")
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

    template = jobs.get()["spec"]["msReplicaSpecs"]["Worker"]["template"]
    template["spec"]["nodeSelector"] = {"pool": "b"}
    jobs.patch({"runPolicy": {"suspend": False}, "msReplicaSpecs": {"Worker": {"template": template}}})
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
