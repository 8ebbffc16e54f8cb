"""The informer: list, watch, and everything that can go wrong between them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from structlog.testing import capture_logs

from msjob_controller.kube import cache, errors
from msjob_controller.kube.cache import Informer, drop_noise
from msjob_controller.kube.transport import Object, Transport, decode, encode
from support.apiserver import FakeApiServer, status
from support.virtual_time import eventually

PODS = "/api/v1/namespaces/ns/pods"


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first pause after a failure is 20 ms instead of half a second."""
    monkeypatch.setattr(cache, "_FIRST_PAUSE", 0.02)


def pod(name: str, owner: str = "job", **fields: Any) -> Object:
    """Return a pod with an owner."""
    return {"metadata": {"name": name, "namespace": "ns", "ownerReferences": [{"uid": owner}]}, **fields}


class Heard:
    """An informer at work, and what it told."""

    def __init__(self, server: FakeApiServer, transport: Transport, **options: Any) -> None:
        self.server = server
        self.told: list[tuple[str, str]] = []
        self.informer = Informer(transport, PODS, self._on_event, **options)

    def _on_event(self, kind: str, old: Object | None, new: Object | None) -> None:
        obj = new or old
        assert obj is not None
        self.told.append((kind, obj["metadata"]["name"]))

    async def heard(self, *expected: tuple[str, str]) -> None:
        """Wait for exactly these events, since the last call."""
        await eventually(lambda: len(self.told) >= len(expected))
        await asyncio.sleep(0.03)
        assert sorted(self.told) == sorted(expected)
        self.told.clear()

    async def watching(self) -> None:
        """Wait until the watch is open."""
        await eventually(lambda: self.server.watching == 1)


@asynccontextmanager
async def informing(server: FakeApiServer, transport: Transport, **options: Any) -> AsyncIterator[Heard]:
    """Run an informer until its watch is open."""
    heard = Heard(server, transport, **options)
    running = asyncio.create_task(heard.informer.run())
    try:
        await asyncio.wait_for(heard.informer.has_synced.wait(), 4)
        await heard.watching()
        yield heard
    finally:
        running.cancel()
        await asyncio.wait((running,))
        assert running.cancelled()


async def test_list_then_watch(server: FakeApiServer, transport: Transport) -> None:
    """Objects that exist are told as additions; then each change is told as it happens."""
    server.put(PODS, pod("a"))
    server.put(PODS, pod("b"))
    async with informing(server, transport) as heard:
        await heard.heard(("ADDED", "a"), ("ADDED", "b"))
        server.put(PODS, pod("a", phase="Running"))
        server.put(PODS, pod("c"))
        server.remove(f"{PODS}/b")
        await heard.heard(("MODIFIED", "a"), ("ADDED", "c"), ("DELETED", "b"))

        found = heard.informer.get("ns/a")
        assert found is not None
        assert found["phase"] == "Running"
        assert heard.informer.get("ns/b") is None
        assert sorted(key for key, _ in heard.informer.items()) == ["ns/a", "ns/c"]
        assert len(heard.informer) == 2


async def test_what_is_asked(server: FakeApiServer, transport: Transport) -> None:
    """The list is paged and read from the quorum; the watch starts there, with bookmarks and an end of its own."""
    for name in "abcde":
        server.put(PODS, pod(name))
    version = str(server.version)
    async with informing(server, transport, params={"labelSelector": "x=y"}, page_size=2):
        *pages, watch = server.requests

    assert [page.query.get("limit") for page in pages] == ["2", "2", "2"]
    assert all("resourceVersion" not in page.query for page in pages)
    assert watch.query["resourceVersion"] == version
    assert watch.query["allowWatchBookmarks"] == "true"
    assert 300 <= int(watch.query["timeoutSeconds"]) <= 600
    assert {seen.query["labelSelector"] for seen in server.requests} == {"x=y"}


async def test_resumes_after_the_end(server: FakeApiServer, transport: Transport) -> None:
    """When the server ends a watch that told something, the next one starts at once where it ended, without a list."""
    async with informing(server, transport) as heard:
        server.put(PODS, pod("a"))
        await heard.heard(("ADDED", "a"))
        version = str(server.version)
        server.end_watches()
        await eventually(lambda: server.count("GET", watch="1") == 2)
        await heard.watching()
        server.put(PODS, pod("b"))
        await heard.heard(("ADDED", "b"))

    assert server.requests[-1].query["resourceVersion"] == version
    assert server.count("GET", limit="500") == 1


