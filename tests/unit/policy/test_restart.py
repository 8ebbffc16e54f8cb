"""Restarts of the whole job, and of pods alone."""

from dataclasses import replace
from typing import Any

import pytest

from msjob.api import Job, Role
from msjob_controller.policy.decide import decide
from msjob_controller.policy.decision import Decision
from msjob_controller.policy.observed import Pod
from msjob_controller.policy.restart import begin_attempt, reattribute, time_left, wait
from support.decisions import NOTHING, at_rest, attempt_of, begun, condition, job, reasons, running, state
from support.jobs import role
from support.pods import at, everywhere, keys, leaving, of, pod, put_out, stamp, standing

S, P, W = Role.SCHEDULER, Role.PS, Role.WORKER
RETRIED: dict[str, Any] = {"restart_policy": "OnFailure"}


def failed(one: Job, *, restarts: int = 0, counted: int = 0, second: float = 100, code: int = 1) -> Decision:
    """The decision about a job that ran and whose Worker 1 has failed, after so many restarts."""
    status = running(one)
    if restarts:
        status |= {"restarts": restarts, "restartsCountTowardsLimit": counted}
    seen = of(pod(S), pod(W, 0), pod(W, 1, "F", code=code, seconds=second - 1, reason="Error", message="NaN"))
    return decide(one, status, seen, at(second))


