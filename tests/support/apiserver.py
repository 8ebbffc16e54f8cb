"""A small HTTP server that speaks enough of the Kubernetes API to be the other side of `msjob_controller.kube`.

Lists with pages, watches with bookmarks, resource versions, uids, merge patches, preconditions, 404, 409 and 410. And
what a real one does only on bad days: answers prepared by the test, watches cut off in the middle of a line, history
that is compacted. The real API server is the subject of `tests/controlplane`.
"""

import asyncio
import copy
import itertools
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from aiohttp import web
from aiohttp.test_utils import TestServer

from msjob_controller.kube.connection import Connection, Credentials

Object = dict[str, Any]
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
_PLURALS = {"events", "horizontalpodautoscalers", "leases", "msjobs", "nodes", "pods", "services"}
_REASONS = {404: "NotFound", 409: "Conflict", 410: "Expired"}


def status(code: int, reason: str = "", message: str = "", **headers: str) -> Answer:
    """Return an answer that fails with a Kubernetes Status."""

    async def answer(_: web.Request) -> web.StreamResponse:
        return _status(code, reason, message, headers)

    return answer


def _status(code: int, reason: str = "", message: str = "", headers: dict[str, str] | None = None) -> web.Response:
    reason = reason or _REASONS.get(code, "")
    content = {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message or reason}
    return web.json_response(content, status=code, headers=headers)


@dataclass
class Seen:
    """A request the server got.

    Attributes:
        method: Such as `GET`.
        path: Without the query.
        query: The query.
        headers: Names in lower case.
        body: The parsed body, None when there was none.
    """

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


