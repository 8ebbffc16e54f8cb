"""Requests to the API server: one keep-alive aiohttp session, plain JSON, retries, paging.

A request costs little more than a bare aiohttp call: headers live in the session, bodies come and go as bytes, and a
response is parsed only where a method returns an object.

What is retried, at most `attempts` times in all and always after a pause:

- 429 of any method, because the server did not act on it; a Retry-After is honoured, and raised when above a minute;
- no answer and 5xx of reads. A write may have taken effect: its caller looks before it writes again.

A 401 renews the credentials and tries once more. Redirects are not followed: the API server sends none, and
credentials must not travel.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from importlib.metadata import version
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlencode

import aiohttp
import yarl

from msjob_controller.kube import responses, retry
from msjob_controller.kube.connection import Connection
from msjob_controller.kube.errors import (
    Gone,
    ServerError,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
from msjob_controller.kube.lines import json_lines
from msjob_controller.kube.paths import resource_of
from msjob_controller.kube.ratelimit import TokenBucket

Object = dict[str, Any]
"""A Kubernetes object, a Status or a watch event as it came."""
Objects = list[Object]
RequestHook = Callable[[str, str, str, float], None]
"""Called after each request with verb (`create`), resource (`pods`, `msjobs/status`), code (`201`, or `<error>` when
there was no answer) and seconds. For a watch the seconds are those until its headers came."""

JSON: Final = "application/json"
MERGE_PATCH: Final = "application/merge-patch+json"
SILENCE: Final = 200.0
"""Seconds without a single byte after which a stream counts as dead, see `Transport.stream`."""
PAGE_SIZE: Final = 500
"""Objects in one page of a list, as in client-go."""

_VERBS: Final[Mapping[str, str]] = {
    "GET": "get",
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_NO_ANSWER: Final = "<error>"
_KEEP_IDLE: Final = 30.0
"""Seconds an idle connection is kept: below what API servers (90 s and more) and proxies before them (often 50 s)
allow, so that a write seldom meets a connection that is just being closed."""
_FAILED: Final = 300
"""Statuses from here on are errors."""


class Transport:
    """Talks to one API server. Make it inside a running event loop, and close it.

    Args:
        connection: Where the server is, and how to authenticate.
        limit: Requests in flight at most, watches not counted; others wait in line. Something that must not wait in
            that line (the renewal of a Lease) gets a transport of its own.
        timeout: Seconds for one attempt, 60 as in the API server.
        attempts: How often one request is sent at most.
        rate: Client-side rate limit, shared by all requests; None for none, since API Priority and Fairness protects
            the server.
        on_request: For metrics.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        limit: int = 64,
        timeout: float = 60.0,
        attempts: int = 5,
        rate: TokenBucket | None = None,
        on_request: RequestHook | None = None,
    ) -> None:
        self.connection = connection
        self._attempts = attempts
        self._timeout = timeout
        self._rate = rate
        self._on_request = on_request
        self._slots = asyncio.Semaphore(limit)
        self._server = connection.server.rstrip("/")
        self._server_hostname = connection.server_hostname
        self._credentials = connection.credentials
        self._credentials_version = -1
        self._streams = responses.Streams()
        self._session = aiohttp.ClientSession(
            # The number of connections follows `_slots`: a limit of the pool would count watches, too.
            connector=aiohttp.TCPConnector(limit=0, ssl=connection.tls or True, keepalive_timeout=_KEEP_IDLE),
            # Compression costs both sides more than it saves inside a cluster; Kubernetes' own controllers ask for
            # none either.
            headers={
                "User-Agent": f"ms-operator/{version('ms-operator')}",
                "Accept": JSON,
                "Accept-Encoding": "identity",
            },
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=timeout),
            proxy=connection.proxy,
        )

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        await self.close()

    async def close(self) -> None:
        """Close all connections; requests still in flight end as `Unreachable`."""
        await self._session.close()
        await self._streams.wait_closed()

    async def request(  # noqa: PLR0913 - each has a default, all but two are keywords
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        content_type: str = JSON,
        params: Mapping[str, str] | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - for one attempt, not for the call
        verb: str | None = None,
        accept: str | None = None,
    ) -> bytes:
        """Send a request, again if the rules above allow it, and return the body of the answer.

        Args:
            method: `GET`, `POST`, `PUT`, `PATCH` or `DELETE`.
            path: Path as `resource_path` makes it.
            body: JSON.
            content_type: Of the body.
            params: Query.
            timeout: Seconds for one attempt; None for the transport's own.
            verb: Kubernetes verb for metrics, when the method does not tell.
            accept: Media type of the answer, such as that of a Table; None for plain JSON.

        Returns:
            The body, not parsed.

        Raises:
            ApiError: One of its subclasses.
        """
        url = self._url(path, params)
        verb = verb or _VERBS[method]
        headers = {} if body is None else {"Content-Type": content_type}
        if accept is not None:
            headers["Accept"] = accept
        attempt = 0
        renewed = False
        while True:
            await self._authenticate()
            try:
                return await self._send(method, path, url, body, headers, timeout, verb)
            except Unauthorized:
                if renewed or not await self._credentials.renew(self._credentials_version):
                    raise
                renewed = True
            except (TooManyRequests, ServerError, Unreachable) as error:
                if attempt + 1 >= self._attempts or not retry.allowed(method, error):
                    raise
                await asyncio.sleep(retry.pause(attempt, error))
                attempt += 1

    async def get(self, path: str, params: Mapping[str, str] | None = None) -> Object:
        """Read an object.

        Raises:
            NotFound: There is none.
            ApiError: Anything else.
        """
        return decode(await self.request("GET", path, params=params), path)

    async def list(
        self,
        path: str,
        params: Mapping[str, str] | None = None,
        *,
        limit: int = PAGE_SIZE,
        convert: Callable[[Object], Object] | None = None,
    ) -> tuple[Objects, str]:
        """Read a whole collection page by page; all pages show the same moment.

        Args:
            path: Path of the collection.
            params: Selectors and the like.
            limit: Objects in a page.
            convert: Applied to each object as its page comes, so that what it drops never piles up.

        Returns:
            The objects and the resource version of that moment. Objects of built-in kinds carry no `apiVersion` and
            `kind` in a list.

        Raises:
            ApiError: One of its subclasses.
        """
        query = {**(params or {}), "limit": str(limit)}
        items: Objects = []
        while True:
            try:
                page = decode(await self.request("GET", path, params=query, verb="list"), path)
            except Gone:
                if "continue" not in query:
                    raise
                # The moment was compacted away while paging: start over, in one piece this time.
                query = dict(params or {})
                items = []
                continue
            found: Objects = page.get("items") or []
            items.extend(found if convert is None else map(convert, found))
            meta = page["metadata"]
            if not meta.get("continue"):
                return items, meta["resourceVersion"]
            query["continue"] = meta["continue"]

    async def create(self, path: str, body: bytes) -> bytes:
        """Create an object.

        Args:
            path: Path of the collection.
            body: The object.

        Returns:
            The created object, not parsed: see `decode`.

        Raises:
            AlreadyExists: The name is taken.
            ApiError: Anything else.
        """
        return await self.request("POST", path, body=body)

    async def replace(self, path: str, obj: Object) -> Object:
        """Replace an object; `metadata.resourceVersion` guards it.

        Raises:
            Conflict: The object has changed since.
            ApiError: Anything else.
        """
        return decode(await self.request("PUT", path, body=encode(obj)), path)

    async def patch_merge(self, path: str, patch: Object) -> Object:
        """Apply a JSON merge patch (RFC 7396): null removes a field, a list is replaced as a whole.

        Raises:
            ApiError: One of its subclasses.
        """
        return decode(await self.request("PATCH", path, body=encode(patch), content_type=MERGE_PATCH), path)

    async def patch_status(self, path: str, resource_version: str, status: Object) -> Object:
        """Merge into the status of an object, if it still has this resource version.

        Args:
            path: Path of the object, without `/status`.
            resource_version: That of the object the decision was made on.
            status: Merge patch of `.status`.

        Raises:
            Conflict: The object has changed since.
            ApiError: Anything else.
        """
        patch = {"metadata": {"resourceVersion": resource_version}, "status": status}
        return await self.patch_merge(f"{path}/status", patch)

    async def delete(
        self,
        path: str,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        grace: int | None = None,
        propagation: str | None = None,
    ) -> Object:
        """Delete an object.

        Args:
            path: Path of the object.
            uid: Delete only the object with this uid, never a successor of the same name.
            resource_version: Delete only this state of the object.
            grace: Seconds until the kubelet kills; None for what the pod says.
            propagation: `Background`, `Foreground` or `Orphan`; None for the default of the type.

        Returns:
            The object as it is now (it may stay for a while), or a Status when it is gone.

        Raises:
            NotFound: There is none.
            Conflict: It has another uid or resource version.
            ApiError: Anything else.
        """
        preconditions = {"uid": uid, "resourceVersion": resource_version}
        options: Object = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if present := {name: value for name, value in preconditions.items() if value is not None}:
            options["preconditions"] = present
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        if propagation is not None:
            options["propagationPolicy"] = propagation
        return decode(await self.request("DELETE", path, body=encode(options)), path)

    async def stream(
        self,
        path: str,
        params: Mapping[str, str] | None = None,
        *,
        silence: float = SILENCE,
        on_open: Callable[[], None] | None = None,
    ) -> AsyncGenerator[Object]:
        """Open a watch and yield its events until the server ends it.

        Close the generator (`contextlib.aclosing`) to hang up. Nothing is retried.

        Args:
            path: Path of the collection.
            params: `watch=1` and what else the watch needs.
            silence: Seconds without a single byte after which the connection counts as dead. Measured on 1.36: the API
                server sends a bookmark after two minutes and then every minute.
            on_open: Called when the server has accepted the watch.

        Yields:
            The events, each `{"type": ..., "object": ...}`.

        Raises:
            ApiError: The watch was refused, or the stream broke off (`Unreachable`).
        """
        async with self._opened("WATCH", path, params, silence) as content:
            if on_open is not None:
                on_open()
            async for line in json_lines(content):
                yield line

    async def stream_bytes(
        self, path: str, params: Mapping[str, str] | None = None, *, silence: float = SILENCE
    ) -> AsyncGenerator[bytes]:
        """Read an answer of any length, such as a log that is followed, as it comes.

        Close the generator (`contextlib.aclosing`) to hang up. Nothing is retried.

        Args:
            path: Path of the subresource.
            params: Query.
            silence: Seconds without a single byte after which the connection counts as dead.

        Yields:
            What has come, in pieces of any size.

        Raises:
            ApiError: The request was refused, or the answer broke off (`Unreachable`). An API server that loses the
                kubelet behind it ends its own answer in good order.
        """
        async with self._opened("GET", path, params, silence) as content:
            async for chunk in content.iter_any():
                yield chunk

    @contextlib.asynccontextmanager
    async def _opened(
        self, method: str, path: str, params: Mapping[str, str] | None, silence: float
    ) -> AsyncIterator[aiohttp.StreamReader]:
        """Ask for something that may last, and give what it answers once that has begun."""
        await self._authenticate()
        started = time.perf_counter()
        code = _NO_ANSWER
        request = f"{method} {path}"
        verb = "watch" if method == "WATCH" else "get"
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=self._timeout, sock_read=silence)
        try:
            async with self._session.get(
                self._url(path, params),
                timeout=timeout,
                allow_redirects=False,
                server_hostname=self._server_hostname,
            ) as response:
                code = str(response.status)
                self._report(verb, path, code, started)
                if response.status >= _FAILED:
                    raise await responses.failure(response, request)
                self._streams.add(response)
                yield response.content
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if code == _NO_ANSWER:
                self._report(verb, path, code, started)
            raise Unreachable(responses.what(error), request=request) from error
        except Unauthorized:
            await self._credentials.renew(self._credentials_version)
            raise

    def _url(self, path: str, params: Mapping[str, str] | None) -> yarl.URL:
        # Built as a string and marked as encoded: quoting it again costs more than all the rest of this module.
        query = f"?{urlencode(params)}" if params else ""
        return yarl.URL(f"{self._server}{path}{query}", encoded=True)

    async def _authenticate(self) -> None:
        credentials = self._credentials
        if credentials.clock() >= credentials.due:
            await credentials.renew(credentials.version)
        if credentials.version != self._credentials_version:
            self._credentials_version = credentials.version
            self._session.headers.pop("Authorization", None)
            if credentials.authorization is not None:
                self._session.headers["Authorization"] = credentials.authorization

    async def _send(
        self,
        method: str,
        path: str,
        url: yarl.URL,
        body: bytes | None,
        headers: Mapping[str, str],
        timeout: float | None,  # noqa: ASYNC109 - passed on to aiohttp
        verb: str,
    ) -> bytes:
        if self._rate is not None and (wait := self._rate.reserve()) > 0:
            await asyncio.sleep(wait)
        async with self._slots:
            started = time.perf_counter()
            code = _NO_ANSWER
            try:
                async with self._session.request(
                    method,
                    url,
                    data=body,
                    headers=headers,
                    timeout=self._session.timeout if timeout is None else aiohttp.ClientTimeout(total=timeout),
                    allow_redirects=False,
                    server_hostname=self._server_hostname,
                ) as response:
                    if response.status >= _FAILED:
                        failure = await responses.failure(response, f"{method} {path}")
                        code = str(response.status)
                        raise failure
                    answer = await response.read()
                    code = str(response.status)
                    return answer
            except (aiohttp.ClientError, OSError) as error:
                raise Unreachable(responses.what(error), request=f"{method} {path}") from error
            finally:
                self._report(verb, path, code, started)

    def _report(self, verb: str, path: str, code: str, started: float) -> None:
        if self._on_request is not None:
            self._on_request(verb, resource_of(path), code, time.perf_counter() - started)


def encode(obj: Object) -> bytes:
    """Return an object as compact JSON."""
    return json.dumps(obj, separators=(",", ":"), ensure_ascii=False).encode()


def decode(body: bytes, request: str = "") -> Object:
    """Parse the body of an answer.

    Args:
        body: What `create` or `request` returned.
        request: For the message of an error.

    Raises:
        ServerError: It is no JSON object, so it does not come from an API server.
    """
    try:
        content = json.loads(body)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        start = body[:80].decode(errors="replace")
        raise ServerError(502, "BadAnswer", f"expected a JSON object, got {start!r}", request=request)
    return content