async def test_resumes_after_a_break_in_mid_line(server: FakeApiServer, transport: Transport) -> None:
    """Half an event is no event: it comes whole with the next watch, once."""
    async with informing(server, transport) as heard:
        server.put(PODS, pod("a"))
        await heard.heard(("ADDED", "a"))
        server.cut_watches(b'{"type":"ADDED","object":{"metadata":{"name":"b"')
        await eventually(lambda: server.watching == 0)
        server.put(PODS, pod("b"))
        await heard.heard(("ADDED", "b"))

    assert server.count("GET", limit="500") == 1


async def test_bookmark_moves_the_start(server: FakeApiServer, transport: Transport) -> None:
    """A bookmark is told to nobody; a watch after it starts from it, so compaction of what came before does no harm."""
    async with informing(server, transport) as heard:
        server.put(PODS, pod("z"))
        await heard.heard(("ADDED", "z"))
        server.version += 50
        server.bookmark()
        await asyncio.sleep(0.05)
        server.compact()
        server.cut_watches()
        await eventually(lambda: server.count("GET", watch="1") == 2)
        await heard.watching()

        assert heard.told == []
    assert server.requests[-1].query["resourceVersion"] == str(server.version)
    assert server.count("GET", limit="500") == 1


async def test_gone_in_mid_watch(server: FakeApiServer, transport: Transport) -> None:
    """An ERROR event 410 leads to a new list, and the difference is told: deletions that were missed, too."""
    server.put(PODS, pod("stays"))
    server.put(PODS, pod("goes"))
    async with informing(server, transport) as heard:
        await heard.heard(("ADDED", "stays"), ("ADDED", "goes"))
        server.cut_watches()
        await eventually(lambda: server.watching == 0)
        server.remove(f"{PODS}/goes")
        server.put(PODS, pod("stays", phase="Running"))
        server.put(PODS, pod("comes"))
        server.compact()
        await heard.heard(("DELETED", "goes"), ("MODIFIED", "stays"), ("ADDED", "comes"))

        server.send({"type": "ERROR", "object": {"code": 410, "reason": "Expired", "message": "too old"}})
        await eventually(lambda: server.count("GET", limit="500") == 3)
        await heard.watching()
        server.put(PODS, pod("later"))
        await heard.heard(("ADDED", "later"))


