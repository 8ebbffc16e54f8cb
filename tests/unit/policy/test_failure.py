"""When a job has failed, and who is to blame."""

from itertools import permutations
from typing import Any

import pytest

from msjob.api import Job, Role
from msjob_controller.policy.failure import culprit, describe
from msjob_controller.policy.observed import Pod
from support.jobs import msjob
from support.pods import of, pod, standing

S, P, W = Role.SCHEDULER, Role.PS, Role.WORKER
DYNAMIC: dict[str, Any] = {"enable_dynamic_worker": True}


@pytest.mark.parametrize(
    ("fields", "pods", "name"),
    [
        ({}, {"Scheduler": "R", "Worker": "RR"}, None),
        ({}, {"Scheduler": "R", "Worker": "P-"}, None),
        ({}, {"Scheduler": "S", "Worker": "RS"}, None),
        ({}, {"Scheduler": "R", "Worker": "RF"}, "train-worker-1"),
        ({}, {"Scheduler": "F", "Worker": "RR"}, "train-scheduler-0"),
        ({"ps": 2}, {"Scheduler": "R", "PS": "RF", "Worker": "RR"}, "train-ps-1"),
        ({"scheduler": None, "worker": 1}, {"Worker": "F"}, "train-worker-0"),
        ({"worker": None}, {"Scheduler": "F"}, "train-scheduler-0"),
        # Dynamic workers: only the loss of all of them, or of another role.
        (DYNAMIC, {"Scheduler": "R", "Worker": "RF"}, None),
        (DYNAMIC, {"Scheduler": "R", "Worker": "-F"}, None),
        (DYNAMIC, {"Scheduler": "R", "Worker": "FF"}, "train-worker-0"),
        (DYNAMIC, {"Scheduler": "F", "Worker": "RF"}, "train-scheduler-0"),
        (DYNAMIC | {"ps": 1}, {"Scheduler": "R", "PS": "F", "Worker": "RF"}, "train-ps-0"),
    ],
)
def test_failure(fields: dict[str, Any], pods: dict[str, str], name: str | None) -> None:
    """One failed pod fails the job, except a Worker of a job that may lose some."""
    job = Job.parse(msjob(**fields))
    blamed = culprit(job, standing(job, **pods))
    assert (blamed and blamed.name) == name


@pytest.mark.parametrize(
    ("first", "others"),
    [
        pytest.param(
            pod(W, 1, "F", code=137, seconds=10),
            [pod(S, 0, "F", code=1, seconds=43), pod(W, 0, "F", code=143, seconds=70)],
            id="killed worker, the Scheduler follows before the other worker",
        ),
        pytest.param(
            pod(W, 1, "F", code=143, seconds=10), [pod(W, 0, "F", code=1, seconds=44)], id="the code tells nothing"
        ),
        pytest.param(
            pod(S, 0, "F", code=137, seconds=10),
            [pod(W, 0, "F", code=1, seconds=32), pod(W, 1, "F", code=1, seconds=65)],
            id="killed Scheduler",
        ),
        pytest.param(
            pod(W, 1, "F", seconds=10),
            [pod(S, 0, "F", seconds=10)],
            id="a tie is no Scheduler's, which falls with them",
        ),
        pytest.param(pod(W, 0, "F", seconds=10), [pod(W, 1, "F", seconds=10)], id="a tie of workers: the lowest index"),
        pytest.param(
            pod(W, 1, "F", finished_at=None, exit_code=None, cause="Evicted"),
            [pod(W, 0, "F", seconds=10), pod(S, 0, "F", seconds=9)],
            id="evicted without a trace of its container",
        ),
    ],
)
def test_culprit(first: Pod, others: list[Pod]) -> None:
    """The pod that ended first is to blame, in whatever order the pods are looked at and whatever they exited with."""
    job = Job.parse(msjob())
    for pods in permutations([first, *others]):
        assert culprit(job, of(*pods)) is first


def test_pods_beyond_the_replicas_are_not_to_blame() -> None:
    """A Worker of a higher index, left over from a larger job, fails nothing."""
    job = Job.parse(msjob(worker=1))
    assert culprit(job, of(pod(W, 0), pod(W, 1, "F"))) is None


def test_pods_of_a_role_that_the_job_has_no_more() -> None:
    """A PS left over from before the job was changed fails nothing."""
    assert culprit(Job.parse(msjob()), of(pod(P, 0, "F"), pod(W, 0))) is None


@pytest.mark.parametrize(
    ("blamed", "text"),
    [
        (pod(W, 1, "F", code=3), "pod train-worker-1 failed: container mindspore exited with code 3"),
        (
            pod(W, 1, "F", code=3, cause="Error"),
            "pod train-worker-1 failed: container mindspore exited with code 3",
        ),
        (
            pod(W, 1, "F", code=137, cause="OOMKilled"),
            "pod train-worker-1 failed: container mindspore exited with code 137 (OOMKilled)",
        ),
        (
            pod(W, 1, "F", exit_code=None, cause="Evicted: node was low on memory"),
            "pod train-worker-1 failed (Evicted: node was low on memory)",
        ),
        (pod(W, 1, "F", exit_code=None), "pod train-worker-1 failed (no reason given)"),
    ],
)
def test_description(blamed: Pod, text: str) -> None:
    """The sentence names the pod and what is known: exit code, reason and message."""
    assert describe(blamed) == text
