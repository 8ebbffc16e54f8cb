"""Waiting for a job that goes between the first look and the first news."""

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, cast

import pytest

from msjob_client import JobNotFoundError, MSJob, Until
from msjob_client.waiting import states

if TYPE_CHECKING:
    from msjob_client.server import Server

JOB = MSJob.read({"metadata": {"name": "train", "namespace": "research", "uid": "a"}})


class Late:
    """A cluster in which a job is there at first, and gone when its changes are asked for."""

    async def job(self, name: str, namespace: str) -> MSJob:
        """The job."""
        assert (name, namespace) == ("train", "research")
        return JOB

    async def job_changes(self, namespace: str, name: str) -> AsyncGenerator[list[Any]]:
        """What is there: nothing."""
        assert (namespace, name) == ("research", "train")
        yield []


async def test_deleted_before_the_first_news() -> None:
    """Who waits until a job is gone gets it as it was seen last; who waits for anything else is told."""
    late = cast("Server", Late())

    assert [job async for job in states(late, "train", "research", Until.DELETED)] == [JOB]
    with pytest.raises(JobNotFoundError, match="was deleted meanwhile"):
        _ = [job async for job in states(late, "train", "research", Until.FINISHED)]
