"""The decision about one job: what is made, what goes, what is told, and when it is over."""

from copy import deepcopy
from typing import Any

import pytest

from msjob.api import ConditionType, EventReason, Job, Problem, Reason, Role
from msjob_controller.policy import conditions
from msjob_controller.policy.decide import decide, reject, stall
from msjob_controller.policy.decision import Decision, Event, EventType
from msjob_controller.policy.observed import Observed, Service
from msjob_controller.policy.reading import observe
from support.jobs import msjob, role, template
from support.pods import ADDRESS, RUNNING, at, everywhere, keys, of, pod, pod_json, stamp, standing, terminated

S, P, W = Role.SCHEDULER, Role.PS, Role.WORKER
NOTHING = of(address=None)


def job(**fields: Any) -> Job:
    """A job of the third generation: one Scheduler and two Workers unless told otherwise."""
    return Job.parse(msjob(generation=3, **fields))


def started(one: Job, second: float = 0) -> dict[str, Any]:
    """The status of a job whose Service has just been asked for."""
    return decide(one, {}, NOTHING, at(second)).status


def running(one: Job, second: float = 10) -> dict[str, Any]:
    """The status of a job that runs."""
    return decide(one, started(one), everywhere(one, "R"), at(second)).status


def state(decision: Decision) -> list[str]:
    """Conditions in their order."""
    return [f"{item['type']}={item['status']}" for item in decision.status["conditions"]]


def reasons(decision: Decision) -> list[str]:
    """Reasons of the events."""
    return [event.reason.value for event in decision.events]


def active(decision: Decision) -> int:
    """Pods that run according to the status."""
    return sum(item["active"] for item in decision.status["replicaStatuses"].values())


