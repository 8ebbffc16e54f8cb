"""What is there, and then each change, over all that an API server does on bad days."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from msjob_client import watching
from msjob_client.watching import changes
from msjob_controller.kube import errors
from msjob_controller.kube.transport import Transport
from support.apiserver import FakeApiServer, status
from support.virtual_time import eventually

JOBS = "/apis/mindspore.gitee.com/v1/namespaces/ns/msjobs"


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Failures are got over at once."""
    monkeypatch.setattr(watching, "_FIRST_PAUSE", 0.01)


@pytest.fixture
async def server() -> AsyncIterator[FakeApiServer]:
    """An API server without any object."""
    async with FakeApiServer() as api:
        yield api


@pytest.fixture
async def transport(server: FakeApiServer) -> AsyncIterator[Transport]:
    """A transport to it that does not retry by itself."""
    async with Transport(server.connection(), attempts=1) as transport:
        yield transport


class Ear:
    """Hears of changes in a task of its own."""

    def __init__(self, transport: Transport) -> None:
        self.heard: list[str] = []
        self.batches = 0
        self.task = asyncio.create_task(self._listen(transport))

    async def _listen(self, transport: Transport) -> None:
        async with aclosing(changes(transport, JOBS)) as news:
            async for batch in news:
                self.batches += 1
                self.heard += [
                    f"{change.kind} {(change.new or change.old or {})['metadata']['name']}" for change in batch
                ]

    async def hears(self, *expected: str) -> None:
        """Wait until all that has been heard is this."""
        await eventually(lambda: self.heard == list(expected) or self.task.done())
        if self.task.done():
            await self.task
        assert self.heard == list(expected)

    async def close(self) -> None:
        """Hang up."""
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


def put(server: FakeApiServer, name: str, **fields: object) -> None:
    """Create or change a job."""
    server.put(JOBS, {"metadata": {"name": name, "namespace": "ns"}, **fields})


async def test_an_empty_list_is_news(transport: Transport) -> None:
    """Who waits for a job has to know that there is none."""
    async with aclosing(changes(transport, JOBS)) as news:
        assert await anext(news) == []


async def test_watches_that_end_and_break(server: FakeApiServer, transport: Transport) -> None:
    """Nothing is told twice, nothing is missed."""
    put(server, "a")
    ear = Ear(transport)
    await ear.hears("ADDED a")
    await eventually(lambda: server.watching == 1)
    server.end_watches()
    put(server, "b")
    await ear.hears("ADDED a", "ADDED b")
    await eventually(lambda: server.watching == 1)
    server.cut_watches(b'{"type": "ADD')
    put(server, "b", spec=1)
    server.remove(f"{JOBS}/a")
    await ear.hears("ADDED a", "ADDED b", "MODIFIED b", "DELETED a")
    await ear.close()


async def test_the_past_is_forgotten(server: FakeApiServer, transport: Transport) -> None:
    """After 410 it lists again, and tells the differences."""
    put(server, "a")
    put(server, "b")
    ear = Ear(transport)
    await ear.hears("ADDED a", "ADDED b")
    await eventually(lambda: server.watching == 1)
    server.prepared = [status(503)]
    server.cut_watches()
    server.remove(f"{JOBS}/a")
    put(server, "c")
    server.compact()
    await eventually(lambda: len(ear.heard) == 4)
    assert sorted(ear.heard[2:]) == ["ADDED c", "DELETED a"]
    await ear.close()


async def test_an_expired_watch_tells_so_in_an_event(server: FakeApiServer, transport: Transport) -> None:
    """An ERROR event of code 410 is got over like the answer."""
    put(server, "a")
    ear = Ear(transport)
    await ear.hears("ADDED a")
    await eventually(lambda: server.watching == 1)
    server.send({"type": "ERROR", "object": {"code": 410, "reason": "Expired", "message": "too old"}})
    put(server, "b")
    await ear.hears("ADDED a", "ADDED b")
    await ear.close()


async def test_an_api_server_that_is_away(server: FakeApiServer, transport: Transport) -> None:
    """Failures of any number are got over, and lists are tried in between."""
    put(server, "a")
    ear = Ear(transport)
    await ear.hears("ADDED a")
    await eventually(lambda: server.watching == 1)
    server.prepared = [status(503), status(429), status(500), status(502), None]
    server.cut_watches()
    put(server, "b")
    await ear.hears("ADDED a", "ADDED b")
    assert server.count("GET", limit="500") >= 2
    await ear.close()


@pytest.mark.parametrize(
    ("code", "kind"),
    [(403, errors.Forbidden), (404, errors.NotFound), (401, errors.Unauthorized), (503, errors.ServerError)],
)
async def test_what_fails_at_the_start(
    server: FakeApiServer, transport: Transport, code: int, kind: type[Exception]
) -> None:
    """Who asks hears at once that it does not work."""
    server.prepared = [status(code)]
    with pytest.raises(kind):
        await anext(changes(transport, JOBS))


@pytest.mark.parametrize("code", [401, 403, 404])
async def test_an_api_server_that_has_just_started(server: FakeApiServer, transport: Transport, code: int) -> None:
    """Before it has read roles and CRDs it refuses what is allowed, and is asked again."""
    put(server, "a")
    ear = Ear(transport)
    await ear.hears("ADDED a")
    await eventually(lambda: server.watching == 1)
    server.prepared = [status(code)] * 2
    server.cut_watches()
    await eventually(lambda: server.watching == 1 and not server.prepared)
    put(server, "b")
    await ear.hears("ADDED a", "ADDED b")
    await ear.close()


async def test_what_may_not_be_read_any_more(
    server: FakeApiServer, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A right that is withdrawn ends it, once the API server has had the time to read the roles."""
    monkeypatch.setattr(watching, "_AWAKENING", 0.0)
    put(server, "a")
    ear = Ear(transport)
    await ear.hears("ADDED a")
    await eventually(lambda: server.watching == 1)
    server.prepared = [status(403)]
    server.cut_watches()
    with pytest.raises(errors.Forbidden):
        await ear.task


async def test_a_server_that_ends_watches_at_once(server: FakeApiServer, transport: Transport) -> None:
    """It is not asked over and over without a pause."""
    ear = Ear(transport)
    await eventually(lambda: ear.batches == 1)
    for _ in range(3):
        await eventually(lambda: server.watching == 1)
        server.end_watches()
        await eventually(lambda: server.watching == 0)
    assert len(server.requests) < 12
    await ear.close()
