"""The synchronous client: the asynchronous one, in an event loop of its own in the background."""

import weakref
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from msjob_client.background import Background, Stream
from msjob_client.client import AsyncMSJobClient
from msjob_client.errors import JobNotFoundError
from msjob_client.event import EventView
from msjob_client.explanation import Explanation
from msjob_client.job import MSJob, MSJobEvent, Until
from msjob_client.line import LogLine
from msjob_client.pod import PodView
from msjob_client.table import Table

Jobs = list[MSJob]
Pods = list[PodView]
Events = list[EventView]


class MSJobClient:
    """As `AsyncMSJobClient`, for programs without an event loop; may be shared by threads. Make it with `connect`.

    Connections are kept from call to call. Ctrl-C ends what is under way in good order, and so does the end of the
    program.

    Args:
        background: The loop that the client was made in.
        client: The client.

    Attributes:
        namespace: Where jobs are looked for unless a call says otherwise.
    """

    def __init__(self, background: Background, client: AsyncMSJobClient) -> None:
        self.namespace = client.namespace
        self._background = background
        self._client = client
        self._close = weakref.finalize(self, _close, background, client)

    @classmethod
    def connect(
        cls, *, kubeconfig: Path | str | None = None, context: str | None = None, namespace: str | None = None
    ) -> Self:
        """See `AsyncMSJobClient.connect`."""
        background = Background()
        try:
            client = background.run(
                AsyncMSJobClient.connect(kubeconfig=kubeconfig, context=context, namespace=namespace)
            )
        except BaseException:
            background.close()
            raise
        return cls(background, client)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections and end the background thread; iterators that are open end, too."""
        self._close()

    def submit(
        self, job: Mapping[str, Any], *, namespace: str | None = None, replace: bool = False, dry_run: bool = False
    ) -> MSJob:
        """See `AsyncMSJobClient.submit`."""
        return self._background.run(self._client.submit(job, namespace=namespace, replace=replace, dry_run=dry_run))

    def get(self, name: str, *, namespace: str | None = None) -> MSJob:
        """See `AsyncMSJobClient.get`."""
        return self._background.run(self._client.get(name, namespace=namespace))

    def list(self, *, namespace: str | None = None, all_namespaces: bool = False, selector: str | None = None) -> Jobs:
        """See `AsyncMSJobClient.list`."""
        return self._background.run(
            self._client.list(namespace=namespace, all_namespaces=all_namespaces, selector=selector)
        )

    def table(
        self,
        name: str | None = None,
        *,
        namespace: str | None = None,
        all_namespaces: bool = False,
        selector: str | None = None,
    ) -> Table:
        """See `AsyncMSJobClient.table`."""
        return self._background.run(
            self._client.table(name, namespace=namespace, all_namespaces=all_namespaces, selector=selector)
        )

    def watch(
        self,
        name: str | None = None,
        *,
        namespace: str | None = None,
        all_namespaces: bool = False,
        selector: str | None = None,
    ) -> Stream[MSJobEvent]:
        """See `AsyncMSJobClient.watch`."""
        return self._background.stream(
            self._client.watch(name, namespace=namespace, all_namespaces=all_namespaces, selector=selector)
        )

    def wait(
        self,
        name: str,
        *,
        until: Until = Until.FINISHED,
        timeout: float | None = None,
        on_change: Callable[[MSJob], None] | None = None,
        namespace: str | None = None,
    ) -> MSJob:
        """See `AsyncMSJobClient.wait`; `on_change` is called in the thread that waits."""
        last: MSJob | None = None
        with self._background.stream(
            self._client.states(name, until=until, timeout=timeout, namespace=namespace)
        ) as states:
            for job in states:
                last = job
                if on_change is not None:
                    on_change(job)
        if last is None:
            raise JobNotFoundError(name, namespace or self.namespace)
        return last

    def pods(self, name: str, *, namespace: str | None = None) -> Pods:
        """See `AsyncMSJobClient.pods`."""
        return self._background.run(self._client.pods(name, namespace=namespace))

    def events(self, name: str, *, namespace: str | None = None) -> Events:
        """See `AsyncMSJobClient.events`."""
        return self._background.run(self._client.events(name, namespace=namespace))

    def why(self, name: str, *, namespace: str | None = None) -> Explanation:
        """See `AsyncMSJobClient.why`."""
        return self._background.run(self._client.why(name, namespace=namespace))

    def logs(  # noqa: PLR0913 - each has a default, all but one are keywords
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
    ) -> Stream[LogLine]:
        """See `AsyncMSJobClient.logs`."""
        return self._background.stream(
            self._client.logs(
                name,
                namespace=namespace,
                roles=roles,
                indexes=indexes,
                container=container,
                all_containers=all_containers,
                follow=follow,
                tail=tail,
                since=since,
            )
        )

    def suspend(self, name: str, *, namespace: str | None = None) -> MSJob:
        """See `AsyncMSJobClient.suspend`."""
        return self._background.run(self._client.suspend(name, namespace=namespace))

    def resume(self, name: str, *, namespace: str | None = None) -> MSJob:
        """See `AsyncMSJobClient.resume`."""
        return self._background.run(self._client.resume(name, namespace=namespace))

    def restart(self, name: str, *, namespace: str | None = None) -> MSJob:
        """See `AsyncMSJobClient.restart`."""
        return self._background.run(self._client.restart(name, namespace=namespace))

    def scale(self, name: str, replicas: int, *, namespace: str | None = None) -> MSJob:
        """See `AsyncMSJobClient.scale`."""
        return self._background.run(self._client.scale(name, replicas, namespace=namespace))

    def delete(
        self, name: str, *, wait: bool = False, timeout: float | None = None, namespace: str | None = None
    ) -> None:
        """See `AsyncMSJobClient.delete`."""
        self._background.run(self._client.delete(name, wait=wait, timeout=timeout, namespace=namespace))


def _close(background: Background, client: AsyncMSJobClient) -> None:
    background.close(client.close())
