"""The decision about one job as a whole: the order of the policies, first sights, ends, faults."""

from copy import deepcopy
from typing import Any

import pytest

from msjob.api import EventReason, Problem, Reason, Role
from msjob_controller.policy.decide import decide, reject, stall
from msjob_controller.policy.decision import Decision, Event, EventType
from msjob_controller.policy.observed import Autoscaler, Observed
from support.decisions import NOTHING, active, at_rest, begun, condition, job, reasons, running, state, whole_state
from support.jobs import role, template
from support.pods import at, everywhere, keys, leaving, of, pod, put_out, stamp, standing

S, P, W = Role.SCHEDULER, Role.PS, Role.WORKER
PROBLEMS = [Problem(("spec", "msReplicaSpecs"), "at least one role is needed")]


class TestFirstSight:
    """What the operator does when it sees a job for the first time."""

    def test_a_new_job(self) -> None:
        """The status says that the job is known, and one event does."""
        told = decide(job(), {}, NOTHING, at(0))
        assert whole_state(told) == ["PodsReady=False", "Created=True"]
        assert told.events == (Event(EventType.NORMAL, Reason.CREATED, "MSJob default/train is created."),)
        assert (told.status["startTime"], told.status["observedGeneration"]) == (stamp(0), 3)
        assert (told.status["workersReady"], told.status["workerReplicas"]) == ("0/2", 2)
        assert not {"completionTime", "attempt", "readyAttempt", "restarts", "lastFailure"} & told.status.keys()
        assert told.requeue_after is None

    @pytest.mark.parametrize(("letter", "end"), [("S", "Succeeded"), ("F", "Failed")])
    def test_a_job_that_is_over(self, letter: str, end: str) -> None:
        """One that came to its end while no operator ran is created and ended in one step."""
        one = job(scheduler=None, worker=1)
        told = decide(one, {}, of(pod(W, 0, letter), address=None), at(60))
        assert state(told) == ["Created=True", f"{end}=True"]
        assert (reasons(told)[0], reasons(told)[-1]) == ("MSJobCreated", f"MSJob{end}")
        assert told.status["startTime"] == told.status["completionTime"] == stamp(60)

    def test_notices(self) -> None:
        """What may surprise the user is told once."""
        one = job(worker=role(1, template(env=[{"name": "MS_ROLE", "value": "mine"}], restart_policy="Always")))
        told = decide(one, {}, NOTHING, at(0))
        assert reasons(told) == [Reason.CREATED, EventReason.RESERVED_ENV, EventReason.TEMPLATE_RESTART_POLICY]
        assert {event.type for event in told.events[1:]} == {EventType.WARNING}
        assert decide(one, told.status, of(), at(1)).events == ()

    @pytest.mark.parametrize("status", [{}, {"conditions": None}, {"conditions": []}])
    def test_any_form_of_no_status(self, status: dict[str, Any]) -> None:
        """A job whose status is missing or empty in any way is one that nobody has looked at."""
        assert reasons(decide(job(), status, NOTHING, at(0))) == [Reason.CREATED]
        assert state(reject(status, PROBLEMS, 1, at(0))) == ["Failed=True"]

    def test_a_later_generation(self) -> None:
        """The status tells which spec it is about."""
        told = decide(job(), begun(job()) | {"observedGeneration": 2}, of(), at(1))
        assert told.status["observedGeneration"] == 3


