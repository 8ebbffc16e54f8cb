"""The test as kubelet: pods behave as on a node."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from support.testbed.client import PODS, Client, Object
from support.testbed.kubelet import Kubelet
from support.testbed.nodes import NODES, create_node, delete_node, set_node_ready
from support.testbed.podstatus import ended, running, waiting


@pytest.fixture
def pod(admin: Client, namespace: str) -> str:
    """A pod with a main container, a sidecar, an init container and a sidecar among those."""
    image = "example.com/a"
    spec: Object = {
        "restartPolicy": "Never",
        "initContainers": [
            {"name": "fetch", "image": image},
            {"name": "proxy", "image": image, "restartPolicy": "Always"},
        ],
        "containers": [{"name": "log", "image": image}, {"name": "mindspore", "image": image}],
    }
    admin.create(PODS, {"metadata": {"name": "pod", "labels": {"app": "pod"}}, "spec": spec}, namespace)
    return "pod"


def states(pod: Object) -> dict[str, str]:
    """Give the state of each container by name; for an ended one with its exit code."""
    status = pod["status"]
    return {
        container["name"]: " ".join([kind, *([str(details["exitCode"])] if kind == "terminated" else [])])
        for container in [*status["initContainerStatuses"], *status["containerStatuses"]]
        for kind, details in container["state"].items()
    }


def condition(pod: Object, kind: str) -> str:
    """Give the status of a condition."""
    return next(str(entry["status"]) for entry in pod["status"]["conditions"] if entry["type"] == kind)


@pytest.mark.usefixtures("pod")
def test_running_pod(kubelet: Kubelet, namespace: str) -> None:
    """A running pod is on a Node, has an address, and is ready."""
    (seen,) = kubelet.run_all(namespace, "app=pod", count=1)

    assert seen["status"]["phase"] == "Running"
    assert states(seen) == {
        "fetch": "terminated 0",
        "proxy": "running",
        "log": "running",
        "mindspore": "running",
    }
    assert condition(seen, "Ready") == "True"
    assert seen["spec"]["nodeName"] == kubelet.node
    assert seen["status"]["podIP"].startswith("10.244.")


def test_pending_and_unready_pod(kubelet: Kubelet, namespace: str, pod: str) -> None:
    """A pod can be pending for a reason, and run without being ready."""
    pulling = {"mindspore": waiting("ImagePullBackOff", "no such image")}
    pending = kubelet.set_pod(namespace, pod, phase="Pending", containers=pulling)
    unready = kubelet.set_pod(namespace, pod, ready=False)

    assert states(pending)["mindspore"] == "waiting"
    assert "podIP" not in pending["status"]
    assert condition(pending, "Ready") == "False"
    assert unready["status"]["phase"] == "Running"
    assert condition(unready, "Ready") == "False"


def test_main_container_ends_before_its_sidecars(kubelet: Kubelet, namespace: str, pod: str) -> None:
    """While a sidecar runs the pod runs, whatever the main container's exit was; then the pod ends with that exit."""
    kubelet.set_pod(namespace, pod)
    first = kubelet.finish(namespace, pod, 3, sidecars="run")
    last = kubelet.finish(namespace, pod, 3, container_reason="OOMKilled")

    assert first["status"]["phase"] == "Running"
    assert states(first) == {"fetch": "terminated 0", "proxy": "running", "log": "running", "mindspore": "terminated 3"}
    assert last["status"]["phase"] == "Failed"
    assert states(last) == {
        "fetch": "terminated 0",
        "proxy": "terminated 0",
        "log": "terminated 0",
        "mindspore": "terminated 3",
    }
    assert last["status"]["containerStatuses"][1]["state"]["terminated"]["reason"] == "OOMKilled"


def test_reported_times_and_reasons(kubelet: Kubelet, namespace: str, pod: str) -> None:
    """The test decides when things happened, and why a pod failed."""
    at = datetime(2030, 1, 2, 3, 4, 5, 600_000, tzinfo=UTC)
    seen = kubelet.set_pod(
        namespace,
        pod,
        phase="Failed",
        reason="Evicted",
        message="out of disk",
        pod_ip="10.1.2.3",
        started="2030-01-01T00:00:00Z",
        finished=at,
        containers={"log": ended(137, "Error")},
    )
    status = seen["status"]
    log, main = (entry["state"]["terminated"] for entry in status["containerStatuses"])

    assert (status["reason"], status["message"], status["podIP"]) == ("Evicted", "out of disk", "10.1.2.3")
    assert (status["startTime"], main["finishedAt"]) == ("2030-01-01T00:00:00Z", "2030-01-02T03:04:05Z")
    assert (main["exitCode"], log["exitCode"], log["signal"]) == (1, 137, 9)


