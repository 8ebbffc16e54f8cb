"""The end of many jobs, and what one job costs in requests."""

import asyncio
import json
import time
from collections import Counter
from typing import Any

import kubelet
from api import Api, msjobs
from population import run_jobs
from process import operator
from stage import OPERATOR, Stage
from table import Row

STEADY_SECONDS = 60.0
_WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


async def ends(stage: Stage, jobs: int = 400) -> list[Row]:
    """From the last status of a pod, Worker 0 of the last job, until all jobs have succeeded.

    The other pods of all jobs have ended before, so that each job waits for its Worker 0 alone.
    """
    api, space = stage.api, "ends"
    with operator(stage.plane.kubeconfig_of(OPERATOR)):
        await run_jobs(api, space, jobs)
        pods = await api.names(f"/api/v1/namespaces/{space}/pods")
        last = [pod for pod in pods if pod.endswith("-worker-0")]
        await api.report_all(space, sorted(set(pods) - set(last)), kubelet.succeeded())
        started = time.monotonic()
        await api.report_all(space, last, kubelet.succeeded())
        written = time.monotonic()
        await api.until_state(space, "Succeeded", jobs)
        seconds = time.monotonic() - written
    return [
        Row(f"{jobs} jobs: from the last kubelet write to the last Succeeded", seconds, "s", 0.5),
        Row(f"{jobs} jobs: the kubelet writes before that", written - started, "s"),
    ]


async def writes(stage: Stage) -> list[Row]:
    """Requests of one job of 5 pods from create to end, and of 50 running jobs in a minute (by the audit log)."""
    api, space = stage.api, "writes"
    with operator(stage.plane.kubeconfig_of(OPERATOR)):
        version = (await api.get(msjobs("default")))["metadata"]["resourceVersion"]
        await run_jobs(api, space, 1)
        # The Scheduler comes last, as in life: it ends once its Workers have.
        for name in sorted(await api.names(f"/api/v1/namespaces/{space}/pods"), reverse=True):
            await api.report(space, name, kubelet.succeeded())
        await api.until_state(space, "Succeeded", 1)
        await _until_still(stage)
        made = [event for event in _requests(stage) if _about(event) == space and event["verb"] in _WRITES]
        changes = await _changes(api, space, version)
        await run_jobs(api, "steady", 50)
        await _until_still(stage)
        before = len(_requests(stage))
        await asyncio.sleep(STEADY_SECONDS)
        later = _requests(stage)[before:]
    kinds = Counter(f"{event['verb']} {_resource(event)}" for event in made)
    print(f"writes of a job of 5 pods: {dict(kinds)}", flush=True)
    jobs = [event for event in made if event["objectRef"]["resource"] == "msjobs"]
    own = sum(event["verb"] in _WRITES for event in later)
    lists = sum(event["verb"] == "list" for event in later)
    return [
        Row("writes, job of 5 pods from create to end, events apart", len(made), "", 10),
        # A write that changes nothing gives no watch event.
        Row("writes of the job itself that changed nothing", max(0, len(jobs) - changes), "", 0),
        Row(f"writes in {STEADY_SECONDS:g} s, 50 running jobs", own, "", 0),
        Row(f"lists in {STEADY_SECONDS:g} s, 50 running jobs", lists, "", 0),
    ]


def _requests(stage: Stage) -> list[dict[str, Any]]:
    """Successful requests of the operator, events apart."""
    events = stage.plane.audit_events(OPERATOR)
    return [
        event
        for event in events
        if event.get("objectRef", {}).get("resource") not in (None, "events") and event["responseStatus"]["code"] < 300  # noqa: PLR2004 - success
    ]


def _about(event: dict[str, Any]) -> str:
    return str(event["objectRef"].get("namespace", ""))


def _resource(event: dict[str, Any]) -> str:
    reference = event["objectRef"]
    return "/".join(reference[key] for key in ("resource", "subresource") if reference.get(key))


async def _until_still(stage: Stage, seconds: float = 5.0, timeout_seconds: float = 60.0) -> None:
    """Wait until the operator has written nothing for some seconds."""
    deadline = time.monotonic() + timeout_seconds
    before = -1
    while (count := sum(event["verb"] in _WRITES for event in _requests(stage))) != before:
        if time.monotonic() > deadline:
            raise RuntimeError(f"the operator still writes after {timeout_seconds:g} s")
        before = count
        await asyncio.sleep(seconds)


async def _changes(api: Api, space: str, version: str) -> int:
    """Modifications of the MSJobs of a namespace since a version, by a watch that ends after a second."""
    path = f"{msjobs(space)}?watch=1&resourceVersion={version}&timeoutSeconds=1"
    lines = (await api.call("GET", path)).splitlines()
    return sum(json.loads(line)["type"] == "MODIFIED" for line in lines)
