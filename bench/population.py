"""A cluster full of jobs that no operator has made: what is there when one starts, or rests."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import kubelet
from api import IN_FLIGHT, Api, msjobs
from cases import Case, until_pods
from msjob.render import render
from msjob.workload.tokens import Facts
from process import operator
from stage import OPERATOR, Stage

_NAME, _UID = "bench-0", "00000000-bench-uid"
SAMPLE = "sample"
"""Namespace of the job whose status all others get."""


async def populate(stage: Stage, space: str, jobs: int, workers: int = 4) -> None:
    """Make running jobs: MSJobs, Services and pods, with the statuses that they have then.

    The operator runs a single job before; its status is what the others get, so that nothing is left to do about them.

    Args:
        stage: the control plane.
        space: namespace, made here.
        jobs: how many.
        workers: Workers of each, beside one Scheduler.
    """
    api = stage.api
    manifest = next(Case(SAMPLE, jobs=1, workers=workers).manifests())
    status = await _status_of_running_job(stage, manifest)
    await api.namespace(space)
    names = [f"job-{number:05d}" for number in range(jobs)]
    text = json.dumps(manifest)
    await api.post_all(msjobs(space), (text.replace(_NAME, name).encode() for name in names))
    items = (await api.get(msjobs(space)))["items"]
    uids = {item["metadata"]["name"]: item["metadata"]["uid"] for item in items}
    manifest["metadata"] |= {"namespace": space, "uid": _UID}
    bodies = list(render(manifest).bodies(Facts("10.96.0.1", _UID)))
    for kind, path in (("Service", "services"), ("Pod", "pods")):
        texts = [body for body in bodies if json.loads(body)["kind"] == kind]
        filled = (text.replace(_NAME, name).replace(_UID, uids[name]) for name in names for text in texts)
        await api.post_all(f"/api/v1/namespaces/{space}/{path}", (body.encode() for body in filled))
    pods = [json.loads(body)["metadata"]["name"] for body in bodies if json.loads(body)["kind"] == "Pod"]
    await api.report_all(space, (pod.replace(_NAME, name) for name in names for pod in pods), kubelet.running())
    await _write_statuses(api, space, json.dumps({"status": status}), iter(names))


async def run_jobs(api: Api, space: str, jobs: int, workers: int = 4) -> None:
    """Let the operator that runs make jobs, and report all of their pods as running.

    Args:
        api: the API server.
        space: namespace, made here.
        jobs: how many.
        workers: Workers of each, beside one Scheduler.
    """
    await api.namespace(space)
    await api.post_jobs(space, Case(space, jobs=jobs, workers=workers).manifests())
    await until_running(api, space, jobs, workers)


async def until_running(api: Api, space: str, jobs: int, workers: int) -> None:
    """Wait for the pods of jobs, report them as running and wait until the jobs are."""
    path = f"/api/v1/namespaces/{space}/pods"
    await until_pods(api, space, jobs * (workers + 1))
    await api.report_all(space, await api.names(path), kubelet.running())
    await api.until_state(space, "Running", jobs)


async def _status_of_running_job(stage: Stage, manifest: dict[str, Any]) -> dict[str, Any]:
    with operator(stage.plane.kubeconfig_of(OPERATOR)):
        workers = manifest["spec"]["msReplicaSpecs"]["Worker"]["replicas"]
        await run_jobs(stage.api, SAMPLE, 1, workers)
        # Counters of pods are written a second later.
        for _ in range(200):
            status: dict[str, Any] = (await stage.api.get(f"{msjobs(SAMPLE)}/{_NAME}"))["status"]
            if status["replicaStatuses"]["Worker"].get("active") == workers:
                break
            await asyncio.sleep(0.05)
        else:
            raise RuntimeError(f"the sample does not count its Workers in 10 s: {status}")
    await stage.api.call("DELETE", f"{msjobs(SAMPLE)}/{_NAME}")
    return status


async def _write_statuses(api: Api, space: str, text: str, names: Iterator[str]) -> None:
    async def write() -> None:
        for name in names:
            body = text.replace(_NAME, name).encode()
            await api.call("PATCH", f"{msjobs(space)}/{name}/status", body, "application/merge-patch+json")

    await asyncio.gather(*(write() for _ in range(IN_FLIGHT)))
