"""Why a job is where it is: verdict, what bears it out, and what to do, for every way a job can stand."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from msjob_client import EventView, Explanation, Kind, MSJob, PodView
from msjob_client.explain import Facts, Operator, blame, codes, explain, words
from support.jobs import Json, msjob
from support.programs import ROOT

NOW = datetime(2026, 12, 1, 12, 0, 0, tzinfo=UTC)
GUILTY: Json = {
    "pod": "train-worker-1",
    "role": "Worker",
    "index": 1,
    "container": "mindspore",
    "exitCode": 1,
    "reason": "Error",
    "node": "n7",
    "attempt": 0,
}


def moment(seconds: float) -> str:
    """A moment so many seconds after `NOW`."""
    return (NOW + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def condition(kind: str, reason: str = "", message: str = "", *, status: str = "True", age: float = 120) -> Json:
    """A condition that changed some seconds ago."""
    stamp = moment(-age)
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": stamp}


CREATED = condition("Created", "MSJobCreated", age=900)


def stored(*conditions: Json, managers: list[Json] | None = None, age: float = 900, **fields: Any) -> MSJob:
    """A job as it is stored; without conditions it has no status.

    Args:
        conditions: after `Created`.
        managers: `metadata.managedFields`.
        age: seconds since it was created.
        fields: `run_policy`, `status_…` for fields of the status, and what `msjob` takes.
    """
    status = {key.removeprefix("status_"): fields.pop(key) for key in list(fields) if key.startswith("status_")}
    if conditions:
        status = {"conditions": [CREATED, *conditions], "observedGeneration": 1, "startTime": moment(-600), **status}
    job = msjob(uid="u", generation=fields.pop("generation", 1), status=status or None, **fields)
    job["metadata"] |= {"creationTimestamp": moment(-age), "managedFields": managers or []}
    return MSJob.read(job)


def pod(name: str, phase: str = "Running", *, spec: Json | None = None, attempt: int = 0, **status: Any) -> PodView:
    """A pod of the job, on a node unless it is said to be on none."""
    role, _, index = name.rpartition("-")
    return PodView.read(
        {
            "metadata": {
                "name": f"train-{name}",
                "namespace": "default",
                "uid": name,
                "labels": {
                    "training.kubeflow.org/replica-type": role,
                    "training.kubeflow.org/replica-index": index,
                    "mindspore.gitee.com/restart-attempt": str(attempt),
                },
            },
            "spec": {"nodeName": "n1", "containers": [{"name": "mindspore"}], **(spec or {})},
            "status": {"phase": phase, "conditions": [{"type": "Ready", "status": "True"}], **status},
        }
    )


def waiting(reason: str, message: str = "", container: str = "mindspore") -> Json:
    """The status of a container that waits."""
    return {"name": container, "state": {"waiting": {"reason": reason, "message": message}}}


def event(reason: str, message: str, name: str = "train", *, age: float = 60, count: int = 1) -> EventView:
    """A warning."""
    when = NOW - timedelta(seconds=age)
    return EventView(when, when, "Warning", reason, message, count, "Pod", name)


def told(job: MSJob | None, *pods: PodView, **facts: Any) -> Explanation:
    """Explain it."""
    return explain(Facts("train", "default", job, pods=pods, **facts), NOW)


# -- not there, or nobody's ----------------------------------------------------------------------------------------


def test_nothing_is_installed() -> None:
    """The way to install it is told."""
    found = told(None, installed=False)
    assert (found.kind, found.verdict) == (Kind.NOT_INSTALLED, "This cluster knows no MSJobs.")
    assert "kubectl apply -f dist/" in found.advice[0]


def test_there_is_none() -> None:
    """What is known of an earlier one, and of one elsewhere, is told."""
    found = told(None)
    assert (found.kind, found.verdict) == (Kind.NOT_FOUND, "There is no MSJob train in namespace default.")
    assert found.advice == ("`msjob get -A` lists the jobs of all namespaces",)
    expired = told(None, events=(event("SuccessfulDeleteJob", "x", age=180),), elsewhere=("a", "b"))
    assert expired.because == (
        "One was deleted 3 min ago, as its ttlSecondsAfterFinished had passed.",
        "One of that name is in namespace a, namespace b.",
    )
    assert expired.advice == ("`msjob why train -n a`",)
    assert told(None, events=(event("MSJobRunning", "x"),)).because == ("There was one: its last event came 60 s ago.",)


def test_it_is_being_deleted() -> None:
    """Why it is still there: what it owns, or a finalizer of somebody else's."""
    job = dict(stored(condition("Running")).raw)
    job["metadata"] = {**job["metadata"], "deletionTimestamp": moment(-30), "finalizers": ["example.com/keep"]}
    found = told(MSJob.read(job), pod("worker-0"))
    assert (found.kind, found.verdict) == (Kind.DELETING, "MSJob train is being deleted for 30 s.")
    assert found.because == ("1 pod of it is left.", "It goes once example.com/keep is taken off its finalizers.")


