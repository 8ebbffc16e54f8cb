"""Whatever status is stored and whatever is there: a decision is made, and made again it adds nothing."""

from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from msjob.api import FINISHED, ConditionType, EventReason, Job, Problem, Reason, Role
from msjob.api.status import MSJobStatus
from msjob_controller.policy import conditions
from msjob_controller.policy.decide import decide, reject, stall
from msjob_controller.policy.decision import Decision
from msjob_controller.policy.observed import Autoscaler, Observed, Pod, Service, Trouble
from support.jobs import msjob, role
from support.pods import START, at, pod
from support.properties import few

SHAPES: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"restart_policy": "OnFailure", "run_policy": {"backoffLimit": 2, "activeDeadlineSeconds": 500}},
    {"restart_policy": "ExitCode", "ps": 1, "run_policy": {"cleanPodPolicy": "None", "ttlSecondsAfterFinished": 60}},
    {"scheduler": None, "worker": 3, "restart_policy": "Always", "run_policy": {"cleanPodPolicy": "All"}},
    {"scheduler": None, "worker": 1, "restart_policy": "OnFailure"},
    {"scheduler": None, "launch_mode": "Msrun", "elastic_policy": {"maxReplicas": 4}},
    {"enable_dynamic_worker": True, "run_policy": {"startupDeadlineSeconds": 100, "forceDeleteAfterSeconds": 60}},
    {"scheduler": role(restart_policy="OnFailure", restart_scope="Pod"), "success_policy": "AllWorkers"},
    {"worker": None},
    {"suspend": True},
    {
        "restart_policy": "OnFailure",
        "run_policy": {
            "failurePolicy": {
                "rules": [
                    {"action": "IgnorePod", "onExitCodes": {"operator": "In", "values": [3]}},
                    {"action": "RestartIgnoringLimit", "onPodReasons": ["OOMKilled"]},
                ]
            }
        },
    },
)

numbers = st.integers(-2, 4) | st.sampled_from([-(2**31), 2**31 - 1])
restarts = st.integers(0, 4) | st.just(2**31 - 100)
seconds = st.integers(-100, 700)
times = st.one_of(
    seconds.map(lambda number: at(number).strftime("%Y-%m-%dT%H:%M:%SZ")),
    st.sampled_from(
        [
            "0001-01-01T00:00:00Z",
            "9999-12-31T23:59:59Z",
            "9999-12-31T23:59:59.999999999-23:59",
            "0001-01-01T00:00:00+23:59",
            "2026-01-02T03:04:05.123456789Z",
            "2026-01-02t03:04:05z",
        ]
    ),
)
"""Timestamps that pass for a date-time, odd ones among them."""

words = st.sampled_from(["", "Error", "Deleted", "x" * 1024, *Reason, *EventReason])


