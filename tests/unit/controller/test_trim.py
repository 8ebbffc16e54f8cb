"""What the caches keep of objects is enough for the decisions."""

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msjob.api import Role
from msjob_controller.policy.reading import node_is_lost, read_autoscaler, read_pod, read_service
from msjob_controller.trim import MESSAGE_LIMIT, trim_autoscaler, trim_node, trim_pod, trim_service
from support.pods import RUNNING, pod_json, stamp, terminated

Json = dict[str, Any]

_times = st.integers(0, 600).map(stamp) | st.sampled_from(["", "yesterday", "2026-13-01T00:00:00Z"])
_texts = st.sampled_from(["", "Error", "OOMKilled", "Evicted", "Unschedulable", "ImagePullBackOff", " no ", "é"])
_junk = st.none() | st.booleans() | st.integers(-1, 300) | _texts


def _objects(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Json]:
    """Objects with any of these fields, null at times, and with one that nobody has heard of."""
    whole = st.fixed_dictionaries(dict(fields))
    optional = {name: st.none() | value for name, value in fields.items()} | {"unknown": _junk}
    return whole | st.fixed_dictionaries({}, optional=optional)


_ended = _objects(
    {
        "exitCode": st.integers(0, 255),
        "reason": _texts,
        "message": _texts,
        "startedAt": _times,
        "finishedAt": _times,
        "signal": st.integers(0, 31),
    }
)
_state = _objects(
    {
        "waiting": _objects({"reason": _texts, "message": _texts}),
        "running": _objects({"startedAt": _times}),
        "terminated": _ended,
    }
)
_containers = st.lists(
    _objects(
        {
            "name": st.sampled_from(["mindspore", "init", "sidecar"]),
            "state": _state,
            "lastState": _state,
            "restartCount": st.integers(0, 3),
            "ready": st.booleans(),
        }
    ),
    max_size=3,
)
_conditions = st.lists(
    _objects(
        {
            "type": st.sampled_from(["Ready", "PodScheduled", "DisruptionTarget", "Mine"]),
            "status": st.sampled_from(["True", "False", "Unknown"]),
            "reason": _texts,
            "message": _texts,
            "lastTransitionTime": _times,
        }
    ),
    max_size=4,
)
_labels = _objects(
    {
        "training.kubeflow.org/replica-type": st.sampled_from(["worker", "Scheduler", "ps", "", "chief"]),
        "replica-type": st.sampled_from(["worker", "scheduler", ""]),
        "training.kubeflow.org/replica-index": st.sampled_from(["0", "17", "-1", "", "x"]),
        "replica-index": st.sampled_from(["0", "3", ""]),
        "mindspore.gitee.com/restart-attempt": st.sampled_from(["0", "2", "", "x"]),
        "app": _texts,
    }
)
_pods = st.fixed_dictionaries(
    {
        "metadata": st.builds(
            lambda required, other: {**other, **required},
            st.fixed_dictionaries({"name": st.just("train-worker-0"), "namespace": st.just("default")}),
            _objects(
                {
                    "uid": _texts,
                    "labels": _labels,
                    "deletionTimestamp": _times,
                    "deletionGracePeriodSeconds": st.integers(0, 60),
                    "annotations": _objects({}),
                }
            ),
        )
    },
    optional={
        "spec": st.none() | _objects({"restartPolicy": _texts, "nodeName": _texts, "containers": st.just([])}),
        "status": st.none()
        | _objects(
            {
                "phase": st.sampled_from(["Pending", "Running", "Succeeded", "Failed", "Unknown", ""]),
                "reason": _texts,
                "message": _texts,
                "conditions": _conditions,
                "containerStatuses": _containers,
                "initContainerStatuses": _containers,
            }
        ),
    },
)


@settings(deadline=None)
@given(_pods)
def test_pods(pod: Json) -> None:
    """A pod reads the same after it was trimmed, however odd it is, and trimming changes nothing in what it got."""
    before = deepcopy(pod)
    kept = trim_pod(pod)
    assert read_pod(kept) == read_pod(before)
    assert pod == before
    assert read_pod(trim_pod(kept)) == read_pod(before)


UNSCHEDULABLE = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}]
RESTARTED = {"name": "mindspore", "state": RUNNING, "lastState": terminated(1), "restartCount": 2, "imageID": "sha"}
CRASHING = {"name": "mindspore", "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": terminated(1)}
FETCH = {"name": "fetch", "state": terminated(3, reason="Error", message="m")}
PODS = {
    "pending": pod_json(phase=None),
    "unschedulable": pod_json(phase="Pending"),
    "image": pod_json(phase="Pending", states={"mindspore": {"waiting": {"reason": "ErrImagePull", "message": "no"}}}),
    "running": pod_json(states={"mindspore": RUNNING, "logs": RUNNING}),
    "restarted": pod_json(restart_policy="OnFailure", containerStatuses=[RESTARTED]),
    "failed": pod_json(
        phase="Failed", states={"mindspore": terminated(137, reason="OOMKilled", message="out", startedAt=stamp(9))}
    ),
    "init": pod_json(phase="Pending", initContainerStatuses=[FETCH]),
    "evicted": pod_json(phase="Failed", reason="Evicted", message="disk", conditions={"DisruptionTarget": "True"}),
    "deleted": pod_json(Role.SCHEDULER, states={"mindspore": terminated(0, 5)}, deleted=(10, 30)),
    "crashing": pod_json(phase="Unknown", restart_policy="OnFailure", containerStatuses=[CRASHING]),
    "odd": pod_json(phase="Failed", states={"mindspore": {"terminated": {"signal": 9}}}, initContainerStatuses=[FETCH]),
    "later": pod_json(attempt=3, node="here", conditions={"Ready": "False"}),
    "stranger": {"metadata": {"name": "x", "namespace": "default"}},
}
PODS["unschedulable"]["status"]["conditions"] = UNSCHEDULABLE