def test_another_controller_runs_it() -> None:
    """It is named."""
    found = told(stored(managed_by="kueue.x-k8s.io/multikueue"))
    assert found.kind is Kind.MANAGED_ELSEWHERE
    assert found.verdict.startswith("MSJob train is left to kueue.x-k8s.io/multikueue, and the operator")


OPERATORS = {
    "away": (
        (Operator("sys", "ms-operator", 1, 0),),
        "Deployment ms-operator in namespace sys has 0 of 1 replica ready.",
    ),
    "none": ((), "No namespace has a Deployment of the operator; it may also run outside the cluster."),
    "unknown": (None, "Whether the operator is there cannot be seen with your rights."),
}


@pytest.mark.parametrize(("operators", "said"), OPERATORS.values(), ids=OPERATORS)
def test_no_operator_acts(operators: tuple[Operator, ...] | None, said: str) -> None:
    """A job without a status after a while, and one whose last change was not looked at."""
    found = told(stored(), operators=operators)
    assert (found.kind, found.verdict) == (Kind.NO_OPERATOR, "No operator acts on MSJob train.")
    assert found.because == ("It was created 15 min ago and has no status.", said)
    assert found.advice
    changed = [{"manager": "kubectl", "operation": "Update", "time": moment(-60), "fieldsV1": {}}]
    late = told(stored(condition("Running"), generation=2, managers=changed), operators=operators)
    assert late.because[0] == "It was last changed 60 s ago and that is not in its status."


def test_an_operator_has_a_moment() -> None:
    """A job that is seconds old is not looked at yet, and that is all."""
    found = told(stored(age=3))
    assert (found.kind, found.verdict) == (
        Kind.WAITING,
        "MSJob train has no pods yet: the operator has not looked at it yet.",
    )
    status_only = [{"manager": "ms-operator", "subresource": "status", "time": moment(-60)}]
    assert told(stored(condition("Running"), generation=2, age=5, managers=status_only)).kind is Kind.RUNNING


# -- suspended, stalled --------------------------------------------------------------------------------------------


def test_it_is_suspended() -> None:
    """Since when, and by whom, as far as the fields' owners tell."""
    owner = {
        "manager": "kueue",
        "time": moment(-200),
        "fieldsV1": {"f:spec": {"f:runPolicy": {"f:suspend": {}}}},
    }
    found = told(stored(condition("Suspended", "MSJobSuspended", age=180), suspend=True, managers=[owner]))
    assert (found.kind, found.verdict) == (Kind.SUSPENDED, "MSJob train is suspended for 3 min.")
    assert found.because[0] == "kueue set runPolicy.suspend 3 min ago."
    assert found.advice[0].startswith("`msjob resume train -n default` lets it run")


def test_it_is_being_suspended() -> None:
    """The pods that are left are named, and what holds them up."""
    stuck = condition("Stalled", "PodStuckTerminating", "pod train-worker-0: it is being deleted on node n1")
    found = told(
        stored(stuck, condition("Suspended", "MSJobSuspending", status="False"), suspend=True), pod("worker-0")
    )
    assert found.kind is Kind.SUSPENDING
    assert found.because == (
        "It waits for pod train-worker-0 to go.",
        "pod train-worker-0: it is being deleted on node n1.",
    )
    assert found.reason == "PodStuckTerminating"
    assert found.advice


STALLS = {
    "Unschedulable": "the scheduler finds no place for a pod",
    "ImagePullBackOff": "an image cannot be pulled",
    "CreateContainerError": "a container cannot be made",
    "CrashLoopBackOff": "a container ends again and again",
    "PodStuckTerminating": "a pod of before does not go",
    "ServiceNotReady": "its Service has no address yet, which its pods need",
    "QuotaExceeded": "a quota of the namespace is used up",
    "Forbidden": "the operator may not make a pod",
    "AdmissionDenied": "an admission webhook or policy denies a pod",
    "NameTaken": "a name that it needs belongs to something else",
    "CreateFailed": "the API server could not make what it needs",
    "MSJobRenderFailed": "the construct of this site failed on it",
}


