"""Pods that are restarted alone: `restartScope: Pod`, the default of Standalone."""

from typing import Any

import pytest

from msjob.api import Role
from msjob_controller.policy.decide import decide
from msjob_controller.policy.observed import Observed
from msjob_controller.policy.reading import observe
from msjob_controller.policy.restart import MOST_REPLACEMENTS
from support.decisions import NOTHING, at_rest, condition, job, reasons, running, state
from support.jobs import role
from support.pods import RUNNING, at, everywhere, keys, leaving, of, pod, pod_json, put_out, stamp, terminated

S, W = Role.SCHEDULER, Role.WORKER
ALONE: dict[str, Any] = {"scheduler": None, "worker": 3, "restart_policy": "OnFailure"}


def workers(*pods: Any) -> Observed:
    """Workers without a Service."""
    return of(*pods, address=None)


def test_one_of_many() -> None:
    """The failed pod alone is deleted, waited for and made again, in the same attempt; the others know nothing."""
    one = job(**ALONE)
    seen = workers(pod(W, 0), pod(W, 1, "F", code=3, seconds=99), pod(W, 2))
    told = decide(one, running(one), seen, at(100))
    assert (told.delete_pods, told.create_pods) == (keys(W, 1), ())
    assert (told.status["restarts"], told.status["restartsCountTowardsLimit"]) == (1, 1)
    assert told.status["replacements"] == [{"pod": "train-worker-1", "uid": "uid-train-worker-1", "time": stamp(100)}]
    assert told.status["lastFailure"]["pod"] == "train-worker-1"
    assert "attempt" not in told.status
    assert state(told) == ["Created=True", "Restarting=True"]
    assert reasons(told) == ["ExitedWithCode", "MSJobRestarting"]

    leaves = decide(one, told.status, workers(pod(W, 0), leaving(W, 1, "F", asked=100), pod(W, 2)), at(101))
    assert (leaves.delete_pods, leaves.create_pods, leaves.events) == ((), (), ())
    assert leaves.status["replacements"] == told.status["replacements"]

    gone = decide(one, leaves.status, workers(pod(W, 0), pod(W, 2)), at(102))
    assert (gone.delete_pods, gone.create_pods, gone.events) == ((), keys(W, 1), ())
    assert "replacements" not in gone.status

    back = decide(one, gone.status, everywhere(one, "R"), at(110))
    assert state(back) == ["Created=True", "Running=True"]
    assert at_rest(decide(one, back.status, everywhere(one, "R"), at(111)))


def test_charged_once() -> None:
    """A pod whose replacement is under way is not charged again, however often the operator looks."""
    one = job(**ALONE)
    seen = workers(pod(W, 0), pod(W, 1, "F"), pod(W, 2))
    told = decide(one, running(one), seen, at(100))
    again = decide(one, told.status, seen, at(101))
    assert (again.status["restarts"], again.events, again.delete_pods) == (1, (), keys(W, 1))


def test_several_at_once() -> None:
    """Each is charged and replaced for itself, in the order in which they failed."""
    one = job(**ALONE)
    seen = workers(pod(W, 0, "F", seconds=9), pod(W, 1, "F", seconds=7), put_out(W, 2))
    told = decide(one, running(one), seen, at(100))
    assert [item["pod"] for item in told.status["replacements"]] == [
        "train-worker-2",
        "train-worker-1",
        "train-worker-0",
    ]
    assert set(told.delete_pods) == {*keys(W, 0, 1, 2)}
    assert (told.status["restarts"], told.status["restartsCountTowardsLimit"]) == (3, 2)
    assert told.status["lastFailure"]["pod"] == "train-worker-0"
    assert reasons(told) == [
        "MSJobRestarting",
        "ExitedWithCode",
        "MSJobRestarting",
        "ExitedWithCode",
        "MSJobRestarting",
    ]


def test_one_after_the_other() -> None:
    """A second failure while the first is being replaced joins it."""
    one = job(**ALONE)
    first = decide(one, running(one), workers(pod(W, 0, "F"), pod(W, 1), pod(W, 2)), at(100))
    seen = workers(leaving(W, 0, "F", asked=100), pod(W, 1, "F"), pod(W, 2))
    second = decide(one, first.status, seen, at(101))
    assert [item["pod"] for item in second.status["replacements"]] == ["train-worker-0", "train-worker-1"]
    assert second.delete_pods == keys(W, 1)


