"""A job that goes on: what is missing is made, Service first, what has to go goes, and the status tells of it."""

from typing import Any

import pytest

from msjob.api import Role
from msjob_controller.policy.decide import decide
from msjob_controller.policy.observed import Observed, Service
from support.decisions import NOTHING, at_rest, begun, condition, job, reasons, running, state, whole_state
from support.pods import ADDRESS, at, everywhere, keys, leaving, of, pod, put_out, stamp, standing

S, P, W = Role.SCHEDULER, Role.PS, Role.WORKER


class TestService:
    """Pods need the address of the Service, and it needs nothing."""

    def test_first(self) -> None:
        """The first look makes the Service and nothing else."""
        told = decide(job(), {}, NOTHING, at(0))
        assert (told.create_service, told.create_pods, told.delete_pods) == (True, (), ())

    @pytest.mark.parametrize(
        "service", [Service("train-scheduler-0"), Service("train-scheduler-0", ADDRESS, deleting=True)]
    )
    def test_without_an_address(self, service: Service) -> None:
        """Before there is a Service that stays and has an address nothing is made, and no second one is asked for."""
        told = decide(job(), begun(job()), Observed({}, service), at(1))
        assert (told.create_service, told.create_pods) == (False, ())

    @pytest.mark.parametrize("fields", [{}, {"launch_mode": "None"}, {"worker": 1}])
    def test_of_jobs_that_need_none(self, fields: dict[str, Any]) -> None:
        """A job without a Scheduler gets its pods at the first look."""
        one = job(scheduler=None, **fields)
        told = decide(one, {}, NOTHING, at(0))
        assert (told.create_service, told.create_pods) == (False, keys(W, *range(one.replicas(W))))

    def test_under_msrun(self) -> None:
        """Under msrun Worker 0 is the host, and stands behind a Service."""
        one = job(scheduler=None, launch_mode="Msrun")
        assert decide(one, {}, NOTHING, at(0)).create_service
        assert decide(one, {}, of(), at(0)).create_pods == keys(W, 0, 1)

    def test_of_a_running_job(self) -> None:
        """A Service that vanished is made again, and no pod is made or lost meanwhile."""
        one = job()
        told = decide(one, running(one), Observed(everywhere(one, "R").pods), at(20))
        assert (told.create_service, told.create_pods, told.delete_pods) == (True, (), ())
        assert state(told) == ["Created=True", "Running=True"]

    def test_on_another_port(self) -> None:
        """A Service on a port that the next Scheduler will not listen on is made anew, once no pod needs it."""
        one = job()
        by_go = Service("train-scheduler-0", ADDRESS, port=8118)
        assert not decide(one, running(one), Observed(everywhere(one, "R").pods, by_go), at(20)).delete_service
        next_attempt = running(one) | {"attempt": 1}
        assert not decide(one, next_attempt, Observed(everywhere(one, "R").pods, by_go), at(20)).delete_service
        told = decide(one, next_attempt, Observed({}, by_go), at(21))
        assert (told.delete_service, told.create_pods) == (True, ())
        same = Service("train-scheduler-0", ADDRESS, port=one.port)
        assert not decide(one, next_attempt, Observed({}, same), at(21)).delete_service

    def test_old_pods_go_meanwhile(self) -> None:
        """What has to go does not wait for an address."""
        one = job()
        status = running(one) | {"attempt": 1}
        told = decide(one, status, Observed(everywhere(one, "R").pods), at(20))
        assert (told.create_service, set(told.delete_pods)) == (True, {(S, 0), *keys(W, 0, 1)})


class TestPods:
    """Which pods are made."""

    def test_all_at_once(self) -> None:
        """Once the address is known all are made: Scheduler, PS, Workers in their order."""
        one = job(worker=3, ps=2)
        told = decide(one, begun(one), of(), at(1))
        assert told.create_pods == ((S, 0), *keys(P, 0, 1), *keys(W, 0, 1, 2))
        assert told.status == begun(one)

    def test_only_what_is_missing(self) -> None:
        """Pods that are there, in whatever state, are not made again."""
        one = job(worker=5, enable_dynamic_worker=True)
        told = decide(one, begun(one), standing(one, Scheduler="P", Worker="R-FS-"), at(1))
        assert told.create_pods == keys(W, 1, 4)

    def test_none_that_has_succeeded(self) -> None:
        """A pod that succeeded and was deleted is not run again."""
        one = job(success_policy="AllWorkers")
        done = decide(one, running(one), standing(one, Scheduler="R", Worker="RS"), at(50))
        assert done.status["replicaStatuses"]["Worker"]["completedIndexes"] == "1"
        gone = decide(one, done.status, standing(one, Scheduler="R", Worker="R-"), at(60))
        assert (gone.create_pods, gone.events) == ((), ())
        assert state(gone) == ["Created=True", "Running=True"]
        end = decide(one, gone.status, standing(one, Scheduler="R", Worker="S-"), at(70))
        assert state(end)[-1] == "Succeeded=True"
        assert end.status["replicaStatuses"]["Worker"]["succeeded"] == 2

    def test_one_on_its_way_out(self) -> None:
        """Its name is taken until it is gone."""
        one = job()
        told = decide(one, begun(one), of(pod(S), pod(W, 0), leaving(W, 1, "P")), at(21))
        assert told.create_pods == ()

    def test_of_a_job_without_workers(self) -> None:
        """It gets the pods that it has."""
        one = job(worker=None, ps=1)
        told = decide(one, {}, of(), at(0))
        assert told.create_pods == ((S, 0), (P, 0))
        assert "workersReady" not in told.status

    def test_surplus(self) -> None:
        """Pods beyond the replicas, or of a role that the job has no more, are removed, once."""
        seen = of(pod(S), pod(P, 0), pod(W, 0), pod(W, 1), leaving(W, 2, asked=9), pod(W, 7, "F"))
        told = decide(job(), begun(job()), seen, at(9))
        assert set(told.delete_pods) == {(P, 0), (W, 7)}

    def test_that_turn_up_twice(self) -> None:
        """A pod that was made against a stale view is of the same attempt and the same name: it is simply there."""
        one = job()
        assert at_rest(decide(one, running(one), everywhere(one, "R"), at(30)))

    def test_an_ignored_one(self) -> None:
        """A pod that the job goes on without stays as it is: it tells what happened."""
        rule = {"action": "IgnorePod", "replicaTypes": ["Worker"]}
        one = job(run_policy={"failurePolicy": {"rules": [rule]}})
        told = decide(one, running(one), standing(one, Scheduler="R", Worker="RF"), at(60))
        assert (told.delete_pods, told.create_pods, told.events) == ((), (), ())
        assert state(told) == ["Created=True", "Running=True"]
        assert "lastFailure" not in told.status


