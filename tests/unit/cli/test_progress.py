"""The lines of `msjob wait`: each change of a job is one, and says what happened."""

from typing import Any

import pytest

from msjob_cli.progress import line
from msjob_client import MSJob
from support.jobs import Json


def job(*conditions: Json, uid: str = "a", **status: Any) -> MSJob:
    """A job with these conditions, the last one of which is its state."""
    metadata = {"name": "train", "namespace": "default", "uid": uid}
    if "deleted" in status:
        metadata["deletionTimestamp"] = status.pop("deleted")
    spec = {"managedBy": status.pop("managed_by")} if "managed_by" in status else {}
    return MSJob.read({"metadata": metadata, "spec": spec, "status": {"conditions": [*conditions], **status}})


def condition(kind: str, message: str = "", reason: str = "", status: str = "True") -> Json:
    """One condition."""
    return {"type": kind, "status": status, "reason": reason, "message": message}


CREATED = condition("Created", "MSJob default/train is created.")
RUNNING = condition("Running", "MSJob default/train is running.")
STALLED = condition("Stalled", "pod train-worker-0: 0/3 nodes are available", "Unschedulable")
RESOLVED = condition("Stalled", "What kept the job from going on is over.", "Resolved", status="False")
RESTARTING = condition("Restarting", "MSJob default/train is restarting: a pod failed.")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, job(), "    7s  -           not seen by the operator yet"),
        (None, job(CREATED, workersReady="0/4"), "    7s  Created     Workers 0/4"),
        (
            job(CREATED, workersReady="0/4"),
            job(CREATED, workersReady="1/4"),
            "    7s  Created     Workers 1/4",
        ),
        (
            job(CREATED, workersReady="0/4"),
            job(STALLED, CREATED, workersReady="0/4"),
            "    7s  Created     Workers 0/4  stalled by Unschedulable: pod train-worker-0: 0/3 nodes are available",
        ),
        (
            job(STALLED, CREATED, workersReady="0/4"),
            job(RESOLVED, RUNNING, workersReady="4/4"),
            "    7s  Running     Workers 4/4  no longer stalled",
        ),
        (
            job(RUNNING, workersReady="4/4"),
            job(RESTARTING, workersReady="0/4", restarts=1),
            "    7s  Restarting  Workers 0/4  restarts 1  is restarting: a pod failed.",
        ),
        (
            job(RESTARTING, workersReady="0/4", restarts=1),
            job(RESTARTING, workersReady="1/4", restarts=1),
            "    7s  Restarting  Workers 1/4  restarts 1",
        ),
        (
            job(CREATED),
            job(condition("Stalled", "pod train-worker-0: Unschedulable: no nodes", "Unschedulable"), CREATED),
            "    7s  Created     stalled: pod train-worker-0: Unschedulable: no nodes",
        ),
        (job(RUNNING), job(RUNNING, deleted="2026-01-01T00:00:00Z"), "    7s  Running     being deleted"),
        (job(RUNNING, uid="a"), job(RUNNING, uid="b"), "    7s  Running     another job of this name"),
        (
            None,
            job(managed_by="kueue.x-k8s.io/multikueue"),
            "    7s  -           run by kueue.x-k8s.io/multikueue",
        ),
    ],
)
def test_a_change_is_a_line(before: MSJob | None, after: MSJob, expected: str) -> None:
    """Time, state, Workers, restarts, and in words what is new; what was said before is not said again."""
    assert line(before, after, 7.4) == expected


@pytest.mark.parametrize(
    "after",
    [
        job(STALLED, RESTARTING, workersReady="0/4", restarts=1),
        job(STALLED, RESTARTING, workersReady="0/4", restarts=1, replicaStatuses={"Worker": {"active": 1}}),
        job(STALLED, RESTARTING, workersReady="0/4", restarts=1, observedGeneration=7),
    ],
)
def test_what_is_not_shown_is_no_line(after: MSJob) -> None:
    """A change of anything else is none."""
    before = job(STALLED, RESTARTING, workersReady="0/4", restarts=1)

    assert line(before, after, 7) is None


def test_the_end_of_a_stall_is_not_told_of_a_job_that_ended() -> None:
    """Who reads that the job has failed does not read that it is no longer stalled."""
    failed = condition("Failed", "MSJob default/train has failed: it was active longer than 5 s.", "DeadlineExceeded")
    over = condition("Stalled", reason="DeadlineExceeded", status="False")

    text = line(job(STALLED, CREATED), job(over, failed), 3600)

    assert text == "    1h  Failed      has failed: it was active longer than 5 s."