@pytest.mark.parametrize(("reason", "said"), STALLS.items(), ids=STALLS)
def test_something_keeps_it_from_going_on(reason: str, said: str) -> None:
    """The operator's words, the pod, advice, and when the job gives up."""
    stall = condition("Stalled", reason, "pod train-worker-0: the words")
    job = stored(stall, run_policy={"startupDeadlineSeconds": 900})
    found = told(job, pod("worker-0", "Pending"))
    assert (found.kind, found.verdict) == (Kind.STALLED, f"MSJob train cannot go on for 2 min: {said}.")
    assert found.because == (
        "pod train-worker-0: the words.",
        "The operator goes on trying; the job fails in 5 min (12:05:00 UTC) if that does not help.",
    )
    assert found.advice
    assert (found.pod, found.reason, found.next_time) == ("train-worker-0", reason, NOW + timedelta(minutes=5))


def test_every_reason_of_a_stall_is_known() -> None:
    """As docs/reference/status.md lists them."""
    page = (ROOT / "docs/reference/status.md").read_text()
    listed = {line.split("`")[3] for line in page.splitlines() if line.startswith("| `Stalled` | True |")}
    assert listed == set(STALLS)


def test_it_runs_though_something_stalls() -> None:
    """Such as a pod that is made again by itself."""
    stall = condition("Stalled", "Unschedulable", "pod train-worker-0: no place")
    assert "(it is Running all the same)" in told(stored(stall, condition("Running"))).verdict


# -- starting, running, restarting ---------------------------------------------------------------------------------


def test_it_has_no_pods_yet() -> None:
    """They wait for the address of the Service, or are being made."""
    job = stored(condition("PodsReady", status="False"))
    assert told(job).verdict == (
        "MSJob train has no pods yet: its Service has no address yet, which they need as MS_SCHED_HOST."
    )
    failed = event("FailedCreatePod", "pods are forbidden")
    made = told(job, services=({"spec": {"clusterIP": "10.0.0.1"}},), events=(failed, event("Other", "x")))
    assert made.verdict == "MSJob train has no pods yet: the operator is making them."
    assert made.because == ("pods are forbidden.",)


def test_it_starts() -> None:
    """Pods that wait for the same are told of together, each with what it waits for."""
    nowhere = {"nodeName": ""}
    no_place = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}
    init = {"name": "fetch", "state": {"running": {"startedAt": moment(-30)}}}
    pods = [
        pod("scheduler-0"),
        pod("worker-0", "Pending", spec=nowhere),
        pod("worker-1", "Pending", spec=nowhere),
        pod("worker-2", "Pending", spec=nowhere, conditions=[no_place]),
        pod("worker-3", "Pending", containerStatuses=[waiting("ContainerCreating")]),
    ]
    warning = event("FailedMount", 'secret "s" not found', "train-worker-3", count=5)
    job = stored(condition("PodsReady", status="False"), run_policy={"startupDeadlineSeconds": 630})
    found = told(job, *pods, events=(warning,))
    assert found.verdict == "MSJob train is starting: 1 of 5 pods run."
    assert found.because == (
        "Pods train-worker-0, train-worker-1: no node yet.",
        "Pod train-worker-2: no place: 0/3 nodes.",
        'Pod train-worker-3: FailedMount: secret "s" not found (5 times).',
        "It fails in 30 s (12:00:30 UTC) unless all run by then (startupDeadlineSeconds).",
    )
    assert (found.kind, found.pod) == (Kind.STARTING, "train-worker-0")
    assert any("volumes" in line for line in found.advice)

    def waits(pod: PodView) -> str:
        return told(job, pod).because[0]

    spec = {"initContainers": [{"name": "fetch"}], "containers": [{"name": "mindspore"}]}
    gated = pod("worker-0", "Pending", spec={"nodeName": "", "schedulingGates": [{"name": "example.com/gate"}]})
    assert "held back by example.com/gate" in waits(gated)
    assert "init container fetch runs for 30 s" in waits(
        pod("worker-0", "Pending", spec=spec, initContainerStatuses=[init])
    )
    config = waiting("CreateContainerConfigError", 'configmap "c" not found')
    assert waits(pod("worker-0", "Pending", containerStatuses=[config])) == (
        'Pod train-worker-0: container mindspore: CreateContainerConfigError: configmap "c" not found.'
    )
    assert (
        waits(pod("worker-0", "Pending")) == "Pod train-worker-0: on a node; images are pulled and containers are made."
    )


