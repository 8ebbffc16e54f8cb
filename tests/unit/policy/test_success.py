"""When a job has succeeded."""

from typing import Any

import pytest

from msjob.api import Job, Role
from msjob_controller.policy import failure, verdict
from msjob_controller.policy.observed import Observed
from msjob_controller.policy.success import succeeded
from support.decisions import attempt_of, job
from support.pods import everywhere, of, pod, standing

ALL_WORKERS: dict[str, Any] = {"success_policy": "AllWorkers"}
DYNAMIC: dict[str, Any] = {"enable_dynamic_worker": True}
IGNORE: dict[str, Any] = {
    "run_policy": {
        "failurePolicy": {
            "rules": [{"action": "IgnorePod", "onExitCodes": {"operator": "In", "values": [1]}}],
        }
    }
}
"""Pods that exit with 1 are done without."""


def outcome(one: Job, seen: Observed, status: dict[str, Any] | None = None) -> str | None:
    """Why the job has succeeded, with the pods that it goes on without as a decision sees them."""
    attempt = attempt_of(one, seen, status)
    dynamic = bool(one.spec.enable_dynamic_worker)
    return succeeded(one, attempt, failure.tolerated(attempt, verdict.ignored(one, attempt), dynamic=dynamic))


@pytest.mark.parametrize(
    ("fields", "pods", "why"),
    [
        # Default policy: Worker 0, or all Workers.
        ({}, {"Scheduler": "R", "Worker": "RR"}, None),
        ({}, {"Scheduler": "R", "Worker": "SR"}, "Worker 0 succeeded"),
        ({}, {"Scheduler": "R", "Worker": "S-"}, "Worker 0 succeeded"),
        ({}, {"Scheduler": "R", "Worker": "RS"}, None),
        ({}, {"Scheduler": "R", "Worker": "-S"}, None),
        ({}, {"Scheduler": "R", "Worker": "SS"}, "all 2 Workers succeeded"),
        ({"success_policy": ""}, {"Scheduler": "R", "Worker": "SR"}, "Worker 0 succeeded"),
        # Worker 0 decides, whatever the others came to.
        ({}, {"Scheduler": "F", "Worker": "SF"}, "Worker 0 succeeded"),
        # The Scheduler's exit decides nothing, before or after the Workers'.
        ({}, {"Scheduler": "S", "Worker": "RR"}, None),
        ({}, {"Scheduler": "S", "Worker": "-R"}, None),
        ({}, {"Scheduler": "F", "Worker": "SS"}, "all 2 Workers succeeded"),
        ({}, {"Worker": "SS"}, "all 2 Workers succeeded"),
        # AllWorkers.
        (ALL_WORKERS, {"Scheduler": "R", "Worker": "SR"}, None),
        (ALL_WORKERS, {"Scheduler": "S", "Worker": "SP"}, None),
        (ALL_WORKERS, {"Scheduler": "S", "Worker": "S-"}, None),
        (ALL_WORKERS, {"Scheduler": "R", "Worker": "SF"}, None),
        (ALL_WORKERS, {"Scheduler": "R", "Worker": "SS"}, "all 2 Workers succeeded"),
        # PS run for ever: they are no Workers.
        ({"ps": 2, **ALL_WORKERS}, {"Scheduler": "R", "PS": "RR", "Worker": "SS"}, "all 2 Workers succeeded"),
        ({"ps": 2}, {"Scheduler": "S", "PS": "SS", "Worker": "RR"}, None),
        # Dynamic workers: the policy waits for the end of every one.
        (DYNAMIC, {"Scheduler": "R", "Worker": "SR"}, None),
        (DYNAMIC, {"Scheduler": "R", "Worker": "S-"}, None),
        (DYNAMIC, {"Scheduler": "R", "Worker": "FS"}, "1 of 2 Workers succeeded"),
        (DYNAMIC, {"Scheduler": "R", "Worker": "SF"}, "1 of 2 Workers succeeded"),
        (DYNAMIC, {"Scheduler": "R", "Worker": "FF"}, None),
        (DYNAMIC | ALL_WORKERS, {"Scheduler": "R", "Worker": "SF"}, "1 of 2 Workers succeeded"),
        (DYNAMIC, {"Scheduler": "R", "Worker": "SS"}, "all 2 Workers succeeded"),
        (DYNAMIC | {"worker": 1}, {"Scheduler": "R", "Worker": "F"}, None),
        (DYNAMIC | {"worker": 4}, {"Scheduler": "R", "Worker": "FSSF"}, "2 of 4 Workers succeeded"),
        (DYNAMIC | {"worker": 4}, {"Scheduler": "R", "Worker": "FSRF"}, None),
        # Pods that a rule says to do without.
        (IGNORE, {"Scheduler": "R", "Worker": "FS"}, "1 of 2 Workers succeeded"),
        (IGNORE, {"Scheduler": "R", "Worker": "FR"}, None),
        (IGNORE, {"Scheduler": "R", "Worker": "FF"}, None),
        (IGNORE, {"Scheduler": "F", "Worker": "RR"}, None),
        (IGNORE | ALL_WORKERS, {"Scheduler": "F", "Worker": "SS"}, "all 2 Workers succeeded"),
        (IGNORE | ALL_WORKERS, {"Scheduler": "R", "Worker": "SF"}, "1 of 2 Workers succeeded"),
        (IGNORE | {"worker": None, "ps": 2}, {"Scheduler": "S", "PS": "SF"}, "2 of 3 pods succeeded"),
        (IGNORE | {"worker": None}, {"Scheduler": "F"}, None),
        # Under msrun Worker 0 hosts the scheduler, and is a Worker like any other.
        ({"scheduler": None, "launch_mode": "Msrun"}, {"Worker": "SR"}, "Worker 0 succeeded"),
        # Without a Scheduler.
        ({"scheduler": None, "worker": 1}, {"Worker": "R"}, None),
        ({"scheduler": None, "worker": 1}, {"Worker": "S"}, "its Worker succeeded"),
        ({"scheduler": None, "worker": 1, **ALL_WORKERS}, {"Worker": "S"}, "its Worker succeeded"),
        # Without Workers: all pods.
        ({"worker": None}, {"Scheduler": "R"}, None),
        ({"worker": None}, {"Scheduler": "S"}, "its pod succeeded"),
        ({"worker": None, "ps": 2}, {"Scheduler": "S", "PS": "SR"}, None),
        ({"worker": None, "ps": 2}, {"Scheduler": "S", "PS": "S-"}, None),
        ({"worker": None, "ps": 2}, {"Scheduler": "S", "PS": "SS"}, "all 3 pods succeeded"),
        ({"worker": 0}, {"Scheduler": "S"}, "its pod succeeded"),
    ],
)
def test_success(fields: dict[str, Any], pods: dict[str, str], why: str | None) -> None:
    """Each policy looks at the pods that it is about, and at no others."""
    one = job(**fields)
    assert outcome(one, standing(one, **pods)) == why


