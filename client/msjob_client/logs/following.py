"""The logs of a job as they are written, from the first pod to the end of the job."""

import asyncio
import contextlib
import functools
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from typing import Any, Final

from msjob_client.errors import ClusterUnreachableError, RequestFailedError
from msjob_client.faults import out_of_files
from msjob_client.job import MSJob
from msjob_client.line import LogLine
from msjob_client.logs.board import Board
from msjob_client.logs.merging import merged, whole
from msjob_client.logs.source import IsMine, Source, Start, before
from msjob_client.logs.wanted import Wanted
from msjob_client.pod import PodView, in_order
from msjob_client.server import Server, owned, pods_of, pods_path
from msjob_client.watching import changes
from msjob_controller.kube.backoff import jittered
from msjob_controller.kube.errors import ApiError, Forbidden, NotFound, Unauthorized
from msjob_controller.kube.paths import resource_path

_ROOM: Final = 1000
"""Lines that wait for a slow reader before the API server has to."""
_FIRST_PAUSE: Final = 0.2
_LONGEST_PAUSE: Final = 5.0
_LAST_SECONDS: Final = 3.0
"""How long containers that still run when the job is over are listened to: those that are told to go may have a last
word, and those that stay (`cleanPodPolicy: None`, a sidecar) say nothing more about the job."""


