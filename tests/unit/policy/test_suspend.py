"""Jobs that are to have no pods, and jobs that are to have them again."""

from typing import Any

from msjob.api import ConditionType, EventReason, Job, Reason, Role
from msjob_controller.policy import conditions
from msjob_controller.policy.decide import decide
from msjob_controller.policy.decision import Decision
from msjob_controller.policy.observed import Observed, Service
from support.jobs import msjob
from support.pods import ADDRESS, at, everywhere, of, pod, stamp, standing

S, W = Role.SCHEDULER, Role.WORKER
SUSPENDED = Job.parse(msjob(suspend=True, generation=2))
RESUMED = Job.parse(msjob(suspend=False, generation=3))


def running_status() -> dict[str, Any]:
    """The status of a job that runs since second 10."""
    job = Job.parse(msjob(generation=1))
    return decide(job, {}, everywhere(job, "R"), at(10)).status


def state(decision: Decision) -> dict[str, str]:
    """Conditions by type."""
    return {item["type"]: item["status"] for item in decision.status["conditions"]}


def last(decision: Decision) -> str:
    """What `kubectl get` shows."""
    return str(decision.status["conditions"][-1]["type"])


def test_suspended_from_birth() -> None:
    """A job that starts suspended is created and suspended at once: no Service, no pods, no start time."""
    decision = decide(SUSPENDED, {}, of(address=None), at(0))
    assert (decision.create_service, decision.create_pods) == (False, ())
    assert state(decision) == {"Created": "True", "Suspended": "True"}
    assert last(decision) == "Suspended"
    assert [event.reason for event in decision.events] == [Reason.CREATED, Reason.SUSPENDED]
    assert "startTime" not in decision.status
    assert {item["active"] for item in decision.status["replicaStatuses"].values()} == {0}
    assert decision.status["observedGeneration"] == 2
    assert decide(SUSPENDED, decision.status, of(address=None), at(99)) == Decision(decision.status)


def test_suspended_while_running() -> None:
    """Pods and Service go first; the job is Suspended once the last pod is gone, so active 0 can be relied on."""
    before = running_status()
    going = decide(SUSPENDED, before, everywhere(SUSPENDED, "R"), at(20))
    assert set(going.delete_pods) == {(S, 0), (W, 0), (W, 1)}
    assert going.delete_service
    assert "Suspended" not in state(going)
    assert going.status["replicaStatuses"]["Worker"]["active"] == 2

    leaving = Observed({(W, 1): pod(W, 1, deleting=True)}, Service("train-scheduler-0", ADDRESS, deleting=True))
    waiting = decide(SUSPENDED, going.status, leaving, at(25))
    assert (waiting.delete_pods, waiting.delete_service, waiting.events) == ((), False, ())
    assert "Suspended" not in state(waiting)

    gone = decide(SUSPENDED, waiting.status, of(address=None), at(30))
    assert state(gone) == {"Created": "True", "Running": "False", "Suspended": "True"}
    assert last(gone) == "Suspended"
    assert [event.reason for event in gone.events] == [Reason.SUSPENDED]
    assert {item["active"] for item in gone.status["replicaStatuses"].values()} == {0}
    assert not {"startTime", "workersReady"} & gone.status.keys()


def test_resumed() -> None:
    """A resumed job starts its clock anew and gets its Service, then its pods."""
    suspended = decide(SUSPENDED, running_status(), of(address=None), at(30)).status
    resumed = decide(RESUMED, suspended, of(address=None), at(100))
    assert resumed.create_service
    assert resumed.create_pods == ()
    assert state(resumed) == {"Created": "True", "Running": "False", "Suspended": "False"}
    assert last(resumed) == "Created"
    assert resumed.status["startTime"] == stamp(100)
    assert [event.reason for event in resumed.events] == [Reason.RESUMED]
    assert conditions.find(resumed.status["conditions"], ConditionType.SUSPENDED) == {
        "type": "Suspended",
        "status": "False",
        "reason": "MSJobResumed",
        "message": "MSJob default/train is resumed.",
        "lastUpdateTime": stamp(100),
        "lastTransitionTime": stamp(100),
    }

    later = decide(RESUMED, resumed.status, of(), at(101))
    assert set(later.create_pods) == {(S, 0), (W, 0), (W, 1)}
    assert later.status["startTime"] == stamp(100)

    runs = decide(RESUMED, later.status, everywhere(RESUMED, "R"), at(110))
    assert last(runs) == "Running"
    assert [event.reason for event in runs.events] == [Reason.RUNNING]


def test_suspended_and_resumed_twice() -> None:
    """Each round tells of itself, with times of its own."""
    status: dict[str, Any] = {}
    for second, job, shown in [(0, SUSPENDED, "Suspended"), (10, RESUMED, "Created")] * 2:
        decision = decide(job, status, of(address=None), at(second))
        status = decision.status
        assert last(decision) == shown
    assert [item["type"] for item in status["conditions"]] == ["Suspended", "Created"]


def test_resumed_before_all_is_gone() -> None:
    """A job that is to run again before its pods are gone waits for each, and does not mind how they end."""
    going = decide(SUSPENDED, running_status(), everywhere(SUSPENDED, "R"), at(20))
    leaving = Observed({(W, 0): pod(W, 0, "P", deleting=True, exit_code=143)}, None)
    back = decide(RESUMED, going.status, leaving, at(21))
    assert back.create_service
    assert last(back) == "Running"
    then = decide(RESUMED, back.status, Observed(leaving.pods, Service("train-scheduler-0", ADDRESS)), at(22))
    assert set(then.create_pods) == {(S, 0), (W, 1)}


def test_the_old_service_is_waited_for() -> None:
    """Pods are not given the address of a Service that is on its way out, and no second one is asked for."""
    leaving = Observed({}, Service("train-scheduler-0", ADDRESS, deleting=True))
    decision = decide(RESUMED, {}, leaving, at(0))
    assert (decision.create_service, decision.create_pods) == (False, ())


def test_success_before_the_suspension() -> None:
    """A job whose work is done when it is suspended has succeeded: nothing is thrown away."""
    decision = decide(SUSPENDED, running_status(), standing(SUSPENDED, Scheduler="R", Worker="SR"), at(20))
    assert last(decision) == "Succeeded"
    assert "Suspended" not in state(decision)


def test_failure_before_the_suspension() -> None:
    """A failure is no reason not to be suspended: the next try may do better."""
    decision = decide(SUSPENDED, running_status(), standing(SUSPENDED, Scheduler="R", Worker="FR"), at(20))
    assert set(decision.delete_pods) == {(S, 0), (W, 0), (W, 1)}
    assert last(decision) == "Running"


def test_a_stray_pod_of_a_suspended_job() -> None:
    """A pod that turns up after the job was suspended goes, whoever made it; the job stays Suspended."""
    status = decide(SUSPENDED, {}, of(address=None), at(0)).status
    decision = decide(SUSPENDED, status, of(pod(W, 0)), at(9))
    assert (decision.delete_pods, decision.delete_service) == (((W, 0),), True)
    assert decision.status["conditions"] == status["conditions"]
    assert EventReason.CREATED_POD not in [event.reason for event in decision.events]


def test_suspension_ends_a_stall() -> None:
    """A job that could not go on and is suspended is stalled no more: nothing is asked of it."""
    stalled = {"conditions": [{"type": "Stalled", "status": "True", "reason": "MSJobRenderFailed"}]}
    assert state(decide(SUSPENDED, stalled, of(address=None), at(9)))["Stalled"] == "False"