def test_nothing_is_no_success() -> None:
    """A job that has no pods yet, or is to have none, has not succeeded."""
    for fields in ({}, DYNAMIC, ALL_WORKERS, {"worker": None}, {"worker": None, "scheduler": None}):
        assert outcome(job(**fields), of()) is None


def test_pods_beyond_the_replicas_do_not_count() -> None:
    """A Worker of a higher index, left over from a larger job, is neither needed nor enough."""
    one = job(worker=1, success_policy="AllWorkers")
    assert outcome(one, of(pod(Role.WORKER, 0, "R"), pod(Role.WORKER, 1, "S"))) is None
    assert outcome(one, of(pod(Role.WORKER, 0, "S"), pod(Role.WORKER, 1, "R"))) == "its Worker succeeded"


def test_pods_of_an_earlier_attempt_do_not_count() -> None:
    """What a pod of an attempt that was given up came to is nothing to the next one."""
    one = job()
    assert outcome(one, everywhere(one, "S"), {"attempt": 1}) is None
    assert outcome(one, everywhere(one, "S", attempt=1), {"attempt": 1}) == "all 2 Workers succeeded"


def test_pods_that_were_deleted_after_their_success() -> None:
    """A success counts when its pod is gone: the status remembers it."""
    one = job(success_policy="AllWorkers")
    status = {"replicaStatuses": {"Worker": {"completedIndexes": "0"}}}
    assert outcome(one, standing(one, Scheduler="R", Worker="-R"), status) is None
    assert outcome(one, standing(one, Scheduler="R", Worker="-S"), status) == "all 2 Workers succeeded"
    assert outcome(job(), of(), status) == "Worker 0 succeeded"


def test_the_size_that_the_attempt_was_made_with() -> None:
    """A cluster that is to be made larger succeeds with the Workers that it has."""
    one = job(worker=4, success_policy="AllWorkers")
    seen = standing(one, Scheduler="R", Worker="SS")
    assert outcome(one, seen, {"workerReplicas": 2}) == "all 2 Workers succeeded"
    assert outcome(one, seen) is None


@pytest.mark.parametrize("fields", [{}, DYNAMIC, ALL_WORKERS, {"worker": None}, {"ps": 1}, {"scheduler": None}, IGNORE])
def test_all_pods_good_is_success_under_every_policy(fields: dict[str, Any]) -> None:
    """Nobody waits for ever for a job whose pods have all ended well."""
    one = job(**fields)
    assert outcome(one, everywhere(one, "S")) is not None