class TestJob:
    """A restart that begins a new attempt."""

    def test_one_write(self) -> None:
        """Everything about it is in one status, before anything is deleted; the Service stays."""
        told = failed(job(**RETRIED))
        status = told.status
        assert (status["attempt"], status["restarts"], status["restartsCountTowardsLimit"]) == (1, 1, 1)
        assert status["lastFailure"] == {
            "pod": "train-worker-1",
            "role": "Worker",
            "index": 1,
            "container": "mindspore",
            "exitCode": 1,
            "reason": "Error",
            "message": "NaN",
            "time": stamp(99),
            "node": "node-worker-1",
            "attempt": 0,
            "countsTowardsLimit": True,
        }
        assert state(told) == ["Created=True", "Restarting=True"]
        assert set(told.delete_pods) == {(S, 0), *keys(W, 0, 1)}
        assert (told.create_pods, told.create_service, told.delete_service) == ((), False, False)
        assert (status["startTime"], status["readyAttempt"]) == (stamp(0), 0)
        assert not {"nextRestartTime", "completionTime"} & status.keys()
        message = (
            "MSJob default/train is restarting: pod train-worker-1 failed: container mindspore exited with code 1"
            " (Error: NaN); restart 1, 1 counted."
        )
        assert condition(told, "Restarting")["message"] == message
        assert [(event.type, event.reason, event.message) for event in told.events] == [
            ("Warning", "ExitedWithCode", "Pod default/train-worker-1 exited with code 1"),
            ("Warning", "MSJobRestarting", message),
        ]

    def test_a_whole_life(self) -> None:
        """Deleted, waited for until the last is gone, made anew with the next number, and running again."""
        one = job(**RETRIED)
        told = failed(one)
        # What the old pods come to while they go is nobody's failure any more.
        for seen in (
            standing(one, Scheduler="F", Worker="FF"),
            standing(one, Scheduler="S", Worker="SS"),
            of(leaving(S, 0, asked=100), leaving(W, 0, asked=100)),
            of(leaving(W, 0, asked=100)),
        ):
            waits = decide(one, told.status, seen, at(101))
            assert (waits.create_pods, waits.events, waits.status["restarts"]) == ((), (), 1)
            assert set(waits.delete_pods) == {key for key, item in seen.pods.items() if not item.deleting}
            assert state(waits) == ["Created=True", "Restarting=True"]
        made = decide(one, waits.status, of(), at(105))
        assert (made.create_pods, made.status["attempt"]) == (((S, 0), *keys(W, 0, 1)), 1)
        starts = standing(one, 1, Scheduler="R", Worker="RP")
        assert state(decide(one, made.status, starts, at(110))) == ["Created=True", "Restarting=True"]
        runs = decide(one, made.status, everywhere(one, "R", attempt=1), at(120))
        assert state(runs) == ["Created=True", "Running=True"]
        assert (reasons(runs), runs.status["readyAttempt"]) == (["MSJobRunning"], 1)
        assert runs.status["lastFailure"] == told.status["lastFailure"]

    def test_an_old_pod_that_hangs(self) -> None:
        """As long as one is there none is made: two processes of one rank would spoil each other's work."""
        one = job(**RETRIED)
        status = failed(one).status
        for letter in "PRSF":
            seen = of(pod(S, attempt=1), leaving(W, 1, letter, asked=100))
            assert decide(one, status, seen, at(10_000)).create_pods == ()

    @pytest.mark.parametrize(
        ("restarts", "pause"), [(0, 0), (1, 10), (2, 20), (3, 40), (4, 80), (5, 160), (6, 320), (7, 360), (50, 360)]
    )
    def test_back_off(self, restarts: int, pause: int) -> None:
        """The first restart waits for nothing, later ones longer and longer; the pods are made in that second."""
        one = job(**RETRIED)
        told = failed(one, restarts=restarts)
        assert told.status.get("nextRestartTime") == (stamp(100 + pause) if pause else None)
        assert (f", in {pause} s." in condition(told, "Restarting")["message"]) is bool(pause)
        if pause:
            early = decide(one, told.status, of(), at(100 + pause - 1))
            assert (early.create_pods, early.requeue_after) == ((), 1)
        made = decide(one, told.status, of(), at(100 + pause))
        assert made.create_pods == ((S, 0), *keys(W, 0, 1))
        assert "nextRestartTime" not in made.status

    def test_back_off_counts_disruptions_too(self) -> None:
        """What is evicted all the time is not made anew without a pause."""
        one = job()
        status = running(one) | {"restarts": 2, "restartsCountTowardsLimit": 0}
        told = decide(one, status, of(pod(S), pod(W, 0), put_out(W, 1)), at(100))
        assert told.status["nextRestartTime"] == stamp(120)

    def test_the_service_is_there_when_the_pause_is_over(self) -> None:
        """A Service that vanished meanwhile is made while the job waits, not after."""
        one = job(**RETRIED)
        told = failed(one, restarts=3)
        waits = decide(one, told.status, NOTHING, at(101))
        assert (waits.create_service, waits.create_pods, waits.requeue_after) == (True, (), 39)

    @pytest.mark.parametrize(
        ("fields", "pods", "counted", "why"),
        [
            (RETRIED, [pod(W, 1, "F", code=3)], 1, "exited with code 3"),
            ({"restart_policy": "ExitCode"}, [pod(W, 1, "F", code=137)], 1, "exited with code 137"),
            ({}, [put_out(W, 1)], 0, "failed (Evicted)"),
            ({}, [leaving(W, 1)], 0, "was deleted"),
            ({}, [], 0, "was deleted"),
        ],
    )
    def test_counted_or_not(self, fields: dict[str, Any], pods: list[Pod], counted: int, why: str) -> None:
        """A failure counts, a disruption does not; both are restarts."""
        one = job(**fields)
        told = decide(one, running(one), of(pod(S), pod(W, 0), *pods), at(100))
        assert (told.status["restarts"], told.status["restartsCountTowardsLimit"]) == (1, counted)
        assert told.status["lastFailure"]["countsTowardsLimit"] is bool(counted)
        assert why in condition(told, "Restarting")["message"]
        assert f"restart 1, {counted} counted" in condition(told, "Restarting")["message"]

    @pytest.mark.parametrize("action", ["Restart", "RestartIgnoringLimit"])
    def test_counted_by_a_rule(self, action: str) -> None:
        """A rule may say that it does not count."""
        rule = {"action": action, "replicaTypes": ["Worker"]}
        told = failed(job(run_policy={"failurePolicy": {"rules": [rule]}, "backoffLimit": 5}))
        assert told.status["restartsCountTowardsLimit"] == (action == "Restart")
        assert f"{int(action == 'Restart')} of 5 counted" in condition(told, "Restarting")["message"]

    @pytest.mark.parametrize("limit", [0, 1, 3])
    def test_the_limit(self, limit: int) -> None:
        """So many counted restarts there are, and the next failure is the end; disruptions go on."""
        one = job(run_policy={"backoffLimit": limit}, **RETRIED)
        for counted in range(limit):
            told = failed(one, restarts=counted + 4, counted=counted)
            assert told.status["restartsCountTowardsLimit"] == counted + 1
        status = running(one) | {"restarts": limit + 4, "restartsCountTowardsLimit": limit}
        evicted = decide(one, status, of(pod(S), pod(W, 0), put_out(W, 1)), at(100))
        assert state(evicted)[-1] == "Restarting=True"
        end = failed(one, restarts=limit + 4, counted=limit) if limit else failed(one)
        assert condition(end, "Failed")["reason"] == "BackoffLimitExceeded"
        assert condition(end, "Failed")["message"] == (
            "MSJob default/train has failed: pod train-worker-1 failed: container mindspore exited with code 1"
            f" (Error: NaN); backoffLimit {limit} is used up."
        )
        assert end.status["lastFailure"]["countsTowardsLimit"] is False
        assert end.status.get("restarts") == (limit + 4 if limit else None)
        assert reasons(end) == ["ExitedWithCode", "BackoffLimitExceeded"]

    def test_again_and_again(self) -> None:
        """Each failure is charged once, tells of itself, and makes one more attempt."""
        one = job(**RETRIED)
        status, second = running(one), 100
        for number in range(1, 5):
            pods = (pod(S), pod(W, 0, "F", code=number + 1), pod(W, 1))
            seen = of(*(replace(item, attempt=number - 1) for item in pods))
            told = decide(one, status, seen, at(second))
            assert (told.status["attempt"], told.status["restarts"]) == (number, number)
            assert condition(told, "Restarting")["message"].endswith(
                f"restart {number}, {number} counted{f', in {10 * 2 ** (number - 2)} s' if number > 1 else ''}."
            )
            assert reasons(told) == ["ExitedWithCode", "MSJobRestarting"]
            assert at_rest(decide(one, told.status, of(leaving(W, 0, asked=second)), at(second + 1)))
            status, second = told.status, second + 1_000

    def test_all_kinds_of_pods_go(self) -> None:
        """Also surplus ones and those of earlier attempts; what is on its way out is left alone."""
        one = job(**RETRIED)
        status = running(one) | {"attempt": 1}
        seen = of(
            pod(S, attempt=1), pod(W, 0, "F", attempt=1), leaving(W, 1, attempt=1), pod(W, 7, attempt=1), pod(P, 0)
        )
        assert set(decide(one, status, seen, at(100)).delete_pods) == {(S, 0), (W, 0), (W, 7), (P, 0)}

    def test_before_all_ran(self) -> None:
        """A pod that fails before the others come restarts the job, too; one that vanishes is just made again."""
        one = job(**RETRIED)
        told = decide(one, begun(one), standing(one, Scheduler="R", Worker="FP"), at(20))
        assert (told.status["attempt"], "readyAttempt" in told.status) == (1, False)
        gone = decide(one, begun(one), standing(one, Scheduler="R", Worker="-P"), at(20))
        assert (gone.create_pods, gone.status.get("restarts")) == (keys(W, 0), None)

    def test_a_status_that_fell_behind(self) -> None:
        """Numbers of pods that the status does not know are taken over, and the next one is higher."""
        one = job(**RETRIED)
        told = decide(one, begun(one), everywhere(one, "F", attempt=4), at(100))
        assert told.status["attempt"] == 5


