"""Jobs whose number of Workers is changed."""

from typing import Any

import pytest

from msjob.api import Job, Role
from msjob_controller.policy import scale
from msjob_controller.policy.decide import decide
from msjob_controller.policy.observed import Autoscaler, Observed
from support.decisions import NOTHING, at_rest, begun, condition, job, reasons, running, state
from support.jobs import role
from support.pods import at, everywhere, keys, leaving, of, pod, stamp, standing

S, P, W = Role.SCHEDULER, Role.PS, Role.WORKER
CLUSTERS: list[dict[str, Any]] = [{}, {"scheduler": None, "launch_mode": "Msrun"}, {"launch_mode": "None"}]


def two_and(workers: int, **fields: Any) -> tuple[Job, Job]:
    """A job of two Workers, and the same job with another number of them."""
    return job(**fields), job(worker=workers, **fields)


@pytest.mark.parametrize("fields", CLUSTERS)
@pytest.mark.parametrize("workers", [1, 3, 8])
def test_one_coordinated_restart(fields: dict[str, Any], workers: int) -> None:
    """Up or down: all pods go at once, and all of the new number are made once the last one is gone.

    It is no restart in the sense of the limits: not counted, nothing waits, nothing is blamed.
    """
    small, large = two_and(workers, **fields)
    before = running(small)
    assert before["workerReplicas"] == 2
    told = decide(large, before, everywhere(small, "R"), at(100))
    assert set(told.delete_pods) == set(everywhere(small, "R").pods)
    assert (told.create_pods, told.create_service, told.delete_service) == ((), False, False)
    assert (told.status["attempt"], told.status["workerReplicas"]) == (1, workers)
    assert not {"restarts", "restartsCountTowardsLimit", "nextRestartTime", "lastFailure"} & told.status.keys()
    assert state(told) == ["Created=True", "Restarting=True"]
    assert condition(told, "Restarting")["message"] == (
        f"MSJob default/train is restarting: it is scaled from 2 to {workers} Workers."
    )
    assert [(event.type, event.reason) for event in told.events] == [("Normal", "MSJobRestarting")]

    leaves = Observed({(W, 0): leaving(W, 0, asked=100)}, of().service)
    waits = decide(large, told.status, leaves, at(101))
    assert (waits.create_pods, waits.delete_pods, waits.events) == ((), (), ())
    gone = decide(large, waits.status, of(), at(110))
    assert gone.create_pods == (*(((S, 0),) if S in large.roles else ()), *keys(W, *range(workers)))
    again = decide(large, gone.status, everywhere(large, "R", attempt=1), at(120))
    assert state(again) == ["Created=True", "Running=True"]
    assert again.status["workersReady"] == f"{workers}/{workers}"
    assert at_rest(decide(large, again.status, everywhere(large, "R", attempt=1), at(130)))


def test_at_rest_with_the_size_it_has() -> None:
    """A job that is not scaled is not restarted, whatever generation its spec is of."""
    one = job()
    assert at_rest(decide(one, running(one), everywhere(one, "R"), at(99)))


def test_before_the_first_pod() -> None:
    """An attempt none of whose pods is made takes the new number, and nothing is restarted."""
    small, large = two_and(4)
    waits = decide(small, begun(small), of(address=""), at(1))
    assert waits.status["workerReplicas"] == 2
    told = decide(large, waits.status, of(), at(2))
    assert told.create_pods == ((S, 0), *keys(W, 0, 1, 2, 3))
    assert (told.status["workerReplicas"], told.status.get("attempt"), told.events) == (4, None, ())


def test_while_pods_are_being_made() -> None:
    """Once one pod is told of the old number all have to be made anew."""
    small, large = two_and(3)
    told = decide(large, begun(small), of(pod(S, 0, "P")), at(2))
    assert (told.status["attempt"], told.delete_pods, told.create_pods) == (1, ((S, 0),), ())


def test_while_a_restart_waits() -> None:
    """A job that waits for its next attempt takes the new number with it, on the day that was set."""
    small, large = two_and(5, restart_policy="OnFailure")
    before = running(small) | {"restarts": 3}
    failed = decide(small, before, standing(small, Scheduler="R", Worker="FR"), at(100))
    assert failed.status["nextRestartTime"] == stamp(140)
    for seen in (everywhere(small, "R"), of(leaving(W, 0, asked=100)), of()):
        scaled = decide(large, failed.status, seen, at(110))
        assert (scaled.status["attempt"], scaled.status["workerReplicas"]) == (1, 5)
        assert (scaled.create_pods, scaled.events) == ((), ())
        assert scaled.status["nextRestartTime"] == stamp(140)
        assert condition(scaled, "Restarting") == condition(failed, "Restarting")
    assert decide(large, scaled.status, of(), at(140)).create_pods == ((S, 0), *keys(W, 0, 1, 2, 3, 4))


