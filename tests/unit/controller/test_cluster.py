"""What the caches tell of children and of nodes, and whom they wake."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from msjob_controller.kube import cache
from support.apiserver import Object, status
from support.pods import pod_json
from support.shell import CORE, JOBS, Shell, shell
from support.virtual_time import eventually

NODES = "/api/v1/nodes"


@pytest.fixture
async def live() -> AsyncIterator[Shell]:
    """A reconciler whose caches list and watch, on an API server with the job `train`."""
    async with shell() as found:
        found.api.put(JOBS, {"metadata": {"name": "train", "namespace": "default"}})
        running = [asyncio.create_task(informer.run()) for informer in found.cluster.informers]
        yield found
        for task in running:
            task.cancel()
        await asyncio.wait(running)


def node(name: str, ready: str = "True", *taints: str) -> Object:
    """A node."""
    return {
        "metadata": {"name": name},
        "spec": {"taints": [{"key": key, "effect": "NoExecute"} for key in taints]},
        "status": {"conditions": [{"type": "Ready", "status": ready}], "images": [{"names": ["x"]}]},
    }


def child(index: int, on: str | None, owner: str = "train") -> Object:
    """A pod that a job owns, on a node."""
    pod = pod_json(index=index)
    pod["metadata"]["name"] = f"{owner}-worker-{index}"
    pod["metadata"]["ownerReferences"] = [{"kind": "MSJob", "name": owner, "uid": f"uid-{owner}", "controller": True}]
    if on is not None:
        pod["spec"]["nodeName"] = on
    return pod


async def quiet(found: Shell) -> None:
    """Wait until nothing more is told, and forget what was."""
    await eventually(lambda: found.cluster.synced and found.api.watching == len(found.cluster.informers))
    await asyncio.sleep(0.05)
    found.keys.clear()


def lost(found: Shell, owner: str = "train") -> set[str]:
    """Lost nodes of a job."""
    return set(found.cluster.lost_nodes(found.cluster.pods_of(f"uid-{owner}")))


class TestNodes:
    """Nodes that are lost and come back."""

    async def test_lost_and_back(self, live: Shell) -> None:
        """A node that is silent, tainted or gone wakes the jobs that have pods on it, once, and so does its return."""
        for name in ("one", "two"):
            live.api.put(NODES, node(name))
        live.api.put(f"{CORE}/pods", child(0, "one"))
        live.api.put(f"{CORE}/pods", child(1, "two"))
        live.api.put(f"{CORE}/pods", child(0, "two", "other"))
        await quiet(live)
        assert lost(live) == set()
        unknown, tainted = node("one", "Unknown"), node("one", "True", "node.kubernetes.io/out-of-service")
        for change in (unknown, node("one"), tainted, node("one"), None, node("one")):
            if change is None:
                live.api.remove(f"{NODES}/one")
            else:
                live.api.put(NODES, change)
            await eventually(lambda: bool(live.keys))
            await asyncio.sleep(0.03)
            assert live.keys == ["default/train"]
            live.keys.clear()
        assert lost(live) == set()
        live.api.put(NODES, node("two", "False"))
        await eventually(lambda: len(live.keys) == 2)
        assert sorted(live.keys) == ["default/other", "default/train"]
        assert (lost(live), lost(live, "other")) == ({"two"}, {"two"})

    async def test_what_else_happens_to_a_node(self, live: Shell) -> None:
        """A heartbeat, another taint, and a lost node that goes for good wake nobody."""
        live.api.put(NODES, node("one"))
        live.api.put(NODES, node("two", "Unknown"))
        live.api.put(f"{CORE}/pods", child(0, "one"))
        live.api.put(f"{CORE}/pods", child(1, "two"))
        await quiet(live)
        live.api.put(NODES, node("one", "True", "example.com/busy"))
        live.api.put(NODES, node("one"))
        live.api.put(NODES, node("three", "Unknown"))
        live.api.remove(f"{NODES}/two")
        await eventually(lambda: len(live.cluster.nodes) == 2)
        await asyncio.sleep(0.05)
        assert live.keys == []
        assert lost(live) == {"two"}

    async def test_before_they_are_known(self, live: Shell) -> None:
        """Until nodes are listed none counts as lost; then jobs on lost and absent nodes are woken, and no others."""
        slow = live.cluster.nodes
        live.api.put(f"{CORE}/pods", child(0, "gone"))
        live.api.put(f"{CORE}/pods", child(0, "one", "other"))
        live.api.put(f"{CORE}/pods", child(0, None, "waiting"))
        await quiet(live)
        slow.has_synced.clear()
        assert lost(live) == set()
        live.api.put(NODES, node("one"))
        await slow._list()
        assert live.keys == ["default/train"]
        assert (lost(live), lost(live, "other"), lost(live, "waiting")) == ({"gone"}, set(), set())


async def test_without_the_right_on_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nodes may not be read all else works, the operator is ready, and no node counts as lost."""
    monkeypatch.setattr(cache, "_REFUSED_PAUSE", 0.05)
    async with shell() as found:
        refusal = found.api.refuse("GET", "/nodes", status(403, "Forbidden", "no right"), times=3)
        found.api.put(f"{CORE}/pods", child(0, "gone"))
        running = [asyncio.create_task(informer.run()) for informer in found.cluster.informers]
        await found.cluster.wait_synced()
        await eventually(lambda: found.cluster.ready)
        assert lost(found) == set()
        await eventually(lambda: len(refusal.met) == 3)
        found.keys.clear()
        # Somebody gives it the right.
        await eventually(found.cluster.nodes.has_synced.is_set)
        await eventually(lambda: lost(found) == {"gone"})
        await eventually(lambda: found.keys == ["default/train"])
        for task in running:
            task.cancel()
        await asyncio.wait(running)