class TestOrder:
    """Which policy has the first word when several have something to say."""

    ALL_AT_ONCE: dict[str, Any] = {  # noqa: RUF012 - never changed
        "restart_policy": "OnFailure",
        "run_policy": {"activeDeadlineSeconds": 50, "startupDeadlineSeconds": 50, "backoffLimit": 0},
    }

    @pytest.mark.parametrize(
        ("fields", "seen", "end"),
        [
            pytest.param(
                {"suspend": True},
                standing(job(), Scheduler="F", Worker="SF"),
                "MSJobSucceeded",
                id="success, suspended",
            ),
            pytest.param({}, standing(job(), Scheduler="F", Worker="SF"), "MSJobSucceeded", id="success, failed, late"),
            pytest.param(
                {"worker": 3}, standing(job(), Scheduler="R", Worker="SF"), "MSJobSucceeded", id="success, scaled"
            ),
            pytest.param(
                {}, standing(job(), Scheduler="R", Worker="RF"), "BackoffLimitExceeded", id="a final failure, late"
            ),
            pytest.param(
                {"worker": 3}, standing(job(), Scheduler="R", Worker="RF"), "BackoffLimitExceeded", id="failed, scaled"
            ),
            pytest.param({}, of(pod(S), pod(W, 0), put_out(W, 1)), "DeadlineExceeded", id="a deadline, disrupted"),
            pytest.param({"worker": 3}, everywhere(job(), "R"), "DeadlineExceeded", id="a deadline, scaled"),
            pytest.param({}, of(), "DeadlineExceeded", id="a deadline, deleted"),
        ],
    )
    def test_ends(self, fields: dict[str, Any], seen: Observed, end: str) -> None:
        """Success, then a failure that is final, then deadlines, and only then restarts and scaling."""
        policy = {**self.ALL_AT_ONCE["run_policy"], **({"suspend": True} if "suspend" in fields else {})}
        more = {key: value for key, value in fields.items() if key != "suspend"}
        one = job(**{**self.ALL_AT_ONCE, "run_policy": policy, **more})
        told = decide(one, running(job(**self.ALL_AT_ONCE)), seen, at(100))
        assert told.status["conditions"][-1]["reason"] == end
        assert told.status["completionTime"] == stamp(100)

    def test_suspension_before_everything_but_success(self) -> None:
        """A job that failed or is late is suspended all the same."""
        paused = job(suspend=True, run_policy={"activeDeadlineSeconds": 50})
        for seen in (everywhere(job(), "F"), of(pod(S, 0, "F"), put_out(W, 0)), of(pod(W, 0))):
            told = decide(paused, running(job()), seen, at(100))
            assert state(told)[-1] == "Running=True"
            assert (told.create_pods, len(told.delete_pods)) == ((), len(seen.pods))
        assert state(decide(paused, running(job()), NOTHING, at(100)))[-1] == "Suspended=True"

    def test_a_restart_before_scaling(self) -> None:
        """Both begin one attempt, not two."""
        one = job(worker=3, restart_policy="OnFailure")
        told = decide(
            one, running(job(restart_policy="OnFailure")), standing(job(), Scheduler="R", Worker="RF"), at(50)
        )
        assert (told.status["attempt"], told.status["restarts"]) == (1, 1)

    def test_a_finished_job_before_everything(self) -> None:
        """Neither suspension nor deadline nor failure touches what is over."""
        ended = decide(job(), running(job()), everywhere(job(), "S"), at(60)).status
        for fields in ({"suspend": True}, {"run_policy": {"activeDeadlineSeconds": 1}}, {"worker": 7}):
            for letter in "PRSF":
                told = decide(job(**fields), ended, everywhere(job(), letter), at(10**6))
                assert (told.status, told.events, told.create_pods) == (ended, (), ())

    def test_the_sooner_of_two_timers(self) -> None:
        """The job asks to be looked at when the first of its timers goes off."""
        one = job(
            run_policy={"activeDeadlineSeconds": 500, "startupDeadlineSeconds": 90, "forceDeleteAfterSeconds": 20}
        )
        assert decide(one, begun(one), of(), at(10)).requeue_after == 80
        runs = decide(one, begun(one), everywhere(one, "R"), at(10))
        assert runs.requeue_after == 490
        hangs = of(leaving(W, 0, asked=100, grace=5), lost=["node-worker-0"])
        assert decide(one, runs.status | {"attempt": 1}, hangs, at(102)).requeue_after == 3
        assert decide(one, runs.status | {"attempt": 1}, hangs, at(106)).requeue_after == 14


