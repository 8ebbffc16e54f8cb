"""Time that passes only when a test lets it, so that minutes take milliseconds and outcomes do not depend on load."""

import asyncio
import heapq
import itertools
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class ManualClock:
    """Stands where code takes an event loop for its clock; `advance` moves it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._timers: list[tuple[float, int, ManualTimer]] = []
        self._order = itertools.count()

    def time(self) -> float:
        """Return the time."""
        return self.now

    def call_at(self, when: float, callback: Callable[[], None]) -> "ManualTimer":
        """Call back when `advance` passes a time."""
        timer = ManualTimer(callback)
        heapq.heappush(self._timers, (when, next(self._order), timer))
        return timer

    def advance(self, seconds: float) -> None:
        """Let time pass, and call back what comes due."""
        end = self.now + seconds
        while self._timers and self._timers[0][0] <= end:
            when, _, timer = heapq.heappop(self._timers)
            self.now = max(self.now, when)
            if not timer.cancelled:
                timer.callback()
        self.now = end

    @property
    def timers(self) -> int:
        """How many timers are set."""
        return sum(not timer.cancelled for _, _, timer in self._timers)


class ManualTimer:
    """A timer of `ManualClock`."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback = callback
        self.cancelled = False

    def cancel(self) -> None:
        """Do not call back any more."""
        self.cancelled = True


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop that jumps to the next timer whenever nothing else is to do. Only for code without real I/O."""

    def __init__(self) -> None:
        super().__init__()
        self._virtual_now = 1000.0

    def time(self) -> float:
        """Return the virtual time."""
        return self._virtual_now

    def _run_once(self) -> None:
        ready, scheduled = self.__dict__["_ready"], self.__dict__["_scheduled"]
        timers = [timer.when() for timer in scheduled if not timer.cancelled()]
        if not ready and timers:
            self._virtual_now = max(self._virtual_now, min(timers))
        super()._run_once()  # type: ignore[misc]


async def eventually(condition: Callable[[], bool], seconds: float = 4.0) -> None:
    """Wait in real time until something becomes true.

    Raises:
        TimeoutError: It did not.
    """
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - conditions are about the other side, which sets no event
            await asyncio.sleep(0.005)


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in virtual time."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main)
