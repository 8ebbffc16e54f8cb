"""An event loop in a thread of its own, for callers that have none."""

import asyncio
import concurrent.futures
import contextlib
import queue
import threading
import weakref
from collections.abc import AsyncGenerator, Coroutine, Iterator
from types import TracebackType
from typing import Any, Final, Generic, NamedTuple, Self, TypeVar

T = TypeVar("T")

_ROOM: Final = 256
"""Items that wait for a slow reader before the other side waits, too."""
_BATCH: Final = 64
"""Items after whose reading the other side hears that there is room again: waking a loop costs a system call."""
_CLOSED: Final = "the client is closed"


class Background:
    """An event loop in a daemon thread. Close it.

    Args:
        name: Of the thread.
    """

    def __init__(self, name: str = "msjob-client") -> None:
        self._loop = asyncio.new_event_loop()
        self._streams: weakref.WeakSet[Stream[Any]] = weakref.WeakSet()
        self._closed = False
        self._gate = threading.RLock()
        """What is begun comes before the stop of the loop, or not at all: nobody waits for what is never done."""
        self._thread = threading.Thread(target=_serve, args=(self._loop,), name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Let the loop do something and wait for its end, also for that which Ctrl-C brings about.

        Raises:
            RuntimeError: It is closed, or was closed meanwhile.
        """
        with self._gate:
            if self._closed:
                work.close()
                raise RuntimeError(_CLOSED)
            task = _Task(self._loop, work)
        try:
            return task.outcome.result()
        except asyncio.CancelledError:
            if self._closed:
                raise RuntimeError(_CLOSED) from None
            raise
        except BaseException:
            task.cancel()
            raise

    def stream(self, source: AsyncGenerator[T]) -> "Stream[T]":
        """Begin to read an asynchronous iterator, a little ahead of who asks for its items."""
        with self._gate:
            if self._closed:
                raise RuntimeError(_CLOSED)
            stream = Stream(source, self._loop)
            self._streams.add(stream)
        return stream

    def close(self, last: Coroutine[Any, Any, None] | None = None) -> None:
        """End all streams and the thread. Does nothing a second time.

        Args:
            last: What the loop does between the two.
        """
        with self._gate:
            if self._closed:
                return
            self._closed = True
        for stream in tuple(self._streams):
            stream.close()
        if last is not None:
            _Task(self._loop, last).outcome.result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()


class Stream(Iterator[T], Generic[T]):
    """What an asynchronous iterator gives, for a plain `for` loop. Close it to end it before its end.

    Leaving a `with` block closes it, and so does closing the client. One that nobody holds any more ends by itself.
    """

    def __init__(self, source: AsyncGenerator[T], loop: asyncio.AbstractEventLoop) -> None:
        self._pipe: _Pipe[T] = _Pipe()
        self._loop = loop
        self._read = 0
        self._ended = False
        # Not a method of this object, which the loop would hold on to.
        self._pump = _Task(loop, self._pipe.fill(source))

    def __next__(self) -> T:
        if self._ended:
            raise StopIteration
        item = self._pipe.items.get()
        if isinstance(item, _End):
            self._ended = True
            if item.error is None:
                raise StopIteration
            raise item.error
        self._read += 1
        if self._read % _BATCH == 0:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._pipe.make_room)
        return item.value

    def close(self) -> None:
        """End it, and wait until its connections are closed. Does nothing a second time."""
        if self._ended:
            return
        self._ended = True
        self._pump.cancel()
        self._pipe.items.put(_End(None))  # for another thread that waits in `__next__`

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # Nothing may be waited for here: this may run in any thread, the loop's own among them.
        if not self._ended:
            self._pump.abandon()


class _Item(NamedTuple, Generic[T]):
    value: T


class _End(NamedTuple):
    error: Exception | None


class _Pipe(Generic[T]):
    """Items on their way from the loop to a reader in another thread."""

    def __init__(self) -> None:
        self.items: queue.SimpleQueue[_Item[T] | _End] = queue.SimpleQueue()
        self._room = asyncio.Semaphore(_ROOM)

    async def fill(self, source: AsyncGenerator[T]) -> None:
        """Put in all that comes, and how it ended."""
        try:
            async with contextlib.aclosing(source) as items:
                async for value in items:
                    await self._room.acquire()
                    self.items.put(_Item(value))
        except Exception as error:  # noqa: BLE001 - it is raised where the items are read
            self.items.put(_End(error))
        else:
            self.items.put(_End(None))

    def make_room(self) -> None:
        """A batch has been read."""
        for _ in range(_BATCH):
            self._room.release()


class _Task(Generic[T]):
    """A task of the loop, seen from another thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> None:
        self.outcome: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._loop = loop
        self._task: asyncio.Task[T] | None = None
        loop.call_soon_threadsafe(self._begin, work)

    def cancel(self) -> None:
        """Cancel it and wait until it has ended; does nothing to one that has."""
        if not self.outcome.done():
            self.abandon()
            self.outcome.exception()

    def abandon(self) -> None:
        """Cancel it, and leave it to itself."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._cancel)

    def _begin(self, work: Coroutine[Any, Any, T]) -> None:
        self._task = self._loop.create_task(work)
        self._task.add_done_callback(self._end)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _end(self, task: asyncio.Task[T]) -> None:
        if task.cancelled():
            self.outcome.set_exception(asyncio.CancelledError())
        elif (error := task.exception()) is not None:
            self.outcome.set_exception(error)
        else:
            self.outcome.set_result(task.result())


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        asyncio.set_event_loop(None)
        loop.close()
