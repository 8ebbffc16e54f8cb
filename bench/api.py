"""A bare client of the API server for the benchmark: one keep-alive aiohttp session, plain JSON, nothing else."""

import asyncio
import base64
import json
import ssl
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp
import yaml

IN_FLIGHT = 32
"""Requests under way at once, as in the figures of the systems compared with."""


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
