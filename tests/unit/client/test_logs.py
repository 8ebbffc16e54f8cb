"""Whose log an answer is, what is asked for, and what is known of pods: the pure parts of reading logs."""

import asyncio
import functools
from collections.abc import AsyncGenerator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, cast

import pytest

from msjob.api import Role
from msjob_client import InvalidJobError, MSJob
from msjob_client.logs.board import Board
from msjob_client.logs.entries import Entry
from msjob_client.logs.source import Source, Start, before
from msjob_client.logs.wanted import Wanted, wanted
from support.explained import NOW, condition, moment, pod, stored
from support.jobs import Json, msjob

if TYPE_CHECKING:
    from msjob_controller.kube.transport import Transport


def entry(when: datetime) -> Entry:
    """An entry of a moment."""
    return Entry(int(when.timestamp() * 10**9), when, b"x")


def status(state: Json, restarts: int = 0) -> Json:
    """The status of the container."""
    return {"name": "mindspore", "restartCount": restarts, "state": state}


def test_nobody_else_has_the_name() -> None:
    """Then all of an answer is the pod's own; also if the other one has not begun and so has no log."""
    assert before(None, "mindspore")(entry(NOW))
    for waiting in ({"waiting": {"reason": "ContainerCreating"}}, {}):
        other = pod("worker-0", "Pending", containerStatuses=[status(waiting)])
        assert before(other, "mindspore")(entry(NOW))
    assert before(other, "sidecar")(entry(NOW))


def test_another_has_the_name_and_has_begun() -> None:
    """What was written before that is the pod's own."""
    other = pod("worker-0", containerStatuses=[status({"running": {"startedAt": moment(0)}})])
    mine = before(other, "mindspore")
    assert mine(entry(NOW - timedelta(milliseconds=1)))
    assert not mine(entry(NOW))
    assert not mine(Entry(None, None, b"the kubelet's own words"))
    unknown = pod("worker-0", containerStatuses=[status({"running": {"startedAt": moment(0)}}, restarts=2)])
    assert not before(unknown, "mindspore")(entry(NOW - timedelta(days=1)))


def test_what_is_wanted() -> None:
    """Roles in any spelling, indices, and containers."""
    job = MSJob.read(msjob(worker=3))
    pods = [pod("scheduler-0"), pod("worker-0"), pod("worker-2")]
    asked = wanted(job, pods, roles=["wOrKeR"], indexes=[2], container=None, all_containers=False)
    assert asked == Wanted(frozenset({Role.WORKER}), frozenset({2}), "mindspore")
    assert [list(asked.containers(item)) for item in pods] == [[], [], ["mindspore"]]
    everything = wanted(job, [], roles=None, indexes=None, container="x", all_containers=True)
    assert everything == Wanted(None, None, None)


def test_containers_that_others_have_added_count() -> None:
    """A webhook may add a sidecar that no template has."""
    job = MSJob.read(msjob())
    meshed = pod("worker-0", spec={"containers": [{"name": "mindspore"}, {"name": "proxy"}]})
    assert wanted(job, [meshed], roles=None, indexes=None, container="proxy", all_containers=False).container == "proxy"
    with pytest.raises(InvalidJobError, match="has no container proxy: it has mindspore"):
        wanted(job, [], roles=None, indexes=None, container="proxy", all_containers=False)


async def test_who_waits_for_a_pod_is_woken_by_it_alone() -> None:
    """And by the end of the job."""
    board = Board(stored())
    asked = {"a": 0, "b": 0}

    def there(name: str) -> bool:
        asked[name] += 1
        return board.over or name in board.pods

    waits = {name: asyncio.create_task(board.wait(name, functools.partial(there, name))) for name in asked}
    await asyncio.sleep(0)
    board.take_pods([pod("a")])
    await waits["a"]
    assert asked == {"a": 2, "b": 1}
    board.take_pods([], gone=["a", "never-there"])
    assert board.pods == {}
    board.take_job(stored())
    assert not board.over
    board.take_job(stored(condition("Succeeded")))
    await waits["b"]
    assert board.over


async def test_a_wait_that_is_cancelled_leaves_nothing() -> None:
    """Its place is free."""
    board = Board(stored())
    waiting = asyncio.create_task(board.wait("a", lambda: False))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert not any(board._waiting.values())
    board.take_pods([pod("a")])


@pytest.mark.parametrize(
    ("start", "sent"),
    [
        (Start(), {}),
        (Start(tail=0, since=0.4), {"tailLines": "1", "sinceSeconds": "1"}),
        (Start(tail=7, since=90), {"tailLines": "7", "sinceSeconds": "90"}),
        (Start(tail=10**30, since=1e20), {"tailLines": "9223372036854775807", "sinceSeconds": "9223372036"}),
    ],
)
async def test_where_a_log_begins(start: Start, sent: dict[str, str]) -> None:
    """The API server and the kubelet can read what they are asked for, whatever the numbers."""
    asked: list[Mapping[str, str]] = []

    class Answers:
        async def stream_bytes(self, _path: str, params: Mapping[str, str], *, silence: float) -> AsyncGenerator[bytes]:
            asked.append(params)
            assert silence
            yield b""

    source = Source(cast("Transport", Answers()), pod("worker-0"), "mindspore", start)
    assert [line async for line in source.read()] == []
    assert asked == [{"container": "mindspore", "timestamps": "true", **sent}]