def test_it_runs() -> None:
    """How long, how many Workers are ready, what will end it, and what happened before."""
    job = stored(
        condition("Running", age=7500),
        run_policy={"activeDeadlineSeconds": 7200},
        status_workersReady="3/4",
        status_restarts=2,
        status_lastFailure={**GUILTY, "time": moment(-8000)},
    )
    late = pod("worker-1", conditions=[{"type": "Ready", "status": "False"}])
    found = told(job, pod("worker-0"), late)
    assert (found.kind, found.verdict) == (Kind.RUNNING, "MSJob train runs for 2 h 5 min.")
    assert job.last_failure is not None
    assert found.because == (
        "3/4 Workers ready.",
        "Pod train-worker-1 is not ready: a probe says so, or a container beside mindspore has ended.",
        "It fails in 1 h 50 min (13:50:00 UTC) unless it ends before (activeDeadlineSeconds).",
        f"It was restarted 2 times; the last one because {blame.what(job.last_failure)} 2 h 13 min ago.",
    )
    assert found.advice == ()
    near = told(stored(condition("Running"), run_policy={"activeDeadlineSeconds": 700}))
    assert near.verdict == "MSJob train runs for 2 min, and fails in 100 s (12:01:40 UTC) unless it ends before."
    assert near.next_time == NOW + timedelta(seconds=100)
    assert near.advice


def test_it_is_restarted() -> None:
    """What it waits for by now: time, old pods, new pods."""
    said = "MSJob default/train is restarting: pod train-worker-1 failed; restart 2, 2 of 3 counted, in 10 s."
    fields: dict[str, Any] = {
        "run_policy": {"backoffLimit": 3},
        "status_attempt": 2,
        "status_restartsCountTowardsLimit": 2,
        "status_lastFailure": {**GUILTY, "exitCode": 137, "reason": "OOMKilled", "message": "out of memory"},
    }
    job = stored(condition("Restarting", "MSJobRestarting", said), status_nextRestartTime=moment(40), **fields)
    found = told(job)
    assert (found.kind, found.verdict) == (
        Kind.RESTARTING,
        "MSJob train is being restarted: its pods come in 40 s (12:00:40 UTC).",
    )
    assert found.because == (
        "It is restarting: pod train-worker-1 failed; restart 2, 2 of 3 counted, in 10 s.",
        "Exit code 137: it used more memory than its limit and was killed (SIGKILL).",
        "It said: out of memory.",
        "That was in attempt 0 on node n7.",
        "2 of 3 restarts are used up.",
    )
    assert "memory limit" in found.advice[0]
    assert (found.exit_code, found.node, found.next_time) == (137, "n7", NOW + timedelta(seconds=40))
    job = stored(condition("Restarting", "MSJobRestarting", said), **fields)
    assert told(job, pod("worker-0", attempt=1)).verdict.endswith("pod train-worker-0 of the attempt before to go.")
    assert told(job, pod("worker-0", attempt=2)).verdict.endswith("1 of 1 pod of attempt 2 run.")
    assert told(job).verdict.endswith("its pods are being made.")


# -- the end -------------------------------------------------------------------------------------------------------


def test_it_has_succeeded() -> None:
    """When, after how long, why, and when it goes."""
    end = condition(
        "Succeeded", "MSJobSucceeded", "MSJob default/train successfully completed: all 2 Workers succeeded."
    )
    job = stored(
        end,
        run_policy={"ttlSecondsAfterFinished": 600},
        status_completionTime=moment(-300),
        status_restarts=1,
    )
    found = told(job)
    assert (found.kind, found.verdict) == (Kind.SUCCEEDED, "MSJob train succeeded 5 min ago after 5 min.")
    assert found.because == (
        "It successfully completed: all 2 Workers succeeded.",
        "It was restarted 1 time, 0 of them counted.",
        "It is deleted in 5 min (12:05:00 UTC) (ttlSecondsAfterFinished).",
    )
    assert (found.exit_code, found.advice) == (0, ())
    kept = stored(end, run_policy={"ttlSecondsAfterFinished": 600, "suspend": True}, status_completionTime=moment(-300))
    assert told(kept).next_time is None


