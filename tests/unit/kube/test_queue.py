"""The keyed queue: order, no key twice at once, delays, back-off, shutdown."""

import asyncio

import pytest

from msjob_controller.kube.queue import KeyedQueue
from support.virtual_time import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    """Time that only the test moves."""
    return ManualClock()


@pytest.fixture
async def queue(clock: ManualClock) -> KeyedQueue[str]:
    """An empty queue."""
    return KeyedQueue(clock=clock)


async def test_first_in_first_out(queue: KeyedQueue[str]) -> None:
    """Keys come out in the order they came in, each once."""
    for key in ("a", "b", "a", "c", "b"):
        queue.add(key)

    assert len(queue) == 3
    assert [await queue.get() for _ in range(3)] == ["a", "b", "c"]
    assert len(queue) == 0


async def test_added_during_work_comes_back(queue: KeyedQueue[str]) -> None:
    """A key that is added while it is worked on is not given to another worker, and comes back once when done."""
    queue.add("a")
    await queue.get()
    queue.add("a")
    queue.add("a")

    assert len(queue) == 0

    queue.done("a")

    assert len(queue) == 1
    assert await queue.get() == "a"

    queue.done("a")

    assert len(queue) == 0


async def test_busy_key_waits_its_turn(queue: KeyedQueue[str]) -> None:
    """A key that keeps coming back does not keep others waiting: it goes to the end."""
    queue.add("busy")
    await queue.get()
    queue.add("busy")
    queue.add("other")
    queue.done("busy")

    assert [await queue.get(), await queue.get()] == ["other", "busy"]


async def test_waiting_workers_are_served(queue: KeyedQueue[str]) -> None:
    """Workers that wait get one key each."""
    workers = [asyncio.create_task(queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    for key in "abc":
        queue.add(key)

    assert await asyncio.gather(*workers) == ["a", "b", "c"]


async def test_cancelled_worker_takes_nothing_along(queue: KeyedQueue[str]) -> None:
    """A worker cancelled in the moment a key is given to it leaves the key to another one."""
    first, second = asyncio.create_task(queue.get()), asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.add("a")
    first.cancel()

    assert await asyncio.wait_for(second, 1) == "a"
    assert first.cancelled()


async def test_cancelled_before_any_key(queue: KeyedQueue[str]) -> None:
    """A worker that gave up waiting is not remembered."""
    first = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait((first,))
    second = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.add("a")

    assert await asyncio.wait_for(second, 1) == "a"


async def test_delay(queue: KeyedQueue[str], clock: ManualClock) -> None:
    """A delayed key appears at its time and not before; one timer serves all."""
    queue.add_after("late", 10)
    queue.add_after("soon", 5)

    assert (len(queue), queue.delayed, clock.timers) == (0, 2, 1)

    clock.advance(4.999)

    assert len(queue) == 0

    clock.advance(0.001)

    assert await queue.get() == "soon"

    clock.advance(5)

    assert await queue.get() == "late"
    assert (queue.delayed, clock.timers) == (0, 0)


async def test_earliest_delay_wins(queue: KeyedQueue[str], clock: ManualClock) -> None:
    """Of several delays of one key the earliest counts, in whatever order they were given."""
    for seconds in (20, 5, 10):
        queue.add_after("a", seconds)
    clock.advance(5)

    assert len(queue) == 1

    queue.done(await queue.get() or "")
    clock.advance(100)

    assert len(queue) == 0


async def test_delay_survives_an_add(queue: KeyedQueue[str], clock: ManualClock) -> None:
    """An event now does not cancel the deadline later."""
    queue.add_after("a", 10)
    queue.add("a")
    queue.done(await queue.get() or "")
    clock.advance(10)

    assert len(queue) == 1


@pytest.mark.parametrize("seconds", [0, -5])
async def test_no_delay(queue: KeyedQueue[str], seconds: float) -> None:
    """A deadline that has passed is now."""
    queue.add_after("a", seconds)

    assert len(queue) == 1


async def test_moved_delays_leave_nothing_behind(queue: KeyedQueue[str], clock: ManualClock) -> None:
    """Moving a deadline forward thousands of times costs no memory."""
    for step in range(10_000):
        queue.add_after("a", 20_000 - step)

    assert len(queue._heap) < 100

    clock.advance(10_001)

    assert len(queue) == 1


async def test_back_off(queue: KeyedQueue[str], clock: ManualClock) -> None:
    """Failures of a key double its wait up to the cap; other keys and a success start from the beginning."""
    waits = []
    for _ in range(13):
        before = clock.now
        queue.add_rate_limited("a")
        while not len(queue):
            clock.advance(0.01)
        waits.append(clock.now - before)
        queue.done(await queue.get() or "")

    assert waits == pytest.approx([0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 60, 60], abs=0.011)
    assert (queue.retries("a"), queue.retries("b")) == (13, 0)

    queue.forget("a")
    queue.add_rate_limited("a")
    clock.advance(0.05)

    assert len(queue) == 1


async def test_done_without_work_is_a_mistake(queue: KeyedQueue[str]) -> None:
    """Giving back what was not taken is a bug of the caller, and is said."""
    queue.add("a")

    with pytest.raises(ValueError, match="'a' is not being worked on"):
        queue.done("a")


async def test_shutdown(queue: KeyedQueue[str], clock: ManualClock) -> None:
    """All workers end, nothing is given out any more, and the key in work may still be given back."""
    workers = [asyncio.create_task(queue.get()) for _ in range(2)]
    await asyncio.sleep(0)
    queue.add("working")
    await asyncio.sleep(0)
    queue.add("working")
    queue.add_after("delayed", 5)
    queue.shutdown()
    queue.add("late")
    queue.add_after("later", 1)
    queue.done("working")
    clock.advance(10)

    assert sorted(await asyncio.gather(*workers), key=str) == [None, "working"]
    assert await queue.get() is None
    assert (len(queue), queue.delayed, queue.working, clock.timers) == (0, 0, 0, 0)


async def test_hooks(clock: ManualClock) -> None:
    """Metrics learn how long a key waited (delays not counted), how long the work took, and of each retry."""
    waits: list[float] = []
    works: list[float] = []
    retries: list[int] = []
    queue: KeyedQueue[str] = KeyedQueue(
        clock=clock, on_wait=waits.append, on_work=works.append, on_retry=lambda: retries.append(1)
    )
    queue.add_after("a", 100)
    clock.advance(103)
    await queue.get()
    queue.add("a")
    clock.advance(2)
    queue.add_rate_limited("a")
    queue.done("a")
    clock.advance(4)
    await queue.get()

    assert waits == [3, 6]
    assert works == [2]
    assert len(retries) == 1


async def test_runs_on_the_event_loops_clock() -> None:
    """Without a clock of its own it uses the loop's, and a worker that waits is woken by a delay."""
    queue: KeyedQueue[str] = KeyedQueue()
    queue.add_after("a", 0.02)

    assert await asyncio.wait_for(queue.get(), 2) == "a"