async def test_first_gone_lists_at_once(
    server: FakeApiServer, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A watch that worked and is then told that its history is gone lists without a pause: nothing is wrong."""
    monkeypatch.setattr(cache, "_FIRST_PAUSE", 60)
    async with informing(server, transport) as heard:
        server.put(PODS, pod("a"))
        await heard.heard(("ADDED", "a"))
        server.send({"type": "ERROR", "object": {"code": 410, "reason": "Expired"}})
        await eventually(lambda: server.count("GET", limit="500") == 2)
        await heard.watching()

        assert heard.informer.failure is None


async def test_watch_that_keeps_failing_lists_again(server: FakeApiServer, transport: Transport) -> None:
    """When a watch fails three times in a row, its resource version may be what is wrong: the next step is a list."""
    async with informing(server, transport) as heard:
        server.prepared = [status(500)] * 2
        server.cut_watches()
        await eventually(lambda: server.count("GET", limit="500") == 2)
        await heard.watching()

    assert server.count("GET", watch="1") == 4


async def test_error_event_resumes(server: FakeApiServer, transport: Transport) -> None:
    """An ERROR event that is the server's own trouble resumes the watch where it was."""
    async with informing(server, transport) as heard:
        server.put(PODS, pod("a"))
        await heard.heard(("ADDED", "a"))
        server.send({"type": "ERROR", "object": {"code": 500, "reason": "InternalError", "message": "etcd"}})
        await eventually(lambda: server.count("GET", watch="1") == 2)
        await heard.watching()
        server.put(PODS, pod("b"))
        await heard.heard(("ADDED", "b"))

    assert server.count("GET", limit="500") == 1


@pytest.mark.parametrize("event", [{"type": "SURPRISE", "object": {}}, {"type": "ADDED"}, {}])
async def test_unknown_event(server: FakeApiServer, transport: Transport, event: Object) -> None:
    """An event that makes no sense breaks the watch, not the informer."""
    async with informing(server, transport) as heard:
        server.send(event)
        await eventually(lambda: server.count("GET", watch="1") == 2)
        await heard.watching()
        server.put(PODS, pod("a"))
        await heard.heard(("ADDED", "a"))


async def test_silent_connection_is_replaced(server: FakeApiServer, transport: Transport) -> None:
    """A watch without a sign of life is given up, and what happened meanwhile is not lost."""
    async with informing(server, transport, silence=0.2) as heard:
        silent = server._watches.pop()  # The server has forgotten this client, whose connection stays open.
        server.put(PODS, pod("a"))
        await heard.heard(("ADDED", "a"))
        server._watches.append(silent)


async def test_failures_back_off(server: FakeApiServer) -> None:
    """A server that fails all the time is asked less and less, and the reason can be read."""
    async with Transport(server.connection(), attempts=1) as single:
        server.prepared = [status(500, message="etcd is down")] * 100
        heard = Heard(server, single)
        running = asyncio.create_task(heard.informer.run())
        await asyncio.sleep(0.6)
        asked = len(server.requests)

        assert 3 <= asked <= 8  # 20, 40, 80, 160, 320 ms, each shortened by up to a half
        assert isinstance(heard.informer.failure, errors.ServerError)
        assert not heard.informer.has_synced.is_set()

        server.prepared.clear()
        await heard.watching()
        await eventually(lambda: heard.informer.failure is None)
        running.cancel()
        await asyncio.wait((running,))


async def test_watch_that_ends_at_once_does_not_spin(server: FakeApiServer, transport: Transport) -> None:
    """A server that accepts watches and ends them at once is asked less and less, too."""
    async with informing(server, transport) as heard:
        for _ in range(60):
            server.end_watches()
            await asyncio.sleep(0.01)

        assert server.count("GET", watch="1") <= 9
        await heard.watching()


async def test_repeated_gone_does_not_spin(server: FakeApiServer, transport: Transport) -> None:
    """One 410 lists at once; a server that answers nothing else is asked less and less."""
    async with informing(server, transport) as heard:
        server.cut_watches()
        for _ in range(60):
            if len(server.prepared) < 2:
                server.prepared = [None, status(410)] if server.prepared == [] else server.prepared
            await asyncio.sleep(0.01)

        assert server.count("GET", limit="500") <= 9
        server.prepared.clear()
        await heard.watching()


async def test_forbidden_is_shown_and_heals(server: FakeApiServer, transport: Transport) -> None:
    """Missing rights do not end the informer: it says what is missing, and goes on once they are there."""
    server.prepared = [status(403, "Forbidden", "cannot list pods")] * 2
    heard = Heard(server, transport)
    running = asyncio.create_task(heard.informer.run())
    await eventually(lambda: heard.informer.failure is not None)

    assert "cannot list pods" in str(heard.informer.failure)

    await asyncio.wait_for(heard.informer.has_synced.wait(), 4)
    running.cancel()
    await asyncio.wait((running,))


async def test_own_writes_are_seen_at_once(server: FakeApiServer, transport: Transport) -> None:
    """What we wrote is in the cache before its event, and the event is not told: who wrote it knows."""
    async with informing(server, transport) as heard:
        created = decode(await transport.create(PODS, encode(pod("a"))))
        heard.informer.apply_local(created)

        assert heard.informer.get("ns/a") is created

        server.put(PODS, pod("b"))
        await heard.heard(("ADDED", "b"))
        deleted = await transport.delete(f"{PODS}/b", uid="uid-2")
        assert deleted["status"] == "Success"
        assert heard.informer.remove_local("ns/b", "uid-2")
        assert heard.informer.get("ns/b") is None


async def test_objects_are_trimmed_and_indexed(server: FakeApiServer, transport: Transport) -> None:
    """What is dropped never gets into the cache, whatever the way; objects are found by their owner."""

    def trim(obj: Object) -> Object:
        obj.pop("spec", None)
        return obj

    server.put(PODS, pod("listed", "one", spec=1))

    def owners(obj: Object) -> list[str]:
        return [owner["uid"] for owner in obj["metadata"]["ownerReferences"]]

    async with informing(server, transport, trim=trim, indexers={"owner": owners}) as heard:
        server.put(PODS, pod("watched", "one", spec=2))
        await heard.heard(("ADDED", "listed"), ("ADDED", "watched"))
        heard.informer.apply_local(decode(await transport.create(PODS, encode(pod("written", "two", spec=3)))))

        assert all("spec" not in obj for _, obj in heard.informer.items())
        assert {obj["metadata"]["name"] for obj in heard.informer.by("owner", "one")} == {"listed", "watched"}
        assert [obj["metadata"]["name"] for obj in heard.informer.by("owner", "two")] == ["written"]


def test_noise_is_dropped() -> None:
    """Field ownership and kubectl's copy go, everything else stays."""
    obj = {
        "metadata": {
            "name": "a",
            "managedFields": [1],
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "mine": "1"},
        },
        "spec": {},
    }

    assert drop_noise(obj) == {"metadata": {"name": "a", "annotations": {"mine": "1"}}, "spec": {}}
    assert drop_noise({"metadata": {"name": "a"}}) == {"metadata": {"name": "a"}}