class FakeApiServer:
    """Start it with `async with`.

    Attributes:
        objects: Path -> object.
        requests: Everything asked so far.
        prepared: Answers for the next requests, before all else. None in it means a normal answer.
    """

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {}
        self.requests: list[Seen] = []
        self.prepared: list[Answer | None] = []
        self.version = 100
        self._compacted = 0
        self._history: list[tuple[int, str, str, Object]] = []
        self._uids = itertools.count(1)
        self._snapshots: dict[str, tuple[int, list[Object]]] = {}
        self._watches: list[tuple[str, asyncio.Queue[bytes | None]]] = []
        """Open watches with the collection that each is of."""
        app = web.Application(client_max_size=2**26)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._server = TestServer(app)

    async def __aenter__(self) -> Self:
        await self._server.start_server()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end_watches()
        await self._server.close()

    def connection(self, credentials: Credentials | None = None) -> Connection:
        """Return how to reach it."""
        return Connection(str(self._server.make_url("")), credentials=credentials or Credentials())

    def count(self, method: str, **query: str) -> int:
        """Return how many requests of a method came, with these values in the query."""
        return sum(seen.method == method and query.items() <= seen.query.items() for seen in self.requests)

    @property
    def watching(self) -> int:
        """How many watches are open."""
        return len(self._watches)

    def put(self, collection: str, obj: Object) -> Object:
        """Create or replace an object, as another client would."""
        path = f"{collection}/{obj['metadata']['name']}"
        old = self.objects.get(path)
        new = copy.deepcopy(obj)
        new["metadata"]["uid"] = old["metadata"]["uid"] if old else f"uid-{next(self._uids)}"
        self.version += 1
        new["metadata"]["resourceVersion"] = str(self.version)
        self.objects[path] = new
        self._publish("MODIFIED" if old else "ADDED", collection, new)
        return copy.deepcopy(new)

    def remove(self, path: str) -> Object:
        """Delete an object, as another client would."""
        obj = copy.deepcopy(self.objects.pop(path))
        self.version += 1
        obj["metadata"]["resourceVersion"] = str(self.version)
        self._publish("DELETED", path.rpartition("/")[0], obj)
        return obj

    def bookmark(self) -> None:
        """Tell all watches the present resource version."""
        self.send({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": str(self.version)}}})

    def compact(self) -> None:
        """Forget the history: watches from an old resource version and lists in progress are gone."""
        self._compacted = self.version
        self._history.clear()
        self._snapshots.clear()

    def restore(self, version: int) -> None:
        """Lose everything and count from an old number, as when etcd is restored from a backup."""
        self.objects.clear()
        self.version = version
        self._compacted = 0
        self._history.clear()
        self._snapshots.clear()

    def send(self, event: Object) -> None:
        """Write an event to all open watches."""
        self.send_bytes(json.dumps(event).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        """Write any bytes to all open watches."""
        for _, queue in self._watches:
            queue.put_nowait(data)

    def end_watches(self) -> None:
        """End all watches in order, as after timeoutSeconds."""
        for _, queue in self._watches:
            queue.put_nowait(None)

    def cut_watches(self, partial: bytes = b"") -> None:
        """Break the connections of all watches, after writing part of a line."""
        for _, queue in self._watches:
            queue.put_nowait(partial)
            queue.put_nowait(b"")

    def _publish(self, kind: str, collection: str, obj: Object) -> None:
        self._history.append((self.version, collection, kind, copy.deepcopy(obj)))
        data = _line(kind, obj)
        for watched, queue in self._watches:
            if watched == collection:
                queue.put_nowait(data)

    async def _handle(self, request: web.Request) -> web.StreamResponse:  # noqa: PLR0911 - one return a method
        raw = await request.read()
        body: Any = json.loads(raw) if raw else None
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.requests.append(Seen(request.method, request.path, dict(request.query), headers, body))
        if self.prepared and (answer := self.prepared.pop(0)) is not None:
            return await answer(request)
        match request.method:
            case "GET" if request.query.get("watch"):
                return await self._watch(request)
            case "GET":
                return self._get(request)
            case "POST":
                return self._create(request.path, body)
            case "PUT" | "PATCH":
                return self._change(request.method, request.path, body)
            case "DELETE":
                return self._delete(request.path, body or {})
        return _status(405)

    def _get(self, request: web.Request) -> web.Response:
        if request.path in self.objects:
            return web.json_response(self.objects[request.path])
        if request.path.rpartition("/")[2] not in _PLURALS:
            return _status(404)
        token = request.query.get("continue")
        if token:
            if token not in self._snapshots:
                return _status(410, message="the provided continue parameter is too old")
            version, items = self._snapshots.pop(token)
        else:
            version, items = self.version, self._collection(request.path)
        limit = int(request.query.get("limit", "0")) or len(items)
        meta: Object = {"resourceVersion": str(version)}
        if len(items) > limit:
            meta["continue"] = f"token-{len(self.requests)}"
            self._snapshots[meta["continue"]] = (version, items[limit:])
        return web.json_response({"kind": "List", "metadata": meta, "items": items[:limit]})

    def _collection(self, path: str) -> list[Object]:
        return copy.deepcopy([obj for at, obj in sorted(self.objects.items()) if at.rpartition("/")[0] == path])

    def _create(self, path: str, body: Object) -> web.Response:
        if f"{path}/{body['metadata']['name']}" in self.objects:
            return _status(409, "AlreadyExists")
        return web.json_response(self.put(path, body), status=201)

    def _change(self, method: str, path: str, body: Object) -> web.Response:
        path = path.removesuffix("/status")
        old = self.objects.get(path)
        if old is None:
            return _status(404)
        for field in ("resourceVersion", "uid"):
            if body.get("metadata", {}).get(field, old["metadata"][field]) != old["metadata"][field]:
                return _status(409)
        new = body if method == "PUT" else _merge(copy.deepcopy(old), body)
        return web.json_response(self.put(path.rpartition("/")[0], new))

    def _delete(self, path: str, options: Object) -> web.Response:
        old = self.objects.get(path)
        if old is None:
            return _status(404)
        for field, value in options.get("preconditions", {}).items():
            if old["metadata"][field] != value:
                return _status(409)
        self.remove(path)
        return web.json_response({"kind": "Status", "status": "Success"})

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        since = int(request.query.get("resourceVersion") or "0")
        if since < self._compacted:
            return _status(410, message="too old resource version")
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.enable_chunked_encoding()
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        for version, collection, kind, obj in self._history:
            if version > since and collection == request.path:
                queue.put_nowait(_line(kind, obj))
        watch = (request.path, queue)
        self._watches.append(watch)
        await response.prepare(request)
        try:
            while (data := await queue.get()) is not None:
                if data:
                    await response.write(data)
                elif request.transport is not None:
                    request.transport.close()
                    break
        finally:
            self._watches.remove(watch)
        return response


def _line(kind: str, obj: Object) -> bytes:
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"


def _merge(target: Object, patch: Object) -> Object:
    for name, value in patch.items():
        if value is None:
            target.pop(name, None)
        elif isinstance(value, dict) and isinstance(target.get(name), dict):
            _merge(target[name], value)
        else:
            target[name] = value
    return target
