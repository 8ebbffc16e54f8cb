"""When a finished job is removed."""

from typing import Any

import pytest

from msjob.api import Problem
from msjob_controller.policy.decide import decide, reject
from msjob_controller.policy.expiry import of_unreadable, time_left
from support.decisions import at_rest, job, running, state
from support.pods import at, everywhere, of, stamp

FINISHED: dict[str, Any] = {
    "conditions": [{"type": "Succeeded", "status": "True", "lastTransitionTime": stamp(90)}],
    "completionTime": stamp(100),
}


def ttl(seconds: int | None, **fields: Any) -> dict[str, Any]:
    """Fields of a job with a TTL."""
    return {"run_policy": {} if seconds is None else {"ttlSecondsAfterFinished": seconds}, **fields}


@pytest.mark.parametrize(
    ("seconds", "now", "left"),
    [
        pytest.param(None, 10**9, None, id="no TTL, no removal"),
        pytest.param(60, 100, 60, id="just ended"),
        pytest.param(60, 159, 1, id="one second early"),
        pytest.param(60, 160, 0, id="in that very second"),
        pytest.param(60, 10**6, 0, id="an operator that was long absent"),
        pytest.param(0, 100, 0, id="0 is at once"),
        pytest.param(60, -(10**6), 60, id="the clock was set back: no longer than the TTL"),
        pytest.param(2**31 - 1, 100, 2**31 - 1, id="the longest"),
    ],
)
def test_time_left(seconds: int | None, now: float, left: float | None) -> None:
    """It counts from completionTime."""
    assert time_left(job(**ttl(seconds)), FINISHED, at(now)) == left


def test_without_completion_time() -> None:
    """The Go operator leaves it out on some paths: then the condition that ended the job has the time."""
    one = job(**ttl(60))
    ended = {"conditions": FINISHED["conditions"]}
    assert time_left(one, ended, at(149)) == 1
    assert time_left(one, ended, at(150)) == 0
    failed = {"conditions": [{"type": "Failed", "status": "True", "lastTransitionTime": stamp(90)}]}
    assert time_left(one, failed, at(150)) == 0
    both = {"conditions": [{"type": "Failed", "status": "False", "lastTransitionTime": stamp(0)}, *ended["conditions"]]}
    assert time_left(one, both, at(100)) == 50


def test_without_any_time() -> None:
    """A job of which nobody knows when it ended stays."""
    one = job(**ttl(60))
    assert time_left(one, {"conditions": [{"type": "Failed", "status": "True"}]}, at(10**6)) is None
    assert time_left(one, {"completionTime": "long ago"}, at(10**6)) is None


def test_never_while_suspended() -> None:
    """Whoever suspends a job means to keep it; once that is taken back the time is up."""
    assert time_left(job(**ttl(0, suspend=True)), FINISHED, at(10**6)) is None
    assert time_left(job(**ttl(0, suspend=False)), FINISHED, at(10**6)) == 0


class TestDecision:
    """The removal as part of a decision."""

    @pytest.mark.parametrize("end", ["S", "F"])
    def test_a_whole_end(self, end: str) -> None:
        """The end is stored first, then nothing happens until the second comes, and then the job goes."""
        one = job(**ttl(60, scheduler=None, worker=1))
        seen = everywhere(one, end)
        ended = decide(one, running(one), seen, at(100))
        assert (ended.delete_job, ended.requeue_after) == (False, 60)
        waits = decide(one, ended.status, seen, at(130))
        assert at_rest(waits)
        assert waits.requeue_after == 30
        gone = decide(one, ended.status, seen, at(160))
        assert (gone.delete_job, gone.requeue_after, gone.status) == (True, None, ended.status)

    def test_at_once(self) -> None:
        """With a TTL of 0 the job goes as soon as its end is stored, in a pass of its own."""
        one = job(**ttl(0, scheduler=None, worker=1))
        ended = decide(one, running(one), everywhere(one, "S"), at(100))
        assert (ended.delete_job, ended.requeue_after) == (False, 0)
        assert state(ended)[-1] == "Succeeded=True"
        assert decide(one, ended.status, everywhere(one, "S"), at(100)).delete_job

    def test_a_suspended_job_that_is_finished(self) -> None:
        """It is kept, and nobody looks at it for that."""
        one = job(**ttl(0, suspend=True))
        decision = decide(one, FINISHED, of(address=None), at(10**6))
        assert (decision.delete_job, decision.requeue_after) == (False, None)

    @pytest.mark.parametrize("letter", ["R", "P", "F"])
    def test_only_once_finished(self, letter: str) -> None:
        """A job that goes on is never removed, however old it is."""
        one = job(**ttl(0, restart_policy="OnFailure"))
        assert not decide(one, running(one), everywhere(one, letter), at(10**6)).delete_job


@pytest.mark.parametrize(
    ("spec", "seconds"),
    [
        ({"runPolicy": {"ttlSecondsAfterFinished": 60}}, 60),
        ({"runPolicy": {"ttlSecondsAfterFinished": 0}}, 0),
        ({"runPolicy": {"ttlSecondsAfterFinished": 60, "suspend": True}}, None),
        ({"runPolicy": {"ttlSecondsAfterFinished": -1}}, None),
        ({"runPolicy": {"ttlSecondsAfterFinished": "60"}}, None),
        ({"runPolicy": {"ttlSecondsAfterFinished": True}}, None),
        ({"runPolicy": []}, None),
        (None, None),
    ],
)
def test_of_a_job_that_cannot_be_read(spec: Any, seconds: int | None) -> None:
    """What can be read of its TTL counts, also for a job that breaks a rule."""
    assert of_unreadable({"spec": spec}) == seconds


def test_of_a_job_that_breaks_a_rule() -> None:
    """It fails, and goes once its time is over."""
    problems = [Problem(("spec",), "no")]
    ended = reject({}, problems, 1, at(0), ttl=60)
    assert (ended.delete_job, ended.requeue_after) == (False, 60)
    assert reject(ended.status, problems, 1, at(59), ttl=60).requeue_after == 1
    assert reject(ended.status, problems, 1, at(60), ttl=60).delete_job
    assert not reject(ended.status, problems, 1, at(10**6)).delete_job
    at_once = reject({}, problems, 1, at(0), ttl=0)
    assert (at_once.delete_job, at_once.requeue_after) == (False, 0)
