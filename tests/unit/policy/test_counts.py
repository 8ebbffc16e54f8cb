"""The numbers of a status."""

from typing import Any

import pytest

from msjob.api import Job, Role
from msjob_controller.policy import counts, failure
from msjob_controller.policy.counts import at_success, inactive
from msjob_controller.policy.observed import Observed
from support.decisions import attempt_of
from support.jobs import msjob
from support.pods import everywhere, keys, leaving, of, pod, put_out, standing

S, W = Role.SCHEDULER, Role.WORKER


def replica_statuses(job: Job, seen: Observed, status: dict[str, Any] | None = None) -> counts.Counts:
    """Count what the job owns."""
    return counts.replica_statuses(job, attempt_of(job, seen, status), seen)


def all_running(job: Job, seen: Observed) -> bool:
    """Whether the job runs, as a decision asks."""
    attempt = attempt_of(job, seen)
    dynamic = bool(job.spec.enable_dynamic_worker)
    return counts.all_running(attempt, failure.tolerated(attempt, frozenset(), dynamic=dynamic))


def test_replica_statuses() -> None:
    """Each role counts its pods that run, have succeeded and have failed; a pending one counts for none."""
    job = Job.parse(msjob(worker=5, ps=2))
    found = replica_statuses(job, standing(job, Scheduler="R", PS="P-", Worker="RSSFP"))
    numbers = {role: (item["active"], item["succeeded"], item["failed"]) for role, item in found.items()}
    assert numbers == {"Scheduler": (1, 0, 0), "PS": (0, 0, 0), "Worker": (1, 2, 1)}


def test_completed_indexes() -> None:
    """Which pods have succeeded is kept as in a batch/v1 Job, also when they are gone; no field for none."""
    job = Job.parse(msjob(worker=6))
    found = replica_statuses(job, standing(job, Scheduler="R", Worker="SRSSF-"))
    assert found["Worker"]["completedIndexes"] == "0,2-3"
    assert "completedIndexes" not in found["Scheduler"]
    later = replica_statuses(job, standing(job, Scheduler="R", Worker="-R-SFS"), {"replicaStatuses": found})
    assert (later["Worker"]["completedIndexes"], later["Worker"]["succeeded"]) == ("0,2-3,5", 4)


def test_pods_of_earlier_attempts() -> None:
    """What still runs is active, whatever it was made for: it holds what it has. It has not failed or succeeded."""
    job = Job.parse(msjob(worker=4))
    seen = of(pod(S, attempt=1), pod(W, 0), pod(W, 1, "S"), pod(W, 2, "F"), pod(W, 3, attempt=1))
    found = replica_statuses(job, seen, {"attempt": 1})
    assert (found["Worker"]["active"], found["Worker"]["succeeded"], found["Worker"]["failed"]) == (2, 0, 0)
    assert "completedIndexes" not in found["Worker"]


@pytest.mark.parametrize(
    ("pods", "numbers"),
    [
        ([], (0, 3)),
        ([pod(S), pod(W, 0), pod(W, 1)], (3, 3)),
        ([pod(S), pod(W, 0, ready=False), pod(W, 1)], (2, 3)),
        ([pod(S, 0, "S"), pod(W, 0), pod(W, 1, "S")], (3, 3)),
        ([pod(S), pod(W, 0, "F"), pod(W, 1, "P")], (1, 3)),
        ([pod(S), leaving(W, 0), pod(W, 1)], (2, 3)),
        ([pod(S), pod(W, 0), pod(W, 1), pod(W, 7)], (3, 3)),
    ],
)
def test_ready(pods: list[Any], numbers: tuple[int, int]) -> None:
    """Ready are pods that say so or are done, of those that the attempt needs; one that is leaving is not."""
    assert counts.ready(attempt_of(Job.parse(msjob()), of(*pods)), frozenset()) == numbers


def test_ready_without_some() -> None:
    """A pod that the job goes on without is not needed."""
    attempt = attempt_of(Job.parse(msjob()), of(pod(S), pod(W, 0), pod(W, 1, "F")))
    assert counts.ready(attempt, frozenset(keys(W, 1))) == (2, 2)


def test_selector() -> None:
    """The selector of a role finds its pods and no others; the scale subresource hands it to autoscalers."""
    found = replica_statuses(Job.parse(msjob("deep", scheduler=None)), of())
    assert list(found) == ["Worker"]
    assert dict(pair.split("=") for pair in found["Worker"]["selector"].split(",")) == {
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
    found = inactive(replica_statuses(job, standing(job, Scheduler="R", Worker="RS")))
    assert (found["Worker"]["active"], found["Worker"]["succeeded"]) == (0, 1)


@pytest.mark.parametrize(
    ("workers", "text"), [("RSPF", "2/4"), ("----", "0/4"), ("RRRR", "4/4"), ("SSSS", "4/4"), ("RRRRR", "4/4")]
)
def test_workers_ready(workers: str, text: str) -> None:
    """Workers that run or are done, of those wanted; one that is left over from a larger job is not counted."""
    job = Job.parse(msjob(worker=4))
    assert counts.workers_ready(job, attempt_of(job, standing(job, Scheduler="R", Worker=workers))) == text


@pytest.mark.parametrize("fields", [{"worker": None}, {"worker": 0}])
def test_no_workers_to_be_ready(fields: dict[str, Any]) -> None:
    """A job without Workers has nothing to say of them."""
    job = Job.parse(msjob(**fields))
    assert counts.workers_ready(job, attempt_of(job, of())) is None


def test_workers_of_an_earlier_attempt_are_not_ready() -> None:
    """What still runs of an attempt that was given up does no work."""
    job = Job.parse(msjob())
    assert counts.workers_ready(job, attempt_of(job, everywhere(job, "R"), {"attempt": 1})) == "0/2"


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
    assert not all_running(job, of(pod(W, 0), leaving(W, 1), address=None))
    # One that is done need not run.
    assert all_running(job, of(pod(W, 0), leaving(W, 1, "S"), address=None))


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


@pytest.mark.parametrize(
    ("pods", "status", "started"),
    [
        ([], {}, False),
        ([pod(S), pod(W, 0), pod(W, 1)], {}, True),
        ([pod(S), pod(W, 0), pod(W, 1, "P")], {}, False),
        ([pod(S), pod(W, 0)], {}, False),
        ([pod(S, 0, "F"), pod(W, 0, "S"), leaving(W, 1)], {}, True),
        ([pod(S), pod(W, 0), put_out(W, 1, started=False)], {}, False),
        ([pod(S), pod(W, 0)], {"replicaStatuses": {"Worker": {"completedIndexes": "1"}}}, True),
        ([pod(S), pod(W, 0), pod(W, 1)], {"attempt": 1}, False),
    ],
)
def test_all_started(pods: list[Any], status: dict[str, Any], *, started: bool) -> None:
    """Whether each pod has run, whatever has become of it: one that is gone has not, unless it succeeded."""
    assert counts.all_started(attempt_of(Job.parse(msjob()), of(*pods), status), frozenset()) is started


def test_a_job_of_no_pods_has_not_started() -> None:
    """Nothing has run where there is nothing to run; a pod that the job goes on without is not waited for."""
    none = Job.parse(msjob(scheduler=None, worker=0))
    assert not counts.all_started(attempt_of(none, of()), frozenset())
    job = Job.parse(msjob())
    seen = of(pod(S), pod(W, 0), put_out(W, 1, started=False))
    assert counts.all_started(attempt_of(job, seen), frozenset(keys(W, 1)))