class TestSuccess:
    """A job that has done its work."""

    def test_success(self) -> None:
        """One end state, a completion time, counts that add up, and what still runs goes."""
        one = job(worker=3)
        told = decide(one, running(one), standing(one, Scheduler="R", Worker="SRF"), at(60))
        assert whole_state(told) == ["Running=False", "PodsReady=False", "Created=True", "Succeeded=True"]
        assert (told.status["completionTime"], told.status["startTime"]) == (stamp(60), stamp(0))
        text = "MSJob default/train successfully completed: Worker 0 succeeded."
        assert told.events == (Event(EventType.NORMAL, Reason.SUCCEEDED, text),)
        assert condition(told, "Succeeded")["message"] == text
        assert (told.delete_pods, told.delete_service, told.requeue_after) == ((), False, 10)
        later = decide(one, told.status, standing(one, Scheduler="R", Worker="SRF"), at(70))
        assert set(later.delete_pods) == {(S, 0), (W, 1)}
        assert later.delete_service
        numbers = {
            key: (item["active"], item["succeeded"], item["failed"])
            for key, item in told.status["replicaStatuses"].items()
        }
        assert numbers == {"Scheduler": (0, 1, 0), "Worker": (0, 2, 1)}

    def test_a_scheduler_that_is_left(self) -> None:
        """It still runs when the Workers are done, which is the rule; it has time to end, and then is no failure."""
        one = job()
        told = decide(one, running(one), standing(one, Scheduler="R", Worker="SS"), at(60))
        assert (told.delete_pods, told.delete_service) == ((), False)
        hangs = decide(one, told.status, standing(one, Scheduler="R", Worker="SS"), at(70))
        assert (hangs.delete_pods, hangs.delete_service) == (((S, 0),), True)
        after = decide(one, told.status, standing(one, Scheduler="F", Worker="SS"), at(70))
        assert after.status == told.status

    def test_the_scheduler_decides_nothing(self) -> None:
        """Its exit 0 before the Workers' ends nothing, its exit 1 after theirs spoils nothing."""
        one = job(success_policy="AllWorkers")
        early = decide(one, running(one), standing(one, Scheduler="S", Worker="RS"), at(50))
        assert state(early) == ["Created=True", "Running=True"]
        assert early.create_pods == ()
        gone = decide(one, early.status, standing(one, Scheduler="-", Worker="RS"), at(55))
        assert (gone.create_pods, state(gone)[-1]) == ((), "Running=True")
        late = decide(one, early.status, standing(one, Scheduler="F", Worker="SS"), at(60))
        assert state(late)[-1] == "Succeeded=True"

    def test_a_sidecar_that_lingers(self) -> None:
        """The job is done when mindspore is, whatever runs beside it; the pod goes at the end, or it would run on."""
        one = job(scheduler=None, worker=1)
        told = decide(one, running(one), of(pod(W, 0, "S", lingering=True), address=None), at(60))
        assert (state(told)[-1], told.delete_pods) == ("Succeeded=True", keys(W, 0))
        keeps = job(scheduler=None, worker=1, run_policy={"cleanPodPolicy": "None"})
        assert decide(keeps, running(one), of(pod(W, 0, "S", lingering=True), address=None), at(60)).delete_pods == ()

    def test_a_job_that_lasts_only_a_moment(self) -> None:
        """Pods that end between two looks end the job without its having run."""
        one = job()
        told = decide(one, begun(one), standing(one, Scheduler="S", Worker="SS"), at(5))
        assert state(told) == ["Created=True", "Succeeded=True"]

    @pytest.mark.parametrize("fields", [{"worker": None}, {"worker": None, "ps": 2}, {"scheduler": None}])
    def test_jobs_of_other_roles(self, fields: dict[str, Any]) -> None:
        """A job without Workers has succeeded when all its pods have, one without a Scheduler as its Workers do."""
        one = job(**fields)
        told = decide(one, running(one), everywhere(one, "S"), at(60))
        assert state(told) == ["Running=False", "Created=True", "Succeeded=True"]
        if "worker" in fields:
            assert "workersReady" not in told.status

    def test_dynamic_workers(self) -> None:
        """The job goes on without Workers that failed, and succeeds with one that did."""
        one = job(enable_dynamic_worker=True)
        goes_on = decide(one, running(one), standing(one, Scheduler="R", Worker="FR"), at(50))
        assert (at_rest(goes_on), state(goes_on)[-1]) == (True, "Running=True")
        done = decide(one, goes_on.status, standing(one, Scheduler="R", Worker="FS"), at(60))
        assert "1 of 2 Workers succeeded" in condition(done, "Succeeded")["message"]
        none = decide(one, goes_on.status, standing(one, Scheduler="R", Worker="FF"), at(60))
        assert "no pod is left that the job could go on with" in condition(none, "Failed")["message"]