class TestStart:
    """From nothing to a job that runs."""

    def test_first_sight(self) -> None:
        """The first look makes the Service and nothing else, and the status says that the job is known."""
        decision = decide(job(), {}, NOTHING, at(0))
        assert decision.create_service
        assert (decision.create_pods, decision.delete_pods, decision.delete_service) == ((), (), False)
        assert state(decision) == ["Created=True"]
        assert decision.events == (Event(EventType.NORMAL, Reason.CREATED, "MSJob default/train is created."),)
        assert decision.status["startTime"] == stamp(0)
        assert decision.status["observedGeneration"] == 3
        assert decision.status["workersReady"] == "0/2"
        assert "completionTime" not in decision.status
        assert decision.requeue_after is None

    @pytest.mark.parametrize(
        "service", [Service("train-scheduler-0"), Service("train-scheduler-0", ADDRESS, deleting=True)]
    )
    def test_no_pods_without_an_address(self, service: Service) -> None:
        """Pods need the address of a Service that stays: before there is one, nothing is made."""
        decision = decide(job(), started(job()), Observed({}, service), at(1))
        assert (decision.create_service, decision.create_pods) == (False, ())

    def test_all_pods_at_once(self) -> None:
        """Once the address is known all pods are made: Scheduler, PS, Workers in their order."""
        one = job(worker=3, ps=2)
        decision = decide(one, started(one), of(), at(1))
        assert decision.create_pods == (*keys(S, 0), *keys(P, 0, 1), *keys(W, 0, 1, 2))
        assert not decision.create_service
        assert decision.status == started(one)

    @pytest.mark.parametrize(
        "fields", [{"scheduler": None}, {"scheduler": None, "launch_mode": "None"}, {"scheduler": None, "worker": 1}]
    )
    def test_no_service_where_none_is_needed(self, fields: dict[str, Any]) -> None:
        """A job without a Scheduler gets its pods at the first look."""
        one = job(**fields)
        decision = decide(one, {}, NOTHING, at(0))
        assert not decision.create_service
        assert decision.create_pods == keys(W, *range(one.replicas(W)))

    def test_msrun_without_scheduler_needs_a_service(self) -> None:
        """Under msrun Worker 0 is the host, and stands behind a Service."""
        one = job(scheduler=None, launch_mode="Msrun")
        assert decide(one, {}, NOTHING, at(0)).create_service
        assert decide(one, {}, of(), at(0)).create_pods == keys(W, 0, 1)

    def test_no_workers(self) -> None:
        """A job without Workers gets the pods that it has."""
        one = job(worker=None, ps=1)
        assert decide(one, {}, of(), at(0)).create_pods == ((S, 0), (P, 0))
        assert "workersReady" not in decide(one, {}, of(), at(0)).status

    def test_only_what_is_missing(self) -> None:
        """Pods that are there, in whatever state, are not made again."""
        one = job(worker=5, enable_dynamic_worker=True)
        decision = decide(one, started(one), standing(one, Scheduler="P", Worker="R-FS-"), at(1))
        assert decision.create_pods == keys(W, 1, 4)

    def test_running(self) -> None:
        """The job runs when all its pods do; from then on the condition stays as it is."""
        one = job()
        not_yet = decide(one, started(one), standing(one, Scheduler="R", Worker="RP"), at(5))
        assert state(not_yet) == ["Created=True"]
        assert not_yet.status["workersReady"] == "1/2"
        runs = decide(one, not_yet.status, everywhere(one, "R"), at(10))
        assert state(runs) == ["Created=True", "Running=True"]
        assert runs.events == (Event(EventType.NORMAL, Reason.RUNNING, "MSJob default/train is running."),)
        assert runs.status["startTime"] == stamp(0)
        assert active(runs) == 3
        assert decide(one, runs.status, everywhere(one, "R"), at(99)) == Decision(runs.status)

    def test_a_pod_of_a_running_job_that_is_gone(self) -> None:
        """A pod that vanished is made again; one that is on its way out is waited for."""
        one = job()
        leaving = of(pod(S), pod(W, 0), pod(W, 1, deleting=True))
        assert decide(one, running(one), leaving, at(20)).create_pods == ()
        gone = decide(one, running(one), of(pod(S), pod(W, 0)), at(20))
        assert gone.create_pods == keys(W, 1)
        assert state(gone) == ["Created=True", "Running=True"]

    def test_a_worker_that_the_kubelet_restarts(self) -> None:
        """The one Worker of a Standalone job that is to be restarted may fail as often as it likes."""
        one = job(scheduler=None, worker=1, restart_policy="OnFailure")
        for state_now in (terminated(1), {"waiting": {"reason": "CrashLoopBackOff"}}, RUNNING):
            item = pod_json(states={"mindspore": state_now}, restart_policy="OnFailure")
            decision = decide(one, running(one), observe([item], []), at(20))
            assert decision == Decision(running(one))
        done = pod_json(phase="Succeeded", states={"mindspore": terminated(0)}, restart_policy="OnFailure")
        assert state(decide(one, running(one), observe([done], []), at(30)))[-1] == "Succeeded=True"

    def test_a_service_of_a_running_job_that_is_gone(self) -> None:
        """A Service that vanished is made again, and no pod is made or lost meanwhile."""
        one = job()
        decision = decide(one, running(one), Observed(everywhere(one, "R").pods), at(20))
        assert decision.create_service
        assert (decision.create_pods, decision.delete_pods) == ((), ())

    def test_notices(self) -> None:
        """What may surprise the user is told once, at the first sight of the job."""
        one = job(worker=role(1, template(env=[{"name": "MS_ROLE", "value": "mine"}], restart_policy="Always")))
        decision = decide(one, {}, NOTHING, at(0))
        assert reasons(decision) == [
            Reason.CREATED,
            EventReason.RESERVED_ENV,
            EventReason.TEMPLATE_RESTART_POLICY,
        ]
        assert {event.type for event in decision.events[1:]} == {EventType.WARNING}
        assert decide(one, decision.status, of(), at(1)).events == ()

    def test_surplus_pods_go(self) -> None:
        """Pods beyond the replicas, or of a role that the job has no more, are removed, once."""
        pods = of(pod(S), pod(P, 0), pod(W, 0), pod(W, 1), pod(W, 2, deleting=True), pod(W, 7, "F"))
        assert decide(job(), started(job()), pods, at(9)).delete_pods == ((P, 0), (W, 7))


