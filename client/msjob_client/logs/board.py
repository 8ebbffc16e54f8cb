"""What is known of a job and its pods at present, for all who wait for a change of it."""

import asyncio
from collections.abc import Callable, Iterable

from msjob_client.job import MSJob
from msjob_client.pod import PodView

_JOB = ""
"""Stands for the job among the uids of pods."""


class Board:
    """A job and its pods.

    Args:
        job: The job.

    Attributes:
        over: Whether the job has ended or is gone.
        pods: Its pods by uid.
    """

    def __init__(self, job: MSJob) -> None:
        self.over = job.finished
        self.pods: dict[str, PodView] = {}
        self._waiting: dict[str, set[asyncio.Future[None]]] = {}

    def take_job(self, job: MSJob | None) -> None:
        """Take in the job as it is now; None when it is gone."""
        if job is None or job.finished:
            self.over = True
            for key in tuple(self._waiting):
                self._wake(key)

    def take_pods(self, pods: Iterable[PodView], gone: Iterable[str] = ()) -> None:
        """Take in pods as they are now, and the uids of those that are no more."""
        for pod in pods:
            self.pods[pod.uid] = pod
            self._wake(pod.uid)
        for uid in gone:
            self.pods.pop(uid, None)
            self._wake(uid)

    async def wait_over(self) -> None:
        """Wait until the job has ended or is gone."""
        await self.wait(_JOB, lambda: self.over)

    async def wait(self, uid: str, predicate: Callable[[], bool]) -> None:
        """Wait until something holds; it is asked after each change of a pod, and when the job is over.

        Only those that wait for that pod are woken: a job may have thousands.
        """
        while not predicate():
            change = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(uid, set()).add(change)
            try:
                await change
            finally:
                self._waiting.get(uid, set()).discard(change)

    def _wake(self, uid: str) -> None:
        for change in self._waiting.pop(uid, ()):
            if not change.done():
                change.set_result(None)
