"""Jobs that are to have no pods, and jobs that are to have them again."""

from typing import Any

import pytest

from msjob.api import Role
from msjob_controller.policy.decide import decide
from msjob_controller.policy.observed import Observed, Service
from support.decisions import NOTHING, active, at_rest, begun, condition, job, reasons, running, state, whole_state
from support.pods import ADDRESS, at, everywhere, keys, leaving, of, pod, put_out, stamp, standing

S, W = Role.SCHEDULER, Role.WORKER
ONE = job()
SUSPENDED = job(suspend=True)
RESUMED = job(suspend=False)


def test_suspended_from_birth() -> None:
    """A job that starts suspended is created and suspended at once: no Service, no pods, no start, no attempt."""
    told = decide(SUSPENDED, {}, NOTHING, at(0))
    assert (told.create_service, told.create_pods) == (False, ())
    assert state(told) == ["Created=True", "Suspended=True"]
    assert reasons(told) == ["MSJobCreated", "MSJobSuspended"]
    assert not {"startTime", "attempt", "workersReady", "workerReplicas"} & told.status.keys()
    assert active(told) == 0
    assert told.status["observedGeneration"] == 3
    again = decide(SUSPENDED, told.status, NOTHING, at(99))
    assert (at_rest(again), again.status, again.requeue_after) == (True, told.status, None)


def test_suspended_while_running() -> None:
    """Pods go with their grace and the Service with them; Suspended comes once the last pod is gone, with active 0."""
    going = decide(SUSPENDED, running(ONE), everywhere(ONE, "R"), at(20))
    assert set(going.delete_pods) == {(S, 0), *keys(W, 0, 1)}
    assert (going.delete_service, going.force_delete_pods) == (True, ())
    assert state(going) == ["Suspended=False", "Created=True", "Running=True"]
    assert condition(going, "Suspended")["reason"] == "MSJobSuspending"
    assert active(going) == 3

    leaves = Observed({(W, 1): leaving(W, 1)}, Service("train-scheduler-0", ADDRESS, deleting=True))
    waits = decide(SUSPENDED, going.status, leaves, at(25))
    assert (waits.delete_pods, waits.delete_service, waits.events) == ((), False, ())
    assert (state(waits), active(waits)) == (["Suspended=False", "Created=True", "Running=True"], 1)

    gone = decide(SUSPENDED, waits.status, NOTHING, at(30))
    assert state(gone) == ["Running=False", "Created=True", "Suspended=True"]
    assert condition(gone, "Running")["reason"] == "MSJobSuspended"
    assert condition(gone, "PodsReady") | {"message": ""} == {
        "type": "PodsReady",
        "status": "False",
        "reason": "MSJobSuspended",
        "message": "",
        "lastUpdateTime": stamp(30),
        "lastTransitionTime": stamp(30),
    }
    assert reasons(gone) == ["MSJobSuspended"]
    assert active(gone) == 0
    assert not {"startTime", "workersReady", "readyAttempt", "workerReplicas"} & gone.status.keys()
    assert gone.status["attempt"] == 1


def test_a_service_that_is_still_there() -> None:
    """The last pod is gone but the Service is not: it goes, and the job is Suspended."""
    told = decide(SUSPENDED, running(ONE), of(), at(30))
    assert (told.delete_service, state(told)[-1]) == (True, "Suspended=True")
    later = decide(SUSPENDED, told.status, of(), at(31))
    assert (later.delete_service, later.status) == (True, told.status)


def test_resumed() -> None:
    """A resumed job starts its clock anew and gets its Service, then the pods of the next attempt."""
    suspended = decide(SUSPENDED, running(ONE), NOTHING, at(30)).status
    resumed = decide(RESUMED, suspended, NOTHING, at(100))
    assert (resumed.create_service, resumed.create_pods) == (True, ())
    assert state(resumed) == ["Running=False", "Suspended=False", "Created=True"]
    assert resumed.status["startTime"] == stamp(100)
    assert [(event.type, event.reason) for event in resumed.events] == [("Normal", "MSJobResumed")]
    assert condition(resumed, "Suspended") == {
        "type": "Suspended",
        "status": "False",
        "reason": "MSJobResumed",
        "message": "MSJob default/train is resumed.",
        "lastUpdateTime": stamp(100),
        "lastTransitionTime": stamp(100),
    }

    later = decide(RESUMED, resumed.status, of(), at(101))
    assert later.create_pods == ((S, 0), *keys(W, 0, 1))
    assert (later.status["startTime"], later.status["attempt"]) == (stamp(100), 1)

    runs = decide(RESUMED, later.status, everywhere(RESUMED, "R", attempt=1), at(110))
    assert state(runs)[-1] == "Running=True"
    assert (reasons(runs), runs.status["readyAttempt"]) == (["MSJobRunning"], 1)


