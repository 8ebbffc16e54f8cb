"""Events: what is written, how repetitions and floods are handled, and that nothing ever waits for them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from aiohttp import web

from msjob_controller.kube.connection import Connection
from msjob_controller.kube.events import EventRecorder
from msjob_controller.kube.transport import Object, Transport
from support.apiserver import FakeApiServer, status
from support.virtual_time import ManualClock, eventually

EVENTS = "/api/v1/namespaces/team/events"


def job(name: str = "train", uid: str = "u1") -> Object:
    """Return a job to report about."""
    return {
        "apiVersion": "mindspore.gitee.com/v1",
        "kind": "MSJob",
        "metadata": {"name": name, "namespace": "team", "uid": uid, "resourceVersion": "7"},
    }


@asynccontextmanager
async def recording(transport: Transport, **options: Any) -> AsyncIterator[EventRecorder]:
    """Run a recorder."""
    recorder = EventRecorder(transport, instance="pod-1", **options)
    running = asyncio.create_task(recorder.run())
    yield recorder
    running.cancel()
    await asyncio.wait((running,))


def written(server: FakeApiServer) -> list[Object]:
    """Return the events the server has."""
    return [obj for path, obj in server.objects.items() if "/events/" in path]


async def test_event_as_kubectl_describe_shows_it(server: FakeApiServer, transport: Transport) -> None:
    """An event lands beside its object, names it, its reporter and its time, and has a valid name."""
    async with recording(transport, now=lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) as recorder:
        recorder.event(job(), "Normal", "MSJobCreated", "MSJob train is created")

        assert await recorder.flush()

    ((path, event),) = server.objects.items()
    assert path.startswith(f"{EVENTS}/train.")
    metadata = event.pop("metadata")
    assert metadata["namespace"] == "team"
    assert event == {
        "apiVersion": "v1",
        "kind": "Event",
        "involvedObject": {
            "apiVersion": "mindspore.gitee.com/v1",
            "kind": "MSJob",
            "name": "train",
            "namespace": "team",
            "uid": "u1",
            "resourceVersion": "7",
        },
        "type": "Normal",
        "reason": "MSJobCreated",
        "message": "MSJob train is created",
        "count": 1,
        "firstTimestamp": "2026-01-02T03:04:05Z",
        "lastTimestamp": "2026-01-02T03:04:05Z",
        "source": {"component": "ms-operator"},
        "reportingComponent": "ms-operator",
        "reportingInstance": "pod-1",
    }


async def test_repetition_counts(server: FakeApiServer, transport: Transport) -> None:
    """The same event again raises the count and the last time of the first one; another message is another event."""
    moments = iter(datetime(2026, 1, 1, 0, 0, second, tzinfo=UTC) for second in range(10))
    async with recording(transport, now=lambda: next(moments)) as recorder:
        for _ in range(3):
            recorder.event(job(), "Warning", "PodFailed", "worker 0 failed")
            await recorder.flush()
        recorder.event(job(), "Warning", "PodFailed", "worker 1 failed")
        recorder.event(job(uid="u2"), "Warning", "PodFailed", "worker 0 failed")
        await recorder.flush()

    events = sorted(written(server), key=lambda event: (-event["count"], event["message"]))
    assert [(event["count"], event["involvedObject"]["uid"]) for event in events] == [(3, "u1"), (1, "u2"), (1, "u1")]
    assert (events[0]["firstTimestamp"][-3:], events[0]["lastTimestamp"][-3:]) == ("00Z", "02Z")
    assert server.count("POST") == 3


async def test_quick_repetitions_are_one_write(server: FakeApiServer, transport: Transport) -> None:
    """A hundred times the same before the first is written costs one request and loses no count."""
    async with recording(transport) as recorder:
        for _ in range(100):
            recorder.event(job(), "Warning", "PodFailed", "worker 0 failed")
        await recorder.flush()

    assert [event["count"] for event in written(server)] == [100]
    assert len(server.requests) == 1


async def test_expired_event_is_written_anew(server: FakeApiServer, transport: Transport) -> None:
    """Events live for an hour: a repetition after that is a new event with its own count."""
    async with recording(transport) as recorder:
        recorder.event(job(), "Normal", "Resumed", "again")
        await recorder.flush()
        server.objects.clear()
        recorder.event(job(), "Normal", "Resumed", "again")
        await recorder.flush()

    assert [event["count"] for event in written(server)] == [1]


async def test_flood_of_one_reason(server: FakeApiServer, transport: Transport) -> None:
    """A thousand different messages of one reason write 25, then one in five minutes; other reasons go through."""
    clock = ManualClock()
    async with recording(transport, clock=clock.time) as recorder:
        for index in range(1000):
            recorder.event(job(), "Normal", "SuccessfulCreatePod", f"created pod {index}")
        recorder.event(job(), "Warning", "MSJobFailed", "important")
        recorder.event(job(uid="u2"), "Normal", "SuccessfulCreatePod", "another job")
        await recorder.flush()

        assert len(written(server)) == 25 + 2
        assert recorder.dropped == 975

        clock.advance(300)
        recorder.event(job(), "Normal", "SuccessfulCreatePod", "one more")
        recorder.event(job(), "Normal", "SuccessfulCreatePod", "one too many")
        await recorder.flush()

        assert len(written(server)) == 28


async def test_nobody_waits(server: FakeApiServer, transport: Transport) -> None:
    """While the server hangs, reporting returns at once; beyond the capacity events are dropped and counted."""

    async def hang(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(5)
        return web.Response()

    server.prepared = [hang] * 10
    async with recording(transport, capacity=50) as recorder:
        for index in range(20):
            recorder.event(job(uid="slow"), "Normal", "Slow", f"{index}")
        await asyncio.sleep(0.05)
        for index in range(100):
            recorder.event(job(uid=f"u{index}"), "Normal", "Slow", "x")

        assert recorder.dropped == 100 - (50 - 16)
        assert not await recorder.flush(0.05)


async def test_trouble_is_retried(server: FakeApiServer, transport: Transport, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events survive a short outage, with the repetitions that happened meanwhile."""
    monkeypatch.setattr("msjob_controller.kube.events._FIRST_PAUSE", 0.05)
    server.prepared = [status(500), status(503)]
    async with recording(transport) as recorder:
        recorder.event(job(), "Normal", "Created", "x")
        await eventually(lambda: bool(server.requests))
        await asyncio.sleep(0.02)
        recorder.event(job(), "Normal", "Created", "x")

        assert await recorder.flush()
        assert recorder.dropped == 0

    assert [event["count"] for event in written(server)] == [2]


