"""Pods that fall because one that was restarted alone had fallen before them."""

from typing import Any

import pytest

from msjob.api import Role
from msjob_controller.policy.decide import decide
from msjob_controller.policy.decision import Decision
from msjob_controller.policy.observed import Pod
from support.decisions import condition, job, running, state
from support.jobs import role
from support.pods import at, everywhere, of, pod

S, W = Role.SCHEDULER, Role.WORKER
ALONE: dict[str, Any] = {"scheduler": role(restart_policy="OnFailure", restart_scope="Pod")}
ONE = job(restart_policy="OnFailure", run_policy={"backoffLimit": 1}, **ALONE)


def fallen(seconds: float = 100) -> dict[str, Any]:
    """The status once the Scheduler has failed and is being replaced alone."""
    seen = {**everywhere(ONE, "R").pods, (S, 0): pod(S, 0, "F", code=139, seconds=seconds)}
    told = decide(ONE, running(ONE), of(*seen.values()), at(seconds))
    assert [entry["pod"] for entry in told.status["replacements"]] == ["train-scheduler-0"]
    return told.status


def after(*workers: Pod, seconds: float = 130) -> Decision:
    """What is decided when Workers have ended while the Scheduler is being replaced."""
    return decide(ONE, fallen(), of(pod(S, 0, "F", code=139, seconds=100), *workers), at(seconds))


@pytest.mark.parametrize("code", [1, 137, 143])
def test_follower(code: int) -> None:
    """The whole job is restarted, the first pod stays to blame, and nothing is charged to the limit a second time."""
    told = after(pod(W, 0, "F", code=code, seconds=125), pod(W, 1))
    assert state(told)[-1] == "Restarting=True"
    assert (told.status["restarts"], told.status["restartsCountTowardsLimit"], told.status["attempt"]) == (2, 1, 1)
    assert told.status["lastFailure"]["pod"] == "train-scheduler-0"
    assert "pod train-scheduler-0" in condition(told, "Restarting")["message"]


def test_deleted_with_its_culprit_gone() -> None:
    """The same holds once the pod that fell first is gone."""
    told = decide(ONE, fallen(), of(pod(W, 0, "F", code=143, seconds=125), pod(W, 1)), at(130))
    assert (told.status["restartsCountTowardsLimit"], told.status["lastFailure"]["pod"]) == (1, "train-scheduler-0")


@pytest.mark.parametrize(
    "worker",
    [
        pytest.param(pod(W, 0, "F", code=139, seconds=125), id="a code that no follower has"),
        pytest.param(pod(W, 0, "F", code=137, seconds=125, reason="OOMKilled"), id="out of memory"),
        pytest.param(pod(W, 0, "F", code=143, seconds=400), id="long after"),
        pytest.param(pod(W, 0, "F", code=143, seconds=50), id="before"),
    ],
)
def test_failure_of_its_own(worker: Pod) -> None:
    """A pod that fell by itself is judged by itself: here the limit is used up."""
    told = after(worker, pod(W, 1), seconds=500)
    assert condition(told, "Failed")["reason"] == "BackoffLimitExceeded"
    assert told.status["lastFailure"]["pod"] == "train-worker-0"


def test_of_another_attempt() -> None:
    """What fell in an earlier attempt explains nothing in this one."""
    status = fallen() | {"attempt": 1, "readyAttempt": 1, "replacements": []}
    failed = pod(W, 0, "F", code=143, seconds=125, attempt=1)
    seen = {**everywhere(ONE, "R", attempt=1).pods, failed.key: failed}
    told = decide(ONE, status, of(*seen.values()), at(130))
    assert condition(told, "Failed")["reason"] == "BackoffLimitExceeded"
