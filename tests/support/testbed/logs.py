"""The part of a kubelet that serves logs: what the real API server asks when it is asked for ``pods/log``.

It speaks HTTPS, as a kubelet does, and answers ``/containerLogs/NAMESPACE/POD/CONTAINER`` from what the test has
written. What is known of the pod comes from the API server: a container that has not started has no log (400), and the
log of a pod goes with it, so that a successor of its name begins anew.

How answers end here is how they end on a node: a log that is followed ends once its container has, or when the test
severs it, in order or in the middle of a line.
"""

import ssl
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import parse_qs, urlsplit

from support.testbed.client import PODS, Client, Object
from support.testbed.errors import ApiError, UnreachableError

_BILLION: Final = 10**9
_SECTION: Final = ("containerLogs",)

Key = tuple[str, str, int]
"""Uid of the pod, container, run of the container."""


@dataclass
class _Log:
    """One run of a container: what it wrote, with stamps in nanoseconds."""

    lines: list[tuple[int, bytes]] = field(default_factory=list)
    ended: bool = False
    cuts: list[int] = field(default_factory=list)
    """After how many bytes the next answers break off."""
    severed: int = 0
    """How often what was open has been broken off."""


class LogServer:
    """Serves the logs of the pods of one namespace. Start it with ``with``.

    Args:
        client: A client that may read pods.
        namespace: The namespace.
        certificate: A certificate with its key beside it (``.crt``, ``.key``); nobody verifies it.

    Attributes:
        requests: The query of each request by pod, in their order.
        refuse: Status to answer with, by pod, instead of a log.
        meanwhile: What happens, by pod, after its log has been found and before a line of it is sent; once.
    """

    def __init__(self, client: Client, namespace: str, certificate: Path) -> None:
        self.requests: dict[str, list[dict[str, str]]] = defaultdict(list)
        self.refuse: dict[str, int] = {}
        self.meanwhile: dict[str, Callable[[], object]] = {}
        self.client = client
        self.namespace = namespace
        self.changed = threading.Condition()
        self.closing = False
        self._logs: dict[Key, _Log] = defaultdict(_Log)
        self._uids: dict[str, str] = {}
        self._runs: dict[tuple[str, str], int] = defaultdict(int)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, certificate.with_suffix(".key"))
        self._server = _Server(self, context)
        self._thread = threading.Thread(target=self._server.serve_forever, name="kubelet-logs", daemon=True)

    @property
    def port(self) -> int:
        """Where it listens, on 127.0.0.1."""
        return int(self._server.server_address[1])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self.changed:
            self.closing = True
            self.changed.notify_all()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    # -- for the test ----------------------------------------------------------------------------------------------

    def write(self, pod: str, *texts: str | bytes, container: str = "mindspore", at: float | None = None) -> None:
        """Write lines as a container.

        Args:
            pod: The pod, which must exist.
            texts: The lines, without their ends.
            container: The container.
            at: Seconds since 1970 for the first of them; now by default. Each next one comes a microsecond later.
        """
        stamp = time.time_ns() if at is None else round(at * _BILLION)
        data = [text.encode() if isinstance(text, str) else text for text in texts]
        self._append(pod, container, [(stamp + 1000 * place, text + b"\n") for place, text in enumerate(data)])

    def write_raw(self, pod: str, data: bytes, *, container: str = "mindspore") -> None:
        """Write something that has no end of a line."""
        self._append(pod, container, [(time.time_ns(), data)])

    def end(self, pod: str, *, container: str = "mindspore") -> None:
        """Let a container end: what follows its log has come to the end."""
        with self.changed:
            self._log(pod, container).ended = True
            self.changed.notify_all()

    def restart(self, pod: str, *, container: str = "mindspore") -> None:
        """Let a container begin anew, with a log of its own; the one before is its previous one."""
        with self.changed:
            self._log(pod, container).ended = True
            self._runs[self._uid(pod), container] += 1
            self.changed.notify_all()

    def rotate(self, pod: str, *, container: str = "mindspore", keep: int = 0) -> None:
        """Forget all but the last lines, as when a log has grown too long."""
        with self.changed:
            log = self._log(pod, container)
            log.lines[:] = log.lines[len(log.lines) - keep :]

    def cut(self, pod: str, *after: int, container: str = "mindspore") -> None:
        """Let the next answers break off, each after so many bytes."""
        with self.changed:
            self._log(pod, container).cuts += after

    def sever(self, pod: str, *, container: str = "mindspore") -> None:
        """Break off what is open."""
        with self.changed:
            self._log(pod, container).severed += 1
            self.changed.notify_all()

    def followed(self, pod: str) -> bool:
        """Whether somebody has begun to follow a log of a pod."""
        return any("follow" in query for query in self.requests[pod])

    # -- for the server --------------------------------------------------------------------------------------------

    def find(self, pod: str, container: str, *, previous: bool) -> _Log:
        """The log that a request is about.

        Raises:
            _RefusedError: There is none.
        """
        if pod in self.refuse:
            raise _RefusedError(self.refuse[pod], "refused by the test")
        try:
            found = self.client.get(PODS, pod, self.namespace)
        except (ApiError, UnreachableError) as error:
            raise _RefusedError(404, f'pod "{pod}" not found') from error
        uid = found["metadata"]["uid"]
        waiting = _waiting(found, container)
        if waiting is not None and not previous:
            said = f'container "{container}" in pod "{pod}" is waiting to start: {waiting}'
            raise _RefusedError(400, said)
        with self.changed:
            run = self._runs[uid, container] - previous
            if run < 0:
                said = f'previous terminated container "{container}" in pod "{pod}" not found'
                raise _RefusedError(400, said)
            return self._logs[uid, container, run]

    def _append(self, pod: str, container: str, lines: list[tuple[int, bytes]]) -> None:
        with self.changed:
            self._log(pod, container).lines += lines
            self.changed.notify_all()

    def _log(self, pod: str, container: str) -> _Log:
        uid = self._uid(pod)
        return self._logs[uid, container, self._runs[uid, container]]

    def _uid(self, pod: str) -> str:
        return str(self.client.get(PODS, pod, self.namespace)["metadata"]["uid"])


