"""Renders jobs through the construct worker, and keeps that process on a short lead.

One process, one job at a time, each within a time limit; started when a job needs it, stopped when idle, so a
controller at rest holds no Node; replaced after a number of renders, because jsii gives no memory back. A worker or a
Node that dies in the middle costs no job: the render is tried again on a new one. A job that ends several workers is to
blame itself.
"""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

import structlog

from msjob.rendered import Rendered
from msjob_controller import frames

START_SECONDS: Final = 60.0
"""Time a worker has to import the constructs and start Node: 0.6-1.0 s on a quiet machine (measured)."""
RENDER_SECONDS: Final = 30.0
"""Time limit of one render; 5 ms is usual."""
IDLE_SECONDS: Final = 30.0
"""A worker without work for so long is stopped."""
RENDERS_PER_WORKER: Final = 500
"""Renders until a worker is replaced: Node grows by some 0.1-0.3 MB each (measured)."""
ATTEMPTS: Final = 3
"""Workers that one job may use up."""
HOLD_FACTOR: Final = 10
"""A job whose construct took too long is left alone for so many times its limit: all other renders had to wait."""
ORPHAN_SECONDS: Final = 1.0
"""Time in which a killed Node is dead; a few milliseconds are usual."""
LONGEST_LINE: Final = 4096
"""Characters kept of a line that a construct prints."""
CACHED: Final = 256
"""Renders kept, by uid and generation: a job is rendered once for its Service and its pods."""

_log = structlog.get_logger(__name__)


class RenderFailedError(RuntimeError):
    """A job could not be rendered; the message says why, for people."""


class BadConstructError(RenderFailedError):
    """A site's construct could not be loaded, or is none; no job can be rendered with it."""


class Renderer:
    """The door to the construct worker.

    Args:
        construct: a site's construct as `package.module:Class`, None for the project's own.
        idle_seconds: see `IDLE_SECONDS`.
        render_seconds: see `RENDER_SECONDS`.
        renders_per_worker: see `RENDERS_PER_WORKER`.
        on_render: called with the outcome of each render: `ok`, `error` or `retry`.
    """

    def __init__(
        self,
        construct: str | None = None,
        *,
        idle_seconds: float = IDLE_SECONDS,
        render_seconds: float = RENDER_SECONDS,
        renders_per_worker: int = RENDERS_PER_WORKER,
        on_render: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._construct = construct
        self._idle_seconds = idle_seconds
        self._render_seconds = render_seconds
        self._renders_per_worker = renders_per_worker
        self._on_render = on_render
        self._lock = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._rendered = 0
        self._scratch: str | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._stopping: set[asyncio.Task[None]] = set()
        self._output: _Output | None = None
        self._cache: OrderedDict[tuple[str, int], Rendered] = OrderedDict()
        self._held: dict[tuple[str, int], float] = {}

    @property
    def pid(self) -> int | None:
        """Process id of the worker, None while there is none. It leads the process group that Node is in, too."""
        return None if self._process is None else self._process.pid

    async def render(self, job: dict[str, Any]) -> Rendered:
        """Render a job.

        Args:
            job: JSON of a valid MSJob.

        Raises:
            BadConstructError: the construct cannot be loaded.
            RenderFailedError: its construct failed, took too long, or ended several workers.
        """
        metadata = job["metadata"]
        key = (metadata["uid"], metadata["generation"])
        if key not in self._cache:
            async with self._lock:
                if key not in self._cache:
                    self._cache[key] = await self._render(job, key)
                    if len(self._cache) > CACHED:
                        self._cache.popitem(last=False)
        self._cache.move_to_end(key)
        return self._cache[key]

    def forget(self, uid: str) -> None:
        """Drop what is kept of a job that needs no more pods."""
        for kept in (self._cache, self._held):
            for key in [key for key in kept if key[0] == uid]:
                del kept[key]

    async def check(self) -> None:
        """Start a worker, to see before the first job whether one can be started.

        Raises:
            BadConstructError: the construct cannot be loaded, or is none.
            RenderFailedError: no worker can be started, for another reason.
        """
        async with self._lock:
            if self._process is None and await self._start() is None:
                raise RenderFailedError("the construct worker ended while it started")
            self._cancel_idle()
            self._idle = asyncio.get_running_loop().call_later(self._idle_seconds, self._stop_soon)

    async def close(self) -> None:
        """Stop the worker."""
        self._cancel_idle()
        await self._stop()
        await asyncio.gather(*self._stopping)

    async def _render(self, job: dict[str, Any], key: tuple[str, int]) -> Rendered:
        loop = asyncio.get_running_loop()
        if self._held.get(key, 0.0) > loop.time():
            raise RenderFailedError(self._too_long)
        self._cancel_idle()
        slim = {**job, "metadata": {k: v for k, v in job["metadata"].items() if k != "managedFields"}, "status": {}}
        try:
            for _ in range(ATTEMPTS):
                answer = await self._ask({"job": slim})
                if answer is not None:
                    break
                self._on_render("retry")
            else:
                self._on_render("error")
                raise RenderFailedError(f"the construct worker ended {ATTEMPTS} times in the middle of this job")
        except TimeoutError:
            self._on_render("error")
            self._held = {other: until for other, until in self._held.items() if until > loop.time()}
            self._held[key] = loop.time() + HOLD_FACTOR * self._render_seconds
            raise RenderFailedError(self._too_long) from None
        finally:
            self._idle = loop.call_later(self._idle_seconds, self._stop_soon)
        if "error" in answer:
            self._on_render("error")
            raise RenderFailedError(answer["error"])
        self._on_render("ok")
        return Rendered.from_wire(answer["rendered"])

    async def _ask(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """One question to a worker; None if it died of it, or before it.

        Raises:
            TimeoutError: it took too long.
            RenderFailedError: no worker can be started.
        """
        if self._process is not None and self._rendered >= self._renders_per_worker:
            await self._stop()
        process = self._process or await self._start()
        if process is None or process.stdin is None:
            return None
        self._rendered += 1
        try:
            async with asyncio.timeout(self._render_seconds):
                process.stdin.write(frames.encode(message))
                await process.stdin.drain()
                answer = await _receive(process)
        except (TimeoutError, asyncio.CancelledError):
            # Should the answer still come, it must not be taken for that of the next job.
            await self._stop()
            raise
        except OSError:
            answer = None
        if answer is None:
            await self._stop()
        return answer

    async def _start(self) -> asyncio.subprocess.Process | None:
        try:
            # jsii unpacks itself into the temporary folder and a kill leaves that behind, so each worker has its own.
            self._scratch = tempfile.mkdtemp(prefix="msjob-render-")
            process = await self._spawn(self._scratch)
            async with asyncio.timeout(START_SECONDS):
                ready = await _receive(process)
        except TimeoutError:
            await self._stop()
            raise RenderFailedError(f"the construct worker did not start in {START_SECONDS:g} s") from None
        except OSError as error:
            await self._stop()
            raise RenderFailedError(f"the construct worker cannot start: {error}") from error
        except asyncio.CancelledError:
            await self._stop()
            raise
        if ready is None:
            await self._stop()
            return None
        if "fatal" in ready:
            await self._stop()
            kind = BadConstructError if ready["construct"] else RenderFailedError
            raise kind(f"the construct worker cannot start: {ready['fatal']}")
        return process

    async def _spawn(self, folder: str) -> asyncio.subprocess.Process:
        source, sink = os.pipe()
        try:
            self._output = await _Output.of(source)
            self._process = process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "msjob_controller.render_worker",
                *([] if self._construct is None else [self._construct]),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=sink,
                start_new_session=True,
                env={**os.environ, "TMPDIR": folder},
            )
        finally:
            os.close(sink)
        self._rendered = 0
        return process

    async def _stop(self) -> None:
        """End the worker and all that it started; it holds no state worth a farewell."""
        process, self._process = self._process, None
        output, self._output = self._output, None
        scratch, self._scratch = self._scratch, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            await _reap(process.pid)
        if output is not None:
            await output.close()
        if scratch is not None:
            # Node may still be dying: what it holds open goes with the operator's own temporary folder.
            shutil.rmtree(scratch, ignore_errors=True)

    @property
    def _too_long(self) -> str:
        return f"the construct took longer than {self._render_seconds:g} s"

    def _stop_soon(self) -> None:
        async def stop() -> None:
            async with self._lock:
                # A render that came in between has set a new timer.
                if self._idle is None or self._idle.when() <= asyncio.get_running_loop().time():
                    await self._stop()

        task = asyncio.get_running_loop().create_task(stop())
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)

    def _cancel_idle(self) -> None:
        if self._idle is not None:
            self._idle.cancel()


