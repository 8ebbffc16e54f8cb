"""The keyed queue against a model: whatever happens, no key is worked on twice at once, and none is lost."""

import asyncio
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from msjob_controller.kube.queue import KeyedQueue
from support.virtual_time import ManualClock

KEYS = st.sampled_from("abcd")
SECONDS = st.integers(-1, 20)


class QueueMachine(RuleBasedStateMachine):
    """Adds, workers that come, go, finish or are cancelled, and time that passes."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.clock = ManualClock()
        self.queue: KeyedQueue[str] = KeyedQueue(clock=self.clock, base=1, cap=8)
        self.waiting: list[asyncio.Task[str | None]] = []
        self.working: list[str] = []
        self.expected: list[str] = []  # in the order in which they became ready
        self.again: list[str] = []  # added while being worked on
        self.due: dict[str, float] = {}

    @initialize()
    def start(self) -> None:
        """Start with one worker that waits."""
        self.get()

    def settle(self) -> None:
        """Let the event loop do what it has to, and note what workers got."""
        for _ in range(4):
            self.loop.run_until_complete(asyncio.sleep(0))
        for task in [task for task in self.waiting if task.done()]:
            self.waiting.remove(task)
            if not task.cancelled():
                key = task.result()
                assert key is not None
                assert key not in self.working, "given to two workers at once"
                assert self.expected.pop(0) == key, "out of order"
                self.working.append(key)

    def ready(self, key: str) -> None:
        """The model's side of an add."""
        if key in self.working:
            if key not in self.again:
                self.again.append(key)
        elif key not in self.expected:
            self.expected.append(key)

    def later(self, key: str, seconds: float) -> None:
        """The model's side of a delayed add."""
        if seconds <= 0:
            self.ready(key)
        else:
            self.due[key] = min(self.clock.now + seconds, self.due.get(key, float("inf")))

    @rule()
    def get(self) -> None:
        """A worker asks for a key."""
        self.waiting.append(self.loop.create_task(self.queue.get()))
        self.settle()

    @rule(key=KEYS)
    def add(self, key: str) -> None:
        """An event."""
        self.queue.add(key)
        self.ready(key)
        self.settle()

    @rule(key=KEYS, data=st.data())
    def add_and_cancel(self, key: str, data: st.DataObject) -> None:
        """An event, and a worker cancelled before it could take the key."""
        self.queue.add(key)
        self.ready(key)
        if self.waiting:
            data.draw(st.sampled_from(self.waiting)).cancel()
        self.settle()

    @rule(key=KEYS, seconds=SECONDS)
    def add_after(self, key: str, seconds: int) -> None:
        """A deadline."""
        self.queue.add_after(key, seconds)
        self.later(key, seconds)
        self.settle()

    @rule(key=KEYS)
    def fail(self, key: str) -> None:
        """A failure."""
        self.later(key, min(8, 2 ** self.queue.retries(key)))
        self.queue.add_rate_limited(key)
        self.settle()

    @rule(key=KEYS)
    def forget(self, key: str) -> None:
        """A success."""
        self.queue.forget(key)

    @precondition(lambda self: self.working)
    @rule(data=st.data())
    def done(self, data: st.DataObject) -> None:
        """A worker finishes."""
        key = data.draw(st.sampled_from(self.working))
        self.working.remove(key)
        self.queue.done(key)
        if key in self.again:
            self.again.remove(key)
            self.expected.append(key)
        self.settle()

    @rule(seconds=st.integers(1, 10))
    def pass_time(self, seconds: int) -> None:
        """Time passes; what is due at one moment comes in the order of the deadlines."""
        end = self.clock.now + seconds
        for when in sorted({when for when in self.due.values() if when <= end}):
            self.clock.advance(when - self.clock.now)
            # Of several due at once the order is that in which they were asked for; take the queue's own.
            due = [key for key, at in self.due.items() if at == when]
            for key in due:
                del self.due[key]
            order = {key: place for place, key in enumerate(self.queue._ready)}
            for key in sorted(due, key=lambda key: order.get(key, 0)):
                self.ready(key)
            self.settle()
        self.clock.advance(end - self.clock.now)
        self.settle()

    @invariant()
    def agrees(self) -> None:
        """Queue and model hold the same keys; a key waits only when no worker does."""
        assert list(self.queue._ready) == self.expected
        assert self.queue.working == len(self.working)
        assert self.queue.delayed == len(self.due)
        assert not (self.waiting and self.expected)

    def teardown(self) -> None:
        """Whatever is left: once all is done and time has passed, every key was given out."""
        for task in self.waiting:
            task.cancel()
        self.settle()
        pending = set(self.expected) | set(self.again) | set(self.due)
        self.clock.advance(1000)
        for key in self.working:
            self.queue.done(key)
        given: set[Any] = set()
        while len(self.queue):
            given.add(self.loop.run_until_complete(self.queue.get()))
        self.loop.close()
        assert given == pending


TestQueue = QueueMachine.TestCase
TestQueue.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