def test_twice_in_a_row() -> None:
    """A second change while old pods still go needs no second restart."""
    small, large = two_and(4)
    first = decide(large, running(small), everywhere(small, "R"), at(100))
    second = decide(job(worker=6), first.status, of(leaving(W, 0, asked=100), leaving(W, 1, asked=100)), at(105))
    assert (second.status["attempt"], second.status["workerReplicas"], second.events) == (1, 6, ())
    back = decide(small, second.status, of(), at(110))
    assert back.create_pods == ((S, 0), *keys(W, 0, 1))
    assert back.status["attempt"] == 1


def test_while_suspended() -> None:
    """A suspended job has no attempt: the number is that at its resumption."""
    small, large = two_and(3)
    suspended = decide(job(suspend=True), running(small), NOTHING, at(50)).status
    assert "workerReplicas" not in suspended
    paused = decide(job(suspend=True, worker=3), suspended, NOTHING, at(60))
    assert at_rest(paused)
    resumed = decide(large, paused.status, of(), at(70))
    assert resumed.create_pods == ((S, 0), *keys(W, 0, 1, 2))
    assert (resumed.status["workerReplicas"], reasons(resumed)) == (3, ["MSJobResumed"])


def test_a_failure_comes_first() -> None:
    """A pod that failed in the attempt that is there is not forgotten for the next one."""
    small, large = two_and(3, restart_policy="OnFailure")
    told = decide(large, running(small), standing(small, Scheduler="R", Worker="FR"), at(100))
    assert (told.status["restarts"], told.status["attempt"]) == (1, 1)
    assert told.status["lastFailure"]["pod"] == "train-worker-0"
    assert decide(large, told.status, of(), at(101)).create_pods == ((S, 0), *keys(W, 0, 1, 2))
    final, final_large = two_and(3)
    assert state(decide(final_large, running(final), standing(final, Scheduler="R", Worker="FR"), at(100)))[-1] == (
        "Failed=True"
    )


def test_a_failure_of_a_pod_that_stands_alone() -> None:
    """It is counted, and no pod of the old size is made beside it, which the new one has no place for."""
    alone = role(1, restart_policy="OnFailure", restart_scope="Pod")
    large, small = job(worker=4, scheduler=alone), job(worker=2, scheduler=alone)
    told = decide(small, begun(large), standing(large, Scheduler="F", Worker="RRR-"), at(100))
    assert (told.status["restarts"], told.status["attempt"], told.status["workerReplicas"]) == (1, 1, 2)
    assert (told.create_pods, told.delete_pods) == ((), ((S, 0), *keys(W, 0, 1, 2)))
    assert "replacements" not in told.status


def test_a_success_comes_first() -> None:
    """A job that is done is done with the Workers that it had."""
    small, large = two_and(3, success_policy="AllWorkers")
    told = decide(large, running(small), standing(small, Scheduler="R", Worker="SS"), at(100))
    assert state(told)[-1] == "Succeeded=True"


def test_a_finished_job() -> None:
    """Nothing happens to it."""
    small, large = two_and(3)
    ended = decide(small, running(small), everywhere(small, "S"), at(100)).status
    assert at_rest(decide(large, ended, everywhere(small, "S"), at(110)))


def test_no_limit_stops_it() -> None:
    """Scaling does not use up backoffLimit and is not stopped by it."""
    small, large = two_and(3, restart_policy="OnFailure", run_policy={"backoffLimit": 0})
    told = decide(large, running(small), everywhere(small, "R"), at(100))
    assert state(told)[-1] == "Restarting=True"
    back = decide(small, told.status, everywhere(large, "R", attempt=1), at(200))
    assert back.status["attempt"] == 2
    assert "restarts" not in back.status


def test_the_completed_of_before() -> None:
    """Workers that had succeeded run again with the others: the world is another."""
    small, large = two_and(3, success_policy="AllWorkers")
    told = decide(large, running(small), standing(small, Scheduler="R", Worker="RS"), at(100))
    assert "completedIndexes" not in told.status["replicaStatuses"]["Worker"]
    assert decide(large, told.status, of(), at(110)).create_pods == ((S, 0), *keys(W, 0, 1, 2))


class TestStandalone:
    """Workers that stand alone: more are added, surplus ones removed, and the others know nothing of it."""

    @pytest.mark.parametrize(
        ("workers", "made", "removed"), [(1, (), keys(W, 1)), (3, keys(W, 2), ()), (5, keys(W, 2, 3, 4), ())]
    )
    def test_added_and_removed(self, workers: int, made: tuple[Any, ...], removed: tuple[Any, ...]) -> None:
        """No restart, no new attempt, no event."""
        small, large = two_and(workers, scheduler=None)
        told = decide(large, running(small), everywhere(small, "R"), at(100))
        assert (told.create_pods, told.delete_pods, told.events) == (made, removed, ())
        assert state(told) == ["Created=True", "Running=True"]
        assert not {"attempt", "workerReplicas", "restarts"} & told.status.keys()

    def test_a_number_of_before(self) -> None:
        """What a status says of a size is forgotten."""
        one = job(scheduler=None)
        assert "workerReplicas" not in decide(one, {"workerReplicas": 7}, NOTHING, at(0)).status


