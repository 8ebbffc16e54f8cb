"""The watch stream: how bytes become events, and how it ends."""

import asyncio
import itertools
import json
import time
from contextlib import aclosing

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from msjob_controller.kube import errors, lines
from msjob_controller.kube.connection import Credentials, Grant
from msjob_controller.kube.transport import Object, Transport
from support.apiserver import FakeApiServer, status
from support.virtual_time import eventually

PODS = "/api/v1/namespaces/ns/pods"
WATCH = {"watch": "1", "resourceVersion": "100"}


async def read(transport: Transport, count: int) -> list[Object]:
    """Return the first events of a watch, then hang up."""
    events = []
    async with aclosing(transport.stream(PODS, WATCH)) as stream:
        async for event in stream:
            events.append(event)
            if len(events) == count:
                break
    return events


async def watching(server: FakeApiServer) -> None:
    """Wait until a watch is open."""
    await eventually(lambda: server.watching > 0)


async def test_events_come_as_they_happen(server: FakeApiServer, transport: Transport) -> None:
    """What happened since the resource version comes first, then each event as it happens."""
    server.put(PODS, {"metadata": {"name": "a"}})
    reading = asyncio.create_task(read(transport, 3))
    await watching(server)
    server.put(PODS, {"metadata": {"name": "b"}})
    server.remove(f"{PODS}/a")
    events = await reading

    assert [(event["type"], event["object"]["metadata"]["name"]) for event in events] == [
        ("ADDED", "a"),
        ("ADDED", "b"),
        ("DELETED", "a"),
    ]


async def test_hanging_up_closes_the_watch(server: FakeApiServer, transport: Transport) -> None:
    """Leaving the stream frees the server's side, too."""
    server.put(PODS, {"metadata": {"name": "a"}})
    await read(transport, 1)
    server.put(PODS, {"metadata": {"name": "b"}})

    async with asyncio.timeout(2):
        while server.watching:
            await asyncio.sleep(0.01)
            server.bookmark()


async def test_large_events(server: FakeApiServer, transport: Transport) -> None:
    """Lines far longer than any buffer arrive whole."""
    server.put(PODS, {"metadata": {"name": "a"}, "data": "x" * 3_000_000})

    (event,) = await read(transport, 1)

    assert len(event["object"]["data"]) == 3_000_000