FAILURES: dict[str, tuple[str, Json | None, Json, str, str]] = {
    "code": (
        "MSJobFailed",
        GUILTY,
        {},
        "container mindspore of pod train-worker-1 ended with exit code 1",
        "restartPolicy OnFailure with a backoffLimit",
    ),
    "limit": (
        "BackoffLimitExceeded",
        {**GUILTY, "exitCode": 139},
        {"backoffLimit": 3},
        "container mindspore of pod train-worker-1 ended with exit code 139, and backoffLimit 3 is used up",
        "driver, CANN or CUDA",
    ),
    "memory": (
        "MSJobFailed",
        {**GUILTY, "exitCode": 137, "reason": "OOMKilled"},
        {},
        "container mindspore of pod train-worker-1 ended with exit code 137 (OOMKilled)",
        "raise the memory limit",
    ),
    "node": (
        "MSJobFailed",
        {"pod": "train-worker-1", "reason": "NodeLost", "node": "n7"},
        {},
        "pod train-worker-1 was lost with node n7",
        "disruptions do not count",
    ),
    "deleted": ("MSJobFailed", {"pod": "p", "reason": "Deleted"}, {}, "pod p was deleted", "disruptions do not count"),
    "evicted": ("MSJobFailed", {"pod": "p", "reason": "Evicted"}, {}, "pod p failed (Evicted)", "resources.requests"),
    "unknown": ("MSJobFailed", None, {}, "a pod failed", "`msjob submit --replace"),
    "deadline": (
        "DeadlineExceeded",
        GUILTY,
        {"activeDeadlineSeconds": 60},
        "it ran longer than the 60 s of activeDeadlineSeconds",
        "activeDeadlineSeconds",
    ),
    "startup": (
        "StartupDeadlineExceeded",
        None,
        {"startupDeadlineSeconds": 60},
        "not all of its pods ran within startupDeadlineSeconds of 60 s",
        "startupDeadlineSeconds",
    ),
    "invalid": ("MSJobFailedValidation", None, {}, "it breaks a rule", "`msjob validate -f FILE` finds the line"),
}


@pytest.mark.parametrize(("reason", "failure", "policy", "cause", "help_"), FAILURES.values(), ids=FAILURES)
def test_it_has_failed(reason: str, failure: Json | None, policy: Json, cause: str, help_: str) -> None:
    """The cause in the verdict; the operator's words, and what to do."""
    end = condition("Failed", reason, "MSJob default/train has failed: the words.")
    job = stored(end, run_policy=policy, status_completionTime=moment(-180), status_lastFailure=failure)
    found = told(job)
    assert (found.kind, found.verdict) == (Kind.FAILED, f"MSJob train failed 3 min ago: {cause}.")
    assert found.because[0] == "It has failed: the words."
    assert help_ in " ".join(found.advice)
    assert found.advice[-1].startswith("`msjob submit --replace -n default -f FILE` runs it anew")
    if reason == "DeadlineExceeded":
        assert "Before that container mindspore of pod train-worker-1 ended with exit code 1." in found.because


def test_the_log_of_the_guilty_pod_is_pointed_at() -> None:
    """While the pod is there."""
    end = condition("Failed", "MSJobFailed", "x")
    job = stored(end, status_completionTime=moment(-180), status_lastFailure=GUILTY)
    assert not any("msjob logs" in line for line in told(job).advice)
    found = told(job, pod("worker-1", "Failed"))
    assert "read its log with `msjob logs train -n default --role worker --index 1`" in found.advice
    # A later pod of that name has another log.
    assert not any("msjob logs" in line for line in told(job, pod("worker-1", attempt=1)).advice)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (1, "did not handle"),
        (127, "not in the image"),
        (135, "shared memory"),
        (143, "SIGTERM"),
        (136, "SIGFPE"),
        (77, "own"),
    ],
)
def test_exit_codes(code: int, said: str) -> None:
    """What they mean."""
    assert said in codes.meaning(code)


def test_as_json() -> None:
    """For programs: what is empty is left out."""
    end = condition("Failed", "MSJobFailed", "x")
    found = told(stored(end, status_completionTime=moment(-180), status_lastFailure=GUILTY)).to_json()
    assert json.loads(json.dumps(found)) == found
    assert found["kind"] == "Failed"
    assert found["exitCode"] == 1
    assert (found["pod"], found["node"], found["state"], found["reason"]) == (
        "train-worker-1",
        "n7",
        "Failed",
        "MSJobFailed",
    )
    assert "nextTime" not in found
    assert told(None).to_json().keys() == {"job", "namespace", "kind", "verdict", "advice"}


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (119, "119 s"),
        (120, "2 min"),
        (3599, "59 min"),
        (3600, "1 h"),
        (7500, "2 h 5 min"),
        (100_000, "1 d 3 h"),
    ],
)
def test_spans(seconds: float, said: str) -> None:
    """Lengths of time as people say them."""
    assert words.span(seconds) == said


def test_odd_values_do_no_harm() -> None:
    """A status that is nonsense is explained as far as it goes."""
    job = stored(
        condition("Running", age=-500),
        run_policy={"activeDeadlineSeconds": 2**53, "ttlSecondsAfterFinished": "soon"},
        status_startTime="9999-12-31T23:59:59Z",
        status_nextRestartTime=5,
        status_lastFailure={"exitCode": "x"},
    )
    assert told(job).verdict == "MSJob train runs."
