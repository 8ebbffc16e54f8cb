"""How long a job may run, and how long it may take to start."""

from typing import Any

import pytest

from msjob.api import Job, Reason, Role
from msjob_controller.policy.deadline import exceeded, timers
from msjob_controller.policy.decide import decide, stall
from msjob_controller.policy.observed import Observed, Trouble
from support.decisions import NOTHING, begun, condition, job, reasons, running, state
from support.pods import at, everywhere, keys, of, pod, put_out, stamp, standing

S, W = Role.SCHEDULER, Role.WORKER


def limited(active: int | None = None, startup: int | None = None, **fields: Any) -> Job:
    """A job with deadlines."""
    policy = {"activeDeadlineSeconds": active, "startupDeadlineSeconds": startup, **fields.pop("run_policy", {})}
    return job(run_policy={key: value for key, value in policy.items() if value is not None}, **fields)


@pytest.mark.parametrize(
    ("active", "startup", "status", "now", "reason"),
    [
        pytest.param(None, None, {}, 10**9, None, id="no limit"),
        pytest.param(60, None, {}, 59, None, id="one second early"),
        pytest.param(60, None, {}, 59.999, None, id="a millisecond early"),
        pytest.param(60, None, {}, 60, Reason.DEADLINE, id="in that very second"),
        pytest.param(60, None, {"readyAttempt": 0}, 60, Reason.DEADLINE, id="though all ran"),
        pytest.param(60, None, {}, 10**7, Reason.DEADLINE, id="an operator that was long absent"),
        pytest.param(60, None, {}, -(10**7), None, id="the clock was set back"),
        pytest.param(2**53, None, {}, 10**9, None, id="the longest"),
        pytest.param(None, 60, {}, 59, None, id="start: one second early"),
        pytest.param(None, 60, {}, 60, Reason.STARTUP_DEADLINE, id="start: in that very second"),
        pytest.param(None, 60, {"readyAttempt": 0}, 10**7, None, id="start: all ran"),
        pytest.param(None, 60, {"readyAttempt": 0, "attempt": 3}, 10**7, None, id="start: all ran before a restart"),
        pytest.param(None, 60, {"readyAttempt": None}, 60, Reason.STARTUP_DEADLINE, id="start: a field that is null"),
        pytest.param(60, 60, {}, 60, Reason.DEADLINE, id="both: the harder one"),
        pytest.param(60, 30, {}, 30, Reason.STARTUP_DEADLINE, id="both: the shorter one first"),
    ],
)
def test_exceeded(
    active: int | None, startup: int | None, status: dict[str, Any], now: float, reason: Reason | None
) -> None:
    """Each deadline passes in its second, counted from startTime; that of the start only until all pods ran."""
    found = exceeded(limited(active, startup), {"startTime": stamp(0), **status}, at(now))
    assert (found and found[0]) == reason


@pytest.mark.parametrize("status", [{}, {"startTime": None}, {"startTime": "yesterday"}])
def test_a_job_without_a_start(status: dict[str, Any]) -> None:
    """A job that has not started, or of which nobody can say when, is not late."""
    assert exceeded(limited(1, 1), status, at(10**9)) is None
    assert timers(limited(1, 1), status, at(10**9)) == [None, None]


@pytest.mark.parametrize(("now", "waits"), [(0, [60, 30]), (29, [31, 1]), (40, [20, 0]), (-500, [60, 30])])
def test_timers(now: float, waits: list[float | None]) -> None:
    """The time left of each, never more than the whole of it."""
    assert timers(limited(60, 30), {"startTime": stamp(0)}, at(now)) == waits
    assert timers(limited(60, 30), {"startTime": stamp(0), "readyAttempt": 2}, at(now)) == [waits[0], None]


