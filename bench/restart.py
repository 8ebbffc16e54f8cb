"""How long a restart takes: from a Worker's failure to the first pod of the next attempt, when pods vanish at once."""

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any

from api import Api
from cases import Case
from kubelet import failed, running
from msjob.api import meta

ATTEMPT = "mindspore.gitee.com/restart-attempt"
WAIT_SECONDS = 60.0
"""Time a job has for each of its steps."""
_POLL_SECONDS = 0.002


@dataclass(frozen=True, slots=True)
class Restart:
    """What was measured.

    Attributes:
        seconds: from the failure to the first pod of the next attempt.
        raw_seconds: one status write, the deletion of all pods and the creation of one, bare, one after the other.
    """

    seconds: float
    raw_seconds: float

    @property
    def ratio(self) -> float:
        """Times the raw ceiling of the same run."""
        return self.seconds / self.raw_seconds


async def measure_restart(api: Api, run: int, workers: int = 4) -> Restart:
    """Restart one job in a namespace of its own.

    Pods are never bound to a node, so the API server removes them at once.

    Args:
        api: the API server.
        run: number of the run, for names.
        workers: Workers of the job, beside its Scheduler.
    """
    space = f"restart-{run}"
    await api.namespace(space)
    manifest = next(Case("restart", jobs=1, workers=workers).manifests())
    for role in manifest["spec"]["msReplicaSpecs"].values():
        role["restartPolicy"] = "OnFailure"
    await api.call("POST", f"/apis/mindspore.gitee.com/v1/namespaces/{space}/msjobs", json.dumps(manifest).encode())
    pods = await _pods(api, space, 0, workers + 1)
    await asyncio.gather(*(api.report(space, pod["metadata"]["name"], running()) for pod in pods))
    await _until_running(api, space)
    started = time.monotonic()
    await api.report(space, f"{manifest['metadata']['name']}-worker-1", failed())
    await _pods(api, space, 1, 1)
    seconds = time.monotonic() - started
    raw = await _raw(api, f"raw-{space}", await _pods(api, space, 1, workers + 1))
    await api.call("DELETE", f"/apis/mindspore.gitee.com/v1/namespaces/{space}/msjobs")
    return Restart(seconds, raw)


async def _raw(api: Api, space: str, pods: list[dict[str, Any]]) -> float:
    """The same requests without an operator: what the API server alone takes for them."""
    await api.namespace(space)
    path = f"/api/v1/namespaces/{space}/pods"
    bodies = []
    for pod in pods:
        metadata = {key: pod["metadata"][key] for key in ("name", "labels")}
        metadata["labels"][meta.LABEL_OPERATOR_NAME] = "raw"  # the operator does not watch these
        spec = {"containers": [{"name": "mindspore", "image": "mindspore:test"}]}
        bodies.append(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}).encode())
    await api.post_all(path, bodies)
    names = [pod["metadata"]["name"] for pod in pods]
    started = time.monotonic()
    await api.report(space, names[0], running())
    await asyncio.gather(*(api.call("DELETE", f"{path}/{name}") for name in names))
    await api.call("POST", path, bodies[0])
    return time.monotonic() - started


async def _pods(api: Api, space: str, attempt: int, wanted: int) -> list[dict[str, Any]]:
    """Wait for pods of an attempt."""
    path = f"/api/v1/namespaces/{space}/pods?labelSelector={ATTEMPT}%3D{attempt}"
    deadline = time.monotonic() + WAIT_SECONDS
    while len(found := (await api.get(path))["items"]) < wanted:
        _check(deadline, f"{len(found)} of {wanted} pods of attempt {attempt}")
        await asyncio.sleep(_POLL_SECONDS)
    return list(found)


async def _until_running(api: Api, space: str) -> None:
    path = f"/apis/mindspore.gitee.com/v1/namespaces/{space}/msjobs"
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        status = (await api.get(path))["items"][0].get("status") or {}
        if (status.get("conditions") or [{}])[-1].get("type") == "Running":
            return
        _check(deadline, f"status {status}")
        await asyncio.sleep(_POLL_SECONDS)


def _check(deadline: float, what: str) -> None:
    if time.monotonic() > deadline:
        raise RuntimeError(f"{what} after {WAIT_SECONDS:g} s")