class TestEnd:
    """From a job that runs to its end."""

    def test_success(self) -> None:
        """The job has succeeded: one end state, a completion time, counts that add up, and what still runs goes."""
        one = job(worker=3)
        decision = decide(one, running(one), standing(one, Scheduler="R", Worker="SRF"), at(60))
        assert state(decision) == ["Running=False", "Created=True", "Succeeded=True"]
        assert decision.status["completionTime"] == stamp(60)
        assert decision.status["startTime"] == stamp(0)
        assert decision.events == (
            Event(
                EventType.NORMAL,
                Reason.SUCCEEDED,
                "MSJob default/train successfully completed: Worker 0 succeeded.",
            ),
        )
        assert set(decision.delete_pods) == {(S, 0), (W, 1)}
        assert decision.delete_service
        counts = {
            key: (item["active"], item["succeeded"], item["failed"])
            for key, item in decision.status["replicaStatuses"].items()
        }
        assert counts == {"Scheduler": (0, 1, 0), "Worker": (0, 2, 1)}

    def test_failure(self) -> None:
        """The job has failed: the culprit is named, and what still runs goes."""
        one = job()
        pods = of(pod(S), pod(W, 0), pod(W, 1, "F", code=137, seconds=55, cause="OOMKilled"))
        decision = decide(one, running(one), pods, at(60))
        assert state(decision) == ["Running=False", "Created=True", "Failed=True"]
        assert decision.status["completionTime"] == stamp(60)
        message = (
            "MSJob default/train has failed: pod train-worker-1 failed: container mindspore exited with code 137"
            " (OOMKilled)."
        )
        assert decision.events == (
            Event(
                EventType.WARNING,
                EventReason.EXITED_WITH_CODE,
                "Pod default/train-worker-1 exited with code 137",
            ),
            Event(EventType.WARNING, Reason.FAILED, message),
        )
        failed = conditions.find(decision.status["conditions"], ConditionType.FAILED) or {}
        assert (failed["reason"], failed["message"]) == ("MSJobFailed", message)
        assert set(decision.delete_pods) == {(S, 0), (W, 0)}
        assert decision.delete_service
        assert active(decision) == 0
        assert decision.status["replicaStatuses"]["Worker"]["failed"] == 1

    def test_failure_before_the_start_is_complete(self) -> None:
        """A job fails although it never ran."""
        one = job()
        decision = decide(one, started(one), standing(one, Scheduler="P", Worker="F-"), at(5))
        assert state(decision) == ["Created=True", "Failed=True"]
        assert (decision.create_service, decision.create_pods) == (False, ())
        assert decision.delete_pods == ((S, 0),)

    def test_an_evicted_pod_fails_the_job(self) -> None:
        """A pod that failed without an exit code is named with the cluster's reason."""
        one = job(scheduler=None, worker=1)
        decision = decide(one, running(one), of(pod(W, 0, "F", exit_code=None, cause="Evicted"), address=None), at(60))
        assert decision.events[-1].message == "MSJob default/train has failed: pod train-worker-0 failed (Evicted)."
        assert reasons(decision) == [Reason.FAILED]

    def test_at_first_sight(self) -> None:
        """A job that came to its end while no operator ran is created and ended in one step."""
        one = job(scheduler=None, worker=1)
        decision = decide(one, {}, of(pod(W, 0, "S"), address=None), at(60))
        assert state(decision) == ["Created=True", "Succeeded=True"]
        assert reasons(decision) == [Reason.CREATED, Reason.SUCCEEDED]
        assert decision.status["startTime"] == decision.status["completionTime"] == stamp(60)

    def test_the_scheduler_decides_nothing(self) -> None:
        """Its exit 0 before the Workers' ends nothing, its exit 1 after theirs spoils nothing, nor as a follower's."""
        one = job(success_policy="AllWorkers")
        early = decide(one, running(one), standing(one, Scheduler="S", Worker="RS"), at(50))
        assert state(early) == ["Created=True", "Running=True"]
        assert early.create_pods == ()
        late = decide(one, early.status, standing(one, Scheduler="F", Worker="SS"), at(60))
        assert state(late)[-1] == "Succeeded=True"
        follower = of(pod(S, 0, "F", seconds=34), pod(W, 0, "F", seconds=29), pod(W, 1, "F", code=137, seconds=0))
        assert "train-worker-1" in decide(one, running(one), follower, at(40)).events[-1].message

    def test_a_job_that_lasts_only_a_moment(self) -> None:
        """Pods that end between two looks end the job without its having run."""
        one = job()
        decision = decide(one, started(one), standing(one, Scheduler="S", Worker="SS"), at(5))
        assert state(decision) == ["Created=True", "Succeeded=True"]

    @pytest.mark.parametrize(
        ("policy", "pods", "service", "runs"),
        [("None", set(), False, 2), ("Running", {(S, 0), (W, 0)}, True, 0), ("All", {(S, 0), (W, 0), (W, 1)}, True, 0)],
    )
    def test_clean_up(self, policy: str, pods: set[Any], runs: int, *, service: bool) -> None:
        """The clean-up policy says what goes, and a status that stays for good counts only what stays running."""
        one = job(run_policy={"cleanPodPolicy": policy})
        decision = decide(one, running(one), standing(one, Scheduler="R", Worker="RF"), at(60))
        assert set(decision.delete_pods) == pods
        assert decision.delete_service is service
        assert active(decision) == runs

    def test_pods_on_their_way_out_are_not_active_for_good(self) -> None:
        """A pod that somebody else is deleting when the job fails does not stay in the final counts."""
        one = job()
        pods = of(pod(S, 0, deleting=True), pod(W, 0, "F"), pod(W, 1, deleting=True))
        assert active(decide(one, running(one), pods, at(60))) == 0

    def test_clean_up_is_finished_later(self) -> None:
        """What a first clean-up did not reach goes at the next look; the status stays as it is."""
        one = job()
        status = decide(one, running(one), standing(one, Scheduler="R", Worker="SR"), at(60)).status
        decision = decide(one, status, standing(one, Scheduler="R", Worker="S-"), at(70))
        assert decision == Decision(status, delete_pods=((S, 0),), delete_service=True)

    @pytest.mark.parametrize("end", ["S", "F"])
    @pytest.mark.parametrize("suspend", [False, True])
    def test_final(self, end: str, *, suspend: bool) -> None:
        """Nothing brings a finished job back: not lost pods or Service, not other exit codes, not its suspension."""
        one = job()
        status = decide(one, running(one), everywhere(one, end), at(60)).status
        again = job(suspend=suspend, worker=8)
        for seen in (
            NOTHING,
            of(),
            standing(one, Scheduler="S", Worker="-S"),
            standing(one, Scheduler="F", Worker="FF"),
        ):
            decision = decide(again, status, seen, at(99))
            assert decision.status == status
            assert (decision.create_service, decision.create_pods, decision.events) == (False, (), ())