def test_never_more_than_the_status_has_room_for() -> None:
    """The rest of many failed pods waits for its turn, and none is charged before."""
    one = job(**ALONE | {"worker": 250})
    told = decide(one, running(one), everywhere(one, "F"), at(100))
    assert len(told.status["replacements"]) == len(told.delete_pods) == MOST_REPLACEMENTS
    assert told.status["restarts"] == MOST_REPLACEMENTS
    stays = decide(one, told.status, everywhere(one, "F"), at(101))
    assert (len(stays.status["replacements"]), stays.status["restarts"], stays.events) == (100, 100, ())
    rest = workers(*(pod(W, index, "F") for index in range(MOST_REPLACEMENTS, 250)))
    made = decide(one, told.status, rest, at(102))
    assert made.create_pods == keys(W, *range(MOST_REPLACEMENTS))
    then = decide(one, made.status, rest, at(103))
    assert (then.status["restarts"], len(then.status["replacements"])) == (2 * MOST_REPLACEMENTS, MOST_REPLACEMENTS)


def test_back_off_by_pod() -> None:
    """A hundred pods that each fail once are no pod that fails a hundred times: the pause counts restarts by pod."""
    one = job(**ALONE)
    seen = workers(pod(W, 0), pod(W, 1, "F"), pod(W, 2))
    for restarts, pause in ((0, 0), (2, 0), (3, 10), (5, 10), (6, 20), (9, 40), (10**6, 360)):
        told = decide(one, running(one) | {"restarts": restarts}, seen, at(100))
        assert told.status["replacements"][0]["time"] == stamp(100 + pause)


def test_a_pause() -> None:
    """The failed pod goes at once, its successor comes in its second; the others are not held."""
    one = job(**ALONE)
    told = decide(one, running(one) | {"restarts": 3}, workers(pod(W, 0), pod(W, 1, "F"), pod(W, 2)), at(100))
    assert told.delete_pods == keys(W, 1)
    early = decide(one, told.status, workers(pod(W, 0)), at(109))
    assert (early.create_pods, early.requeue_after) == (keys(W, 2), 1)
    assert len(early.status["replacements"]) == 1
    due = decide(one, early.status, workers(pod(W, 0), pod(W, 2)), at(110))
    assert (due.create_pods, "replacements" in due.status) == (keys(W, 1), False)


def test_a_clock_that_was_set_back() -> None:
    """A time that no pause can be the reason for is over."""
    one = job(**ALONE)
    status = running(one) | {"replacements": [{"pod": "train-worker-1", "uid": "x", "time": stamp(10**8)}]}
    assert decide(one, status, workers(pod(W, 0), pod(W, 2)), at(100)).create_pods == keys(W, 1)


def test_a_successor_that_is_there() -> None:
    """A replacement is done when another pod has its name; that one may fail, too."""
    one = job(**ALONE)
    entry = {"pod": "train-worker-1", "uid": "uid-of-before", "time": stamp(100)}
    status = running(one) | {"restarts": 1, "replacements": [entry]}
    assert "replacements" not in decide(one, status, everywhere(one, "R"), at(101)).status
    again = decide(one, status, workers(pod(W, 0), pod(W, 1, "F"), pod(W, 2)), at(101))
    assert again.status["restarts"] == 2
    assert [item["uid"] for item in again.status["replacements"]] == ["uid-train-worker-1"]


def test_the_limit() -> None:
    """Restarts of pods count together; beyond the limit the job fails, and what runs is cleaned up."""
    one = job(**ALONE, run_policy={"backoffLimit": 2})
    seen = workers(pod(W, 0), pod(W, 1, "F"), pod(W, 2))
    status = running(one) | {"restarts": 2, "restartsCountTowardsLimit": 2}
    told = decide(one, status, seen, at(100))
    assert condition(told, "Failed")["reason"] == "BackoffLimitExceeded"
    assert "replacements" not in told.status
    evicted = decide(one, status, workers(pod(W, 0), put_out(W, 1), pod(W, 2)), at(100))
    assert (evicted.status["restarts"], evicted.status["restartsCountTowardsLimit"]) == (3, 2)


