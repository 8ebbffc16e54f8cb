"""Jobs and pods of the Go operator, which this one takes over: its labels, its status, its way of saying things."""

from typing import Any

import pytest

from msjob.api import Job, Role
from msjob_controller.policy.decide import decide
from msjob_controller.policy.decision import Decision
from msjob_controller.policy.observed import Observed
from msjob_controller.policy.reading import observe
from support.decisions import at_rest, condition, job, reasons, state
from support.pods import ADDRESS, RUNNING, at, keys, pod_json, stamp, terminated

S, W = Role.SCHEDULER, Role.WORKER


def go_status(**more: Any) -> dict[str, Any]:
    """The status of a running job of one Scheduler and two Workers as the Go operator leaves it."""
    moment = {"lastUpdateTime": stamp(0), "lastTransitionTime": stamp(0)}
    return {
        "conditions": [
            {
                "type": "Created",
                "status": "True",
                "reason": "MSJobCreated",
                "message": "MSJob train is created.",
                **moment,
            },
            {
                "type": "Running",
                "status": "True",
                "reason": "MSJobRunning",
                "message": "MSJob default/train is running.",
                **moment,
            },
        ],
        "replicaStatuses": {
            "Scheduler": {"active": 1, "labelSelector": {"matchLabels": {"replica-type": "scheduler"}}},
            "Worker": {"active": 2},
        },
        "startTime": stamp(0),
        "lastReconcileTime": stamp(5),
        **more,
    }


def go_pod(role: Role, index: int = 0, spelling: str = "old", **fields: Any) -> dict[str, Any]:
    """A pod as the Go operator makes it: no number of an attempt, one or both spellings of its labels."""
    item = pod_json(role, index, **{"states": {"mindspore": RUNNING}, **fields})
    new = item["metadata"]["labels"]
    old = {"replica-type": role.slug, "replica-index": str(index)}
    general = {"group-name": "mindspore.gitee.com", "job-name": "train", "controller-name": "msjob-controller"}
    item["metadata"]["labels"] = general | {"old": old, "new": new, "both": old | new}[spelling]
    return item


def owned(*pods: dict[str, Any]) -> Observed:
    """What the job owns: these pods and the Service of the Scheduler."""
    service = {"metadata": {"name": "train-scheduler-0"}, "spec": {"clusterIP": ADDRESS}}
    return observe(pods, [service])


def leaves_pods_alone(told: Decision) -> bool:
    """Whether a decision makes and removes no pod."""
    return (told.create_pods, told.delete_pods, told.force_delete_pods) == ((), (), ())


@pytest.mark.parametrize("spelling", ["old", "new", "both"])
def test_a_running_job(spelling: str) -> None:
    """It runs on with the pods and the Service that it has; nothing is told again, and its start stays."""
    one = job()
    seen = owned(*(go_pod(role, index, spelling) for role, index in ((S, 0), (W, 0), (W, 1))))
    told = decide(one, go_status(), seen, at(100))
    assert leaves_pods_alone(told)
    assert (told.create_service, told.delete_service, told.events) == (False, False, ())
    assert state(told) == ["Created=True", "Running=True"]
    assert [item for item in told.status["conditions"] if item["type"] != "PodsReady"] == go_status()["conditions"]
    assert (told.status["startTime"], told.status["lastReconcileTime"]) == (stamp(0), stamp(5))
    assert (told.status["readyAttempt"], told.status["workerReplicas"]) == (0, 2)
    assert "attempt" not in told.status
    again = decide(one, told.status, seen, at(101))
    assert at_rest(again)
    assert again.status == told.status


@pytest.mark.parametrize("letter", ["missing", "Pending"])
def test_called_running_with_a_pod_missing(letter: str) -> None:
    """The Go operator calls a job running as soon as one pod is: what is missing is made, the rest left as it is."""
    pods = [go_pod(S), go_pod(W, 0)]
    if letter == "Pending":
        pods.append(go_pod(W, 1, phase="Pending", states=None))
    told = decide(job(), go_status(), owned(*pods), at(100))
    assert (told.create_pods, told.delete_pods) == (keys(W, 1) if letter == "missing" else (), ())
    assert state(told) == ["Created=True", "Running=True"]
    assert not {"readyAttempt", "restarts", "lastFailure"} & told.status.keys()


def test_restarting() -> None:
    """A job that the Go operator was restarting is so until all its pods run."""
    listed = [
        {"type": "Created", "status": "True", "reason": "MSJobCreated"},
        {"type": "Restarting", "status": "True", "reason": "MSJobRestarting"},
    ]
    part = owned(go_pod(S), go_pod(W, 0))
    told = decide(job(), go_status(conditions=listed), part, at(100))
    assert (told.create_pods, state(told)) == (keys(W, 1), ["Created=True", "Restarting=True"])
    runs = decide(job(), told.status, owned(go_pod(S), go_pod(W, 0), go_pod(W, 1)), at(110))
    assert (state(runs), reasons(runs)) == (["Created=True", "Running=True"], ["MSJobRunning"])


