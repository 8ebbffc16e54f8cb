"""A queue of keys for reconcilers: never one key twice at once, delayed adds, back-off.

The rules are those of client-go's work queue. A key that is added while it waits is in the queue once; a key that is
added while it is worked on comes back after `done`. So the newest state is always looked at again, and no two workers
ever look at the same object.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Callable, Hashable
from typing import Final, Generic, Protocol, TypeVar

from msjob_controller.kube.backoff import exponential

K = TypeVar("K", bound=Hashable)

_STALE: Final = 64
"""Outdated timers tolerated in the heap, beyond as many as there are good ones."""


class Timer(Protocol):
    """What `Clock.call_at` returns."""

    def cancel(self) -> None:
        """Do not call back any more."""


class Clock(Protocol):
    """Monotonic time; an asyncio event loop is one."""

    def time(self) -> float:
        """Return the time in seconds."""

    def call_at(self, when: float, callback: Callable[[], None], /) -> Timer:
        """Call back at a time."""


class KeyedQueue(Generic[K]):
    """Keys to work on, first in, first out. Make it inside a running event loop.

    Args:
        base: Seconds of the first back-off. 50 ms is about what an event of the API server takes to arrive: a retry
            before that meets the same stale cache. client-go starts with 5 ms.
        cap: Seconds of the longest back-off. A minute bounds how long a healed cluster goes unnoticed, and one
            attempt a minute and object costs nothing. client-go waits up to 1,000 s.
        clock: For tests; the running event loop by default.
        on_wait: Called with the seconds a key waited for a worker, delays not counted.
        on_work: Called with the seconds a worker took.
        on_retry: Called for each `add_rate_limited`.
    """

    def __init__(
        self,
        *,
        base: float = 0.05,
        cap: float = 60.0,
        clock: Clock | None = None,
        on_wait: Callable[[float], None] | None = None,
        on_work: Callable[[float], None] | None = None,
        on_retry: Callable[[], None] | None = None,
    ) -> None:
        self._base = base
        self._cap = cap
        self._clock: Clock = clock or asyncio.get_running_loop()
        self._on_wait = on_wait
        self._on_work = on_work
        self._on_retry = on_retry
        self._closed = False
        self._ready: deque[K] = deque()
        self._waiting: dict[K, float] = {}
        """Key -> since when it is due; in `_ready`, or in `_working` and due again."""
        self._working: dict[K, float] = {}
        """Key -> since when it is worked on."""
        self._failures: dict[K, int] = {}
        self._getters: deque[asyncio.Future[None]] = deque()
        self._delayed: dict[K, float] = {}
        """Key -> when it is due. The heap may hold outdated entries, this holds the truth."""
        self._heap: list[tuple[float, int, K]] = []
        self._sequence = 0
        self._timer: Timer | None = None
        self._timer_at = 0.0

    def __len__(self) -> int:
        """Return how many keys wait for a worker now; delayed ones and those being worked on do not count."""
        return len(self._ready)

    @property
    def working(self) -> int:
        """How many keys are being worked on."""
        return len(self._working)

    @property
    def delayed(self) -> int:
        """How many keys wait for their time."""
        return len(self._delayed)

    def add(self, key: K) -> None:
        """Add a key. A delayed add of the same key stays."""
        if self._closed or key in self._waiting:
            return
        self._waiting[key] = self._clock.time()
        if key not in self._working:
            self._enqueue(key)

    def add_after(self, key: K, seconds: float) -> None:
        """Add a key later. Of several delays of one key the earliest counts; each pass asks anew for the next."""
        if self._closed:
            return
        if seconds <= 0:
            self.add(key)
            return
        when = self._clock.time() + seconds
        if key in self._delayed and self._delayed[key] <= when:
            return
        self._delayed[key] = when
        self._sequence += 1
        if len(self._heap) > 2 * len(self._delayed) + _STALE:
            self._heap = [entry for entry in self._heap if self._delayed.get(entry[2]) == entry[0]]
            heapq.heapify(self._heap)
        heapq.heappush(self._heap, (when, self._sequence, key))
        self._arm()

    def add_rate_limited(self, key: K) -> None:
        """Add a key after a delay that doubles with each call, until `forget`."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        if self._on_retry is not None:
            self._on_retry()
        self.add_after(key, exponential(failures, base=self._base, cap=self._cap))

    def forget(self, key: K) -> None:
        """Start the back-off of a key from the beginning again: it went well, or it is gone."""
        self._failures.pop(key, None)

    def retries(self, key: K) -> int:
        """Return how often a key was added by `add_rate_limited` since it was last forgotten."""
        return self._failures.get(key, 0)

    async def get(self) -> K | None:
        """Wait for a key and take it. `done` must follow.

        Returns:
            The key; None when the queue is shut down.
        """
        while not self._ready:
            if self._closed:
                return None
            getter = asyncio.get_running_loop().create_future()
            self._getters.append(getter)
            try:
                await getter
            except asyncio.CancelledError:
                if getter in self._getters:
                    self._getters.remove(getter)
                else:
                    self._wake()  # It was our turn: somebody else's now.
                raise
        key = self._ready.popleft()
        now = self._clock.time()
        since = self._waiting.pop(key)
        self._working[key] = now
        if self._on_wait is not None:
            self._on_wait(now - since)
        return key

    def done(self, key: K) -> None:
        """Give a key back after the work, however it went.

        Raises:
            ValueError: Nobody works on that key.
        """
        if key not in self._working:
            raise ValueError(f"{key!r} is not being worked on")
        started = self._working.pop(key)
        if self._on_work is not None:
            self._on_work(self._clock.time() - started)
        if key in self._waiting and not self._closed:
            self._enqueue(key)

    def shutdown(self) -> None:
        """Drop all that waits and end every `get`. Nothing is lost: the next start lists everything."""
        self._closed = True
        self._ready.clear()
        self._waiting.clear()
        self._delayed.clear()
        self._heap.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._getters:
            self._wake()

    def _enqueue(self, key: K) -> None:
        self._ready.append(key)
        self._wake()

    def _wake(self) -> None:
        while self._getters:
            getter = self._getters.popleft()
            if not getter.done():
                getter.set_result(None)
                return

    def _arm(self) -> None:
        """Have one timer, for the earliest entry."""
        if not self._heap:
            return
        when = self._heap[0][0]
        if self._timer is not None:
            if self._timer_at <= when:
                return
            self._timer.cancel()
        self._timer_at = when
        self._timer = self._clock.call_at(when, self._fire)

    def _fire(self) -> None:
        self._timer = None
        now = self._clock.time()
        while self._heap and self._heap[0][0] <= now:
            when, _, key = heapq.heappop(self._heap)
            if self._delayed.get(key) == when:
                del self._delayed[key]
                self.add(key)
        self._arm()
