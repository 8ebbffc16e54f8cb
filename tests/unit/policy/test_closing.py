"""Pods that have ended and that their kubelet clears up after: they are deleted in their last phase, or soon."""

from typing import Any

import pytest

from msjob.api import Role
from msjob_controller.policy.closing import kept
from msjob_controller.policy.decide import decide
from msjob_controller.policy.observed import Pod
from msjob_controller.policy.reading import read_pod
from support.decisions import job, running
from support.pods import RUNNING, at, keys, leaving, of, pod, pod_json, terminated

S, W = Role.SCHEDULER, Role.WORKER
ENDED = terminated(137)


@pytest.mark.parametrize(
    ("now", "left"),
    [
        pytest.param(60, True, id="in that very second"),
        pytest.param(62.5, True, id="half a second early"),
        pytest.param(63, False, id="long enough"),
        pytest.param(59, False, id="the clock of its node is ahead"),
    ],
)
def test_kept(now: float, left: bool) -> None:  # noqa: FBT001 - a column of the table
    """A pod without its last phase is left alone for three seconds after its end."""
    one = pod(W, 0, "F", seconds=60, closing=True)
    assert kept(keys(W, 0), of(one), at(now)) == frozenset(keys(W, 0) if left else ())


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(pod(W, 0, "F", seconds=60), id="in its last phase"),
        pytest.param(pod(W, 0), id="it runs"),
        pytest.param(leaving(W, 0, "F", asked=60, seconds=60, closing=True), id="deleted already"),
        pytest.param(pod(W, 0, "F", finished_at=None, closing=True), id="nobody knows when it ended"),
    ],
)
def test_not_kept(one: Pod) -> None:
    """All others go at once."""
    assert kept(keys(W, 0), of(one), at(60)) == frozenset()


def test_restart() -> None:
    """A restart tells the others to go at once, the fallen pod in its last phase, and makes new ones after both."""
    one = job(restart_policy="OnFailure")
    fallen = pod(W, 1, "F", seconds=60, closing=True)
    first = decide(one, running(one), of(pod(S), pod(W, 0), fallen), at(60))
    assert first.status["attempt"] == 1
    assert first.delete_pods == ((S, 0), *keys(W, 0))

    waits = decide(one, first.status, of(fallen), at(60.5))
    assert (waits.delete_pods, waits.create_pods) == ((), ())
    assert waits.requeue_after == 1
    assert decide(one, first.status, of(pod(W, 1, "F", seconds=60)), at(61)).delete_pods == keys(W, 1)
    assert decide(one, first.status, of(fallen), at(63)).delete_pods == keys(W, 1)


def closing(**fields: Any) -> bool:
    """Whether a pod whose `mindspore` container has ended is taken for one that its kubelet clears up after."""
    found = read_pod(pod_json(**{"states": {"mindspore": ENDED}, **fields}))
    assert found is not None
    return found.closing


def test_read() -> None:
    """All its containers have ended, sidecars too, the kubelet starts them no more, and its phase does not say so."""
    assert closing()
    assert not closing(phase="Failed")
    assert not closing(restart_policy="OnFailure")
    assert not closing(states={"mindspore": ENDED, "log": RUNNING})
    assert not closing(inits={"log": RUNNING})
    assert closing(inits={"first": terminated(0)})
    assert not closing(states={})
