"""The numbers of a status."""

from typing import Any

import pytest

from msjob.api import Job, Role
from msjob_controller.policy.counts import all_running, at_success, inactive, replica_statuses, workers_ready
from support.jobs import msjob
from support.pods import everywhere, of, pod, standing

W = Role.WORKER


def test_replica_statuses() -> None:
    """Each role counts its pods that run, have succeeded and have failed; a pending one counts for none."""
    job = Job.parse(msjob(worker=5, ps=2))
    counts = replica_statuses(job, standing(job, Scheduler="R", PS="P-", Worker="RSSFP"))
    numbers = {role: (item["active"], item["succeeded"], item["failed"]) for role, item in counts.items()}
    assert numbers == {"Scheduler": (1, 0, 0), "PS": (0, 0, 0), "Worker": (1, 2, 1)}


def test_selector() -> None:
    """The selector of a role finds its pods and no others; the scale subresource hands it to autoscalers."""
    counts = replica_statuses(Job.parse(msjob("deep", scheduler=None)), of())
    assert list(counts) == ["Worker"]
    assert dict(pair.split("=") for pair in counts["Worker"]["selector"].split(",")) == {
        "training.kubeflow.org/job-name": "deep",
        "training.kubeflow.org/operator-name": "msjob-controller",
        "training.kubeflow.org/replica-type": "worker",
    }


def test_at_success() -> None:
    """What runs when the job succeeds has done its part: active moves to succeeded, and nothing else changes."""
    job = Job.parse(msjob(worker=4))
    before = replica_statuses(job, standing(job, Scheduler="R", Worker="SRRF"))
    after = at_success(before)
    assert (after["Scheduler"]["active"], after["Scheduler"]["succeeded"]) == (0, 1)
    assert (after["Worker"]["active"], after["Worker"]["succeeded"], after["Worker"]["failed"]) == (0, 3, 1)
    assert before["Worker"]["active"] == 2
    assert after["Worker"]["selector"] == before["Worker"]["selector"]


def test_inactive() -> None:
    """What is being removed is not active, and has not succeeded either."""
    job = Job.parse(msjob())
    counts = inactive(replica_statuses(job, standing(job, Scheduler="R", Worker="RS")))
    assert (counts["Worker"]["active"], counts["Worker"]["succeeded"]) == (0, 1)


def test_workers_ready() -> None:
    """Workers that run or are done, of those wanted; nothing for a job that has none."""
    job = Job.parse(msjob(worker=4))
    assert workers_ready(job, replica_statuses(job, standing(job, Scheduler="R", Worker="RSPF"))) == "2/4"
    assert workers_ready(job, replica_statuses(job, of())) == "0/4"
    for fields in ({"worker": None}, {"worker": 0}):
        without = Job.parse(msjob(**fields))
        assert workers_ready(without, replica_statuses(without, of())) is None


@pytest.mark.parametrize(
    ("fields", "pods", "running"),
    [
        ({}, {"Scheduler": "R", "Worker": "RR"}, True),
        ({}, {"Scheduler": "P", "Worker": "RR"}, False),
        ({}, {"Scheduler": "R", "Worker": "RP"}, False),
        ({}, {"Scheduler": "R", "Worker": "R-"}, False),
        ({}, {"Worker": "RR"}, False),
        ({}, {}, False),
        # One that is done needs no company.
        ({}, {"Scheduler": "S", "Worker": "RR"}, True),
        ({}, {"Scheduler": "R", "Worker": "RS"}, True),
        ({}, {"Scheduler": "S", "Worker": "SS"}, False),
        ({}, {"Scheduler": "R", "Worker": "RF"}, False),
        ({"ps": 1}, {"Scheduler": "R", "PS": "R", "Worker": "RR"}, True),
        ({"ps": 1}, {"Scheduler": "R", "PS": "P", "Worker": "RR"}, False),
        # Dynamic workers: a lost one is not waited for, one that has not come yet is.
        ({"enable_dynamic_worker": True}, {"Scheduler": "R", "Worker": "RF"}, True),
        ({"enable_dynamic_worker": True}, {"Scheduler": "R", "Worker": "RP"}, False),
        ({"enable_dynamic_worker": True}, {"Scheduler": "F", "Worker": "RR"}, False),
        ({"scheduler": None, "worker": 1}, {"Worker": "R"}, True),
        ({"worker": None}, {"Scheduler": "R"}, True),
    ],
)
def test_all_running(fields: dict[str, Any], pods: dict[str, str], *, running: bool) -> None:
    """A job runs when every pod it needs does or is done, and one still does."""
    job = Job.parse(msjob(**fields))
    assert all_running(job, standing(job, **pods)) is running


def test_a_pod_on_its_way_out_does_not_run() -> None:
    """A pod that is being deleted is about to be missing."""
    job = Job.parse(msjob(scheduler=None, worker=2))
    assert not all_running(job, of(pod(W, 0), pod(W, 1, deleting=True), address=None))


def test_pods_beyond_the_replicas_are_not_waited_for() -> None:
    """A pending Worker of a higher index, left over from a larger job, keeps nobody waiting."""
    job = Job.parse(msjob(scheduler=None, worker=1))
    assert all_running(job, of(pod(W, 0), pod(W, 1, "P"), address=None))
    assert not all_running(job, of(pod(W, 0, "P"), pod(W, 1), address=None))


def test_a_job_of_many_pods_runs_only_when_the_last_one_does() -> None:
    """No share of the pods is enough."""
    job = Job.parse(msjob(worker=64))
    there = everywhere(job, "R")
    assert all_running(job, there)
    assert not all_running(job, of(*(item for item in there.pods.values() if item.index != 63)))
