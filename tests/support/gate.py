"""A gate before the API server, at which a test stops one request of the operator and sees it die there.

The gate is a reverse proxy on plain HTTP: it passes on what it gets, watches too, with the credentials of the caller. A
trap lets some requests of one kind through and then holds those that follow, so that a test can kill their sender
between any two of its writes, or after one that was carried out but whose answer it never heard.
"""

import asyncio
import json
import ssl
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self

import aiohttp
from aiohttp import web
from yarl import URL

from support.testbed.errors import WaitTimeoutError

Lost = Literal["request", "answer"]

_VERBS: Final = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_OF_ONE_HOP: Final = frozenset({"connection", "content-length", "host", "keep-alive", "transfer-encoding"})
"""Headers that speak of a connection, not of the request."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request as RBAC sees it.

    Attributes:
        verb: such as `create`, `list` or `watch`.
        resource: plural, with the subresource: `msjobs/status`.
        namespace: empty when the path names none.
        name: of the object; empty for a collection, and for an object that is to be created.
        body: what was sent, None when that was nothing.
    """

    verb: str
    resource: str
    namespace: str
    name: str
    body: Any


class Trap:
    """Holds requests of one kind, once some have been let through. Made by `Gate.hold`.

    Attributes:
        caught: what it holds, in the order in which it came.
    """

    def __init__(self, wants: Callable[[Call], bool], after: int, lost: Lost) -> None:
        self.caught: list[Call] = []
        self._wants = wants
        self._left = after
        self._lost = lost
        self._passing = 0
        self._sealed = False
        self._shut = threading.Event()
        self._verdict: Future[bool] = Future()

    # -- for the test ----------------------------------------------------------------------------------------------

    def wait(self, timeout: float = 15, *, about: str = "") -> Call:
        """Wait until it holds a request and all that it let through before is answered.

        A request whose answer is to be lost has been carried out by then.

        Args:
            timeout: seconds to wait at most.
            about: what the request is about, for the message.

        Returns:
            The first request that it holds.

        Raises:
            WaitTimeoutError: Nothing of the kind came.
        """
        if not self._shut.wait(timeout):
            raise WaitTimeoutError(f"waited {timeout:g} s for a request to hold {about}; {self._left} are to pass")
        return self.caught[0]

    def seal(self) -> None:
        """Hold what is held, and nothing more: what comes next passes."""
        self._sealed = True

    def drop(self) -> None:
        """Hang up on all that is held: it never arrives, or its answer does not. What comes next passes."""
        self._decide(deliver=False)

    def release(self) -> None:
        """Let all that is held pass, also when its sender is dead by now. What comes next passes, too."""
        self._decide(deliver=True)

    def _decide(self, *, deliver: bool) -> None:
        if not self._verdict.done():
            self._verdict.set_result(deliver)

    # -- for the gate, in its thread -------------------------------------------------------------------------------

    def matches(self, call: Call) -> bool:
        """Whether it is about this request."""
        return not (self._sealed or self._verdict.done()) and self._wants(call)

    async def meet(self, call: Call, forward: Callable[[], Awaitable[web.Response]]) -> web.Response | None:
        """Let a request pass, or hold it until the test has decided.

        Args:
            call: the request.
            forward: carries it out.

        Returns:
            The answer to give; None to hang up.
        """
        if self._left > 0:
            self._left -= 1
            self._passing += 1
            try:
                return await forward()
            finally:
                self._passing -= 1
                self._tell()
        first = not self.caught
        self.caught.append(call)
        answer = None
        if first and self._lost == "answer":
            self._passing += 1
            answer = await forward()
            self._passing -= 1
        self._tell()
        if not await asyncio.wrap_future(self._verdict):
            return None
        return answer or await forward()

    def _tell(self) -> None:
        if self.caught and not self._passing:
            self._shut.set()