async def test_odd_object_does_not_stop_the_others(server: FakeApiServer, transport: Transport) -> None:
    """An object that trims badly is kept untrimmed; a handler that fails for one object hears of the next."""

    def trim(obj: Object) -> Object:
        return {"metadata": obj["metadata"], "spec": obj["spec"]["fine"]}

    told: list[str] = []

    def on_event(kind: str, old: Object | None, new: Object | None) -> None:
        del kind, old
        assert new is not None
        told.append(new["metadata"]["name"])
        if new["metadata"]["name"] == "bad":
            raise RuntimeError

    server.put(PODS, pod("bad", spec=None))
    server.put(PODS, pod("good", spec={"fine": 1}))
    informer = Informer(transport, PODS, on_event, trim=trim)
    running = asyncio.create_task(informer.run())
    await asyncio.wait_for(informer.has_synced.wait(), 4)
    running.cancel()
    await asyncio.wait((running,))

    assert told == ["bad", "good"]
    assert [obj["spec"] for _, obj in informer.items()] == [None, 1]


async def test_restored_cluster_is_listed_again(server: FakeApiServer, transport: Transport) -> None:
    """When the server's numbers start lower than before, a new list is believed."""
    server.put(PODS, pod("old"))
    async with informing(server, transport) as heard:
        await heard.heard(("ADDED", "old"))
        server.cut_watches()
        await eventually(lambda: server.watching == 0)
        server.restore(10)
        server.put(PODS, pod("restored"))
        server.prepared = [status(410)]
        await heard.heard(("DELETED", "old"), ("ADDED", "restored"))
        await heard.watching()
        server.put(PODS, pod("restored", phase="Running"))
        await heard.heard(("MODIFIED", "restored"))


async def test_what_may_not_be_read_and_need_not(
    server: FakeApiServer, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An optional informer that is refused says so once, counts as not synced, and makes up for it when it may read."""
    monkeypatch.setattr(cache, "_REFUSED_PAUSE", 0.02)
    syncs: list[int] = []
    server.put(PODS, pod("a"))
    server.prepared = [status(403), status(403), status(403)]
    informer = Informer(
        transport, PODS, lambda *_: None, optional=True, on_sync=lambda: syncs.append(len(server.requests))
    )
    with capture_logs() as logs:
        running = asyncio.create_task(informer.run())
        await eventually(lambda: len(server.requests) >= 2)
        assert not informer.has_synced.is_set()
        assert isinstance(informer.failure, errors.Forbidden)
        # The server knows of the watch before the informer has its answer.
        await eventually(lambda: bool(syncs))
        assert informer.has_synced.is_set()
        assert (repr(informer.failure), syncs, server.watching) == ("None", [5], 1)
        assert len(informer) == 1

        # The right is taken away: what is in the cache is worth nothing from now on.
        server.prepared = [status(403), status(403), None]
        server.end_watches()
        await eventually(lambda: not informer.has_synced.is_set())
        await eventually(informer.has_synced.is_set)
        await eventually(lambda: len(syncs) == 2)
        running.cancel()
        await asyncio.wait((running,))
    assert [entry["event"] for entry in logs if entry["log_level"] == "warning"].count("informer.refused") == 2


async def test_refused_for_a_moment(server: FakeApiServer, transport: Transport) -> None:
    """An API server that has just started may not know the rights yet: an optional informer soon asks again."""
    server.put(PODS, pod("a"))
    server.prepared = [status(403)]
    informer = Informer(transport, PODS, lambda *_: None, optional=True)

    running = asyncio.create_task(informer.run())
    await eventually(informer.has_synced.is_set)
    running.cancel()
    await asyncio.wait((running,))

    assert len(informer) == 1
