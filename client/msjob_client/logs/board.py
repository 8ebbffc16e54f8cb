"""What is known of a job and its pods at present, for all who wait for a change of it."""

import asyncio
from collections.abc import Callable, Iterable

from msjob_client.job import MSJob
from msjob_client.pod import PodView


class Board:
    """A job and its pods.

    Args:
        job: The job.

    Attributes:
        job: The job as it was seen last.
        over: Whether it has ended or is gone.
        pods: Its pods by uid.
    """

    def __init__(self, job: MSJob) -> None:
        self.job = job
        self.over = job.finished
        self.pods: dict[str, PodView] = {}
        self._changed = asyncio.Condition()

    async def take_job(self, job: MSJob | None) -> None:
        """Take in the job as it is now; None when it is gone."""
        async with self._changed:
            if job is not None:
                self.job = job
            self.over = self.over or job is None or job.finished
            self._changed.notify_all()

    async def take_pods(self, pods: Iterable[PodView], gone: Iterable[str] = ()) -> None:
        """Take in pods as they are now, and the uids of those that are no more."""
        async with self._changed:
            for pod in pods:
                self.pods[pod.uid] = pod
            for uid in gone:
                self.pods.pop(uid, None)
            self._changed.notify_all()

    async def wait(self, predicate: Callable[[], bool], seconds: float | None = None) -> None:
        """Wait until something holds, or for some time."""
        try:
            async with asyncio.timeout(seconds), self._changed:
                await self._changed.wait_for(predicate)
        except TimeoutError:
            return