class TestLateNodeLoss:
    """A node that is given up after the job was restarted for a survivor."""

    ONE = job(run_policy={"backoffLimit": 1}, **RETRIED)

    def test_uncounted(self) -> None:
        """The restart is taken off the count, once, and the pod on the node is blamed."""
        before = failed(self.ONE).status
        silent = decide(self.ONE, before, of(leaving(W, 0, asked=100, grace=600)), at(120))
        assert silent.status["restartsCountTowardsLimit"] == 1
        hangs = of(leaving(W, 0, asked=100, grace=600), lost=["node-worker-0"])
        told = decide(self.ONE, silent.status, hangs, at(140))
        assert (told.status["restarts"], told.status["restartsCountTowardsLimit"]) == (1, 0)
        assert told.status["lastFailure"] == {
            "pod": "train-worker-0",
            "role": "Worker",
            "index": 0,
            "reason": "NodeLost",
            "message": "learned after pod train-worker-1 had failed",
            "time": stamp(99),
            "node": "node-worker-0",
            "attempt": 0,
            "countsTowardsLimit": False,
        }
        assert (told.events, told.create_pods) == ((), ())
        again = decide(self.ONE, told.status, hangs, at(150))
        assert again.status == told.status

    @pytest.mark.parametrize(
        ("seen", "last"),
        [
            pytest.param(of(leaving(W, 0), lost=["elsewhere"]), {}, id="another node"),
            pytest.param(of(leaving(W, 0, "F"), lost=["node-worker-0"]), {}, id="it had ended"),
            pytest.param(of(lost=["node-worker-0"]), {}, id="it is gone"),
            pytest.param(of(leaving(W, 0), lost=["node-worker-0"]), {"countsTowardsLimit": False}, id="not counted"),
            pytest.param(of(leaving(W, 0), lost=["node-worker-0"]), {"attempt": 7}, id="of another attempt"),
        ],
    )
    def test_nothing_to_take_back(self, seen: Any, last: dict[str, Any]) -> None:
        """Only what was counted, for the attempt just given up, whose pod still hangs on the lost node."""
        before = failed(self.ONE).status
        before["lastFailure"] |= last
        assert reattribute(self.ONE, before, attempt_of(self.ONE, seen, before), seen) == before

    def test_a_pod_restarted_alone_is_no_survivor(self) -> None:
        """What a pod that stands for itself is charged with stays, whatever node is lost when its attempt ends."""
        alone = job(scheduler=None, worker=role(2, restart_policy="OnFailure"))
        seen = of(pod(W, 0), pod(W, 1, "F", seconds=99), address=None)
        before = begin_attempt(decide(alone, running(alone), seen, at(100)).status, attempt_of(alone, seen))
        assert before["lastFailure"]["countsTowardsLimit"]
        hangs = of(leaving(W, 0), address=None, lost=["node-worker-0"])
        assert reattribute(alone, before, attempt_of(alone, hangs, before), hangs) == before

    def test_never_below_none(self) -> None:
        """A count that somebody took away is not taken away twice."""
        before = failed(self.ONE).status | {"restartsCountTowardsLimit": 0}
        seen = of(leaving(W, 0), lost=["node-worker-0"])
        assert reattribute(self.ONE, before, attempt_of(self.ONE, seen, before), seen)["restartsCountTowardsLimit"] == 0

    def test_the_next_restart_has_its_count_back(self) -> None:
        """With a limit of 1 the job may still fail once by itself."""
        before = failed(self.ONE).status
        seen = of(leaving(W, 0, asked=100, grace=600), lost=["node-worker-0"])
        status = decide(self.ONE, before, seen, at(140)).status
        second = decide(self.ONE, status, of(pod(S, attempt=1), pod(W, 0, "F", attempt=1)), at(200))
        assert (second.status["restarts"], second.status["restartsCountTowardsLimit"]) == (2, 1)

    def test_early(self) -> None:
        """A node whose loss is known when the survivors end is blamed from the start."""
        seen = of(pod(S), pod(W, 0), pod(W, 1, "F", seconds=99), lost=["node-worker-0"])
        told = decide(self.ONE, running(self.ONE), seen, at(100))
        assert told.status["lastFailure"]["reason"] == "NodeLost"
        assert told.status["restartsCountTowardsLimit"] == 0
        assert reasons(told) == ["MSJobRestarting"]