@pytest.mark.parametrize("kind", ["Succeeded", "Failed"])
def test_finished(kind: str) -> None:
    """A job that has ended stays as it is, with completionTime or without; its TTL counts all the same."""
    listed = [
        {"type": "Created", "status": "True", "reason": "MSJobCreated"},
        {"type": "Running", "status": "False", "reason": "MSJobRunning"},
        {"type": kind, "status": "True", "reason": f"MSJob{kind}", "lastTransitionTime": stamp(50)},
    ]
    status = go_status(conditions=listed)
    ended = owned(go_pod(W, 0, phase="Succeeded", states={"mindspore": terminated(0)}))
    told = decide(job(), status, ended, at(10**6))
    assert (told.status, leaves_pods_alone(told), told.events) == (status, True, ())
    brief = job(run_policy={"ttlSecondsAfterFinished": 60})
    assert decide(brief, status, ended, at(109)).requeue_after == 1
    assert decide(brief, status, ended, at(110)).delete_job


def test_a_failure_under_its_eyes() -> None:
    """A pod of the Go operator that fails is judged like any other, and the next attempt is the first with a number."""
    one = job(restart_policy="ExitCode")
    pods = [go_pod(S), go_pod(W, 0), go_pod(W, 1, phase="Failed", states={"mindspore": terminated(137, 90)})]
    told = decide(one, go_status(), owned(*pods), at(100))
    assert (told.status["attempt"], told.status["restarts"]) == (1, 1)
    assert set(told.delete_pods) == {(S, 0), *keys(W, 0, 1)}
    assert decide(one, told.status, owned(), at(101)).create_pods == ((S, 0), *keys(W, 0, 1))


def test_what_it_recreated() -> None:
    """Pods that the kubelet restarts, as the Go operator made them for OnFailure, run on; the limit holds for them."""
    limited = job(restart_policy="OnFailure", run_policy={"backoffLimit": 3})
    pods = [go_pod(role, index, restart_policy="OnFailure") for role, index in ((S, 0), (W, 0), (W, 1))]
    pods[2]["status"]["containerStatuses"][0]["restartCount"] = 2
    told = decide(limited, go_status(), owned(*pods), at(100))
    assert leaves_pods_alone(told)
    assert (told.status["restarts"], told.status["restartsCountTowardsLimit"]) == (2, 2)
    pods[2]["status"]["containerStatuses"][0]["restartCount"] = 4
    assert condition(decide(limited, told.status, owned(*pods), at(110)), "Failed")["reason"] == "BackoffLimitExceeded"


def test_success() -> None:
    """Its pods that have succeeded end the job."""
    done: dict[str, Any] = {"phase": "Succeeded", "states": {"mindspore": terminated(0)}}
    told = decide(job(), go_status(), owned(go_pod(S), go_pod(W, 0, **done), go_pod(W, 1)), at(100))
    assert state(told) == ["Running=False", "Created=True", "Succeeded=True"]


@pytest.mark.parametrize(
    "status",
    [
        {"conditions": None, "replicaStatuses": None},
        {"conditions": [], "replicaStatuses": {}},
        {"conditions": [], "replicaStatuses": {"Worker": {}}, "startTime": stamp(0)},
    ],
)
def test_a_status_that_it_had_only_begun(status: dict[str, Any]) -> None:
    """Pods that were made before the Go operator wrote a status are taken over, too."""
    seen = owned(go_pod(S), go_pod(W, 0), go_pod(W, 1))
    told = decide(job(), status, seen, at(100))
    assert leaves_pods_alone(told)
    assert (state(told), reasons(told)) == (["Created=True", "Running=True"], ["MSJobCreated", "MSJobRunning"])


@pytest.mark.parametrize("keys_in_spec", [("Scheduler", "Worker"), ("scheduler", "worker"), ("SCHEDULER", "WORKER")])
def test_role_keys(keys_in_spec: tuple[str, str]) -> None:
    """In whatever case a job spells its roles, its pods are found."""
    container = {"spec": {"containers": [{"name": "mindspore", "image": "x"}]}}
    roles = {key: {"replicas": count, "template": container} for key, count in zip(keys_in_spec, (1, 2), strict=True)}
    one = Job.parse({"metadata": {"name": "train", "generation": 1}, "spec": {"msReplicaSpecs": roles}})
    told = decide(one, go_status(), owned(go_pod(S), go_pod(W, 0), go_pod(W, 1)), at(100))
    assert leaves_pods_alone(told)
    assert state(told)[-1] == "Running=True"