@settings(max_examples=40, deadline=None)  # each example starts a server
@given(
    events=st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=40), max_size=3), min_size=1, max_size=8),
    cuts=st.lists(st.integers(0, 400), max_size=12),
)
async def test_any_cutting_gives_the_same_events(events: list[dict[str, str]], cuts: list[int]) -> None:
    """However the network cuts the bytes, also inside a character, the events are the same."""
    data = b"".join(json.dumps(event, ensure_ascii=False).encode() + b"\n" for event in events)
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    async with FakeApiServer() as server, Transport(server.connection()) as transport:

        async def pieces(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse()
            await response.prepare(request)
            for start, end in itertools.pairwise(places):
                if end > start:
                    await response.write(data[start:end])
                    await asyncio.sleep(0)
            return response

        server.prepared = [pieces]

        assert [event async for event in transport.stream(PODS, WATCH)] == events


async def test_end_in_order(server: FakeApiServer, transport: Transport) -> None:
    """When the server ends the watch after its time, the stream just ends."""
    reading = asyncio.create_task(read(transport, 2))
    await watching(server)
    server.bookmark()
    server.end_watches()

    assert len(await reading) == 1


@pytest.mark.parametrize("partial", [b"", b'{"type":"ADDED","obj', b"{}\n{"])
async def test_broken_connection(server: FakeApiServer, transport: Transport, partial: bytes) -> None:
    """A connection that breaks, also in the middle of a line, is an error and never half an event."""
    reading = asyncio.create_task(read(transport, 9))
    await watching(server)
    server.cut_watches(partial)

    with pytest.raises(errors.Unreachable):
        await reading


@pytest.mark.parametrize("data", [b"no json\n", b"[1]\n", b'"text"\n', b"\n", b"\xff\n", b'{"type":'])
async def test_rubbish(server: FakeApiServer, transport: Transport, data: bytes) -> None:
    """Lines that are no JSON objects, and a clean end in mid-line, are errors of the connection."""
    reading = asyncio.create_task(read(transport, 9))
    await watching(server)
    server.send_bytes(data)
    server.end_watches()

    with pytest.raises(errors.Unreachable):
        await reading


async def test_endless_line(server: FakeApiServer, transport: Transport, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line without end does not fill the memory."""
    monkeypatch.setattr(lines, "_LONGEST_LINE", 1000)
    reading = asyncio.create_task(read(transport, 9))
    await watching(server)
    server.send_bytes(b"x" * 2000)

    with pytest.raises(errors.Unreachable, match="longer than 1000 bytes"):
        await reading


async def test_silence_is_noticed(server: FakeApiServer, transport: Transport) -> None:
    """A connection without a byte for too long counts as dead, however open it looks."""
    started = time.monotonic()

    with pytest.raises(errors.Unreachable, match=r"(?i)timeout"):
        async for _ in transport.stream(PODS, WATCH, silence=0.2):
            pass

    assert 0.2 <= time.monotonic() - started < 2
    assert server.count("GET", watch="1") == 1


async def test_refused_watch(server: FakeApiServer, transport: Transport) -> None:
    """A watch that is refused tells why, and nothing is retried in secret."""
    server.prepared = [status(403, "Forbidden", "no rights")]

    with pytest.raises(errors.Forbidden, match=f"WATCH {PODS}: no rights"):
        await anext(transport.stream(PODS, WATCH))

    assert len(server.requests) == 1


async def test_old_resource_version(server: FakeApiServer, transport: Transport) -> None:
    """A watch from before the history begins is gone."""
    server.put(PODS, {"metadata": {"name": "a"}})
    server.compact()

    with pytest.raises(errors.Gone):
        await anext(transport.stream(PODS, WATCH))


async def test_refused_token_is_renewed_for_the_next_watch(server: FakeApiServer) -> None:
    """After a 401 the next watch carries new credentials."""

    async def obtain() -> Grant:
        return Grant("Bearer new")

    server.prepared = [status(401)]
    async with Transport(server.connection(Credentials(Grant("Bearer old"), obtain))) as transport:
        with pytest.raises(errors.Unauthorized):
            await anext(transport.stream(PODS, WATCH))
        server.put(PODS, {"metadata": {"name": "a"}})
        await read(transport, 1)

    assert server.requests[-1].headers["authorization"] == "Bearer new"


async def test_watch_is_reported(server: FakeApiServer) -> None:
    """The start of a watch is counted like any request."""
    seen: list[tuple[str, str, str]] = []
    server.put(PODS, {"metadata": {"name": "a"}})
    server.prepared = [None, status(500)]
    async with Transport(server.connection(), on_request=lambda *call: seen.append(call[:3])) as transport:
        await read(transport, 1)
        with pytest.raises(errors.ServerError):
            await anext(transport.stream(PODS, WATCH))

    assert seen == [("watch", "pods", "200"), ("watch", "pods", "500")]


LOG = f"{PODS}/train-worker-0/log"


async def test_an_answer_of_any_length_comes_as_it_is_written(server: FakeApiServer, transport: Transport) -> None:
    """What is written comes before the answer ends, and its bytes are those of the server."""
    told, go_on = bytearray(), asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"first\n")
        await go_on.wait()
        await response.write("zweite \u00e4".encode())
        return response

    server.prepared = [answer]
    async with aclosing(transport.stream_bytes(LOG, {"follow": "true"})) as chunks:
        async for chunk in chunks:
            told += chunk
            go_on.set()
    assert told.decode() == "first\nzweite \u00e4"
    assert server.requests[-1].query == {"follow": "true"}


async def test_an_answer_that_breaks_off_is_no_end(server: FakeApiServer, transport: Transport) -> None:
    """A connection that breaks in the middle raises, so that nobody takes it for the end."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        response.enable_chunked_encoding()
        await response.prepare(request)
        await response.write(b"first\n")
        assert request.transport is not None
        request.transport.close()
        return response

    server.prepared = [answer]
    chunks = transport.stream_bytes(LOG)
    assert await anext(chunks) == b"first\n"
    with pytest.raises(errors.Unreachable) as caught:
        await anext(chunks)
    assert caught.value.request == f"GET {LOG}"


async def test_a_log_that_is_refused(server: FakeApiServer, transport: Transport) -> None:
    """A refusal is an error with the words of the server."""
    server.prepared = [status(400, "BadRequest", "container is waiting to start: ContainerCreating")]
    with pytest.raises(errors.ApiError, match="ContainerCreating") as caught:
        await anext(transport.stream_bytes(LOG))
    assert (caught.value.status, caught.value.reason) == (400, "BadRequest")