class TestRunning:
    """When a job runs."""

    def test_when_all_do(self) -> None:
        """The job runs when all its pods do; from then on the condition stays as it is."""
        one = job()
        not_yet = decide(one, begun(one), standing(one, Scheduler="R", Worker="RP"), at(5))
        assert state(not_yet) == ["Created=True"]
        assert (not_yet.status["workersReady"], "readyAttempt" in not_yet.status) == ("1/2", False)
        runs = decide(one, not_yet.status, everywhere(one, "R"), at(10))
        assert state(runs) == ["Created=True", "Running=True"]
        assert [(event.type, event.message) for event in runs.events] == [("Normal", "MSJob default/train is running.")]
        assert (runs.status["startTime"], runs.status["readyAttempt"]) == (stamp(0), 0)
        again = decide(one, runs.status, everywhere(one, "R"), at(99))
        assert at_rest(again)
        assert again.status == runs.status

    def test_not_before_the_last_one(self) -> None:
        """A pod that is on its way out will be missing."""
        one = job()
        told = decide(one, begun(one), of(pod(S), pod(W, 0), leaving(W, 1, "P")), at(21))
        assert state(told) == ["Created=True"]

    def test_without_some(self) -> None:
        """Pods that the job goes on without are not waited for."""
        one = job(enable_dynamic_worker=True)
        assert state(decide(one, begun(one), standing(one, Scheduler="R", Worker="RF"), at(5)))[-1] == "Running=True"
        assert state(decide(one, begun(one), standing(one, Scheduler="R", Worker="RP"), at(5)))[-1] == "Created=True"

    def test_a_worker_that_joins_later(self) -> None:
        """With enableDynamicWorker a Worker that vanished is made again, and the job runs all the time."""
        one = job(enable_dynamic_worker=True)
        told = decide(one, running(one), of(pod(S), pod(W, 0)), at(20))
        assert (told.create_pods, state(told)) == (keys(W, 1), ["Created=True", "Running=True"])
        assert "restarts" not in told.status


class TestPodsReady:
    """The condition PodsReady."""

    @pytest.mark.parametrize(
        ("pods", "status", "reason"),
        [
            ([], "False", "PodsNotReady"),
            ([pod(S), pod(W, 0), pod(W, 1)], "True", "PodsReady"),
            ([pod(S), pod(W, 0, ready=False), pod(W, 1)], "False", "PodsNotReady"),
            ([pod(S, 0, "S"), pod(W, 0), pod(W, 1)], "True", "PodsReady"),
            ([pod(S), pod(W, 0), pod(W, 1, "P")], "False", "PodsNotReady"),
        ],
    )
    def test_all_or_not(self, pods: list[Any], status: str, reason: str) -> None:
        """True when each pod is ready or has succeeded; it stands before the state and is no event."""
        told = decide(job(), begun(job()), of(*pods), at(5))
        assert (condition(told, "PodsReady")["status"], condition(told, "PodsReady")["reason"]) == (status, reason)
        assert whole_state(told)[-1] != "PodsReady=True"
        assert "PodsReady" not in reasons(told)

    def test_while_some_become_ready(self) -> None:
        """The condition stays as it is until the last one is, and its message is true all the while."""
        one = job()
        status = begun(one)
        first = condition(status, "PodsReady")
        for line in ("PP", "RP", "RR"):
            status = decide(one, status, standing(one, Scheduler="P", Worker=line), at(5)).status
            assert condition(status, "PodsReady") == first
        assert first["message"] == "Not all pods are ready."

    def test_a_probe_that_fails(self) -> None:
        """A job whose pod is not ready any more still runs."""
        one = job()
        told = decide(one, running(one), of(pod(S), pod(W, 0, ready=False), pod(W, 1)), at(50))
        assert whole_state(told) == ["PodsReady=False", "Created=True", "Running=True"]
        assert told.events == ()

    def test_of_a_new_attempt(self) -> None:
        """Pods of an earlier attempt are none that the job needs."""
        one = job()
        told = decide(one, running(one) | {"attempt": 1}, everywhere(one, "R"), at(50))
        assert condition(told, "PodsReady")["status"] == "False"

    def test_without_some(self) -> None:
        """Nor is a pod that the job goes on without."""
        one = job(enable_dynamic_worker=True)
        told = decide(one, running(one), of(pod(S), pod(W, 0), put_out(W, 1)), at(50))
        assert condition(told, "PodsReady")["status"] == "True"
