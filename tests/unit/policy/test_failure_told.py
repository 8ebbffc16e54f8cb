"""What is told of the pod to blame: a sentence, and `status.lastFailure`."""

from typing import Any

import pytest

from msjob.api import Job, Role
from msjob_controller.policy import failure
from msjob_controller.policy.conditions import MESSAGE_LIMIT
from msjob_controller.policy.failure import Failure, describe, record
from msjob_controller.policy.observed import Observed, Pod, Trouble
from support.decisions import attempt_of, job
from support.pods import at, leaving, of, pod, put_out, stamp

S, W = Role.SCHEDULER, Role.WORKER
RAN: dict[str, Any] = {"readyAttempt": 0}


def failures(one: Job, seen: Observed, status: dict[str, Any] | None = None) -> list[Failure]:
    """The failures as a decision finds them."""
    return failure.find(one, attempt_of(one, seen, status), frozenset(), seen.lost_nodes, frozenset())


@pytest.mark.parametrize(
    ("blamed", "text"),
    [
        (pod(W, 1, "F", code=3), "pod train-worker-1 failed: container mindspore exited with code 3"),
        (pod(W, 1, "F", code=3, reason="Error"), "pod train-worker-1 failed: container mindspore exited with code 3"),
        (
            pod(W, 1, "F", code=3, reason="Error", message="loss is NaN"),
            "pod train-worker-1 failed: container mindspore exited with code 3 (Error: loss is NaN)",
        ),
        (
            pod(W, 1, "F", code=137, reason="OOMKilled"),
            "pod train-worker-1 failed: container mindspore exited with code 137 (OOMKilled)",
        ),
        (
            pod(W, 1, "F", code=4, container="fetch"),
            "pod train-worker-1 failed: container fetch exited with code 4",
        ),
        (
            put_out(W, 1, "Evicted", message="node was low on memory"),
            "pod train-worker-1 failed (Evicted: node was low on memory)",
        ),
        (put_out(W, 1, ""), "pod train-worker-1 failed (no reason given)"),
        (leaving(W, 1), "pod train-worker-1 was deleted"),
        (leaving(W, 1, conditions={"DisruptionTarget": "True"}), "pod train-worker-1 failed (Evicted)"),
    ],
)
def test_description(blamed: Pod, text: str) -> None:
    """The sentence names the pod and what is known: exit code, reason and message."""
    assert describe(failures(job(), of(pod(W, 0), blamed))[0]) == text


def test_description_of_what_is_not_there() -> None:
    """Also of pods that are gone, lost or never came."""
    one = job()
    assert describe(failures(one, of(pod(S), pod(W, 1)), RAN)[0]) == "pod train-worker-0 was deleted"
    lost = of(pod(S), pod(W, 0, "F"), pod(W, 1), lost=["node-worker-1"])
    assert describe(failures(one, lost)[0]) == "pod train-worker-1 was lost with node node-worker-1"
    gave_up = pod(W, 0, "F", finished_at=at(1800))
    assert describe(failures(one, of(gave_up))[0]) == "pod train-scheduler-0 never ran"
    waits = pod(W, 1, "P", trouble=Trouble("ImagePullBackOff", "no such image", "mindspore"))
    assert (
        describe(failures(one, of(pod(S), gave_up, waits))[0])
        == "pod train-worker-1 never ran (ImagePullBackOff: no such image)"
    )


class TestRecord:
    """`status.lastFailure`."""

    def test_all_that_is_known(self) -> None:
        """It keeps everything about the pod that a person asks for once the pod is gone."""
        blamed = pod(W, 1, "F", code=137, seconds=42, reason="OOMKilled", message="step 9", node="n7")
        (found,) = failures(job(), of(blamed))
        assert record(found, 3, at(50), counts=True) == {
            "pod": "train-worker-1",
            "role": "Worker",
            "index": 1,
            "container": "mindspore",
            "exitCode": 137,
            "reason": "OOMKilled",
            "message": "step 9",
            "time": stamp(42),
            "node": "n7",
            "attempt": 3,
            "countsTowardsLimit": True,
        }

    def test_what_is_not_known_is_left_out(self) -> None:
        """A pod that is gone has no code, node or time; the time is then when the operator saw it."""
        found = failures(job(), of(pod(S), pod(W, 1)), RAN)[0]
        assert record(found, 0, at(50), counts=False) == {
            "pod": "train-worker-0",
            "role": "Worker",
            "index": 0,
            "reason": "Deleted",
            "time": stamp(50),
            "attempt": 0,
            "countsTowardsLimit": False,
        }

    def test_exit_code_0_is_kept(self) -> None:
        """A number is not left out for being 0."""
        found = Failure("train-worker-0", W, 0, exit_code=0, container="mindspore")
        assert record(found, 0, at(0), counts=False)["exitCode"] == 0

    def test_limits(self) -> None:
        """What containers and nodes say has no bound, the schema has."""
        (found,) = failures(job(), of(pod(W, 1, "F", reason="x" * 5_000, message="y" * 50_000)))
        told = record(found, 0, at(0), counts=False)
        assert (len(told["reason"]), len(told["message"])) == (1024, MESSAGE_LIMIT)