class TestFailure:
    """A job that has failed for good."""

    def test_failure(self) -> None:
        """The culprit is named in condition, event and lastFailure, and what still runs goes."""
        one = job()
        blamed = pod(W, 1, "F", code=137, seconds=55, reason="OOMKilled", message="step 9")
        told = decide(one, running(one), of(pod(S), pod(W, 0), blamed), at(60))
        assert whole_state(told) == ["Running=False", "PodsReady=False", "Created=True", "Failed=True"]
        assert told.status["completionTime"] == stamp(60)
        message = (
            "MSJob default/train has failed: pod train-worker-1 failed: container mindspore exited with code 137"
            " (OOMKilled: step 9); restartPolicy Never."
        )
        assert told.events == (
            Event(EventType.WARNING, EventReason.EXITED_WITH_CODE, "Pod default/train-worker-1 exited with code 137"),
            Event(EventType.WARNING, Reason.FAILED, message),
        )
        assert (condition(told, "Failed")["reason"], condition(told, "Failed")["message"]) == ("MSJobFailed", message)
        last = told.status["lastFailure"]
        assert (last["pod"], last["exitCode"], last["message"], last["countsTowardsLimit"]) == (
            "train-worker-1",
            137,
            "step 9",
            False,
        )
        assert set(told.delete_pods) == {(S, 0), (W, 0)}
        assert (told.delete_service, active(told)) == (True, 0)
        assert told.status["replicaStatuses"]["Worker"]["failed"] == 1
        assert "restarts" not in told.status

    def test_before_the_start_is_complete(self) -> None:
        """A job fails although it never ran."""
        one = job()
        told = decide(one, begun(one), standing(one, Scheduler="P", Worker="F-"), at(5))
        assert state(told) == ["Created=True", "Failed=True"]
        assert (told.create_service, told.create_pods, told.delete_pods) == (False, (), ((S, 0),))

    def test_by_a_rule(self) -> None:
        """The message says which."""
        rule = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}
        one = job(restart_policy="OnFailure", run_policy={"failurePolicy": {"rules": [rule]}})
        told = decide(one, running(one), of(pod(S), pod(W, 0), pod(W, 1, "F", code=42)), at(60))
        assert condition(told, "Failed")["message"].endswith("code 42; rule 1 of failurePolicy says FailJob.")

    def test_a_pod_without_an_exit_code(self) -> None:
        """A pod that failed without one is named with the cluster's reason, and there is no exit to tell of."""
        one = job(scheduler=None, worker=1)
        told = decide(one, running(one), of(put_out(W, 0, "UnexpectedAdmissionError"), address=None), at(60))
        assert reasons(told) == [Reason.FAILED]
        assert "pod train-worker-0 failed (UnexpectedAdmissionError); restartPolicy Never." in told.events[-1].message

    def test_a_pod_that_never_ran(self) -> None:
        """The one who waited in vain exits, and the one who never came is blamed."""
        one = job()
        gave_up = pod(W, 0, "F", finished_at=at(1800))
        told = decide(one, begun(one), of(pod(S), gave_up, pod(W, 1, "P")), at(1801))
        assert (
            condition(told, "Failed")["message"]
            == "MSJob default/train has failed: pod train-worker-1 never ran; restartPolicy Never."
        )
        assert told.status["lastFailure"]["reason"] == "NeverRan"

    @pytest.mark.parametrize(
        ("policy", "pods", "service", "runs"),
        [("None", set(), False, 2), ("Running", {(S, 0), (W, 0)}, True, 0), ("All", {(S, 0), (W, 0), (W, 1)}, True, 0)],
    )
    def test_clean_up(self, policy: str, pods: set[Any], runs: int, *, service: bool) -> None:
        """The clean-up policy says what goes, and a status that stays for good counts only what stays running."""
        one = job(run_policy={"cleanPodPolicy": policy})
        told = decide(one, running(one), standing(one, Scheduler="R", Worker="RF"), at(60))
        assert set(told.delete_pods) == pods
        assert told.delete_service is service
        assert active(told) == runs

    def test_old_pods_go_under_every_policy(self) -> None:
        """What is left of an attempt that was given up tells nothing about the end."""
        one = job(run_policy={"cleanPodPolicy": "None"})
        seen = of(pod(S, attempt=1), pod(W, 0, "F", attempt=1), pod(W, 1))
        assert decide(one, running(one) | {"attempt": 1}, seen, at(60)).delete_pods == keys(W, 1)

    def test_pods_on_their_way_out_are_not_active_for_good(self) -> None:
        """A pod that somebody else is deleting when the job fails does not stay in the final counts."""
        one = job()
        seen = of(leaving(S, 0, asked=70), pod(W, 0, "F"), leaving(W, 1, asked=70))
        assert active(decide(one, running(one), seen, at(75))) == 0

    def test_clean_up_is_finished_later(self) -> None:
        """What a first clean-up did not reach goes at the next look; the status stays as it is."""
        one = job()
        status = decide(one, running(one), standing(one, Scheduler="R", Worker="SR"), at(60)).status
        told = decide(one, status, standing(one, Scheduler="R", Worker="S-"), at(70))
        assert told == Decision(status, delete_pods=((S, 0),), delete_service=True, requeue_after=1)

    def test_a_deletion_is_looked_at_again(self) -> None:
        """What becomes of a pod that is deleted no event may tell, since its node may be silent: its grace is timed."""
        one = job(scheduler=None, worker=1, suspend=True, run_policy={"forceDeleteAfterSeconds": 60})
        told = decide(one, running(one), of(pod(W, 0), address=None), at(60))
        assert (told.delete_pods, told.requeue_after) == (keys(W, 0), 1)