async def test_ready(live: Shell) -> None:
    """The caches are ready when all are filled, and while each hears what changes."""
    await quiet(live)
    assert live.cluster.ready
    refusal = live.api.refuse("GET", "/services", status(500, "InternalError", "down"))
    live.api.cut_watches()
    await eventually(lambda: len(refusal.met) > 0)
    await eventually(lambda: not live.cluster.ready)
    assert live.cluster.synced
    refusal.times = 0
    await eventually(lambda: live.cluster.ready)


async def test_changes_that_nobody_reads(live: Shell) -> None:
    """A child that changed in nothing that is kept wakes nobody; what is kept has its new version all the same."""
    pod = child(0, "one")
    live.api.put(NODES, node("one"))
    live.api.put(f"{CORE}/pods", pod)
    await quiet(live)
    stored = live.api.put(f"{CORE}/pods", {**pod, "metadata": {**pod["metadata"], "annotations": {"a": "b"}}})
    version = stored["metadata"]["resourceVersion"]

    def version_kept() -> bool:
        kept = live.cluster.pods.get("default/train-worker-0") or {}
        return bool(kept["metadata"]["resourceVersion"] == version)

    await eventually(version_kept)
    assert live.keys == []
    live.api.put(f"{CORE}/pods", {**pod, "status": {"phase": "Failed"}})
    await eventually(lambda: live.keys == ["default/train"])


async def test_autoscalers(live: Shell) -> None:
    """A job is woken when its autoscaler comes and goes, and not each time that it has looked at the load."""
    path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    owner = {"kind": "MSJob", "name": "train", "uid": "uid-train", "controller": True}
    scaler = {"metadata": {"name": "train", "namespace": "default", "ownerReferences": [owner]}, "spec": {}}
    await quiet(live)
    live.api.put(path, scaler)
    await eventually(lambda: live.keys == ["default/train"])
    assert [item["metadata"]["name"] for item in live.cluster.autoscalers_of("uid-train")] == ["train"]
    live.api.put(path, {**scaler, "status": {"currentReplicas": 3}})
    live.api.remove(f"{path}/train")
    await eventually(lambda: len(live.keys) > 1)
    assert live.keys == ["default/train"] * 2
    assert live.cluster.autoscalers_of("uid-train") == []