class TestWait:
    """The time until pods may be made."""

    @pytest.mark.parametrize(
        ("due", "now", "left"),
        [
            (None, 0, None),
            (stamp(40), 0, 40),
            (stamp(40), 39.5, 0.5),
            (stamp(40), 40, None),
            (stamp(40), 10**6, None),
            (stamp(40), -(10**6), 360),
            ("soon", 0, None),
            ("9999-12-31T23:59:59Z", 0, 360),
        ],
    )
    def test_left(self, due: str | None, now: float, left: float | None) -> None:
        """Until that second, and never longer than the longest pause, wherever the clock was set."""
        assert wait({"nextRestartTime": due}, at(now)) == left
        assert time_left({"time": due}, at(now)) == left


def test_roles_of_one_job_may_differ() -> None:
    """The policy of the role to blame decides about the whole job."""
    one = job(scheduler=role(restart_policy="Never"), worker=role(2, restart_policy="OnFailure"))
    worker = decide(one, running(one), of(pod(S), pod(W, 0), pod(W, 1, "F")), at(100))
    assert state(worker)[-1] == "Restarting=True"
    scheduler = decide(one, running(one), of(pod(S, 0, "F"), pod(W, 0), pod(W, 1)), at(100))
    assert state(scheduler)[-1] == "Failed=True"