class Following:
    """Follows one job.

    Args:
        server: The API server.
        job: The job.
        wanted: Which containers.
        start: Where logs that are there already begin.
    """

    def __init__(self, server: Server, job: MSJob, wanted: Wanted, start: Start) -> None:
        self._server = server
        self._job = job
        self._wanted = wanted
        self._start = start
        self._board = Board(job)
        self._sources: dict[tuple[str, str], Source] = {}
        self._lines: asyncio.Queue[LogLine | Exception | None] = asyncio.Queue(_ROOM)
        self._tasks: set[asyncio.Task[None]] = set()

    async def lines(self, pods: list[PodView]) -> AsyncGenerator[LogLine]:
        """Read.

        Args:
            pods: The pods of the job as they are.

        Yields:
            What is there already, in the order of its times; then lines as they come.

        Raises:
            ApiError: Pods or logs may not be read.
        """
        self._board.take_pods(pods)
        self._add(pods, self._start)
        there = [source for source in self._sources.values() if source.readable]
        broken: dict[str, ApiError] = {}
        async with contextlib.aclosing(merged(there, broken)) as found:
            async for line in found:
                yield line
        for source in there:
            # What could not be read is tried again below.
            source.done = source.ended and source.pod.name not in broken
        async with self._at_work():
            while (item := await self._lines.get()) is not None:
                if isinstance(item, Exception):
                    raise item
                yield item

    @contextlib.asynccontextmanager
    async def _at_work(self) -> AsyncIterator[None]:
        """All tasks that fill the queue."""
        watchers = [
            asyncio.create_task(self._guarded(self._watch_job())),
            asyncio.create_task(self._guarded(self._watch_pods())),
            asyncio.create_task(self._guarded(self._see_to_the_end())),
        ]
        for source in self._sources.values():
            self._begin(source)
        try:
            yield
        finally:
            tasks = [*watchers, *self._tasks]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """Hand a failure to who reads the lines."""
        try:
            await work
        except Exception as error:  # noqa: BLE001 - it is raised where the lines are read
            await self._lines.put(error)

    # -- the job and its pods --------------------------------------------------------------------------------------

    async def _watch_job(self) -> None:
        async with contextlib.aclosing(self._server.job_changes(self._job.namespace, self._job.name)) as news:
            async for batch in news:
                jobs = [MSJob.read(change.new) for change in batch if change.new is not None]
                # Another one of its name is not the job.
                self._board.take_job(next((job for job in jobs if job.uid == self._job.uid), None))

    async def _watch_pods(self) -> None:
        path, params = pods_path(self._job.namespace), pods_of(self._job.name)
        async with contextlib.aclosing(changes(self._server.transport, path, params)) as news:
            async for batch in news:
                pods = [PodView.read(change.new) for change in batch if change.new and owned(change.new, self._job)]
                gone = [str(change.old["metadata"]["uid"]) for change in batch if change.old and not change.new]
                self._board.take_pods(pods, gone)
                self._add(pods, Start(), begin=True)

    def _add(self, pods: list[PodView], start: Start, *, begin: bool = False) -> None:
        for pod in in_order(pods):
            for container in self._wanted.containers(pod):
                if (pod.uid, container) in self._sources:
                    continue
                source = Source(self._server.transport, pod, container, start)
                self._sources[pod.uid, container] = source
                if begin:
                    self._begin(source)

    async def _see_to_the_end(self) -> None:
        """End it all once the job is over and what was written is read."""
        await self._board.wait_over()
        # The watch of pods may be behind that of the job.
        with contextlib.suppress(ClusterUnreachableError, RequestFailedError):
            pods = await self._server.pods(self._job)
            self._board.take_pods(pods)
            self._add(pods, Start(), begin=True)
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=_LAST_SECONDS)
        left = tuple(self._tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        unread = [source for source in self._sources.values() if not source.done and source.readable]
        async with contextlib.aclosing(merged(unread, {})) as found:
            async for line in found:
                await self._lines.put(line)
        await self._lines.put(None)

    # -- one container ---------------------------------------------------------------------------------------------

    def _begin(self, source: Source) -> None:
        source.whose = functools.partial(self._whose, source)
        task = asyncio.create_task(self._guarded(self._follow(source)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _follow(self, source: Source) -> None:
        """Read a container from its beginning to its end, or to that of its pod."""
        in_vain = 0
        while not source.done and await self._has_log(source):
            try:
                heard = await self._read(source)
            except (Forbidden, Unauthorized):
                raise
            except NotFound:
                # A kubelet that has just been started does not know of its pods yet.
                if not await self._is_there(source):
                    break
                heard = False
            except ApiError as error:
                if out_of_files(error):
                    raise
                # Broken off, not started after all, or a kubelet that does not answer: all of it may pass.
                heard = False
            in_vain = 0 if heard else in_vain + 1
            if in_vain:
                await asyncio.sleep(_FIRST_PAUSE)
                await self._rest(source, jittered(in_vain - 1, base=_FIRST_PAUSE, cap=_LONGEST_PAUSE))
        source.done = True

    async def _rest(self, source: Source, seconds: float) -> None:
        """Wait before the next try, and no longer than until there will be no more to read."""

        def over() -> bool:
            source.pod = self._board.pods.get(source.pod.uid, source.pod)
            return source.ended or self._board.over or source.pod.uid not in self._board.pods

        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._board.wait(source.pod.uid, over)

    async def _has_log(self, source: Source) -> bool:
        """Wait until a container has begun. False if it never will: its pod is gone, or the job is over."""

        def settled() -> bool:
            pod = self._board.pods.get(source.pod.uid)
            source.pod = pod or source.pod
            return pod is None or source.readable or self._board.over

        await self._board.wait(source.pod.uid, settled)
        return source.readable and source.pod.uid in self._board.pods

    async def _read(self, source: Source) -> bool:
        """Read one answer, and say whether it had any line. Sees to it that all is read of a run that has ended.

        Raises:
            NotFound: The pod is gone.
            ApiError: The log is refused, or the answer broke off.
        """
        if not source.begun:
            return await self._hand_on(whole(source))
        heard = False
        if source.restarted:
            # What the run before said last is in a log of its own.
            source.run = source.restarts
            with contextlib.suppress(ApiError):
                heard = await self._hand_on(whole(source, previous=True))
        heard = await self._until_restarted(source) or heard
        if not await self._refresh(source):
            raise NotFound(404, "NotFound", f"pod {source.pod.name} is gone")
        if source.ended and not source.restarted:
            heard = await self._hand_on(whole(source)) or heard
            source.done = True
        return heard

    async def _until_restarted(self, source: Source) -> bool:
        """Follow a container until the answer ends, or until it turns out to be of a later run than is known."""

        def restarted() -> bool:
            source.pod = self._board.pods.get(source.pod.uid, source.pod)
            return source.restarted

        reading = asyncio.create_task(self._hand_on(source.read(follow=True)))
        restart = asyncio.create_task(self._board.wait(source.pod.uid, restarted))
        try:
            await asyncio.wait((reading, restart), return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended = reading.done()
            reading.cancel()
            restart.cancel()
            await asyncio.gather(reading, restart, return_exceptions=True)
        return reading.result() if ended else True

    async def _hand_on(self, lines: AsyncGenerator[LogLine]) -> bool:
        heard = False
        async with contextlib.aclosing(lines) as found:
            async for line in found:
                heard = True
                await self._lines.put(line)
        return heard

    async def _whose(self, source: Source) -> IsMine:
        """Which entries of an answer that has just begun are of the pod that is meant."""
        found = await self._named_like(source)
        return before(None if found is None or found.uid == source.pod.uid else found, source.container)

    async def _refresh(self, source: Source) -> bool:
        """Look at a pod. False if it is gone, though another of its name be there."""
        found = await self._named_like(source)
        if found is None or found.uid != source.pod.uid:
            return False
        source.pod = found
        return True

    async def _is_there(self, source: Source) -> bool:
        """Whether a pod is there still, as far as can be told."""
        try:
            return await self._refresh(source)
        except ApiError:
            return True

    async def _named_like(self, source: Source) -> PodView | None:
        path = resource_path("v1", "pods", source.pod.namespace, source.pod.name)
        try:
            return PodView.read(await self._server.transport.get(path))
        except NotFound:
            return None
