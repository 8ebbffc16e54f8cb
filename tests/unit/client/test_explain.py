"""Why a job is where it is: verdict, what bears it out, and what to do, for every way a job can stand."""

from datetime import timedelta
from typing import Any

import pytest

from msjob_client import Kind, MSJob, PodView
from msjob_client.explain import Operator, blame
from support.explained import GUILTY, NOW, condition, event, moment, pod, stored, told, waiting
from support.programs import ROOT

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