def test_the_limit_reached_in_the_middle() -> None:
    """Of several failures at once, the one too many ends the job, and no more than the limit is ever counted."""
    one = job(**ALONE, run_policy={"backoffLimit": 2})
    told = decide(one, running(one), everywhere(one, "F"), at(100))
    assert condition(told, "Failed")["reason"] == "BackoffLimitExceeded"
    assert told.status["restartsCountTowardsLimit"] == 2
    assert "replacements" not in told.status


def test_final_beside_one_to_replace() -> None:
    """One failure that is final ends the job, though another could be replaced."""
    one = job(**ALONE | {"restart_policy": "ExitCode"})
    seen = workers(pod(W, 0, "F", code=137, seconds=5), pod(W, 1, "F", code=1, seconds=9), pod(W, 2))
    assert state(decide(one, running(one), seen, at(100)))[-1] == "Failed=True"


@pytest.mark.parametrize("seen", [[pod(W, 0), pod(W, 2)], [pod(W, 0), leaving(W, 1, asked=90), pod(W, 2)]])
def test_deleted(seen: list[Any]) -> None:
    """A pod that somebody deletes is made again when it is gone, and nothing is charged."""
    one = job(**ALONE)
    told = decide(one, running(one), workers(*seen), at(100))
    assert told.create_pods == (keys(W, 1) if len(seen) == 2 else ())
    assert "restarts" not in told.status
    assert state(told) == ["Created=True", "Running=True"]


def test_success_of_the_others() -> None:
    """Worker 0 alone decides by default; with AllWorkers those that are replaced have to come back."""
    one = job(**ALONE, success_policy="AllWorkers")
    told = decide(one, running(one), workers(pod(W, 0, "S"), pod(W, 1, "F"), pod(W, 2, "S")), at(100))
    gone = decide(one, told.status, workers(pod(W, 0, "S"), pod(W, 2, "S")), at(101))
    assert gone.create_pods == keys(W, 1)
    done = decide(one, gone.status, everywhere(one, "S"), at(200))
    assert state(done)[-1] == "Succeeded=True"


class TestScheduler:
    """A Scheduler of scope Pod beside Workers of scope Job."""

    ONE = job(
        scheduler=role(restart_policy="OnFailure", restart_scope="Pod"), worker=role(2, restart_policy="OnFailure")
    )

    def test_alone(self) -> None:
        """It is made again behind the same Service, while the Workers keep trying."""
        told = decide(self.ONE, running(self.ONE), of(pod(S, 0, "F", code=137), pod(W, 0), pod(W, 1)), at(100))
        assert (told.delete_pods, told.delete_service) == (((S, 0),), False)
        assert "attempt" not in told.status
        gone = decide(self.ONE, told.status, of(pod(W, 0), pod(W, 1)), at(101))
        assert gone.create_pods == ((S, 0),)

    def test_deleted(self) -> None:
        """One that is deleted comes back alone, too."""
        gone = decide(self.ONE, running(self.ONE), of(pod(W, 0), pod(W, 1)), at(100))
        assert (gone.create_pods, gone.delete_pods) == (((S, 0),), ())

    def test_with_a_worker(self) -> None:
        """If a Worker has failed as well the cluster is broken: the whole job is restarted, by the first failure."""
        seen = of(pod(S, 0, "F", code=137, seconds=50), pod(W, 0, "F", seconds=80), pod(W, 1))
        told = decide(self.ONE, running(self.ONE), seen, at(100))
        assert (told.status["attempt"], told.status["lastFailure"]["pod"]) == (1, "train-scheduler-0")
        assert set(told.delete_pods) == {(S, 0), *keys(W, 0, 1)}
        assert "replacements" not in told.status

    def test_a_worker_while_it_is_replaced(self) -> None:
        """A Worker that falls while the Scheduler is away restarts the job, and the replacement is forgotten."""
        first = decide(self.ONE, running(self.ONE), of(pod(S, 0, "F"), pod(W, 0), pod(W, 1)), at(100))
        seen = of(leaving(S, 0, "F", asked=100), pod(W, 0, "F", seconds=105), pod(W, 1))
        second = decide(self.ONE, first.status, seen, at(110))
        assert (second.status["attempt"], second.status["restarts"]) == (1, 2)
        assert "replacements" not in second.status