def test_a_clock_that_was_set_back() -> None:
    """A resumption before the suspension, as clocks tell it, is a resumption."""
    suspended = decide(SUSPENDED, running(ONE), NOTHING, at(30)).status
    assert decide(RESUMED, suspended, NOTHING, at(-500)).status["startTime"] == stamp(-500)


def test_twice() -> None:
    """Each round tells of itself; a job that never got to start keeps the number of its attempt."""
    status: dict[str, Any] = {}
    attempts = []
    for second, one, shown in [(0, SUSPENDED, "Suspended=True"), (10, RESUMED, "Created=True")] * 2:
        told = decide(one, status, NOTHING, at(second))
        status = told.status
        assert state(told)[-1] == shown
        attempts.append(status.get("attempt", 0))
    assert attempts == [0, 0, 1, 1]
    assert [item["type"] for item in status["conditions"]].count("Suspended") == 1


def test_resumed_before_all_is_gone() -> None:
    """Pods that were told to go cannot be kept: all begins anew once they are gone, and nothing is counted."""
    going = decide(SUSPENDED, running(ONE), everywhere(ONE, "R"), at(20))
    leaves = of(leaving(W, 0, asked=20), leaving(W, 1, asked=20), leaving(S, 0, asked=20))
    back = decide(RESUMED, going.status, leaves, at(21))
    assert back.create_pods == ()
    assert back.status["attempt"] == 1
    assert "restartsCountTowardsLimit" not in back.status or back.status["restartsCountTowardsLimit"] == 0
    waits = decide(RESUMED, back.status, of(leaving(W, 0, "P", asked=20, exit_code=143)), at(30))
    assert waits.create_pods == ()
    then = decide(RESUMED, waits.status, of(), at(40))
    assert then.create_pods == ((S, 0), *keys(W, 0, 1))
    assert state(decide(RESUMED, then.status, everywhere(ONE, "R", attempt=1), at(50)))[-1] == "Running=True"


def test_resumed_before_the_last_pod_is_gone() -> None:
    """Pods that were told to go are waited for, and what becomes of them counts for nothing: a new attempt begins."""
    one = job(restart_policy="Never", run_policy={"activeDeadlineSeconds": 100})
    paused = job(restart_policy="Never", run_policy={"activeDeadlineSeconds": 100}, suspend=True)
    going = decide(paused, running(one), everywhere(one, "R"), at(90))
    leaves = of(leaving(W, 0, asked=90, grace=60), leaving(W, 1, asked=90, grace=60))
    resumed = decide(one, going.status, leaves, at(120))
    assert condition(resumed, "Suspended")["reason"] == "MSJobResumed"
    assert condition(resumed, "Running")["status"] == "False"
    assert (resumed.status["attempt"], resumed.status["startTime"]) == (1, stamp(120))
    assert "restarts" not in resumed.status
    assert "lastFailure" not in resumed.status
    waits = decide(one, resumed.status, leaves, at(130))
    assert (waits.create_pods, state(waits)[-1]) == ((), "Created=True")
    made = decide(one, waits.status, of(), at(150))
    assert made.create_pods == ((S, 0), *keys(W, 0, 1))
    assert made.status["startTime"] == stamp(120)


def test_suspended_while_restarting() -> None:
    """The job waits for no restart any more: Restarting goes, and the times with it."""
    retried, paused = job(restart_policy="OnFailure"), job(restart_policy="OnFailure", suspend=True)
    status = running(retried) | {"restarts": 3, "restartsCountTowardsLimit": 2}
    failed = decide(retried, status, standing(retried, Scheduler="R", Worker="FR"), at(100)).status
    assert failed["nextRestartTime"] == stamp(140)
    going = decide(paused, failed, of(leaving(W, 0, asked=100)), at(110))
    assert state(going) == ["Suspended=False", "Created=True", "Restarting=True"]
    gone = decide(paused, going.status, NOTHING, at(120))
    assert state(gone) == ["Running=False", "Created=True", "Suspended=True"]
    assert not {"nextRestartTime", "replacements"} & gone.status.keys()
    assert (gone.status["attempt"], gone.status["restarts"], gone.status["restartsCountTowardsLimit"]) == (2, 4, 3)
    assert gone.status["lastFailure"]["pod"] == "train-worker-0"
    resumed = decide(retried, gone.status, of(), at(121))
    assert resumed.create_pods == ((S, 0), *keys(W, 0, 1))


