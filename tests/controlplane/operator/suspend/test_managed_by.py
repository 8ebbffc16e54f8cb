"""A job that another controller runs."""

import pytest

from support.live_jobs import Jobs, moment

pytestmark = pytest.mark.usefixtures("operator")

MULTIKUEUE = "kueue.x-k8s.io/multikueue"
OURS = "mindspore.gitee.com/ms-operator"


@pytest.mark.parametrize("place", ["spec", "runPolicy"])
def test_job_of_another_manager_is_left_alone(jobs: Jobs, place: str) -> None:
    """Nothing is created for it and nothing written to it, neither at birth nor after a change."""
    job = jobs.create(**({"managed_by": MULTIKUEUE} if place == "spec" else {"run_policy": {"managedBy": MULTIKUEUE}}))
    jobs.settle()
    assert jobs.get() == job

    jobs.suspend()
    changed = jobs.get()
    jobs.settle()
    assert jobs.get() == changed
    assert jobs.pods() == {}
    assert jobs.services() == []
    assert jobs.events() == []


def test_job_that_names_this_operator(jobs: Jobs) -> None:
    """A job may name the operator as its manager."""
    jobs.create(managed_by=OURS, run_policy={"managedBy": OURS})
    jobs.wait_pods(3)


def test_job_of_another_manager_in_any_state(jobs: Jobs) -> None:
    """Suspended, scaled, ended long ago: its version is the one that its own writers made."""
    jobs.create(managed_by=MULTIKUEUE, suspend=True, run_policy={"ttlSecondsAfterFinished": 0})
    jobs.suspend(suspend=False)
    jobs.patch({"msReplicaSpecs": {"Worker": {"replicas": 1}}, "runPolicy": {"activeDeadlineSeconds": 1}})
    jobs.set_status(conditions=[{"type": "Succeeded", "status": "True"}], completionTime=moment(-60))
    mine = jobs.get()
    jobs.settle()

    assert jobs.get() == mine
    assert jobs.pods() == {}
    assert jobs.events() == []