class TestByKubelet:
    """The one Worker of a Standalone job, which the kubelet restarts."""

    ONE = job(scheduler=None, worker=1, restart_policy="OnFailure")

    @staticmethod
    def seen(state_now: dict[str, Any], restarts: int, phase: str = "Running", **more: Any) -> Observed:
        """The Worker after so many restarts by the kubelet."""
        item = pod_json(phase=phase, states={"mindspore": state_now}, restart_policy="OnFailure", **more)
        item["status"]["containerStatuses"][0] |= {"restartCount": restarts, "lastState": terminated(1)}
        return observe([item], [])

    def test_counted(self) -> None:
        """What the kubelet does is no failure, but it is counted."""
        status = running(self.ONE)
        for restarts, state_now in enumerate((terminated(1), {"waiting": {"reason": "x"}}, RUNNING)):
            told = decide(self.ONE, status, self.seen(state_now, restarts), at(20))
            assert (told.delete_pods, told.create_pods, told.events) == ((), (), ())
            assert told.status.get("restarts") == (restarts or None)
            assert told.status.get("restartsCountTowardsLimit") == (restarts or None)
            assert state(told) == ["Created=True", "Running=True"]
            status = told.status

    def test_done(self) -> None:
        """Exit 0 is a success under every policy."""
        done = decide(self.ONE, running(self.ONE), self.seen(terminated(0), 3, "Succeeded"), at(30))
        assert state(done)[-1] == "Succeeded=True"

    def test_evicted(self) -> None:
        """A pod that its node put out is restarted no more by the kubelet: the operator makes another."""
        seen = self.seen(terminated(137), 2, "Failed", reason="Evicted")
        told = decide(self.ONE, running(self.ONE), seen, at(30))
        assert (told.delete_pods, told.status["restarts"]) == (keys(W, 0), 3)
        assert told.status["restartsCountTowardsLimit"] == 2
        assert decide(self.ONE, told.status, NOTHING, at(50)).create_pods == keys(W, 0)

    def test_a_new_pod_starts_from_none(self) -> None:
        """Restarts of a pod add to those of the pod before it, each once."""
        status = running(self.ONE) | {"restarts": 5, "restartsCountTowardsLimit": 4, "kubeletRestarts": 4}
        fresh = decide(self.ONE, status, self.seen(RUNNING, 0), at(29))
        assert (fresh.status["restarts"], fresh.status["kubeletRestarts"]) == (5, 0)
        told = decide(self.ONE, fresh.status, self.seen(RUNNING, 1), at(30))
        assert (told.status["restarts"], told.status["restartsCountTowardsLimit"]) == (6, 5)
        again = decide(self.ONE, told.status, self.seen(RUNNING, 1), at(31))
        assert again.status == told.status
        more = decide(self.ONE, told.status, self.seen(RUNNING, 3), at(32))
        assert (more.status["restarts"], more.status["restartsCountTowardsLimit"]) == (8, 7)

    @pytest.mark.parametrize(("limit", "restarts", "ends"), [(3, 3, False), (3, 4, True), (0, 0, False), (0, 1, True)])
    def test_a_limit_that_came_later(self, limit: int, restarts: int, *, ends: bool) -> None:
        """The kubelet knows no limit: if one was set while the pod ran, the job fails once it is exceeded."""
        limited = job(scheduler=None, worker=1, restart_policy="OnFailure", run_policy={"backoffLimit": limit})
        told = decide(limited, running(self.ONE), self.seen(RUNNING, restarts), at(30))
        assert (condition(told, "Failed").get("reason") == "BackoffLimitExceeded") is ends
        assert told.delete_pods == (keys(W, 0) if ends else ())

    def test_several_pods(self) -> None:
        """Pods of the Go operator, which leaves them all to the kubelet, add up, and each restart counts once."""
        one = job(scheduler=None, worker=2, restart_policy="OnFailure")
        seen = of(pod(W, 0, kubelet_restarts=True, restart_count=2), pod(W, 1, kubelet_restarts=True, restart_count=1))
        told = decide(one, running(one), seen, at(30))
        assert (told.status["restarts"], told.status["kubeletRestarts"]) == (3, 3)
        again = decide(one, told.status, seen, at(31))
        assert again.status == told.status
