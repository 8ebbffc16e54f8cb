"""Single requests: what is sent, what comes back, what is retried, what is measured."""

import asyncio
import json
import time

import pytest
from aiohttp import web

from msjob_controller.kube import errors
from msjob_controller.kube.connection import Connection, Credentials, Grant
from msjob_controller.kube.ratelimit import TokenBucket
from msjob_controller.kube.transport import Transport, decode, encode
from support.apiserver import FakeApiServer, status
from support.virtual_time import eventually

PODS = "/api/v1/namespaces/ns/pods"
JOBS = "/apis/mindspore.gitee.com/v1/namespaces/ns/msjobs"


def pod(name: str, **fields: object) -> dict[str, object]:
    """Return a pod."""
    return {"metadata": {"name": name, "namespace": "ns"}, **fields}


async def test_create_and_get(server: FakeApiServer, transport: Transport) -> None:
    """A body goes out as it is, the answer comes back as bytes, and reading gives the same object."""
    created = decode(await transport.create(PODS, encode(pod("a", note="é\n"))))

    assert created["metadata"]["uid"]
    assert await transport.get(f"{PODS}/a") == created
    assert server.requests[0].body == pod("a", note="é\n")


async def test_headers(server: FakeApiServer, transport: Transport) -> None:
    """The server learns who asks, and is asked for plain JSON that nobody has to unpack."""
    await transport.create(PODS, encode(pod("a")))
    await transport.patch_merge(f"{PODS}/a", {"x": 1})
    post, patch = (seen.headers for seen in server.requests)

    assert post["user-agent"].startswith("ms-operator/")
    assert post["accept"] == "application/json"
    assert post["accept-encoding"] == "identity"
    assert post["content-type"] == "application/json"
    assert "authorization" not in post
    assert patch["content-type"] == "application/merge-patch+json"


async def test_merge_patch_removes_with_null(server: FakeApiServer, transport: Transport) -> None:
    """A merge patch changes what it names and removes what it sets to null."""
    server.put(PODS, pod("a", keep=1, drop=2))

    patched = await transport.patch_merge(f"{PODS}/a", {"drop": None, "new": 3})

    assert (patched["keep"], patched["new"]) == (1, 3)
    assert "drop" not in patched


async def test_status_patch_is_guarded(server: FakeApiServer, transport: Transport) -> None:
    """A status decided on an old object is refused; one decided on the present one goes to the subresource."""
    old = server.put(JOBS, pod("j"))
    new = server.put(JOBS, pod("j", spec={"x": 1}))

    with pytest.raises(errors.Conflict):
        await transport.patch_status(f"{JOBS}/j", old["metadata"]["resourceVersion"], {"phase": "Old"})
    patched = await transport.patch_status(f"{JOBS}/j", new["metadata"]["resourceVersion"], {"phase": "New"})

    assert patched["status"] == {"phase": "New"}
    assert server.requests[-1].path == f"{JOBS}/j/status"


async def test_delete_options(server: FakeApiServer, transport: Transport) -> None:
    """A delete names the uid it means, so that a successor of the same name is safe; and how to delete."""
    first = server.put(PODS, pod("a"))
    server.remove(f"{PODS}/a")
    server.put(PODS, pod("a"))

    with pytest.raises(errors.Conflict):
        await transport.delete(f"{PODS}/a", uid=first["metadata"]["uid"], grace=0, propagation="Background")

    assert server.requests[-1].body == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": first["metadata"]["uid"]},
        "gracePeriodSeconds": 0,
        "propagationPolicy": "Background",
    }
    assert (await transport.delete(f"{PODS}/a"))["status"] == "Success"
    with pytest.raises(errors.NotFound):
        await transport.delete(f"{PODS}/a")


async def test_name_taken(server: FakeApiServer, transport: Transport) -> None:
    """A second create of a name is told apart from every other conflict."""
    server.put(PODS, pod("a"))

    with pytest.raises(errors.AlreadyExists):
        await transport.create(PODS, encode(pod("a")))