class TestInvalid:
    """Jobs that break a rule."""

    def test_reject(self) -> None:
        """An invalid job fails for good, with its faults in condition and event."""
        told = reject({}, PROBLEMS, 3, at(5))
        message = "The job is invalid: spec.msReplicaSpecs: at least one role is needed"
        assert told == Decision(
            {
                "observedGeneration": 3,
                "completionTime": stamp(5),
                "conditions": [
                    {
                        "type": "Failed",
                        "status": "True",
                        "reason": "MSJobFailedValidation",
                        "message": message,
                        "lastUpdateTime": stamp(5),
                        "lastTransitionTime": stamp(5),
                    }
                ],
            },
            events=(Event(EventType.WARNING, Reason.FAILED_VALIDATION, message),),
        )
        assert reject(told.status, PROBLEMS, 4, at(9)) == Decision(told.status)

    def test_a_job_that_ran(self) -> None:
        """A job that is older than the rule it breaks leaves nothing behind that runs, now or at a later look."""
        one = job()
        seen = standing(one, Scheduler="R", Worker="RS")
        seen = Observed(seen.pods, seen.service, Autoscaler("train"))
        told = reject(running(one), PROBLEMS, 4, at(50), seen)
        assert state(told) == ["Running=False", "Created=True", "Failed=True"]
        assert (set(told.delete_pods), told.delete_service, told.delete_autoscaler) == ({(S, 0), (W, 0)}, True, True)
        later = reject(told.status, PROBLEMS, 4, at(51), standing(one, Scheduler="S", Worker="RS"))
        assert (later.status, later.delete_pods, later.delete_service) == (told.status, ((W, 0),), True)
        assert later.events == ()

    def test_a_job_that_waited(self) -> None:
        """One that was suspended, stalled or about to restart is not so any more."""
        suspended = decide(job(suspend=True), {}, NOTHING, at(0)).status
        assert state(reject(suspended, PROBLEMS, 4, at(9))) == ["Suspended=False", "Created=True", "Failed=True"]
        one = job(restart_policy="OnFailure")
        before = running(one) | {"restarts": 3}
        waits = decide(one, before, standing(one, Scheduler="R", Worker="FR"), at(50)).status
        refused = reject(stall(waits, Reason.QUOTA, "why", at(51)).status, PROBLEMS, 4, at(60))
        assert state(refused) == ["Created=True", "Failed=True"]
        assert condition(refused, "Stalled")["status"] == "False"
        assert "nextRestartTime" not in refused.status

    def test_an_end_of_before(self) -> None:
        """A job that had ended stays as it ended."""
        ended = decide(job(), running(job()), everywhere(job(), "S"), at(60)).status
        assert reject(ended, PROBLEMS, 4, at(70)).status == ended


class TestStall:
    """Jobs that cannot go on for now, as the shell tells."""

    def test_stall(self) -> None:
        """The state stays what it was, and a condition and one event tell of the trouble."""
        before = begun(job())
        told = stall(before, Reason.RENDER_FAILED, "no such field", at(5))
        assert (state(told), whole_state(told)[-1]) == (["Created=True"], "Created=True")
        assert condition(told, "Stalled")["message"] == "no such field"
        assert told.events == (Event(EventType.WARNING, Reason.RENDER_FAILED, "no such field"),)
        assert {**told.status, "conditions": before["conditions"]} == before
        assert stall(told.status, Reason.RENDER_FAILED, "no such field", at(9)) == Decision(told.status)

    def test_without_a_status(self) -> None:
        """A job can stall before anything else is known of it."""
        assert whole_state(stall({}, Reason.RENDER_FAILED, "why", at(5))) == ["Stalled=True"]


def test_fields_of_others_are_kept() -> None:
    """Fields and conditions of a status that this version does not know stay, to the end."""
    other = {"type": "Example", "status": "True", "reason": "Because"}
    one = job()
    status: dict[str, Any] = {"future": {"a": 1}, "conditions": [other]}
    for seen in (NOTHING, of(), everywhere(one, "R"), everywhere(one, "S")):
        status = decide(one, status, seen, at(5)).status
        assert status["future"] == {"a": 1}
        assert other in status["conditions"]
    assert status["conditions"][-1]["type"] == "Succeeded"


def test_inputs_are_left_alone() -> None:
    """A decision shares nothing it changes with what it was given: caches hold that, too."""
    one = job(restart_policy="OnFailure")
    for seen in (NOTHING, of(), everywhere(one, "R"), everywhere(one, "S"), everywhere(one, "F")):
        status = running(one)
        before = deepcopy(status)
        assert decide(one, status, seen, at(50)) == decide(one, status, seen, at(50))
        assert status == before