@pytest.mark.parametrize("name", PODS)
def test_pods_that_there_are(name: str) -> None:
    """The same for pods as they come, in every state that decisions tell apart."""
    pod = PODS[name]
    pod["metadata"] |= {"uid": "u-1", "resourceVersion": "7"}
    pod.setdefault("spec", {})["nodeName"] = "here"
    assert read_pod(trim_pod(pod)) == read_pod(pod)
    assert trim_pod(pod)["metadata"]["resourceVersion"] == "7"


def test_what_is_not_read_is_not_kept() -> None:
    """Nothing grows with what users put into their pods, and no message has more than is ever shown."""
    pod = pod_json(states={"mindspore": terminated(1, message="x" * 10_000)}, message="y" * 10_000)
    pod["metadata"]["annotations"] = {"a": "z" * 10_000}
    pod["metadata"]["managedFields"] = [{"fieldsV1": {"f:spec": {}}}] * 100
    pod["spec"]["containers"] = [{"name": "mindspore", "env": [{"name": "A", "value": "b"}] * 100}]
    assert len(json.dumps(trim_pod(pod))) < 2 * MESSAGE_LIMIT + 500


def test_small_parts_are_shared() -> None:
    """A thousand pods of a job have one owner and one condition `Ready` in memory between them."""
    owner = {"kind": "MSJob", "name": "train", "uid": "u", "controller": True, "apiVersion": "mindspore.gitee.com/v1"}
    kept = []
    for index in range(2):
        pod = pod_json(index=index, conditions={"Ready": "True"})
        pod["metadata"]["ownerReferences"] = [dict(owner)]
        kept.append(trim_pod(json.loads(json.dumps(pod))))
    one, other = kept
    assert one["metadata"]["ownerReferences"][0] is other["metadata"]["ownerReferences"][0]
    assert one["status"]["conditions"][0] is other["status"]["conditions"][0]
    assert one["spec"] is other["spec"]


def test_owners() -> None:
    """Only the job that controls an object counts as its owner."""
    owners = [
        {"kind": "MSJob", "name": "a", "uid": "1", "controller": True},
        {"kind": "MSJob", "name": "b", "uid": "2"},
        {"kind": "Job", "name": "c", "uid": "3", "controller": True},
    ]
    pod = pod_json()
    pod["metadata"]["ownerReferences"] = owners
    for trim in (trim_pod, trim_service, trim_autoscaler):
        assert trim(pod)["metadata"]["ownerReferences"] == [{"name": "a", "uid": "1"}]


@pytest.mark.parametrize("leaving", [False, True])
def test_services_and_autoscalers(*, leaving: bool) -> None:
    """They read the same trimmed, too."""
    metadata: Json = {"name": "train", "namespace": "default", "uid": "u", "resourceVersion": "1"}
    if leaving:
        metadata["deletionTimestamp"] = stamp(0)
    for spec in ({"clusterIP": "10.1.1.1", "ports": []}, {"clusterIP": "None"}, {}):
        service = {"metadata": metadata, "spec": spec}
        assert read_service(trim_service(service)) == read_service(service)
    autoscaler = {"metadata": metadata, "spec": {"maxReplicas": 3}, "status": {"currentReplicas": 1}}
    assert read_autoscaler(trim_autoscaler(autoscaler)) == read_autoscaler(autoscaler)
    assert "spec" not in trim_autoscaler(autoscaler)


_nodes = st.fixed_dictionaries(
    {"metadata": st.just({"name": "n", "uid": "u", "resourceVersion": "5"})},
    optional={
        "spec": st.none()
        | _objects(
            {
                "taints": st.lists(
                    _objects(
                        {
                            "key": st.sampled_from(["node.kubernetes.io/unreachable", "node.kubernetes.io/x"]),
                            "effect": _texts,
                        }
                    ),
                    max_size=2,
                )
            }
        ),
        "status": st.none()
        | _objects(
            {
                "conditions": st.lists(
                    _objects(
                        {
                            "type": st.sampled_from(["Ready", "MemoryPressure"]),
                            "status": st.sampled_from(["True", "False", "Unknown"]),
                        }
                    ),
                    max_size=2,
                ),
                "images": st.just([{"names": ["a"]}]),
            }
        ),
    },
)


@settings(deadline=None)
@given(_nodes)
def test_nodes(node: Json) -> None:
    """A trimmed node is lost when the whole one is."""
    kept = trim_node(node)
    assert node_is_lost(kept) == node_is_lost(node)
    assert kept["metadata"] == node["metadata"]
    assert "images" not in kept["status"]
