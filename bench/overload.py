"""An API server that answers 429, or takes 2 s, for a minute: what the operator asks meanwhile, and its recovery."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

import aiohttp
import yaml
from aiohttp import web

from cases import Case, until_pods, wrong_pods
from process import operator
from stage import OPERATOR, Stage
from support.gate import Gate
from support.testbed.kubeconfig import write_kubeconfig
from table import Row

Ill = Literal["429", "slow"]

WORK = Case("overload", jobs=40, workers=4)
ILL_SECONDS = 60.0
SLOW_SECONDS = 2.0
REQUESTS = 100
"""Requests in any one second that count as no storm: two and a half for each job. A bound of this benchmark."""
RECOVERY_SECONDS = 15.0
"""Time for all pods, and their Services before them, once the API server is well. A bound of this benchmark."""


class Proxy(Gate):
    """The gate of the tests, as an API server that has too much to do. Watches that are there go on.

    Attributes:
        ill: how it is now; None when it is well.
        came: when each request came while it was ill, by the monotonic clock.
    """

    def __init__(self, server: str, ca_file: Path) -> None:
        super().__init__(server, ca_file)
        self.ill: Ill | None = None
        self.came: list[float] = []

    async def _handle(self, session: aiohttp.ClientSession, request: web.Request) -> web.StreamResponse:
        if self.ill is not None:
            self.came.append(time.monotonic())
        if self.ill == "429":
            status = {
                "kind": "Status",
                "apiVersion": "v1",
                "status": "Failure",
                "reason": "TooManyRequests",
                "code": 429,
            }
            return web.json_response(status, status=429, headers={"Retry-After": "1"})
        if self.ill == "slow":
            await asyncio.sleep(SLOW_SECONDS)
        return await super()._handle(session, request)


def overload(ill: Ill) -> Callable[[Stage], Awaitable[list[Row]]]:
    """Jobs that come when the API server is ill.

    Args:
        ill: how.
    """

    async def run(stage: Stage) -> list[Row]:
        plane, api = stage.plane, stage.api
        await api.namespace(WORK.name)
        with Proxy(plane.server, plane.ca_file) as proxy, operator(_kubeconfig(stage, proxy)):
            proxy.ill = ill
            await api.post_jobs(WORK.name, WORK.manifests())
            await asyncio.sleep(ILL_SECONDS)
            proxy.ill = None
            well = time.monotonic()
            made = await api.count(f"/api/v1/namespaces/{WORK.name}/pods")
            await until_pods(api, WORK.name, WORK.pods)
            recovery = time.monotonic() - well
            wrong = await wrong_pods(api, WORK, WORK.name)
        by_second = Counter(int(at) for at in proxy.came)
        return [
            Row(f"overload ({ill}): requests in {ILL_SECONDS:g} s", len(proxy.came), ""),
            Row(f"overload ({ill}): requests in the busiest second", max(by_second.values(), default=0), "", REQUESTS),
            Row(f"overload ({ill}): of {WORK.pods} pods made meanwhile", made, ""),
            Row(f"overload ({ill}): recovery, all pods of 40 jobs exist", recovery, "s", RECOVERY_SECONDS),
            Row(f"overload ({ill}): pods lost, doubled or wrong", wrong, "", 0),
        ]

    return run


def _kubeconfig(stage: Stage, proxy: Proxy) -> Path:
    """The kubeconfig of the operator, by way of the proxy."""
    user = yaml.safe_load(stage.plane.kubeconfig_of(OPERATOR).read_text())["users"][0]["user"]
    path = stage.plane.folder / "proxy.kubeconfig"
    return write_kubeconfig(path, server=proxy.address, ca_file=stage.plane.ca_file, token=user["token"])
