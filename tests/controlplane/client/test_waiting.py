"""Watching and waiting go on over all that may happen to an API server and its connections."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from msjob_client import (
    AsyncMSJobClient,
    JobFinishedError,
    JobNotFoundError,
    JobWaitTimeoutError,
    MSJob,
    MSJobClient,
    MSJobEvent,
    Until,
)
from support.live_jobs import Jobs
from support.operator import Operators
from support.testbed.controlplane import ControlPlane
from support.testbed.waiting import wait_for


@contextmanager
def watching(client: MSJobClient, name: str | None = None) -> Iterator[list[MSJobEvent]]:
    """Watch jobs, and give what is heard so far."""
    events: list[MSJobEvent] = []
    stream = client.watch(name)

    def listen() -> None:
        for event in stream:
            events.append(event)  # noqa: PERF402 - each as it comes

    thread = threading.Thread(target=listen)
    thread.start()
    try:
        yield events
    finally:
        stream.close()
        thread.join()


def heard(events: list[MSJobEvent]) -> list[tuple[str, str]]:
    """Types and names."""
    return [(event.type, event.job.name) for event in events]


def test_what_is_there_and_then_what_changes(client: MSJobClient, jobs: Jobs) -> None:
    """Jobs that are there come first; another name is not heard of."""
    jobs.create(name="a", managed_by="kueue.x-k8s.io/multikueue")
    with watching(client) as all_of_them, watching(client, "b") as one:
        wait_for(lambda: heard(all_of_them) == [("ADDED", "a")])
        jobs.create(name="b", managed_by="kueue.x-k8s.io/multikueue")
        wait_for(lambda: heard(one) == [("ADDED", "b")])
        jobs.patch({"runPolicy": {"suspend": True}}, "b")
        wait_for(lambda: heard(one) == [("ADDED", "b"), ("MODIFIED", "b")])
        assert one[-1].job.suspend
        jobs.delete("b")
        wait_for(lambda: heard(one)[-1] == ("DELETED", "b"))
        whole = [("ADDED", "a"), ("ADDED", "b"), ("MODIFIED", "b"), ("DELETED", "b")]
        wait_for(lambda: heard(all_of_them) == whole, what=f"{whole}")


def test_the_api_server_goes_and_comes_back(
    own_operators: Operators, control_plane: ControlPlane, client: MSJobClient, jobs: Jobs
) -> None:
    """A watch goes on by itself, and tells what happened meanwhile."""
    jobs.create(name="a", managed_by="kueue.x-k8s.io/multikueue")
    with watching(client) as events:
        wait_for(lambda: heard(events) == [("ADDED", "a")])
        control_plane.stop_apiserver(kill=True)
        own_operators.bring_back_apiserver()
        jobs.create(name="b", managed_by="kueue.x-k8s.io/multikueue")
        wait_for(lambda: heard(events) == [("ADDED", "a"), ("ADDED", "b")], 30, what="the new job")
    assert client.get("b").name == "b"


@pytest.mark.usefixtures("operator")
def test_wait_for_its_end(client: MSJobClient, jobs: Jobs) -> None:
    """Each state on the way is told, in the thread that waits."""
    jobs.create(worker=1)
    states: list[str] = []
    threads: set[int] = set()

    def note(job: MSJob) -> None:
        states.append(job.state)
        threads.add(threading.get_ident())

    def live() -> None:
        jobs.run(2)
        jobs.finish("worker-0")

    life = threading.Thread(target=live)
    life.start()
    found = client.wait("train", timeout=30, on_change=note)
    life.join()
    assert found.succeeded
    assert {"Created", "Running", "Succeeded"} <= set(states)
    assert states[-1] == "Succeeded"
    assert threads == {threading.get_ident()}
    assert client.wait("train", until=Until.SUCCEEDED, timeout=5).uid == found.uid


@pytest.mark.usefixtures("operator")
def test_what_can_never_come(client: MSJobClient, jobs: Jobs) -> None:
    """A job that has failed will neither succeed nor run nor be suspended."""
    jobs.create(worker=1)
    jobs.run(2)
    assert client.wait("train", until=Until.RUNNING, timeout=10).running
    jobs.finish("worker-0", code=3)
    for until in (Until.SUCCEEDED, Until.RUNNING, Until.SUSPENDED):
        if until is Until.RUNNING:
            jobs.wait_state("Failed")
        with pytest.raises(JobFinishedError, match=r"MSJob train has failed, so that it cannot .* exited with code 3"):
            client.wait("train", until=until, timeout=20)
    assert client.wait("train", timeout=5).failed


@pytest.mark.usefixtures("operator")
def test_no_time_is_time_enough_to_look_once(client: MSJobClient, jobs: Jobs) -> None:
    """A limit of zero tells where the job stands, and a job is deleted however short the limit."""
    jobs.create(worker=1)
    jobs.run(2)
    client.wait("train", until=Until.RUNNING, timeout=10)
    assert client.wait("train", until=Until.RUNNING, timeout=0).running
    with pytest.raises(JobWaitTimeoutError, match=r"within 0 s; it is Running, 1/1 Workers ready"):
        client.wait("train", timeout=0)
    with pytest.raises(JobWaitTimeoutError, match=r"has not been deleted within 0 s"):
        client.delete("train", wait=True, timeout=0)
    client.wait("train", until=Until.DELETED, timeout=20)
    assert not client.wait("train", until=Until.DELETED, timeout=0).uid


def test_time_is_up(client: MSJobClient, jobs: Jobs) -> None:
    """The error says where the job stood, and holds it."""
    jobs.create(managed_by="kueue.x-k8s.io/multikueue")
    with pytest.raises(JobWaitTimeoutError, match=r"has not finished within 0.3 s; it is left to kueue") as caught:
        client.wait("train", timeout=0.3)
    assert caught.value.job is not None
    assert caught.value.job.name == "train"


def test_a_job_that_goes(client: MSJobClient, jobs: Jobs) -> None:
    """One that is not there cannot be waited for; one that is deleted meanwhile ends the wait."""
    with pytest.raises(JobNotFoundError, match="there is no MSJob train"):
        client.wait("train", timeout=5)
    jobs.create(managed_by="kueue.x-k8s.io/multikueue")
    with pytest.raises(JobNotFoundError, match=r"MSJob train was deleted meanwhile"):
        client.wait("train", timeout=20, on_change=lambda _: jobs.delete())


async def test_waits_end_with_their_task(aclient: AsyncMSJobClient, jobs: Jobs) -> None:
    """A wait that is cancelled is over, and the client goes on."""
    jobs.create(managed_by="kueue.x-k8s.io/multikueue")
    begun = asyncio.Event()
    waiting = asyncio.create_task(aclient.wait("train", on_change=lambda _: begun.set()))
    await begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (await aclient.get("train")).name == "train"
