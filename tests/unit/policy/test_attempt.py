"""Which pods belong to the present attempt, and what they have come to."""

from typing import Any

import pytest

from msjob.api import Role
from msjob_controller.policy.attempt import coordinated, is_old, present
from msjob_controller.policy.attempt import keys as names
from msjob_controller.policy.decide import decide
from msjob_controller.policy.observed import Outcome
from support.decisions import NOTHING, attempt_of, condition, job, running
from support.pods import at, everywhere, keys, leaving, of, pod, standing

S, P, W = Role.SCHEDULER, Role.PS, Role.WORKER


def test_wanted() -> None:
    """Wanted are all pods of all roles, in the order in which they are made: Scheduler, PS, Workers."""
    found = attempt_of(job(ps=1, worker=3), of())
    assert found.wanted == ((S, 0), (P, 0), *keys(W, 0, 1, 2))
    assert found.missing() == found.wanted
    assert found.of(W) == keys(W, 0, 1, 2)
    assert (found.number, found.completed, found.ran) == (0, frozenset(), False)


def test_outcomes() -> None:
    """Pods that are there have the outcome they have, one that is not is pending."""
    one = job(worker=5)
    found = attempt_of(one, standing(one, Scheduler="R", Worker="PSF-R"))
    assert [found.outcome(key) for key in found.wanted] == [
        Outcome.RUNNING,
        Outcome.PENDING,
        Outcome.SUCCEEDED,
        Outcome.FAILED,
        Outcome.PENDING,
        Outcome.RUNNING,
    ]
    assert found.missing() == keys(W, 3)


def test_old_pods() -> None:
    """Pods of a lower attempt are old, whatever they are: none of them counts, and each is still missing."""
    one = job()
    seen = of(pod(S, attempt=2), pod(W, 0, "S", attempt=1), pod(W, 1, "F"))
    found = attempt_of(one, seen, {"attempt": 2})
    assert {item.key for item in found.old} == {(W, 0), (W, 1)}
    assert set(found.pods) == {(S, 0)}
    assert found.completed == frozenset()
    assert found.missing() == keys(W, 0, 1)


@pytest.mark.parametrize("known", [None, 0, 1, -3])
def test_a_status_that_knows_less_than_the_pods(known: int | None) -> None:
    """A status from a backup takes over the number of the newest pods, so that no number is given twice.

    What it says of pods that have succeeded was about another attempt.
    """
    one = job()
    status: dict[str, Any] = {"replicaStatuses": {"Worker": {"completedIndexes": "0-1"}}, "readyAttempt": 0}
    if known is not None:
        status["attempt"] = known
    found = present(one, status, of(pod(S, attempt=4), pod(W, 0, attempt=3)))
    assert found.number == 4
    assert {item.key for item in found.old} == {(W, 0)}
    assert (found.completed, found.ran) == (frozenset(), False)


def test_pods_without_a_number() -> None:
    """Pods of the Go operator carry no attempt; they are of attempt 0, and so is a status without one."""
    one = job()
    found = present(one, {}, everywhere(one, "R"))
    assert (found.number, found.old, found.missing()) == (0, (), ())


@pytest.mark.parametrize(
    ("stored", "completed"),
    [
        ({}, set()),
        ({"Worker": {"completedIndexes": "0,2-3"}}, {(W, 0), (W, 2), (W, 3)}),
        ({"worker": {"completedIndexes": "1"}}, {(W, 1)}),
        ({"PS": {"completedIndexes": "0"}, "Scheduler": {"completedIndexes": "0"}}, {(S, 0)}),
        ({"Chief": {"completedIndexes": "0"}}, set()),
        ({"Worker": {"completedIndexes": "2-9"}}, {(W, 2), (W, 3)}),
        ({"Worker": {"completedIndexes": "nonsense"}}, set()),
        ({"Worker": {"active": 3}}, set()),
        ({"Worker": None}, set()),
    ],
)
def test_what_has_succeeded_is_remembered(stored: dict[str, Any], completed: set[Any]) -> None:
    """Pods that have succeeded in this attempt need not be there; indices that are not wanted are none."""
    found = attempt_of(job(worker=4), of(), {"replicaStatuses": stored})
    assert found.completed == completed
    assert set(found.missing()) == set(found.wanted) - completed
    assert all(found.outcome(key) is Outcome.SUCCEEDED for key in completed)


def test_a_success_is_never_taken_back() -> None:
    """A pod whose success is known counts as succeeded, though the same name stands for a pod that waits again."""
    one = job()
    status = {"replicaStatuses": {"Worker": {"completedIndexes": "1"}}}
    found = attempt_of(one, standing(one, Scheduler="R", Worker="RP"), status)
    assert found.outcome((W, 1)) is Outcome.SUCCEEDED


@pytest.mark.parametrize(
    ("status", "ran"),
    [
        ({}, False),
        ({"readyAttempt": 0}, True),
        ({"readyAttempt": 0, "attempt": 0}, True),
        ({"readyAttempt": 1, "attempt": 2}, False),
        ({"readyAttempt": 2, "attempt": 2}, True),
        ({"attempt": 2}, False),
        ({"readyAttempt": None}, False),
    ],
)
def test_ran(status: dict[str, Any], *, ran: bool) -> None:
    """All pods of an attempt ran if the status says so of this very attempt."""
    assert attempt_of(job(), of(), status).ran is ran