async def test_failure_while_it_repeats(
    server: FakeApiServer, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An occurrence reported while the write of the first one fails is counted with it, once."""
    monkeypatch.setattr("msjob_controller.kube.events._FIRST_PAUSE", 0.05)
    reached = asyncio.Event()

    async def fail_slowly(request: web.Request) -> web.StreamResponse:
        reached.set()
        await asyncio.sleep(0.05)
        return await status(500)(request)

    server.prepared = [fail_slowly]
    async with recording(transport) as recorder:
        recorder.event(job(), "Normal", "Created", "x")
        await reached.wait()
        recorder.event(job(), "Normal", "Created", "x")
        await recorder.flush()
        await asyncio.sleep(0.1)  # the retry, which has nothing left to do

    assert [event["count"] for event in written(server)] == [2]
    assert len(server.requests) == 2


async def test_outage_drops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a server events are dropped after some attempts, and the recorder lives on."""
    monkeypatch.setattr("msjob_controller.kube.events._FIRST_PAUSE", 0.01)
    async with Transport(Connection("http://127.0.0.1:9")) as transport, recording(transport) as recorder:
        recorder.event(job(), "Normal", "Created", "x")

        assert await recorder.flush()
        assert recorder.dropped == 1


async def test_refused_event_is_dropped(server: FakeApiServer, transport: Transport) -> None:
    """A namespace that is being deleted refuses events; that is not tried twice and does not hold up others."""
    server.prepared = [status(403, "Forbidden", "being terminated")]
    async with recording(transport) as recorder:
        recorder.event(job(), "Normal", "Created", "x")
        recorder.event(job(), "Normal", "Created", "y")

        assert await recorder.flush()
        assert recorder.dropped == 1

    assert [event["message"] for event in written(server)] == ["y"]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("short", "short"),
        ("x" * 1024, "x" * 1024),
        ("x" * 1025, "x" * 1021 + "…"),
        ("ü" * 600, "ü" * 510 + "…"),
        ("bad \ud800 surrogate", "bad ? surrogate"),
    ],
)
async def test_message_is_cut(server: FakeApiServer, transport: Transport, message: str, expected: str) -> None:
    """A message has 1024 bytes at most, whole characters and nothing JSON cannot carry."""
    async with recording(transport) as recorder:
        recorder.event(job(), "Normal", "Long", message)
        await recorder.flush()

    (event,) = written(server)
    assert event["message"] == expected
    assert len(event["message"].encode()) <= 1024