@pytest.mark.parametrize("limit", [1, 2, 3, 500])
async def test_list_is_paged(server: FakeApiServer, transport: Transport, limit: int) -> None:
    """Whatever the size of a page, a list is complete and of one moment."""
    for name in "abcde":
        server.put(PODS, pod(name))
    version = str(server.version)

    items, listed = await transport.list(PODS, {"labelSelector": "a=b,c!=d"}, limit=limit)

    assert [item["metadata"]["name"] for item in items] == list("abcde")
    assert listed == version
    assert all(seen.query["labelSelector"] == "a=b,c!=d" for seen in server.requests)
    assert len(server.requests) == -(-5 // limit)


async def test_list_starts_over_when_its_moment_is_gone(server: FakeApiServer, transport: Transport) -> None:
    """A list that is compacted away between two pages starts over in one piece, without doubled objects."""
    for name in "abcde":
        server.put(PODS, pod(name))

    async def compacted(_: web.Request) -> web.StreamResponse:
        server.compact()
        return await status(410, "Expired")(_)

    server.prepared = [None, compacted]

    items, _ = await transport.list(PODS, limit=2)

    assert [item["metadata"]["name"] for item in items] == list("abcde")
    assert "limit" not in server.requests[-1].query


async def test_list_that_is_gone_twice(server: FakeApiServer, transport: Transport) -> None:
    """A list that cannot even be read in one piece is an error, not an endless loop."""
    for name in "abcde":
        server.put(PODS, pod(name))
    server.prepared = [None, status(410), status(410)]

    with pytest.raises(errors.Gone):
        await transport.list(PODS, limit=2)


async def test_empty_list(transport: Transport) -> None:
    """No objects are a list, too; Go writes null for an empty one."""
    assert await transport.list(PODS) == ([], "100")


async def test_read_is_retried(server: FakeApiServer, transport: Transport) -> None:
    """A read survives failures of the server; each attempt comes after a pause."""
    server.put(PODS, pod("a"))
    server.prepared = [status(500), status(503)]
    started = time.monotonic()

    found = await transport.get(f"{PODS}/a")

    assert found["metadata"]["name"] == "a"
    assert time.monotonic() - started >= 0.05 + 0.1


async def test_attempts_are_bounded(server: FakeApiServer) -> None:
    """A server that keeps failing is asked so often and no more."""
    server.prepared = [status(500)] * 10
    async with Transport(server.connection(), attempts=3) as transport:
        with pytest.raises(errors.ServerError):
            await transport.get(f"{PODS}/a")

    assert len(server.requests) == 3


async def test_write_is_not_repeated(server: FakeApiServer, transport: Transport) -> None:
    """A write that failed may have taken effect: its caller decides, and the transport sends it once."""
    server.prepared = [status(500)]

    with pytest.raises(errors.ServerError):
        await transport.create(PODS, encode(pod("a")))

    assert len(server.requests) == 1


async def test_write_waits_when_told_to(server: FakeApiServer, transport: Transport) -> None:
    """429 means that nothing was done: any request is repeated, and not before the server said."""
    server.prepared = [status(429, **{"Retry-After": "1"})]
    started = time.monotonic()

    await transport.create(PODS, encode(pod("a")))

    assert time.monotonic() - started >= 1
    assert len(server.requests) == 2


async def test_long_retry_after_is_raised(server: FakeApiServer, transport: Transport) -> None:
    """Nobody sleeps for minutes inside a request; the caller learns how long to stay away."""
    server.prepared = [status(429, **{"Retry-After": "3600"})]

    with pytest.raises(errors.TooManyRequests) as caught:
        await transport.get(f"{PODS}/a")

    assert caught.value.retry_after == 3600
    assert len(server.requests) == 1


async def test_nothing_listens() -> None:
    """A refused connection is `Unreachable` and names the request, after the attempts of a read."""
    async with Transport(Connection("http://127.0.0.1:9"), attempts=2) as transport:
        with pytest.raises(errors.Unreachable, match="GET /api/v1/x"):
            await transport.get("/api/v1/x")


async def test_slow_server_is_unreachable(server: FakeApiServer) -> None:
    """An attempt ends when its time is over, and the error says so."""

    async def slow(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(0.5)
        return web.json_response({})

    server.prepared = [slow]
    async with Transport(server.connection(), timeout=0.1) as transport:
        with pytest.raises(errors.Unreachable, match=r"(?i)time"):
            await transport.create(PODS, encode(pod("a")))


async def test_connection_closed_without_an_answer(server: FakeApiServer, transport: Transport) -> None:
    """A server that hangs up instead of answering is `Unreachable`."""

    async def hang_up(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.close()
        return web.Response()

    server.prepared = [hang_up]

    with pytest.raises(errors.Unreachable):
        await transport.create(PODS, encode(pod("a")))


@pytest.mark.parametrize("body", [b"<html>sign in</html>", b"[]", b""])
async def test_answer_of_something_else(server: FakeApiServer, transport: Transport, body: bytes) -> None:
    """200 with no JSON object comes from a proxy or a login page; the error shows what came."""

    async def page(_: web.Request) -> web.StreamResponse:
        return web.Response(body=body)

    server.prepared = [page]

    with pytest.raises(errors.ServerError, match="expected a JSON object"):
        await transport.get(f"{PODS}/a")


async def test_redirect_is_not_followed(server: FakeApiServer, transport: Transport) -> None:
    """Credentials never travel to wherever a redirect points."""

    async def redirect(_: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": "/elsewhere"})

    server.prepared = [redirect]

    with pytest.raises(errors.ApiError) as caught:
        await transport.get(f"{PODS}/a")

    assert caught.value.status == 302
    assert len(server.requests) == 1


async def test_expired_token_is_renewed(server: FakeApiServer) -> None:
    """After a 401 the request goes out again with new credentials, writes included: nothing was done."""

    async def obtain() -> Grant:
        return Grant("Bearer new")

    server.prepared = [status(401)]
    async with Transport(server.connection(Credentials(Grant("Bearer old"), obtain))) as transport:
        await transport.create(PODS, encode(pod("a")))

    assert [seen.headers["authorization"] for seen in server.requests] == ["Bearer old", "Bearer new"]


async def test_refused_token_is_an_error(server: FakeApiServer) -> None:
    """When the new credentials are refused as well, that is the answer."""

    async def obtain() -> Grant:
        return Grant("Bearer new")

    server.prepared = [status(401)] * 3
    async with Transport(server.connection(Credentials(Grant("Bearer old"), obtain))) as transport:
        with pytest.raises(errors.Unauthorized):
            await transport.get(f"{PODS}/a")

    assert len(server.requests) == 2


async def test_token_is_renewed_before_it_expires(server: FakeApiServer) -> None:
    """Credentials that come due are renewed before the next request, which is never refused."""

    async def obtain() -> Grant:
        return Grant("Bearer new")

    credentials = Credentials(Grant("Bearer old", 0.0), obtain)
    async with Transport(server.connection(credentials)) as transport:
        await transport.list(PODS)

    assert server.requests[0].headers["authorization"] == "Bearer new"


async def test_requests_in_flight_are_limited(server: FakeApiServer) -> None:
    """No more than `limit` requests are with the server at a time, watches not counted."""
    running = peak = 0

    async def count(_: web.Request) -> web.StreamResponse:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        await asyncio.sleep(0.02)
        running -= 1
        return web.json_response({})

    async with Transport(server.connection(), limit=2) as transport:
        watches = [transport.stream(PODS, {"watch": "1", "resourceVersion": "100"}) for _ in range(3)]
        reading = [asyncio.ensure_future(anext(watch)) for watch in watches]
        await eventually(lambda: server.watching == 3)
        server.prepared = [count] * 8
        await asyncio.gather(*(transport.get(f"{PODS}/{name}") for name in "abcdefgh"))
        server.bookmark()
        await asyncio.gather(*reading)
        for watch in watches:
            await watch.aclose()

    assert peak == 2


async def test_rate_limit(server: FakeApiServer) -> None:
    """With a client-side limit, requests beyond the burst are spread over time."""
    async with Transport(server.connection(), rate=TokenBucket(20, 2)) as transport:
        started = time.monotonic()
        await asyncio.gather(*(transport.list(PODS) for _ in range(6)))

    assert time.monotonic() - started >= 4 / 20 * 0.95


async def test_every_request_is_reported(server: FakeApiServer) -> None:
    """Verb, resource and code of each attempt reach the metrics, without any name."""
    seen: list[tuple[str, str, str]] = []
    server.prepared = [status(500), None, None, None, status(403)]
    async with Transport(
        server.connection(), on_request=lambda verb, resource, code, _: seen.append((verb, resource, code))
    ) as transport:
        await transport.list(PODS)
        await transport.create(PODS, encode(pod("a")))
        await transport.patch_status(f"{PODS}/a", str(server.version), {})
        with pytest.raises(errors.Forbidden):
            await transport.delete(f"{PODS}/a")
    async with Transport(
        Connection("http://127.0.0.1:9"), on_request=lambda verb, resource, code, _: seen.append((verb, resource, code))
    ) as transport:
        with pytest.raises(errors.Unreachable):
            await transport.create(PODS, b"{}")

    assert seen == [
        ("list", "pods", "500"),
        ("list", "pods", "200"),
        ("create", "pods", "201"),
        ("patch", "pods/status", "200"),
        ("delete", "pods", "403"),
        ("create", "pods", "<error>"),
    ]


def test_encode_is_compact_utf8() -> None:
    """Bodies carry no padding and no escapes: a pod template of 8 KB stays 8 KB."""
    body = encode({"a": [1, "ü"], "b": None})

    assert body == '{"a":[1,"ü"],"b":null}'.encode()
    assert json.loads(body) == {"a": [1, "ü"], "b": None}