def record(required: dict[str, st.SearchStrategy[Any]], **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An object of the schema: these fields, and perhaps those."""
    return st.fixed_dictionaries(required, optional=optional)


listed_conditions = record(
    {
        "type": st.sampled_from([*ConditionType, *ConditionType, "Example"]).map(str),
        "status": st.sampled_from(["True", "True", "False", "Unknown"]),
    },
    reason=words,
    message=st.sampled_from(["", "why"]),
    lastUpdateTime=times,
    lastTransitionTime=times,
)
roles = st.sampled_from(["Scheduler", "PS", "Worker", "worker", "Chief"])
statuses = record(
    {},
    conditions=st.lists(listed_conditions, max_size=8, unique_by=lambda item: str(item["type"])),
    replicaStatuses=st.dictionaries(
        roles,
        record(
            {},
            active=numbers,
            succeeded=numbers,
            failed=numbers,
            selector=st.just("a=b"),
            ignoredIndexes=st.sampled_from(["", "0", "1", "0-1"]),
            completedIndexes=st.sampled_from(["", "0", "0-1", "1,3-9", "0-99999999999", "x", "-"]),
            labelSelector=st.just({"matchLabels": {"a": "b"}}),
        ),
        max_size=3,
    ),
    startTime=times,
    completionTime=times,
    observedGeneration=numbers,
    workersReady=st.sampled_from(["", "1/2", "x"]),
    restarts=restarts,
    restartsCountTowardsLimit=restarts,
    attempt=st.integers(0, 4),
    readyAttempt=st.integers(0, 2),
    workerReplicas=st.integers(0, 5),
    kubeletRestarts=restarts,
    nextRestartTime=times,
    replacements=st.lists(
        record(
            {
                "pod": st.sampled_from(["train-worker-0", "train-worker-1", "train-scheduler-0", "other"]),
                "uid": st.sampled_from(["uid-train-worker-0", "uid-train-worker-1", "other"]),
                "time": times,
            }
        ),
        max_size=4,
    ),
    lastFailure=record(
        {},
        pod=st.just("train-worker-0"),
        role=roles,
        index=numbers,
        exitCode=numbers,
        reason=words,
        time=times,
        node=st.just("node-worker-0"),
        attempt=numbers,
        countsTowardsLimit=st.booleans(),
    ),
)
"""Statuses that the schema admits, whoever wrote them."""

troubles = st.none() | st.builds(
    Trouble,
    st.sampled_from(["Unschedulable", "ErrImagePull", "CrashLoopBackOff", "Other"]),
    st.just("why"),
    st.sampled_from(["", "mindspore", "logs"]),
)


@st.composite
def pods(draw: st.DrawFn) -> Pod:
    """Pods of the job in any state."""
    which = draw(st.sampled_from([Role.SCHEDULER, Role.PS, Role.WORKER, Role.WORKER]))
    found = pod(
        which,
        0 if which is Role.SCHEDULER else draw(st.integers(0, 3)),
        draw(st.sampled_from("PRRRSF")),
        code=draw(st.sampled_from([1, 3, 137])),
        seconds=draw(st.integers(0, 20)),
        attempt=draw(st.sampled_from([0, 0, 1, 2])),
        trouble=draw(troubles),
        reason=draw(st.sampled_from(["", "", "Evicted", "OOMKilled"])),
    )
    if draw(st.booleans()):
        found = replace(found, restart_count=draw(st.integers(0, 3)), kubelet_restarts=draw(st.booleans()))
    if draw(st.integers(0, 4)) == 0:
        asked = START + timedelta(seconds=draw(st.integers(0, 30)))
        found = replace(found, deleting=True, asked_to_go=asked, gone_by=asked + timedelta(seconds=30))
    if draw(st.integers(0, 4)) == 0:
        found = replace(found, exit_code=None, finished_at=None, started=draw(st.booleans()))
    return found


services = st.none() | st.builds(
    Service, st.just("train-scheduler-0"), st.sampled_from(["", "10.96.0.7", "10.96.0.7"]), st.booleans()
)
owned = st.builds(
    lambda found, service, autoscaler, lost: Observed({item.key: item for item in found}, service, autoscaler, lost),
    st.lists(pods(), max_size=5),
    services,
    st.none() | st.builds(Autoscaler, st.just("train"), st.booleans()),
    st.frozensets(st.sampled_from(["node-worker-0", "node-worker-1", "node-scheduler-0"]), max_size=2),
)
jobs = st.sampled_from(SHAPES).map(lambda fields: Job.parse(msjob(generation=3, **fields)))


def check(one: Job, seen: Observed, told: Decision) -> None:
    """What holds for each decision, whatever it was made on."""
    MSJobStatus.model_validate(told.status)
    listed = told.status["conditions"]
    true = [item["type"] for item in listed if item["status"] == "True"]
    assert told.requeue_after is None or told.requeue_after >= 0
    assert not set(told.create_pods) & set(seen.pods), "a pod that is there is not made"
    for key in (*told.delete_pods, *told.force_delete_pods):
        assert key in seen.pods, "a pod that is not there is not deleted"
    assert not any(seen.pods[key].deleting for key in told.delete_pods), "nothing is deleted twice"
    assert not set(told.delete_pods) & set(told.force_delete_pods)
    assert len(set(told.create_pods)) == len(told.create_pods)
    number = told.status.get("attempt") or 0
    if told.create_pods:
        assert all(item.attempt == number for item in seen.pods.values()), "old pods are waited for"
        assert not one.suspended
    if conditions.finished(listed):
        assert (told.create_pods, told.create_service, told.create_autoscaler) == ((), False, False)
        assert {"Running", "Restarting", "Stalled"}.isdisjoint(true) or not told.events


@few
@given(jobs, statuses, owned, seconds)
def test_any_decision(one: Job, status: dict[str, Any], seen: Observed, second: int) -> None:
    """No status that the schema admits keeps the operator from deciding, and what it writes is admitted again."""
    before = deepcopy(status)
    check(one, seen, decide(one, status, seen, at(second)))
    assert status == before


@few
@given(jobs, statuses, owned, seconds)
def test_looking_again_adds_nothing(one: Job, status: dict[str, Any], seen: Observed, second: int) -> None:
    """On what it wrote itself the operator comes to rest: at the second look the first step is known, then all is.

    Nothing is told or counted again, and only what is not yet being deleted is asked to go once more.
    """
    first = decide(one, status, seen, at(second))
    second_look = decide(one, first.status, seen, at(second))
    rest = decide(one, second_look.status, seen, at(second))
    counted = ("restarts", "restartsCountTowardsLimit", "attempt", "lastFailure", "startTime", "completionTime")
    for told in (second_look, rest):
        check(one, seen, told)
        if first.status.get("restartsCountTowardsLimit") == told.status.get("restartsCountTowardsLimit"):
            assert [first.status.get(key) for key in counted] == [told.status.get(key) for key in counted]
    assert rest.events == ()
    assert rest.status == second_look.status
    assert set(rest.delete_pods) <= set(second_look.delete_pods)
    assert (rest.create_pods, rest.create_service) == (second_look.create_pods, second_look.create_service)


@few
@given(jobs, statuses, owned, owned, seconds)
def test_an_end_is_final(one: Job, status: dict[str, Any], seen: Observed, later: Observed, second: int) -> None:
    """Whatever happens after a job has ended, nothing of its status changes and nothing is made."""
    ended = decide(one, status, seen, at(second))
    if not conditions.finished(ended.status["conditions"]):
        ended = reject(ended.status, [Problem(("spec",), "no")], 3, at(second), seen)
    told = decide(one, ended.status, later, at(second + 100))
    assert told.status == ended.status
    assert (told.create_pods, told.create_service, told.create_autoscaler, told.events) == ((), False, False, ())
    true = [item["type"] for item in told.status["conditions"] if item["type"] in FINISHED and item["status"] == "True"]
    assert len(true) >= 1


@few
@given(statuses, owned, seconds, st.sampled_from([Reason.QUOTA, Reason.RENDER_FAILED]))
def test_any_job_that_cannot_be_read(status: dict[str, Any], seen: Observed, second: int, reason: Reason) -> None:
    """Neither does any status keep the operator from refusing a job, or from telling that it cannot go on."""
    refused = reject(status, [Problem(("spec",), "no")], 3, at(second), seen)
    MSJobStatus.model_validate(refused.status)
    assert conditions.finished(refused.status["conditions"])
    again = reject(refused.status, [Problem(("spec",), "no")], 3, at(second + 1), seen)
    assert (again.status, again.events) == (refused.status, ())
    stalled = stall(status, reason, "why", at(second))
    MSJobStatus.model_validate(stalled.status)
    assert conditions.is_true(stalled.status["conditions"], ConditionType.STALLED)
    assert stall(stalled.status, reason, "why", at(second + 1)).events == ()
