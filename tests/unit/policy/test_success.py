"""When a job has succeeded."""

from typing import Any

import pytest

from msjob.api import Job, Role
from msjob_controller.policy.success import succeeded
from support.jobs import msjob
from support.pods import everywhere, of, pod, standing

ALL_WORKERS: dict[str, Any] = {"success_policy": "AllWorkers"}
DYNAMIC: dict[str, Any] = {"enable_dynamic_worker": True}


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
        # Without a Scheduler.
        ({"scheduler": None, "worker": 1}, {"Worker": "R"}, None),
        ({"scheduler": None, "worker": 1}, {"Worker": "S"}, "its Worker succeeded"),
        ({"scheduler": None, "worker": 1, **ALL_WORKERS}, {"Worker": "S"}, "its Worker succeeded"),
        # Without Workers: all pods.
        ({"worker": None}, {"Scheduler": "R"}, None),
        ({"worker": None}, {"Scheduler": "S"}, "all 1 pods succeeded"),
        ({"worker": None, "ps": 2}, {"Scheduler": "S", "PS": "SR"}, None),
        ({"worker": None, "ps": 2}, {"Scheduler": "S", "PS": "S-"}, None),
        ({"worker": None, "ps": 2}, {"Scheduler": "S", "PS": "SS"}, "all 3 pods succeeded"),
        ({"worker": 0}, {"Scheduler": "S"}, "all 1 pods succeeded"),
    ],
)
def test_success(fields: dict[str, Any], pods: dict[str, str], why: str | None) -> None:
    """Each policy looks at the pods that it is about, and at no others."""
    job = Job.parse(msjob(**fields))
    assert succeeded(job, standing(job, **pods)) == why


def test_nothing_is_no_success() -> None:
    """A job that has no pods yet, or is to have none, has not succeeded."""
    for fields in ({}, DYNAMIC, ALL_WORKERS, {"worker": None}, {"worker": None, "scheduler": None}):
        assert succeeded(Job.parse(msjob(**fields)), of()) is None


def test_pods_beyond_the_replicas_do_not_count() -> None:
    """A Worker of a higher index, left over from a larger job, is neither needed nor enough."""
    job = Job.parse(msjob(worker=1, success_policy="AllWorkers"))
    surplus = pod(Role.WORKER, 1, "S")
    assert succeeded(job, of(pod(Role.WORKER, 0, "R"), surplus)) is None
    assert succeeded(job, of(pod(Role.WORKER, 0, "S"), pod(Role.WORKER, 1, "R"))) == "its Worker succeeded"


@pytest.mark.parametrize("fields", [{}, DYNAMIC, ALL_WORKERS, {"worker": None}, {"ps": 1}, {"scheduler": None}])
def test_all_pods_good_is_success_under_every_policy(fields: dict[str, Any]) -> None:
    """Nobody waits for ever for a job whose pods have all ended well."""
    job = Job.parse(msjob(**fields))
    assert succeeded(job, everywhere(job, "S")) is not None