async def _reap(group: int) -> None:
    """Wait for the processes of a group that were orphaned and killed.

    Where the operator is the first process of its container they are its children now, and would stay as zombies;
    elsewhere somebody else takes care of them.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + ORPHAN_SECONDS
    with contextlib.suppress(ChildProcessError):
        while loop.time() < deadline:
            pid, _ = os.waitpid(-group, os.WNOHANG)  # noqa: ASYNC222 - it does not wait
            if pid == 0:
                await asyncio.sleep(0.01)


class _Output(asyncio.Protocol):
    """Logs what a construct, or Node, prints, a line an event."""

    def __init__(self) -> None:
        self._ended = asyncio.Event()
        self._line = b""
        self._transport: asyncio.BaseTransport | None = None

    @classmethod
    async def of(cls, source: int) -> "_Output":
        """Log what comes out of a pipe; its file descriptor is closed at the end."""
        _, output = await asyncio.get_running_loop().connect_read_pipe(cls, os.fdopen(source, "rb", 0))
        return output

    async def close(self) -> None:
        """Log what still comes, though not for long: what a construct has started may keep the pipe open."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ORPHAN_SECONDS):
                await self._ended.wait()
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what has to be closed."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Log whole lines."""
        *lines, rest = (self._line + data).split(b"\n")
        for line in lines:
            self._log(line)
        self._line = rest[:LONGEST_LINE]

    def connection_lost(self, error: Exception | None) -> None:
        """Log what is left."""
        del error
        self._log(self._line)
        self._ended.set()

    def _log(self, line: bytes) -> None:
        text = line.decode(errors="replace").rstrip()
        if text:
            _log.info("construct.output", text=text[:LONGEST_LINE])


async def _receive(process: asyncio.subprocess.Process) -> dict[str, Any] | None:
    if process.stdout is None:
        return None
    try:
        (length,) = frames.HEADER.unpack(await process.stdout.readexactly(frames.HEADER.size))
        answer: dict[str, Any] = json.loads(await process.stdout.readexactly(length))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return answer