class TestAutoscaler:
    """`elasticPolicy`."""

    ELASTIC = job(elastic_policy={"minReplicas": 1, "maxReplicas": 4})
    THERE = Autoscaler("train")

    def owns(self, *pods: Any, autoscaler: Autoscaler | None = None) -> Observed:
        """Pods, the Service and perhaps an autoscaler."""
        seen = of(*pods)
        return Observed(seen.pods, seen.service, autoscaler)

    def test_made_with_the_pods(self) -> None:
        """It is made once all pods are, and once; it counts pods, so it must not act while there are none."""
        one = self.ELASTIC
        assert not decide(one, {}, NOTHING, at(0)).create_autoscaler
        assert not decide(one, begun(one), of(), at(1)).create_autoscaler
        waits = [pod(S, 0, "P"), pod(W, 0, "P"), pod(W, 1, "P")]
        assert decide(one, begun(one), self.owns(*waits), at(2)).create_autoscaler
        assert not decide(one, begun(one), self.owns(*waits, autoscaler=self.THERE), at(2)).create_autoscaler
        leaves = Autoscaler("train", deleting=True)
        assert not decide(one, begun(one), self.owns(*waits, autoscaler=leaves), at(2)).create_autoscaler

    def test_none_without_the_field(self) -> None:
        """A job without elasticPolicy has none."""
        one = job()
        assert not decide(one, running(one), everywhere(one, "R"), at(20)).create_autoscaler

    def test_kept_over_restarts(self) -> None:
        """A restart of the job leaves it alone."""
        one = self.ELASTIC
        seen = self.owns(pod(S), pod(W, 0), autoscaler=self.THERE)
        told = decide(one, running(one), seen, at(20))
        assert state(told)[-1] == "Restarting=True"
        assert (told.create_autoscaler, told.delete_autoscaler) == (False, False)
        assert not decide(one, told.status, self.owns(autoscaler=self.THERE), at(30)).delete_autoscaler

    def test_gone_with_the_suspension(self) -> None:
        """A suspended job has none, or it would be scaled."""
        paused = job(suspend=True, elastic_policy={"maxReplicas": 4})
        told = decide(paused, running(self.ELASTIC), self.owns(pod(S), autoscaler=self.THERE), at(20))
        assert told.delete_autoscaler
        assert decide(paused, told.status, Observed({}, autoscaler=self.THERE), at(30)).delete_autoscaler
        assert not decide(paused, told.status, NOTHING, at(30)).delete_autoscaler

    @pytest.mark.parametrize("policy", ["None", "Running", "All"])
    @pytest.mark.parametrize("letter", ["S", "F"])
    def test_gone_at_the_end(self, policy: str, letter: str) -> None:
        """It goes with the end of the job, whatever else is kept, then or at a later look."""
        one = job(elastic_policy={"maxReplicas": 4}, run_policy={"cleanPodPolicy": policy})
        seen = self.owns(pod(S), pod(W, 0, letter), pod(W, 1), autoscaler=self.THERE)
        ended = decide(one, running(one), seen, at(20))
        assert ended.delete_autoscaler
        assert decide(one, ended.status, Observed({}, autoscaler=self.THERE), at(30)).delete_autoscaler
        assert not decide(one, ended.status, NOTHING, at(30)).create_autoscaler

    def test_what_it_does(self) -> None:
        """It changes the number of Workers, and that goes the way of every change of it."""
        told = decide(
            job(worker=4, elastic_policy={"minReplicas": 1, "maxReplicas": 4}),
            running(self.ELASTIC),
            self.owns(pod(S), pod(W, 0), pod(W, 1), autoscaler=self.THERE),
            at(20),
        )
        assert (told.status["attempt"], told.status["workerReplicas"]) == (1, 4)


def test_changed() -> None:
    """A number that is not known is another; a job whose Workers stand alone has no number to change."""
    assert scale.changed(job(), {"workerReplicas": 3})
    assert not scale.changed(job(), {"workerReplicas": 2})
    assert not scale.changed(job(scheduler=None), {})
    assert not scale.changed(job(worker=None, ps=1), {})


def test_an_attempt_that_ran_keeps_its_size() -> None:
    """What is left of an attempt is never measured by another number of Workers, though none of its pods is there."""
    two, one = job(success_policy="AllWorkers"), job(success_policy="AllWorkers", worker=1)
    done = decide(two, begun(two), standing(two, Scheduler="R", Worker="SP"), at(20)).status
    told = decide(one, done, of(), at(30))
    assert state(told)[-1] == "Restarting=True"
    assert (told.status["attempt"], told.status["workerReplicas"]) == (1, 1)