class TestActive:
    """`activeDeadlineSeconds` in a decision."""

    def test_on_time(self) -> None:
        """The job asks to be looked at in that second and then fails, with its pods and Service cleaned up."""
        one = limited(60)
        assert decide(one, begun(one), of(), at(1)).requeue_after == 59
        runs = decide(one, begun(one), everywhere(one, "R"), at(20))
        assert runs.requeue_after == 40
        failed = decide(one, runs.status, everywhere(one, "R"), at(60))
        assert state(failed) == ["Running=False", "Created=True", "Failed=True"]
        assert failed.status["completionTime"] == stamp(60)
        assert condition(failed, "Failed")["reason"] == "DeadlineExceeded"
        assert condition(failed, "Failed")["message"] == (
            "MSJob default/train has failed: it was active longer than activeDeadlineSeconds 60."
        )
        assert reasons(failed) == ["DeadlineExceeded"]
        assert (set(failed.delete_pods), failed.delete_service) == ({(S, 0), *keys(W, 0, 1)}, True)
        assert "lastFailure" not in failed.status

    def test_a_failure_that_is_final_comes_first(self) -> None:
        """The deadline may have passed only because nobody looked: a job that failed did not fail by it."""
        one = limited(60)
        decision = decide(one, running(one), standing(one, Scheduler="R", Worker="FR"), at(10**6))
        assert condition(decision, "Failed")["reason"] == "MSJobFailed"

    def test_a_success_comes_first(self) -> None:
        """Work that is done counts, however late that is seen."""
        one = limited(60)
        decision = decide(one, running(one), standing(one, Scheduler="R", Worker="SS"), at(10**6))
        assert state(decision)[-1] == "Succeeded=True"

    @pytest.mark.parametrize("seen", [[pod(W, 0, "F"), pod(W, 1)], [put_out(W, 0), pod(W, 1)], [pod(W, 1)]])
    def test_a_restart_does_not(self, seen: list[Any]) -> None:
        """There is no time left for another attempt, whether it would count or not."""
        one = limited(60, restart_policy="OnFailure")
        decision = decide(one, running(one), of(pod(S), *seen), at(60))
        assert condition(decision, "Failed")["reason"] == "DeadlineExceeded"
        assert "restarts" not in decision.status
        before = decide(one, running(one), of(pod(S), *seen), at(59))
        assert state(before)[-1] == "Restarting=True"

    def test_over_restarts(self) -> None:
        """A restart does not start the clock anew, and a job that waits for one fails on time."""
        one = limited(60, restart_policy="OnFailure")
        status = running(one) | {"restarts": 4}
        waits = decide(one, status, standing(one, Scheduler="R", Worker="FR"), at(30)).status
        assert waits["nextRestartTime"] == stamp(30 + 80)
        assert decide(one, waits, of(), at(40)).requeue_after == 20
        assert condition(decide(one, waits, of(), at(60)), "Failed")["reason"] == "DeadlineExceeded"

    def test_while_old_pods_go(self) -> None:
        """Nor do pods that will not go keep it from failing."""
        one = limited(60)
        status = running(one) | {"attempt": 1}
        assert condition(decide(one, status, everywhere(one, "R"), at(60)), "Failed")["reason"] == "DeadlineExceeded"

    def test_not_while_suspended(self) -> None:
        """A suspended job has no start, and counts from its resumption."""
        one, paused = limited(60), limited(60, suspend=True)
        suspended = decide(paused, running(one), NOTHING, at(30)).status
        later = decide(paused, suspended, NOTHING, at(10**6))
        assert state(later)[-1] == "Suspended=True"
        assert later.requeue_after is None
        resumed = decide(one, suspended, NOTHING, at(1000))
        assert (resumed.requeue_after, resumed.status["startTime"]) == (60, stamp(1000))
        assert condition(decide(one, resumed.status, of(), at(1059)), "Failed") == {}
        assert condition(decide(one, resumed.status, of(), at(1060)), "Failed")["reason"] == "DeadlineExceeded"

    def test_while_it_is_being_suspended(self) -> None:
        """Pods that are on their way out are given their time: the job is suspended, not late."""
        one, paused = limited(60), limited(60, suspend=True)
        told = decide(paused, running(one), everywhere(one, "R"), at(99))
        assert state(told) == ["Suspended=False", "Created=True", "Running=True"]

    def test_a_clock_that_was_set_back(self) -> None:
        """The deadline is never further away than it is long."""
        one = limited(60)
        assert decide(one, running(one), everywhere(one, "R"), at(-(10**6))).requeue_after == 60