def test_suspended_while_a_pod_is_replaced() -> None:
    """A replacement that is under way is forgotten with the attempt."""
    fields: dict[str, Any] = {"scheduler": None, "restart_policy": "OnFailure"}
    alone, paused = job(**fields), job(suspend=True, **fields)
    failed = decide(alone, running(alone), of(pod(W, 0, "F"), pod(W, 1), address=None), at(100)).status
    assert "replacements" in failed
    gone = decide(paused, failed, NOTHING, at(120)).status
    assert "replacements" not in gone
    assert decide(alone, gone, NOTHING, at(130)).create_pods == keys(W, 0, 1)


@pytest.mark.parametrize("letter", ["F", "P", "R"])
def test_how_pods_end_does_not_matter(letter: str) -> None:
    """A failure is no reason not to be suspended: the next try may do better, and nothing is charged."""
    seen = of(pod(S), pod(W, 0, letter), put_out(W, 1))
    told = decide(SUSPENDED, running(ONE), seen, at(20))
    assert set(told.delete_pods) == {(S, 0), *keys(W, 0, 1)}
    assert state(told)[-1] == "Running=True"
    assert not {"restarts", "lastFailure"} & told.status.keys()


def test_a_success_before_the_suspension() -> None:
    """A job whose work is done when it is suspended has succeeded: nothing is thrown away."""
    told = decide(SUSPENDED, running(ONE), standing(ONE, Scheduler="R", Worker="SR"), at(20))
    assert state(told) == ["Running=False", "Created=True", "Succeeded=True"]
    assert told.status["completionTime"] == stamp(20)


def test_what_pods_do_because_they_are_told_to_go_is_no_success() -> None:
    """An exit 0 that answers the deletion is not the end of the work: such a pod is read as pending."""
    seen = of(leaving(W, 0, "P", asked=20, exit_code=0, started=True))
    assert state(decide(SUSPENDED, running(ONE), seen, at(25)))[-1] == "Running=True"


def test_the_work_of_the_attempt_is_forgotten() -> None:
    """Workers that had succeeded run again with the others after the resumption."""
    every, paused = job(success_policy="AllWorkers"), job(success_policy="AllWorkers", suspend=True)
    before = decide(every, running(every), standing(every, Scheduler="R", Worker="RS"), at(20)).status
    assert before["replicaStatuses"]["Worker"]["completedIndexes"] == "1"
    gone = decide(paused, before, NOTHING, at(30)).status
    assert gone["replicaStatuses"]["Worker"] == {
        "active": 0,
        "succeeded": 0,
        "failed": 0,
        "selector": before["replicaStatuses"]["Worker"]["selector"],
    }
    assert decide(every, gone, of(), at(40)).create_pods == ((S, 0), *keys(W, 0, 1))


def test_a_stray_pod() -> None:
    """A pod that turns up after the job was suspended goes, whoever made it; the job stays Suspended."""
    status = decide(SUSPENDED, {}, NOTHING, at(0)).status
    told = decide(SUSPENDED, status, of(pod(W, 0)), at(9))
    assert (told.delete_pods, told.delete_service, told.create_pods) == (((W, 0),), True, ())
    assert told.status["conditions"] == status["conditions"]


def test_it_ends_a_stall() -> None:
    """A job that could not go on and is suspended is stalled no more: nothing is asked of it."""
    stalled = {"conditions": [{"type": "Stalled", "status": "True", "reason": "MSJobRenderFailed"}]}
    told = decide(SUSPENDED, stalled, NOTHING, at(9))
    assert condition(told, "Stalled")["status"] == "False"
    assert whole_state(told)[-1] == "Suspended=True"


def test_before_anything_was_made() -> None:
    """A job that is suspended between its first look and its first pod has no next attempt to tell apart."""
    told = decide(SUSPENDED, begun(ONE), NOTHING, at(5))
    assert state(told) == ["Created=True", "Suspended=True"]
    assert "startTime" not in told.status


def test_pods_of_a_resumption_that_was_never_written() -> None:
    """A suspended job with pods all the same, since their creation went ahead of the status, gives up the attempt."""
    status = decide(SUSPENDED, {}, NOTHING, at(0)).status
    told = decide(SUSPENDED, status, everywhere(ONE, "R"), at(20))
    assert set(told.delete_pods) == set(everywhere(ONE, "R").pods)
    assert (told.status["attempt"], state(told)[-1]) == (1, "Suspended=True")
    again = decide(SUSPENDED, told.status, Observed({(W, 0): leaving(W, 0)}), at(21))
    assert (again.status["attempt"], again.delete_pods) == (1, ())


def test_pods_of_a_start_that_was_never_written() -> None:
    """So does one that was suspended before the status told of its start."""
    going = decide(SUSPENDED, {}, everywhere(ONE, "R"), at(20))
    gone = decide(SUSPENDED, going.status, NOTHING, at(30))
    assert (gone.status["attempt"], state(gone)[-1]) == (1, "Suspended=True")