async def test_long_names_and_cluster_scoped_objects(server: FakeApiServer, transport: Transport) -> None:
    """The name of an event stays valid for objects with the longest name; nodes have theirs in `default`."""
    name = "a" * 235 + "." + "b" * 17
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": "n"}}
    async with recording(transport) as recorder:
        recorder.event(node, "Warning", "Lost", "gone")
        await recorder.flush()

    ((path, event),) = server.objects.items()
    assert path.startswith("/api/v1/namespaces/default/events/")
    assert len(event["metadata"]["name"]) <= 253
    assert ".." not in event["metadata"]["name"]
    assert event["involvedObject"]["name"] == name


async def test_flush_without_events(transport: Transport) -> None:
    """Nothing to write is written at once."""
    assert await EventRecorder(transport).flush(0.01)


class TestOtherWork:
    """Events wait for work that comes first, but not for long."""

    async def test_until_it_is_done(self, server: FakeApiServer, transport: Transport) -> None:
        """Nothing is written while there is other work; then all is."""
        work = [True]
        async with recording(transport, busy=lambda: bool(work)) as recorder:
            recorder.event(job(), "Normal", "MSJobCreated", "created")
            await asyncio.sleep(0.2)
            assert written(server) == []
            work.clear()
            await eventually(lambda: len(written(server)) == 1)

    async def test_work_without_end(self, server: FakeApiServer, transport: Transport) -> None:
        """After five seconds an event is written all the same."""
        clock = ManualClock()
        async with recording(transport, busy=lambda: True, clock=clock.time) as recorder:
            recorder.event(job(), "Normal", "MSJobCreated", "created")
            clock.advance(4.9)
            await asyncio.sleep(0.2)
            assert written(server) == []
            clock.advance(0.2)
            await eventually(lambda: len(written(server)) == 1)

    async def test_many(self, server: FakeApiServer, transport: Transport) -> None:
        """Rather than be dropped, events are written from half of what may wait on."""
        async with recording(transport, busy=lambda: True, capacity=10) as recorder:
            for number in range(9):
                recorder.event(job(uid=f"u{number}"), "Normal", "MSJobCreated", "created")
            await eventually(lambda: len(written(server)) == 4)
            assert recorder.dropped == 0

    async def test_the_end(self, server: FakeApiServer, transport: Transport) -> None:
        """An operator that stops tells what it has to tell."""
        async with recording(transport, busy=lambda: True) as recorder:
            recorder.event(job(), "Normal", "MSJobCreated", "created")
            assert await recorder.flush(2)
        assert len(written(server)) == 1