class Gate:
    """The gate. Use it with `with`.

    Args:
        server: address of the API server.
        ca_file: certificate to trust.

    Attributes:
        address: where it listens, for a kubeconfig.
    """

    def __init__(self, server: str, ca_file: Path) -> None:
        self.address = ""
        self._server = server
        self._ca_file = ca_file
        self._traps: list[Trap] = []
        self._tasks: set[asyncio.Future[web.Response | None]] = set()
        self._listening: Future[str] = Future()
        self._close: Future[None] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="gate", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.address = self._listening.result(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Hang up on all and stop listening."""
        for trap in self._traps:
            trap.drop()
        self._close.set_result(None)
        self._thread.join(10)

    def hold(
        self,
        verb: str,
        resource: str,
        *,
        after: int = 0,
        lost: Lost = "request",
        when: Callable[[Call], bool] = lambda _: True,
    ) -> Trap:
        """Hold requests of one kind from now on.

        Args:
            verb: such as `create`.
            resource: plural with the subresource, such as `msjobs/status`.
            after: so many of the kind pass before.
            lost: whether the first one that is held is still to arrive (`request`), or is carried out and its answer
                held (`answer`). Those that follow never arrive before the test has decided.
            when: which of them are meant.
        """

        def wants(call: Call) -> bool:
            return (call.verb, call.resource) == (verb, resource) and when(call)

        trap = Trap(wants, after, lost)
        self._traps.append(trap)
        return trap

    # -- in its thread ---------------------------------------------------------------------------------------------

    async def _serve(self) -> None:
        tls = ssl.create_default_context(cafile=str(self._ca_file))
        connector = aiohttp.TCPConnector(limit=0, ssl=tls)
        # No limit of time: how long an answer may take is for the caller to say.
        timeout = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout, auto_decompress=False) as session:

            async def handle(request: web.Request) -> web.StreamResponse:
                return await self._handle(session, request)

            app = web.Application(client_max_size=2**26)
            app.router.add_route("*", "/{path:.*}", handle)
            # A watch ends with its caller.
            runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
            await runner.setup()
            try:
                site = web.TCPSite(runner, "127.0.0.1", 0)
                await site.start()
                host, port = runner.addresses[0][:2]
                self._listening.set_result(f"http://{host}:{port}")
                await asyncio.wrap_future(self._close)
            finally:
                await runner.cleanup()

    async def _handle(self, session: aiohttp.ClientSession, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        call = read_call(request.method, request.url, body)
        if call.verb == "watch":
            return await self._stream(session, request)

        async def forward() -> web.Response:
            return await self._forward(session, request, body)

        trap = next((trap for trap in self._traps if trap.matches(call)), None)
        # What has been sent goes on to the API server, also when its sender is dead by then.
        task = asyncio.ensure_future(forward() if trap is None else trap.meet(call, forward))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task) or _hang_up(request)

    async def _forward(self, session: aiohttp.ClientSession, request: web.Request, body: bytes) -> web.Response:
        async with session.request(
            request.method, self._url(request), headers=_headers(request.headers), data=body, allow_redirects=False
        ) as answer:
            content = await answer.read()
            return web.Response(status=answer.status, headers=_headers(answer.headers), body=content)

    async def _stream(self, session: aiohttp.ClientSession, request: web.Request) -> web.StreamResponse:
        async with session.get(self._url(request), headers=_headers(request.headers)) as answer:
            response = web.StreamResponse(status=answer.status, headers=_headers(answer.headers))
            try:
                await response.prepare(request)
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
            except (OSError, aiohttp.ClientError):
                # Either end is gone: the other one has to notice.
                return _hang_up(request)
            return response

    def _url(self, request: web.Request) -> URL:
        return URL(f"{self._server}{request.rel_url.raw_path_qs}", encoded=True)


def read_call(method: str, url: URL, body: bytes) -> Call:
    """Read a request as the API server does.

    Args:
        method: HTTP method.
        url: with the query.
        body: JSON, or nothing.
    """
    parts = [part for part in url.path.split("/") if part]
    # /api/v1/... and /apis/GROUP/VERSION/...
    rest = parts[2:] if parts[:1] == ["api"] else parts[3:]
    namespace = ""
    if rest[:1] == ["namespaces"] and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    plural, name, sub = (*rest, "", "", "")[:3]
    verb = _VERBS.get(method) or ("get" if name else "list")
    if method == "GET" and url.query.get("watch") in ("1", "true"):
        verb = "watch"
    content = json.loads(body) if body else None
    return Call(verb, f"{plural}/{sub}" if sub else plural, namespace, name, content)


def _headers(headers: Any) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers.items() if name.lower() not in _OF_ONE_HOP]


def _hang_up(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
