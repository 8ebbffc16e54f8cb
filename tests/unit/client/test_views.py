"""Stored objects as views: what they say, and that nothing in them makes reading fail."""

import contextlib
from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msjob_client import EventView, MSJob, PodView, Table
from msjob_client.event import about
from msjob_client.pod import in_order
from support.jobs import Json, msjob

NOON = "2026-12-01T12:00:00Z"

ODD: list[Any] = [
    None,
    True,
    -5,
    2**70,
    1.5,
    "",
    "x",
    NOON,
    "9999-99-99T00:00:00Z",
    [],
    [None],
    [1],
    {},
    {"a": 1},
    [{}],
]
"""What may stand where something else should."""


def paths(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """All places in an object but its root."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from paths(item, (*path, key))
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from paths(item, (*path, place))


@st.composite
def damaged(draw: st.DrawFn, example: Json) -> Json:
    """An object in which something odd stands in up to three places."""
    obj = deepcopy(example)
    for path in draw(st.lists(st.sampled_from(list(paths(example))), max_size=3)):
        *way, last = path
        place: Any = obj
        with contextlib.suppress(LookupError, TypeError):  # what was damaged before
            for key in way:
                place = place[key]
            place[last] = draw(st.sampled_from(ODD))
    return obj


def a_job() -> Json:
    """A job with every field of its status that is read."""
    job = msjob(
        "train",
        namespace="ns",
        uid="u",
        generation=3,
        worker=4,
        suspend=False,
        status={
            "conditions": [
                {"type": "Created", "status": "True", "reason": "MSJobCreated", "lastTransitionTime": NOON},
                {"type": "Stalled", "status": "True", "reason": "Unschedulable", "message": "no place"},
                {"type": "Running", "status": "True", "reason": "MSJobRunning", "message": "It runs."},
            ],
            "replicaStatuses": {"Worker": {"active": 3, "failed": 1}, "Scheduler": {"active": 1}},
            "workersReady": "3/4",
            "attempt": 2,
            "restarts": 5,
            "restartsCountTowardsLimit": 4,
            "startTime": NOON,
            "nextRestartTime": NOON,
            "observedGeneration": 3,
            "lastFailure": {"pod": "train-worker-1", "role": "Worker", "index": 1, "exitCode": 137, "time": NOON},
        },
    )
    job["metadata"]["creationTimestamp"] = NOON
    return job


def a_pod(name: str = "train-worker-1", **labels: str) -> Json:
    """A running pod of a job."""
    return {
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": "p",
            "creationTimestamp": NOON,
            "labels": {
                "training.kubeflow.org/replica-type": "worker",
                "training.kubeflow.org/replica-index": "1",
                "mindspore.gitee.com/restart-attempt": "2",
                **labels,
            },
        },
        "spec": {
            "nodeName": "n",
            "initContainers": [{"name": "fetch"}, {"name": "proxy", "restartPolicy": "Always"}],
            "containers": [{"name": "mindspore", "env": [{"name": "MS_NODE_ID", "value": "1"}]}, {"name": "logs"}],
        },
        "status": {
            "phase": "Running",
            "podIP": "10.0.0.1",
            "conditions": [
                {"type": "Ready", "status": "True"},
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no place"},
            ],
            "containerStatuses": [
                {
                    "name": "mindspore",
                    "restartCount": 3,
                    "ready": True,
                    "state": {"terminated": {"exitCode": 1, "reason": "Error", "startedAt": NOON, "finishedAt": NOON}},
                },
                {"name": "logs", "state": {"waiting": {"reason": "ImagePullBackOff", "message": " no image "}}},
            ],
        },
    }


def test_a_job() -> None:
    """Each attribute is what the object says."""
    noon = datetime(2026, 12, 1, 12, tzinfo=UTC)
    job = MSJob.read(a_job())

    assert (job.name, job.namespace, job.uid, job.created) == ("train", "ns", "u", noon)
    assert (job.state, job.reason, job.message) == ("Running", "MSJobRunning", "It runs.")
    assert (job.running, job.finished, job.succeeded, job.failed, job.suspended) == (True, False, False, False, False)
    assert (job.generation, job.observed_generation, job.suspend) == (3, 3, False)
    assert job.stalled is not None
    assert job.stalled.message == "no place"
    assert (job.workers, job.attempt, job.restarts, job.restarts_counted) == ("3/4", 2, 5, 4)
    assert (job.start_time, job.next_restart_time, job.completion_time) == (noon, noon, None)
    assert list(job.roles) == ["Scheduler", "Worker"]
    worker = job.roles["Worker"]
    assert (worker.replicas, worker.active, worker.succeeded, worker.failed, worker.key) == (4, 3, 0, 1, "Worker")
    assert job.last_failure is not None
    assert (job.last_failure.pod, job.last_failure.exit_code, job.last_failure.time) == ("train-worker-1", 137, noon)


def test_a_new_job() -> None:
    """Without a status nothing is known, and replicas are 1 unless set; roles may be spelled in any way."""
    body = msjob(worker=None)
    body["spec"]["msReplicaSpecs"]["WORKER"] = {"template": {}}
    job = MSJob.read(body)

    assert (job.state, job.conditions, job.workers, job.last_failure, job.start_time) == ("", (), "", None, None)
    assert (job.roles["Worker"].replicas, job.roles["Worker"].key) == (1, "WORKER")
    assert {job.finished, job.running, job.suspended} == {False}


@pytest.mark.parametrize(
    ("spec", "managed_by"),
    [
        ({}, ""),
        ({"managedBy": "mindspore.gitee.com/ms-operator"}, ""),
        ({"managedBy": "kueue.x-k8s.io/multikueue"}, "kueue.x-k8s.io/multikueue"),
        ({"runPolicy": {"managedBy": "kueue.x-k8s.io/multikueue"}}, "kueue.x-k8s.io/multikueue"),
    ],
)
def test_who_runs_it(spec: Json, managed_by: str) -> None:
    """Another controller is named, this operator is not."""
    assert MSJob.read({"spec": spec}).managed_by == managed_by


@settings(deadline=None)
@given(damaged(a_job()))
def test_any_job_can_be_read(obj: Json) -> None:
    """Whatever is stored in place of a field is taken as not known."""
    job = MSJob.read(obj)
    assert isinstance(job.state, str)
    assert isinstance(job.attempt, int)
    assert job.raw is obj
    _ = (job.stalled, job.finished, job.running, job.suspended)


def test_a_pod() -> None:
    """Where it belongs, how it stands, and its containers, init containers first."""
    pod = PodView.read(a_pod())

    assert (pod.role, pod.index, pod.rank, pod.attempt, pod.label) == ("Worker", 1, 1, 2, "worker-1")
    assert (pod.phase, pod.ready, pod.ended, pod.node, pod.ip) == ("Running", True, False, "n", "10.0.0.1")
    assert (pod.exit_code, pod.unschedulable) == (1, "no place")
    assert [view.name for view in pod.containers] == ["fetch", "proxy", "mindspore", "logs"]
    fetch, proxy, main, logs = pod.containers
    assert (fetch.init, fetch.state, fetch.restarts_alone) == (True, "", False)
    assert proxy.restarts_alone
    assert (main.state, main.reason, main.restarts, main.ready) == ("terminated", "Error", 3, True)
    assert (logs.state, logs.reason, logs.message) == ("waiting", "ImagePullBackOff", "no image")


@pytest.mark.parametrize(
    ("env", "rank"),
    [
        ({"MS_NODE_ID": "7"}, 7),
        ({"MS_LOCAL_WORKER": "8", "MS_NODE_RANK": "3"}, 24),
        ({"MS_NODE_ID": None}, None),
        ({}, None),
    ],
)
def test_the_rank_of_its_first_process(env: dict[str, str | None], rank: int | None) -> None:
    """From the variables that decide it; in a job with PS they do not."""
    pod = a_pod()
    pod["spec"]["containers"][0]["env"] = [{"name": key, "value": value} for key, value in env.items()]
    assert PodView.read(pod).rank == rank


def test_pods_in_order() -> None:
    """By role, then by number."""
    names = ["worker-10", "worker-2", "ps-0", "scheduler-0", "other"]
    pods = []
    for name in names:
        role, _, index = name.partition("-")
        labels = {"training.kubeflow.org/replica-type": role, "training.kubeflow.org/replica-index": index}
        pods.append(PodView.read(a_pod(name, **labels)))
    assert [pod.name for pod in in_order(pods)] == ["scheduler-0", "ps-0", "worker-2", "worker-10", "other"]


@settings(deadline=None)
@given(damaged(a_pod()))
def test_any_pod_can_be_read(obj: Json) -> None:
    """Whatever is stored in place of a field is taken as not known."""
    assert isinstance(PodView.read(obj).containers, tuple)


def an_event(name: str, kind: str = "Pod", uid: str = "", **fields: object) -> Json:
    """An event about something."""
    return {
        "involvedObject": {"kind": kind, "name": name, "uid": uid},
        "type": "Warning",
        "reason": "BackOff",
        "message": "again",
        "lastTimestamp": NOON,
        **fields,
    }


def test_events_of_a_job() -> None:
    """The job by its uid, what it owns by its name; what repeats is counted, and the oldest comes first."""
    job = MSJob.read(a_job())
    events = [
        an_event("train", "MSJob", "u", reason="MSJobRunning", lastTimestamp="2026-12-01T12:09:00Z"),
        an_event("train", "MSJob", "of-an-earlier-one"),
        an_event("train-worker-0", count=3, lastTimestamp="2026-12-01T12:05:00Z"),
        an_event("train-worker-0", count=2, lastTimestamp="2026-12-01T12:03:00Z", firstTimestamp=NOON),
        an_event("train-worker-0", lastTimestamp="2026-12-01T11:00:00Z"),
        an_event("train-2-worker-0"),
        an_event("train-worker-x"),
        an_event("train-scheduler-0", "Service", series={"count": 7, "lastObservedTime": NOON}),
        an_event("train", "HorizontalPodAutoscaler", eventTime="2026-12-01T12:01:00.123456Z", lastTimestamp=None),
        an_event("train", "Deployment"),
    ]
    found = about(job, events)

    assert [(event.kind, event.name, event.count) for event in found] == [
        ("Service", "train-scheduler-0", 7),
        ("HorizontalPodAutoscaler", "train", 1),
        ("Pod", "train-worker-0", 5),
        ("MSJob", "train", 1),
    ]
    assert found[2].first == datetime(2026, 12, 1, 12, tzinfo=UTC)
    assert found[2].time == datetime(2026, 12, 1, 12, 5, tzinfo=UTC)


@settings(deadline=None)
@given(damaged(an_event("x", series={"count": 1}, source={"component": "kubelet"})))
def test_any_event_can_be_read(obj: Json) -> None:
    """Whatever is stored in place of a field is taken as not known."""
    assert EventView.read(obj).count >= 1


@settings(deadline=None)
@given(
    damaged(
        {
            "columnDefinitions": [{"name": "Name", "type": "string", "priority": 0}],
            "rows": [{"cells": ["a"], "object": {"metadata": {"name": "a", "namespace": "b"}}}],
        }
    )
)
def test_any_table_can_be_read(obj: Json) -> None:
    """Whatever comes in place of a field is taken as not there."""
    assert isinstance(Table.read(obj).rows, tuple)
