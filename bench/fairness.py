"""Whether jobs wait for others: many small ones beside a large one, and beside one that cannot be created."""

import asyncio
import json
import time
from typing import Any

from api import Api, msjobs
from cases import Case, until_gone, until_pods
from process import operator
from stage import OPERATOR, Stage
from table import Row

SMALL = Case("small", jobs=50, workers=4)
QUOTA_SECONDS = 30.0
REFUSED = 60
"""Refused creates of the blocked job that count as backing off: its passes come after 0.05 s, then twice the pause of
the pass before, so that some ten fit into `QUOTA_SECONDS`; each may try its 5 pods."""


async def beside_large(stage: Stage) -> list[Row]:
    """50 jobs of 5 pods alone, then posted right after a job of 1,000 pods."""
    api = stage.api
    with operator(stage.plane.kubeconfig_of(OPERATOR)):
        await _small(api, "warm")
        alone = await _small(api, "alone")
        large = Case("large", jobs=1, workers=999)
        await api.namespace(large.name)
        started = time.monotonic()
        await api.post_jobs(large.name, large.manifests())
        beside = await _small(api, "beside")
        there = await api.count(f"/api/v1/namespaces/{large.name}/pods")
        await until_pods(api, large.name, large.pods)
        seconds = time.monotonic() - started
    return [
        Row("fairness: 50 jobs x 5 beside 1 x 1,000 (raw: their time alone)", beside, "s", 2, alone),
        Row("fairness: pods of the large job when the small ones are done", there, ""),
        Row("fairness: the large job beside them", seconds, "s"),
    ]


async def beside_blocked(stage: Stage) -> list[Row]:
    """50 jobs of 5 pods beside a job whose pods a ResourceQuota refuses; how often that one tries."""
    api, space = stage.api, "quota"
    with operator(stage.plane.kubeconfig_of(OPERATOR)):
        await _small(api, "warm")
        alone = await _small(api, "alone")
        await api.namespace(space)
        await _quota(api, space)
        started = time.monotonic()
        await api.post_jobs(space, Case(space, jobs=1, workers=4).manifests())
        beside = await _small(api, "beside")
        await asyncio.sleep(max(0.0, started + QUOTA_SECONDS - time.monotonic()))
        refused = len(_refused(stage, space))
    if not refused:
        raise RuntimeError("no create was refused: the quota does not hold, so that nothing was measured")
    return [
        Row("quota: 50 jobs x 5 beside a blocked job (raw: their time alone)", beside, "s", 2, alone),
        Row(f"quota: creates of the blocked job refused in {QUOTA_SECONDS:g} s", refused, "", REFUSED),
    ]


async def _small(api: Api, space: str) -> float:
    """Seconds from the first small job posted until the pods of all are there."""
    await api.namespace(space)
    started = time.monotonic()
    await api.post_jobs(space, SMALL.manifests())
    await until_pods(api, space, SMALL.pods)
    seconds = time.monotonic() - started
    await api.call("DELETE", msjobs(space))
    await until_gone(api, space)
    return seconds


async def _quota(api: Api, space: str) -> None:
    """Refuse all pods but three, and wait until the API server counts."""
    path = f"/api/v1/namespaces/{space}/resourcequotas"
    body = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": {"pods": "3"}}}
    await api.call("POST", path, json.dumps(body).encode())
    for _ in range(200):
        if (await api.get(f"{path}/few")).get("status", {}).get("used"):
            return
        await asyncio.sleep(0.05)
    raise RuntimeError("the ResourceQuota was not counted in 10 s")


def _refused(stage: Stage, space: str) -> list[dict[str, Any]]:
    return [
        event
        for event in stage.plane.audit_events(OPERATOR)
        if event.get("objectRef", {}).get("namespace") == space
        and event["verb"] == "create"
        and event["responseStatus"]["code"] == 403  # noqa: PLR2004 - what a quota answers
    ]
