"""The asynchronous client."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from msjob.api import Problem
from msjob_client import changing, waiting
from msjob_client import why as gathering
from msjob_client.errors import InvalidJobError, JobNotFoundError
from msjob_client.event import EventView, about
from msjob_client.explanation import Explanation
from msjob_client.job import MSJob, MSJobEvent, Until
from msjob_client.line import LogLine
from msjob_client.logs.reading import lines_of
from msjob_client.logs.source import Start
from msjob_client.logs.wanted import wanted
from msjob_client.pod import PodView
from msjob_client.reading import at, text
from msjob_client.server import Server
from msjob_client.table import Table

Jobs = list[MSJob]
Pods = list[PodView]
Events = list[EventView]


class AsyncMSJobClient:
    """MSJobs of one cluster. Make it with `connect`, in the event loop that it is used in, and close it.

    Args:
        server: The API server.

    Attributes:
        namespace: Where jobs are looked for unless a call says otherwise.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self.namespace = server.namespace

    @classmethod
    async def connect(
        cls, *, kubeconfig: Path | str | None = None, context: str | None = None, namespace: str | None = None
    ) -> Self:
        """Find the cluster as kubectl does, without asking it anything yet.

        Args:
            kubeconfig: A kubeconfig; None for `$KUBECONFIG`, the ServiceAccount of the pod, or `~/.kube/config`.
            context: A context of it; None for its current one.
            namespace: None for that of the context, or of the pod.

        Raises:
            ClusterUnreachableError: There is no usable kubeconfig or ServiceAccount.
        """
        server = await Server.connect(kubeconfig, context, namespace)
        return cls(server)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections; what is still under way ends with `ClusterUnreachableError`."""
        await self._server.close()

    async def submit(
        self, job: Mapping[str, Any], *, namespace: str | None = None, replace: bool = False, dry_run: bool = False
    ) -> MSJob:
        """Create a job.

        Args:
            job: JSON of an MSJob; it is not changed.
            namespace: None for that of the job, else of the client.
            replace: A job of that name that has ended is deleted, with all it owns, and then made anew.
            dry_run: The API server judges the job and stores nothing.

        Returns:
            The job as it is stored; with `dry_run` as it would be.

        Raises:
            JobExistsError: There is one of that name; with `replace`, one that has not ended.
            InvalidJobError: The API server refuses the content.
            MSJobError: Anything else.
        """
        own = text(at(job, "metadata", "namespace"))
        if own and namespace and own != namespace:
            problem = Problem(
                ("metadata", "namespace"), f"it is {own}, and the job is to go to {namespace}: drop one of them"
            )
            raise InvalidJobError(str(problem), (problem,))
        where = own or self._server.within(namespace)
        return await changing.submit(self._server, job, where, replace=replace, dry_run=dry_run)

    async def get(self, name: str, *, namespace: str | None = None) -> MSJob:
        """Read a job.

        Raises:
            JobNotFoundError: There is none of that name.
            MSJobError: Anything else.
        """
        return await self._server.job(name, self._server.within(namespace))

    async def list(
        self, *, namespace: str | None = None, all_namespaces: bool = False, selector: str | None = None
    ) -> Jobs:
        """Read all jobs of a namespace, sorted by namespace and name.

        Args:
            namespace: None for that of the client.
            all_namespaces: All that are in the cluster.
            selector: A label selector, such as `team=vision,stage!=test`.

        Raises:
            MSJobError: The jobs cannot be read.
        """
        return await self._server.jobs(None if all_namespaces else self._server.within(namespace), selector)

    async def table(
        self,
        name: str | None = None,
        *,
        namespace: str | None = None,
        all_namespaces: bool = False,
        selector: str | None = None,
    ) -> Table:
        """Read jobs as the API server tabulates them for `kubectl get`.

        Args:
            name: One job; None for all.
            namespace: None for that of the client.
            all_namespaces: All that are in the cluster; not with a name.
            selector: A label selector; not with a name.

        Raises:
            JobNotFoundError: There is none of that name.
            MSJobError: Anything else.
        """
        everywhere = all_namespaces and name is None
        found = await self._server.table(name, None if everywhere else self._server.within(namespace), selector)
        return Table.read(found)

    async def watch(
        self,
        name: str | None = None,
        *,
        namespace: str | None = None,
        all_namespaces: bool = False,
        selector: str | None = None,
    ) -> AsyncGenerator[MSJobEvent]:
        """Tell of jobs that are there, then of each change, without end.

        It goes on by itself when connections break or the API server has forgotten the past; of several changes
        meanwhile only the last state is told. Close the generator to end it.

        Args:
            name: One job; None for all.
            namespace: None for that of the client.
            all_namespaces: All that are in the cluster; not with a name.
            selector: A label selector.

        Raises:
            MSJobError: The jobs cannot be read, or not any more.
        """
        everywhere = all_namespaces and name is None
        where = None if everywhere else self._server.within(namespace)
        async with contextlib.aclosing(self._server.job_changes(where, name, selector)) as news:
            async for batch in news:
                for change in batch:
                    yield MSJobEvent(change.kind, MSJob.read(change.new or change.old or {}))

    async def states(
        self,
        name: str,
        *,
        until: Until = Until.FINISHED,
        timeout: float | None = None,  # noqa: ASYNC109 - of the whole wait, and its error holds the job
        namespace: str | None = None,
    ) -> AsyncGenerator[MSJob]:
        """Do what `wait` does, and tell of each state on the way.

        Args:
            name: Of the job.
            until: What to wait for.
            timeout: Seconds; None for no limit, 0 to look once.
            namespace: None for that of the client.

        Yields:
            The job at the start and after each change; the last one is what was waited for.

        Raises:
            MSJobError: As `wait` does.
        """
        last: MSJob | None = None
        found = waiting.states(self._server, name, self._server.within(namespace), until)
        end = None if timeout is None else asyncio.get_running_loop().time() + timeout
        async with contextlib.aclosing(found) as states:
            while True:
                try:
                    # Not around the loop: what the caller does with a state is none of this timeout's business.
                    async with asyncio.timeout_at(end if timeout or last is not None else None):
                        last = await anext(states)
                except StopAsyncIteration:
                    return
                except TimeoutError as error:
                    if last is not None and waiting.reached(last, until):
                        return
                    raise waiting.out_of_time(name, until, timeout or 0, last) from error
                yield last

    async def wait(
        self,
        name: str,
        *,
        until: Until = Until.FINISHED,
        timeout: float | None = None,  # noqa: ASYNC109 - of the whole wait, and its error holds the job
        on_change: Callable[[MSJob], None] | None = None,
        namespace: str | None = None,
    ) -> MSJob:
        """Wait until a job is where it is wanted.

        Args:
            name: Of the job.
            until: What to wait for.
            timeout: Seconds; None for no limit, 0 to look once.
            on_change: Called with the job at the start and after each change.
            namespace: None for that of the client.

        Returns:
            The job as it is then; after `DELETED` as it was last.

        Raises:
            JobWaitTimeoutError: It did not come in time.
            JobFinishedError: The job has ended, so that what was waited for can never come.
            JobNotFoundError: There is no such job, or it was deleted meanwhile.
            MSJobError: Anything else.
        """
        last: MSJob | None = None
        states = self.states(name, until=until, timeout=timeout, namespace=namespace)
        async with contextlib.aclosing(states) as found:
            async for job in found:
                last = job
                if on_change is not None:
                    on_change(job)
        if last is None:
            raise JobNotFoundError(name, self._server.within(namespace))
        return last

    async def pods(self, name: str, *, namespace: str | None = None) -> Pods:
        """Read the pods of a job, sorted by role and index; those that are being deleted, too.

        Raises:
            JobNotFoundError: There is no such job.
            MSJobError: Anything else.
        """
        job = await self.get(name, namespace=namespace)
        return await self._server.pods(job)

    async def events(self, name: str, *, namespace: str | None = None) -> Events:
        """Read the events of a job, its pods and its Service, oldest first; the same news is merged and counted.

        Raises:
            JobNotFoundError: There is no such job.
            MSJobError: Anything else.
        """
        job = await self.get(name, namespace=namespace)
        return about(job, await self._server.events(job.namespace))

    async def why(self, name: str, *, namespace: str | None = None) -> Explanation:
        """Say what a job waits for, or what it died of. A job that is not there is explained, too.

        Raises:
            MSJobError: The cluster cannot be asked.
        """
        return await gathering.why(self._server, name, self._server.within(namespace), datetime.now(UTC))

    async def logs(  # noqa: PLR0913 - each has a default, all but one are keywords
        self,
        name: str,
        *,
        namespace: str | None = None,
        roles: Collection[str] | None = None,
        indexes: Collection[int] | None = None,
        container: str | None = None,
        all_containers: bool = False,
        follow: bool = False,
        tail: int | None = None,
        since: float | None = None,
    ) -> AsyncGenerator[LogLine]:
        """Read what the pods of a job write.

        Without `follow` the lines of all pods come in the order of their times. With it they come as they are written;
        pods of later attempts join by themselves, and it ends when the job has ended, or is gone, and all is read. No
        line is lost or told twice when a connection breaks.

        Args:
            name: Of the job.
            namespace: None for that of the client.
            roles: Only pods of these roles, in any spelling; None for all.
            indexes: Only pods with these replica indices; None for all.
            container: Which container; None for `mindspore`.
            all_containers: All containers of each pod, init containers too.
            follow: Go on until the job has ended.
            tail: Only the last so many lines of each container; with `follow` of those that are there at the start.
            since: Only lines of the last so many seconds.

        Raises:
            JobNotFoundError: There is no such job.
            MSJobError: Anything else.
        """
        job = await self.get(name, namespace=namespace)
        pods = await self._server.pods(job)
        asked = wanted(job, pods, roles=roles, indexes=indexes, container=container, all_containers=all_containers)
        reading = lines_of(self._server, job, pods, asked, Start(tail, since), follow=follow)
        async with contextlib.aclosing(reading) as lines:
            async for line in lines:
                yield line

    async def suspend(self, name: str, *, namespace: str | None = None) -> MSJob:
        """Ask for a job to be suspended; nothing happens if that is asked for already.

        Raises:
            JobNotFoundError: There is no such job.
            JobFinishedError: It has ended.
            MSJobError: Anything else.
        """
        return await changing.suspend(self._server, await self.get(name, namespace=namespace), wanted=True)

    async def resume(self, name: str, *, namespace: str | None = None) -> MSJob:
        """Let a suspended job run again; nothing happens if it is not suspended.

        Raises:
            JobNotFoundError: There is no such job.
            JobFinishedError: It has ended.
            MSJobError: Anything else.
        """
        return await changing.suspend(self._server, await self.get(name, namespace=namespace), wanted=False)

    async def restart(self, name: str, *, namespace: str | None = None) -> MSJob:
        """Delete the pods of a job that have not ended: the operator restarts the whole job, which does not count.

        Raises:
            JobNotFoundError: There is no such job.
            JobFinishedError: It has ended.
            JobSuspendedError: It is suspended.
            MSJobError: Anything else.
        """
        return await changing.restart(self._server, await self.get(name, namespace=namespace))

    async def scale(self, name: str, replicas: int, *, namespace: str | None = None) -> MSJob:
        """Set the number of Workers.

        Raises:
            JobNotFoundError: There is no such job.
            JobFinishedError: It has ended.
            InvalidJobError: The job has no Workers, or may not have that many.
            MSJobError: Anything else.
        """
        return await changing.scale(self._server, await self.get(name, namespace=namespace), replicas)

    async def delete(
        self,
        name: str,
        *,
        wait: bool = False,
        timeout: float | None = None,  # noqa: ASYNC109 - of the whole wait, and its error holds the job
        namespace: str | None = None,
    ) -> None:
        """Delete a job with all it owns.

        Args:
            name: Of the job.
            wait: Wait until the job, its pods and its Service are gone.
            timeout: Seconds for that; None for no limit.
            namespace: None for that of the client.

        Raises:
            JobNotFoundError: There is no such job.
            JobWaitTimeoutError: It is not gone in time.
            MSJobError: Anything else.
        """
        where = self._server.within(namespace)
        if not wait:
            await self._server.delete(name, where)
            return
        job = await self.get(name, namespace=namespace)
        # Not within the limit, which is of the wait: a job is deleted however little time there is.
        await self._server.delete(name, where, uid=job.uid, foreground=True)
        try:
            async with asyncio.timeout(timeout):
                await changing.gone(self._server, job)
        except TimeoutError as error:
            raise waiting.out_of_time(name, Until.DELETED, timeout or 0, job) from error