class _RefusedError(Exception):
    def __init__(self, code: int, said: str) -> None:
        super().__init__(said)
        self.code = code


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, logs: LogServer, context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.logs = logs
        self._context = context

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Speak TLS in the thread of the connection."""
        try:
            with self._context.wrap_socket(request, server_side=True) as secured:
                super().finish_request(secured, client_address)
        except OSError:
            return  # whoever asked has gone

    def shutdown_request(self, request: Any) -> None:
        """Close it."""
        self.close_request(request)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        """Answer a request for a log."""
        logs = self.server.logs
        parts = urlsplit(self.path)
        section, _, pod, container = parts.path.strip("/").split("/")
        assert (section,) == _SECTION
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        logs.requests[pod].append(query)
        try:
            log = logs.find(pod, container, previous=query.get("previous") == "true")
        except _RefusedError as error:
            self.send_error_text(error.code, str(error))
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with logs.changed:
            budget = log.cuts.pop(0) if log.cuts else None
        for data in _answer(logs, log, query):
            if data and (act := logs.meanwhile.pop(pod, None)) is not None:
                act()
            if budget is not None and len(data) >= budget:
                self._chunk(data[:budget])
                self.close_connection = True
                return
            budget = None if budget is None else budget - len(data)
            if data:
                self._chunk(data)
            else:
                self.close_connection = True
                return
        self._chunk(b"")

    def send_error_text(self, code: int, said: str) -> None:
        """Answer with an error as a kubelet does: in plain text."""
        data = f"{said}\n".encode()
        self.send_response(code)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


def _answer(logs: LogServer, log: _Log, query: dict[str, str]) -> Iterator[bytes]:
    """The lines that are asked for; an empty one where the answer is to break off."""
    follow = query.get("follow") == "true"
    since = _since(query)
    place, severed = 0, log.severed
    if "tailLines" in query:
        place = max(0, len(log.lines) - int(query["tailLines"]))
    while True:
        with logs.changed:
            found = log.lines[place:]
            place = len(log.lines)
            ended = log.ended or logs.closing or not follow
        for stamp, text in found:
            if log.severed != severed:
                break
            if stamp >= since:
                yield _stamped(stamp).encode() + b" " + text
        with logs.changed:
            if log.severed != severed:
                break
            if place >= len(log.lines):
                if ended:
                    return
                logs.changed.wait(5)
    yield b""


def _since(query: dict[str, str]) -> int:
    if "sinceTime" in query:
        return round(datetime.fromisoformat(query["sinceTime"]).timestamp() * _BILLION)
    if "sinceSeconds" in query:
        return time.time_ns() - int(query["sinceSeconds"]) * _BILLION
    return 0


def _stamped(stamp: int) -> str:
    seconds, rest = divmod(stamp, _BILLION)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"


def _waiting(pod: Object, container: str) -> str | None:
    """Why a container has no log yet; None if it has one."""
    status = pod.get("status", {})
    listed = [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]
    state = next((item.get("state") or {} for item in listed if item["name"] == container), {})
    if "running" in state or "terminated" in state:
        return None
    reason = (state.get("waiting") or {}).get("reason") or "ContainerCreating"
    return None if reason == "CrashLoopBackOff" else str(reason)
