"""Pods that hang in deletion because their node does not answer."""

from typing import Any

import pytest

from msjob.api import Job, Role
from msjob_controller.policy.decide import decide, reject
from msjob_controller.policy.forced import overdue
from msjob_controller.policy.observed import PodKey
from support.decisions import at_rest, job, running
from support.pods import at, everywhere, keys, leaving, of, pod

S, W = Role.SCHEDULER, Role.WORKER
LOST = "node-worker-0"


def forcing(seconds: int | None, **fields: Any) -> Job:
    """A job whose pods are removed by force after so many seconds."""
    policy = fields.pop("run_policy", {})
    return job(run_policy=policy if seconds is None else {**policy, "forceDeleteAfterSeconds": seconds}, **fields)


@pytest.mark.parametrize(
    ("limit", "asked", "grace", "now", "due", "later"),
    [
        pytest.param(60, 0, 30, 59, (), [1], id="one second early"),
        pytest.param(60, 0, 30, 60, keys(W, 0), [], id="in that very second"),
        pytest.param(60, 0, 30, 10**6, keys(W, 0), [], id="long after"),
        pytest.param(60, 100, 30, 100, (), [60], id="counted from when it was asked for"),
        pytest.param(10, 0, 30, 10, (), [20], id="never within the grace that it has"),
        pytest.param(10, 0, 30, 30, keys(W, 0), [], id="but as soon as that is over"),
        pytest.param(60, 0, 0, 60, (), [], id="without grace already: force adds nothing"),
        pytest.param(60, 0, 30, -(10**6), (), [90], id="the clock was set back"),
        pytest.param(None, 0, 30, 10**6, (), [], id="without the field there is no force"),
    ],
)
def test_overdue(
    limit: int | None, asked: float, grace: float, now: float, due: tuple[PodKey, ...], later: list[float]
) -> None:
    """Due once both the grace and the limit have passed since the deletion was asked for."""
    seen = of(leaving(W, 0, asked=asked, grace=grace), lost=[LOST])
    assert overdue(forcing(limit), seen, at(now)) == (due, later)


def test_only_lost_nodes() -> None:
    """A node that answers gets all the time it takes, and a pod that nobody deletes is left alone."""
    assert overdue(forcing(60), of(leaving(W, 0), pod(W, 1)), at(10**6)) == ((), [])
    assert overdue(forcing(60), of(pod(W, 0), lost=[LOST]), at(10**6)) == ((), [])
    assert overdue(forcing(60), of(leaving(W, 0, node="")), at(10**6)) == ((), [])


class TestDecision:
    """Force as part of a decision: whatever the job is about, pods that hang go."""

    @pytest.mark.parametrize("kind", ["restarting", "suspended", "finished"])
    def test_whenever(self, kind: str) -> None:
        """Old pods of a restart, pods of a suspended job, and leftovers of a finished one."""
        one = forcing(60, suspend=kind == "suspended")
        status = running(forcing(60)) | {"attempt": 1}
        if kind == "finished":
            status["conditions"] = [{"type": "Failed", "status": "True"}]
        seen = of(leaving(W, 0, asked=100), lost=[LOST])
        waits = decide(one, status, seen, at(130))
        assert (waits.force_delete_pods, waits.delete_pods, waits.create_pods, waits.requeue_after) == ((), (), (), 30)
        due = decide(one, waits.status, seen, at(160))
        assert (due.force_delete_pods, due.delete_pods, due.create_pods) == (keys(W, 0), (), ())
        assert {key: value for key, value in due.status.items() if key != "conditions"} == {
            key: value for key, value in waits.status.items() if key != "conditions"
        }

    def test_the_next_attempt_comes_when_they_are_gone(self) -> None:
        """Two processes with one rank would spoil each other's checkpoints."""
        one = forcing(60)
        status = running(one) | {"attempt": 1}
        assert decide(one, status, of(leaving(W, 0, asked=100), lost=[LOST]), at(10**6)).create_pods == ()
        assert decide(one, status, of(lost=[LOST]), at(10**6)).create_pods == ((S, 0), *keys(W, 0, 1))

    def test_without_the_field(self) -> None:
        """The operator waits for the node for ever, and says so."""
        one = job()
        status = running(one) | {"attempt": 1}
        decision = decide(one, status, of(leaving(W, 0, asked=100), lost=[LOST]), at(10**6))
        assert (decision.force_delete_pods, decision.delete_pods, decision.create_pods) == ((), (), ())

    def test_asked_again_and_again(self) -> None:
        """A pod that a finalizer holds is asked for again at each look, and nothing else happens."""
        one = forcing(60)
        status = decide(one, running(one) | {"attempt": 1}, of(leaving(W, 0), lost=[LOST]), at(500)).status
        again = decide(one, status, of(leaving(W, 0), lost=[LOST]), at(501))
        assert (again.force_delete_pods, again.events, again.status) == (keys(W, 0), (), status)

    def test_others_go_with_their_grace(self) -> None:
        """Force is for those that hang: the rest of the attempt is deleted as ever."""
        one = forcing(60, run_policy={"cleanPodPolicy": "All"})
        seen = of(pod(S, 0, "S"), leaving(W, 0, asked=0), pod(W, 1, "S"), lost=[LOST])
        decision = decide(one, running(one), seen, at(100))
        assert decision.force_delete_pods == keys(W, 0)
        assert keys(W, 0)[0] not in decision.delete_pods

    def test_a_job_that_cannot_be_read(self) -> None:
        """It has no limit that could be read, so nothing is forced."""
        seen = of(leaving(W, 0), lost=[LOST])
        assert reject({}, [], 1, at(10**6), seen).force_delete_pods == ()

    def test_nothing_hangs(self) -> None:
        """A job whose nodes answer is left alone."""
        one = forcing(60)
        assert at_rest(decide(one, running(one), everywhere(one, "R"), at(10**6)))