class TestInvalid:
    """Jobs that break a rule."""

    PROBLEMS = (Problem(("spec", "msReplicaSpecs"), "at least one role is needed"),)

    def test_reject(self) -> None:
        """An invalid job fails for good, with its faults in condition and event."""
        decision = reject({}, list(self.PROBLEMS), 3, at(5))
        message = "The job is invalid: spec.msReplicaSpecs: at least one role is needed"
        assert decision == Decision(
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
        assert reject(decision.status, list(self.PROBLEMS), 4, at(9)) == Decision(decision.status)

    def test_reject_a_job_that_ran(self) -> None:
        """A job that is older than the rule it breaks leaves nothing behind that runs, now or at a later look."""
        one = job()
        seen = standing(one, Scheduler="R", Worker="RS")
        decision = reject(running(one), list(self.PROBLEMS), 4, at(50), seen)
        assert state(decision) == ["Running=False", "Created=True", "Failed=True"]
        assert (set(decision.delete_pods), decision.delete_service) == ({(S, 0), (W, 0)}, True)
        later = reject(decision.status, list(self.PROBLEMS), 4, at(51), standing(one, Scheduler="S", Worker="RS"))
        assert (later.status, later.delete_pods, later.delete_service) == (decision.status, ((W, 0),), True)
        assert later.events == ()

    def test_reject_a_suspended_job(self) -> None:
        """A job that is changed into an invalid one while suspended has failed and is suspended no more."""
        status = decide(job(suspend=True), {}, NOTHING, at(0)).status
        assert state(reject(status, list(self.PROBLEMS), 4, at(9))) == [
            "Suspended=False",
            "Created=True",
            "Failed=True",
        ]


class TestStalled:
    """Jobs that cannot go on for now."""

    def test_stall(self) -> None:
        """The state stays what it was, and a condition and one event tell of the trouble."""
        before = started(job())
        decision = stall(before, Reason.RENDER_FAILED, "no such field", at(5))
        assert state(decision) == ["Stalled=True", "Created=True"]
        assert decision.events == (Event(EventType.WARNING, Reason.RENDER_FAILED, "no such field"),)
        assert {**decision.status, "conditions": before["conditions"]} == before
        again = stall(decision.status, Reason.RENDER_FAILED, "no such field", at(9))
        assert again == Decision(decision.status)

    def test_without_a_status(self) -> None:
        """A job can stall before anything else is known of it."""
        assert state(stall({}, Reason.RENDER_FAILED, "why", at(5))) == ["Stalled=True"]

    @pytest.mark.parametrize("letter", ["P", "R"])
    def test_over(self, letter: str) -> None:
        """Once nothing is left to be made the job is stalled no more, whether its pods run yet or not."""
        one = job()
        stalled = stall(started(one), Reason.RENDER_FAILED, "why", at(5)).status
        assert "Stalled=True" in state(decide(one, stalled, NOTHING, at(6)))
        assert "Stalled=True" in state(decide(one, stalled, standing(one, Scheduler="P", Worker="P-"), at(6)))
        decision = decide(one, stalled, everywhere(one, letter), at(7))
        assert "Stalled=False" in state(decision)
        assert state(decision)[-1] == ("Running=True" if letter == "R" else "Created=True")

    def test_over_in_a_running_job(self) -> None:
        """Also a job that ran before and after it stalled."""
        one = job()
        stalled = stall(running(one), Reason.RENDER_FAILED, "why", at(20)).status
        decision = decide(one, stalled, everywhere(one, "R"), at(30))
        assert state(decision) == ["Stalled=False", "Created=True", "Running=True"]
        assert decision.events == ()

    @pytest.mark.parametrize("end", ["S", "F"])
    def test_over_at_the_end(self, end: str) -> None:
        """A job that ended is stalled no more."""
        one = job()
        stalled = stall(running(one), Reason.RENDER_FAILED, "why", at(20)).status
        assert "Stalled=False" in state(decide(one, stalled, everywhere(one, end), at(30)))


@pytest.mark.parametrize("status", [{}, {"conditions": None}, {"conditions": []}])
def test_any_form_of_no_status(status: dict[str, Any]) -> None:
    """A job whose status is missing or empty in any way is one that nobody has looked at."""
    one = job()
    assert reasons(decide(one, status, NOTHING, at(0))) == [Reason.CREATED]
    assert state(reject(status, list(TestInvalid.PROBLEMS), 1, at(0))) == ["Failed=True"]


def test_fields_of_others_are_kept() -> None:
    """Fields and conditions of a status that this version does not know stay."""
    other = {"type": "Example", "status": "True", "reason": "Because"}
    before = {"future": {"a": 1}, "conditions": [other]}
    decision = decide(job(), before, NOTHING, at(0))
    assert decision.status["future"] == {"a": 1}
    assert other in decision.status["conditions"]


def test_inputs_are_left_alone() -> None:
    """A decision shares nothing it changes with what it was given: caches hold that, too."""
    one = job()
    for seen in (NOTHING, of(), everywhere(one, "R"), everywhere(one, "S"), everywhere(one, "F")):
        status = running(one)
        before = deepcopy(status)
        assert decide(one, status, seen, at(50)) == decide(one, status, seen, at(50))
        assert status == before