class TestSize:
    """How many Workers an attempt has."""

    @pytest.mark.parametrize("fields", [{}, {"launch_mode": "Msrun"}, {"launch_mode": "None"}, {"ps": 1}])
    def test_of_a_cluster(self, fields: dict[str, Any]) -> None:
        """Processes that know how many they are stay as many as the attempt was made with, until the next."""
        one = job(worker=5, **fields)
        seen = everywhere(one, "R")
        small = attempt_of(one, seen, {"workerReplicas": 3})
        assert small.of(W) == keys(W, 0, 1, 2)
        assert {item.key for item in small.surplus} == {(W, 3), (W, 4)}
        assert attempt_of(one, seen, {}).of(W) == keys(W, 0, 1, 2, 3, 4)
        assert attempt_of(one, seen, {"workerReplicas": None}).of(W) == keys(W, 0, 1, 2, 3, 4)
        assert coordinated(one)

    def test_of_workers_that_stand_alone(self) -> None:
        """Standalone Workers are as many as the spec says now."""
        one = job(scheduler=None, worker=2)
        found = attempt_of(one, of(pod(W, 0), pod(W, 4)), {"workerReplicas": 5})
        assert found.of(W) == keys(W, 0, 1)
        assert [item.key for item in found.surplus] == [(W, 4)]
        assert not coordinated(one)

    def test_of_a_job_without_workers(self) -> None:
        """What the status says of Workers makes none in a job that has no such role."""
        one = job(worker=None)
        assert attempt_of(one, of(), {"workerReplicas": 3}).wanted == ((S, 0),)
        assert not coordinated(one)

    @pytest.mark.parametrize("number", [-1, 2**40])
    def test_impossible(self, number: int) -> None:
        """A number that no job can have is one that somebody wrote: it costs no more than a job can."""
        assert len(attempt_of(job(), of(), {"workerReplicas": number}).wanted) <= 100_001

    def test_surplus_roles(self) -> None:
        """Pods of a role that the job has no more are surplus."""
        assert [item.key for item in attempt_of(job(), of(pod(P, 0))).surplus] == [(P, 0)]


def test_is_old() -> None:
    """A pod is old if its number is lower than that of the status."""
    for number, known, old in [(0, None, False), (0, 0, False), (0, 1, True), (1, 1, False), (2, 1, False)]:
        assert is_old(pod(W, 0, attempt=number), {} if known is None else {"attempt": known}) is old


def test_names_of_what_is_to_go() -> None:
    """Nothing is deleted twice."""
    assert names([pod(W, 0), leaving(W, 1), pod(S)]) == ((W, 0), (S, 0))


def test_ignored_pods_stay_ignored() -> None:
    """A failed pod that the job goes on without is remembered: once it is gone it is neither missed nor made again."""
    rule = {"action": "IgnorePod", "onExitCodes": {"operator": "In", "values": [42]}}
    one = job(worker=3, restart_policy="OnFailure", run_policy={"failurePolicy": {"rules": [rule]}})
    failed = of(pod(S), pod(W, 0), pod(W, 1), pod(W, 2, "F", code=42))
    told = decide(one, running(one), failed, at(70))
    assert told.status["replicaStatuses"]["Worker"]["ignoredIndexes"] == "2"
    gone = decide(one, told.status, of(pod(S), pod(W, 0), pod(W, 1)), at(80))
    assert (gone.create_pods, gone.events, gone.status.get("attempt")) == ((), (), None)
    assert gone.status["replicaStatuses"]["Worker"]["ignoredIndexes"] == "2"
    ended = decide(one, gone.status, of(pod(S), pod(W, 0, "S"), pod(W, 1, "S")), at(90))
    assert condition(ended, "Succeeded")["reason"] == "MSJobSucceeded"
    restarted = decide(one, gone.status, of(pod(S), pod(W, 0), pod(W, 1, "F", code=1)), at(90))
    assert restarted.status["attempt"] == 1
    assert "ignoredIndexes" not in restarted.status["replicaStatuses"]["Worker"]


def test_nothing_is_left_out_once_nothing_is_left() -> None:
    """Pods that the job went on without come back when it has no other: those left over from a larger job, say."""
    status = {"replicaStatuses": {"Worker": {"ignoredIndexes": "0"}}}
    fields: dict[str, Any] = {"scheduler": None, "launch_mode": "Standalone", "enable_dynamic_worker": True}
    told = decide(job(worker=1, **fields), status, NOTHING, at(60))
    assert told.create_pods == keys(W, 0)
    assert "ignoredIndexes" not in told.status["replicaStatuses"]["Worker"]
    assert decide(job(worker=2, **fields), status, NOTHING, at(60)).create_pods == keys(W, 1)


def test_a_pod_that_is_replaced_is_not_left_out() -> None:
    """Workers that may all fail, and that a rule restarts in the end, come back one by one."""
    rules = {"rules": [{"action": "Restart", "onExitCodes": {"operator": "In", "values": [7]}}]}
    fields: dict[str, Any] = {"scheduler": None, "launch_mode": "Standalone", "enable_dynamic_worker": True}
    one = job(run_policy={"failurePolicy": rules}, **fields)
    fallen = of(pod(W, 0, "F", code=7, uid="a"), pod(W, 1, "F", code=7, uid="b"), address=None)
    told = decide(one, running(one), fallen, at(60))
    assert (set(told.delete_pods), told.status["restarts"]) == ({(W, 0), (W, 1)}, 2)
    left = of(pod(W, 0, uid="c"), pod(W, 1, "F", code=7, uid="b"), address=None)
    going = decide(one, told.status, left, at(61))
    assert "ignoredIndexes" not in going.status["replicaStatuses"]["Worker"]
    assert decide(one, going.status, of(pod(W, 0, uid="c"), address=None), at(62)).create_pods == keys(W, 1)