def test_unknown_container_is_a_mistake(kubelet: Kubelet, namespace: str, pod: str) -> None:
    """A misspelt container is not passed over."""
    with pytest.raises(ValueError, match="pod pod has no container mindspot"):
        kubelet.set_pod(namespace, pod, containers={"mindspot": running()})


def test_deleted_pod_is_stopped_first(kubelet: Kubelet, admin: Client, namespace: str, pod: str) -> None:
    """A running pod that is deleted is seen being deleted, then failed with 143, then gone."""
    kubelet.set_pod(namespace, pod)
    seen = []
    with admin.watch(PODS, namespace) as watch:
        for kind, item in watch:
            if kind == "ADDED":
                admin.delete(PODS, pod, namespace)
                continue
            main = item["status"]["containerStatuses"][1]["state"].get("terminated", {})
            seen.append((kind, item["status"]["phase"], main.get("exitCode")))
            if kind == "DELETED":
                break

    assert seen[0] == ("MODIFIED", "Running", None)
    assert ("MODIFIED", "Failed", 143) in seen
    assert seen[-1] == ("DELETED", "Failed", 143)


def test_paused_kubelet_lets_deletions_hang(kubelet: Kubelet, admin: Client, namespace: str, pod: str) -> None:
    """Without its kubelet a deleted pod stays until the test stops it."""
    kubelet.set_pod(namespace, pod)
    kubelet.pause()
    admin.delete(PODS, pod, namespace)

    assert "deletionTimestamp" in admin.get(PODS, pod, namespace)["metadata"]
    kubelet.terminate(namespace, pod)
    assert not admin.exists(PODS, pod, namespace)


def test_unbound_pod_vanishes_at_once(kubelet: Kubelet, admin: Client, namespace: str, pod: str) -> None:
    """A pod that never got a Node needs no kubelet to go."""
    kubelet.pause()
    admin.delete(PODS, pod, namespace)

    assert not admin.exists(PODS, pod, namespace)


def test_play_runs_pods_by_itself(kubelet: Kubelet, admin: Client, namespace: str, pod: str) -> None:
    """A playing kubelet runs pods that are there already and those that come, and stays out of what has ended."""
    kubelet.play()
    admin.wait_until(PODS, pod, namespace, lambda item: item["status"]["phase"] == "Running")
    spec = {"containers": [{"name": "mindspore", "image": "example.com/a"}]}
    admin.create(PODS, {"metadata": {"name": "later"}, "spec": spec}, namespace)
    later = admin.wait_until(PODS, "later", namespace, lambda item: item["status"]["phase"] == "Running")
    ended_pod = kubelet.finish(namespace, pod)

    addresses = {later["status"]["podIP"], ended_pod["status"]["podIP"]}
    assert len(addresses) == 2
    assert ended_pod["status"]["phase"] == "Succeeded"


def taints(node: Object) -> set[tuple[str, str]]:
    """Give key and effect of each taint of a Node."""
    return {(taint["key"], taint["effect"]) for taint in node["spec"].get("taints", [])}


@pytest.fixture
def healthy_node(admin: Client, namespace: str) -> Iterator[str]:
    """The name of a Node that is removed after the test."""
    name = f"healthy-{namespace}"
    yield name
    delete_node(admin, name)


def test_lost_node(kubelet: Kubelet, admin: Client, namespace: str, pod: str, healthy_node: str) -> None:
    """A Node that the test reports as lost is tainted, and its pods are no longer ready, though nobody stopped them."""
    kubelet.set_pod(namespace, pod)
    create_node(admin, healthy_node)
    set_node_ready(admin, kubelet.node, "Unknown")

    lost = admin.get(PODS, pod, namespace)
    admin.wait_until(
        NODES,
        kubelet.node,
        None,
        lambda item: ("node.kubernetes.io/unreachable", "NoExecute") in taints(item),
        timeout=20,
    )
    assert (lost["status"]["phase"], condition(lost, "Ready")) == ("Running", "False")
