"""An event loop in the background: what a caller without one gets of it, and that nothing is left behind."""

import asyncio
import contextlib
import gc
import signal
import sys
import threading
import time
from collections.abc import AsyncGenerator, Iterator

import pytest

from msjob_client.background import Background, Stream
from support.testbed.waiting import wait_for


@pytest.fixture
def background() -> Iterator[Background]:
    """A loop, closed at the end; its thread is gone then."""
    before = threading.active_count()
    background = Background()
    yield background
    background.close()
    assert threading.active_count() == before


async def numbers(count: int, closed: list[int] | None = None) -> AsyncGenerator[int]:
    """Count; tell when it is closed."""
    try:
        for number in range(count):
            yield number
            await asyncio.sleep(0)
    finally:
        if closed is not None:
            await asyncio.sleep(0.01)
            closed.append(count)


async def endless(closed: list[int] | None = None) -> AsyncGenerator[int]:
    """One item, then none for ever."""
    try:
        yield 1
        await asyncio.Event().wait()
    finally:
        if closed is not None:
            closed.append(1)


class Odd(Exception):  # noqa: N818 - a name for a test
    """Something that goes wrong."""


async def fail() -> int:
    """Go wrong."""
    raise Odd("it went wrong")


def test_results_and_errors_come_back(background: Background) -> None:
    """What a coroutine returns or raises is what the caller gets; the loop stays the same."""

    async def loop() -> int:
        return id(asyncio.get_running_loop())

    assert background.run(loop()) == background.run(loop())
    with pytest.raises(Odd, match="it went wrong"):
        background.run(fail())


def test_many_threads(background: Background) -> None:
    """Callers of several threads do not wait for each other."""
    meet = threading.Barrier(5, timeout=5)

    async def wait() -> None:
        await asyncio.to_thread(meet.wait)

    threads = [threading.Thread(target=background.run, args=(wait(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    meet.wait()
    for thread in threads:
        thread.join()


def test_ctrl_c_ends_what_is_under_way(background: Background) -> None:
    """The interrupt reaches the caller, and by then the coroutine has ended, too."""
    ended = []

    async def hang() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            ended.append(True)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            background.run(hang())
    finally:
        signal.signal(signal.SIGALRM, before)
    assert ended == [True]


def test_a_stream_gives_all_items(background: Background) -> None:
    """In their order, more than there is room for; then it stays at its end."""
    closed: list[int] = []
    stream = background.stream(numbers(2000, closed))
    assert list(stream) == list(range(2000))
    assert list(stream) == []
    assert closed == [2000]
    stream.close()


def test_a_stream_raises_what_went_wrong(background: Background) -> None:
    """After the items before it, and once."""

    async def broken() -> AsyncGenerator[int]:
        yield 1
        raise Odd("it went wrong")

    stream = background.stream(broken())
    assert next(stream) == 1
    with pytest.raises(Odd):
        next(stream)
    with pytest.raises(StopIteration):
        next(stream)


def test_a_slow_reader_is_waited_for(background: Background) -> None:
    """The other side is never more than its room ahead."""
    given: list[int] = []

    async def eager() -> AsyncGenerator[int]:
        for number in range(10_000):
            given.append(number)
            yield number

    with background.stream(eager()) as stream:
        for number in stream:
            assert len(given) <= number + 400
            if number == 1000:
                time.sleep(0.05)
                assert len(given) < 1400
                break


def test_closing_a_stream_ends_the_other_side(background: Background) -> None:
    """Also while another thread waits for the next item."""
    closed: list[int] = []
    stream = background.stream(endless(closed))
    assert next(stream) == 1
    rest: list[int] = []
    reader = threading.Thread(target=lambda: rest.extend(stream))
    reader.start()
    stream.close()
    reader.join(5)
    assert not reader.is_alive()
    assert (closed, rest) == ([1], [])


def test_closing_one_that_has_not_begun(background: Background) -> None:
    """Nothing of it is left, no warning either."""
    for _ in range(50):
        background.stream(numbers(3)).close()


def test_closing_the_loop_closes_its_streams() -> None:
    """In good order: each has ended by then, and the last thing to do is done after that."""
    closed: list[int] = []
    background = Background()
    streams = [background.stream(endless(closed)) for _ in range(3)]
    assert [next(stream) for stream in streams] == [1, 1, 1]

    async def last() -> None:
        closed.append(9)

    background.close(last())
    background.close()
    assert closed == [1, 1, 1, 9]
    assert [list(stream) for stream in streams] == [[], [], []]


def test_what_is_closed_says_so() -> None:
    """Instead of waiting for ever."""
    background = Background()
    background.close()
    with pytest.raises(RuntimeError, match="the client is closed"):
        background.run(fail())
    with pytest.raises(RuntimeError, match="the client is closed"):
        background.stream(numbers(1))


def test_what_is_under_way_when_it_is_closed() -> None:
    """Ends with the same words, and not as if the caller's own thread were cancelled."""
    background = Background()
    begun = threading.Event()
    ends: list[str] = []

    async def wait() -> None:
        begun.set()
        await asyncio.Event().wait()

    def call() -> None:
        with pytest.raises(RuntimeError) as caught:
            background.run(wait())
        ends.append(str(caught.value))

    caller = threading.Thread(target=call)
    caller.start()
    assert begun.wait(5)
    background.close()
    caller.join(5)
    assert ends == ["the client is closed"]


def test_nobody_waits_for_ever_when_it_is_closed() -> None:
    """Whatever other threads are about to begin at that moment."""

    async def one() -> int:
        return 1

    def call(background: Background) -> None:
        with contextlib.suppress(RuntimeError):
            while True:
                background.run(one())

    def read(background: Background) -> None:
        with contextlib.suppress(RuntimeError):
            for _ in background.stream(numbers(10**9)):
                pass

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # threads meet in many more ways
    try:
        for _ in range(40):
            background = Background()
            threads = [threading.Thread(target=act, args=(background,)) for act in (call, call, call, read, read)]
            for thread in threads:
                thread.start()
            background.close()
            for thread in threads:
                thread.join(3)
            assert not any(thread.is_alive() for thread in threads)
    finally:
        sys.setswitchinterval(interval)


def test_a_stream_in_a_with_block(background: Background) -> None:
    """Leaving the block closes it, also by an error."""
    closed: list[int] = []

    def read() -> None:
        stream: Stream[int] = background.stream(endless(closed))
        with stream:
            for _ in stream:
                raise Odd("enough")

    with pytest.raises(Odd):
        read()
    assert closed == [1]


def test_a_stream_that_nobody_holds_ends(background: Background) -> None:
    """As after leaving a loop by `break`."""
    closed: list[int] = []
    for number in background.stream(endless(closed)):
        assert number == 1
        break
    gc.collect()
    wait_for(lambda: closed == [1], 5)