class TestStartup:
    """`startupDeadlineSeconds` in a decision."""

    @pytest.mark.parametrize(
        "seen",
        [
            NOTHING,
            of(),
            of(pod(S), pod(W, 0)),
            of(pod(S), pod(W, 0), pod(W, 1, "P")),
            of(pod(S, 0, "P"), pod(W, 0, "P"), pod(W, 1, "P")),
        ],
    )
    def test_on_time(self, seen: Observed) -> None:
        """A job one of whose pods does not come fails in that second, and names the field."""
        one = limited(None, 60)
        early = decide(one, begun(one), seen, at(59))
        assert (early.requeue_after, state(early)) == (1, ["Created=True"])
        failed = decide(one, early.status, seen, at(60))
        assert condition(failed, "Failed")["reason"] == "StartupDeadlineExceeded"
        assert condition(failed, "Failed")["message"] == (
            "MSJob default/train has failed: not all its pods ran within startupDeadlineSeconds 60."
        )
        assert reasons(failed) == ["StartupDeadlineExceeded"]
        assert failed.status["completionTime"] == stamp(60)

    @pytest.mark.parametrize(
        ("status", "seen", "what"),
        [
            pytest.param(
                None,
                of(pod(S), pod(W, 0), pod(W, 1, "P", trouble=Trouble("ErrImagePull", "no such image.", "mindspore"))),
                "pod train-worker-1: container mindspore: ErrImagePull: no such image",
                id="its pods show it",
            ),
            pytest.param("quota used up.", of(pod(S)), "quota used up", id="the shell has met it"),
            pytest.param("", of(pod(S)), "", id="a message that is not there"),
        ],
    )
    def test_what_kept_it(self, status: str | None, seen: Observed, what: str) -> None:
        """The message of the end says what kept the job from starting, which nothing tells afterwards."""
        one = limited(None, 60)
        early = begun(one) if status is None else stall(begun(one), Reason.QUOTA, status, at(5)).status
        failed = decide(one, early, seen, at(60))
        assert condition(failed, "Failed")["message"] == (
            "MSJob default/train has failed: not all its pods ran within startupDeadlineSeconds 60"
            + (f": {what}." if what else ".")
        )

    def test_all_ran(self) -> None:
        """Once all pods ran it is disarmed, for later attempts too."""
        one = limited(None, 60, restart_policy="OnFailure")
        runs = decide(one, begun(one), everywhere(one, "R"), at(59))
        assert (runs.status["readyAttempt"], runs.requeue_after) == (0, None)
        again = decide(one, runs.status, standing(one, Scheduler="R", Worker="FR"), at(1000))
        assert state(again)[-1] == "Restarting=True"
        waits = decide(one, again.status, of(), at(2000))
        assert (state(waits)[-1], waits.requeue_after) == ("Restarting=True", None)

    def test_an_attempt_that_failed_before_all_ran(self) -> None:
        """Its restart has what is left of the time, no more."""
        one = limited(None, 60, restart_policy="OnFailure")
        again = decide(one, begun(one), standing(one, Scheduler="R", Worker="FP"), at(30))
        assert decide(one, again.status, of(), at(31)).requeue_after == 29
        assert condition(decide(one, again.status, of(), at(60)), "Failed")["reason"] == "StartupDeadlineExceeded"

    def test_an_operator_that_was_absent(self) -> None:
        """A job whose pods all run when somebody looks again is not killed for that."""
        one = limited(None, 60)
        late = decide(one, begun(one), everywhere(one, "R"), at(10**5))
        assert state(late) == ["Created=True", "Running=True"]
        assert late.status["readyAttempt"] == 0

    def test_an_operator_that_was_absent_while_a_pod_failed(self) -> None:
        """Nor is one whose pods have all started, though one of them has ended since: it is restarted."""
        one = limited(None, 60, restart_policy="OnFailure")
        again = decide(one, begun(one), standing(one, Scheduler="R", Worker="FR"), at(10**5))
        assert state(again)[-1] == "Restarting=True"
        assert state(decide(one, again.status, of(), at(10**5 + 1)))[-1] == "Restarting=True"

    def test_anew_after_a_suspension(self) -> None:
        """A resumed job has to start again within the time."""
        one, paused = limited(None, 60), limited(None, 60, suspend=True)
        suspended = decide(paused, running(one), NOTHING, at(100)).status
        assert "readyAttempt" not in suspended
        resumed = decide(one, suspended, NOTHING, at(1000)).status
        assert condition(decide(one, resumed, of(), at(1059)), "Failed") == {}
        assert condition(decide(one, resumed, of(), at(1060)), "Failed")["reason"] == "StartupDeadlineExceeded"
