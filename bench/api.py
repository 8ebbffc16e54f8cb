"""A bare client of the API server for the benchmark: one keep-alive aiohttp session, plain JSON, nothing else."""

import asyncio
import base64
import json
import ssl
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp
import yaml

IN_FLIGHT = 32
"""Requests under way at once, as in the figures of the systems compared with."""


def msjobs(namespace: str) -> str:
    """The path of the MSJobs of a namespace."""
    return f"/apis/mindspore.gitee.com/v1/namespaces/{namespace}/msjobs"


class Api:
    """One session to the API server of a kubeconfig with a token.

    Args:
        kubeconfig: path.
    """

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self._server = cluster["server"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        context = ssl.create_default_context(cadata=authority)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=IN_FLIGHT, ssl=context),
            headers={"Authorization": f"Bearer {user['token']}"},
        )

    async def __aenter__(self) -> Self:
        """Open."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        await self._session.close()

    async def call(self, method: str, path: str, body: bytes | None = None, kind: str = "application/json") -> bytes:
        """One request; the answer's body.

        Args:
            method: HTTP method.
            path: with its query.
            body: JSON.
            kind: content type of the body.

        Raises:
            RuntimeError: the answer is no success.
        """
        headers = {"Content-Type": kind}
        async with self._session.request(method, self._server + path, data=body, headers=headers) as response:
            answer = await response.read()
            if response.status >= 300:  # noqa: PLR2004 - what is no success
                raise RuntimeError(f"{method} {path}: {response.status} {answer[:300]!r}")
            return answer

    async def get(self, path: str) -> dict[str, Any]:
        """Read JSON."""
        answer: dict[str, Any] = json.loads(await self.call("GET", path))
        return answer

    async def post_jobs(self, namespace: str, manifests: Iterable[dict[str, Any]]) -> None:
        """Create MSJobs, `IN_FLIGHT` at a time."""
        await self.post_all(msjobs(namespace), (json.dumps(manifest).encode() for manifest in manifests))

    async def report_all(self, namespace: str, pods: Iterable[str], status: dict[str, Any]) -> None:
        """Write the same status for pods, `IN_FLIGHT` at a time."""
        waiting = iter(pods)

        async def report() -> None:
            for pod in waiting:
                await self.report(namespace, pod, status)

        await asyncio.gather(*(report() for _ in range(IN_FLIGHT)))

    async def names(self, path: str) -> list[str]:
        """Names of the objects of a collection."""
        return [item["metadata"]["name"] for item in (await self.get(path))["items"]]

    async def states(self, namespace: str) -> Counter[str]:
        """How many MSJobs are in which state: the type of the last condition, empty without one."""
        jobs = (await self.get(f"{msjobs(namespace)}?resourceVersion=0"))["items"]
        return Counter(((job.get("status") or {}).get("conditions") or [{"type": ""}])[-1]["type"] for job in jobs)

    async def until_state(self, namespace: str, state: str, wanted: int, timeout_seconds: float = 300.0) -> None:
        """Wait until so many MSJobs are in a state.

        Raises:
            RuntimeError: they are not within the time.
        """
        deadline = time.monotonic() + timeout_seconds
        while (found := await self.states(namespace))[state] < wanted:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{dict(found)} instead of {wanted} {state} after {timeout_seconds:g} s")
            await asyncio.sleep(0.02)

    async def report(self, namespace: str, pod: str, status: dict[str, Any]) -> None:
        """Write the status of a pod, as its kubelet does."""
        body = json.dumps({"status": status}).encode()
        path = f"/api/v1/namespaces/{namespace}/pods/{pod}/status"
        await self.call("PATCH", path, body, "application/strategic-merge-patch+json")

    async def post_all(self, path: str, bodies: Iterable[bytes]) -> None:
        """Post bodies, `IN_FLIGHT` at a time."""
        waiting = iter(bodies)

        async def post() -> None:
            for body in waiting:
                await self.call("POST", path, body)

        await asyncio.gather(*(post() for _ in range(IN_FLIGHT)))

    async def count(self, path: str) -> int:
        """Number of objects in a collection, without reading them."""
        page = await self.get(f"{path}?limit=1")
        return len(page["items"]) + int(page["metadata"].get("remainingItemCount") or 0)

    async def namespace(self, name: str) -> None:
        """Make a namespace that pods can be created in at once."""
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        await self.call("POST", "/api/v1/namespaces", json.dumps(body).encode())
        for _ in range(200):
            accounts = await self.get(f"/api/v1/namespaces/{name}/serviceaccounts")
            if any(item["metadata"]["name"] == "default" for item in accounts["items"]):
                return
            await asyncio.sleep(0.05)
        raise RuntimeError(f"namespace {name} got no default ServiceAccount in 10 s")
