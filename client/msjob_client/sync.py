"""The synchronous client: the asynchronous one, in an event loop of its own in the background."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from msjob_client.background import Stream
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
    """As `AsyncMSJobClient`, for programs without an event loop; may be shared by threads.

    Attributes:
        namespace: Where jobs are looked for unless a call says otherwise.
    """

    namespace: str

    @classmethod
    def connect(
        cls, *, kubeconfig: Path | str | None = None, context: str | None = None, namespace: str | None = None
    ) -> Self:
        """See `AsyncMSJobClient.connect`."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections and end the background thread; iterators that are open end, too."""
        raise NotImplementedError

    def submit(
        self, job: Mapping[str, Any], *, namespace: str | None = None, replace: bool = False, dry_run: bool = False
    ) -> MSJob:
        """See `AsyncMSJobClient.submit`."""
        raise NotImplementedError

    def get(self, name: str, *, namespace: str | None = None) -> MSJob:
        """See `AsyncMSJobClient.get`."""
        raise NotImplementedError

    def list(self, *, namespace: str | None = None, all_namespaces: bool = False, selector: str | None = None) -> Jobs:
        """See `AsyncMSJobClient.list`."""
        raise NotImplementedError

    def table(
        self,
        name: str | None = None,
        *,
        namespace: str | None = None,
        all_namespaces: bool = False,
        selector: str | None = None,
    ) -> Table:
        """See `AsyncMSJobClient.table`."""
        raise NotImplementedError

    def watch(
        self,
        name: str | None = None,
        *,
        namespace: str | None = None,
        all_namespaces: bool = False,
        selector: str | None = None,
    ) -> Stream[MSJobEvent]:
        """See `AsyncMSJobClient.watch`."""
        raise NotImplementedError

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
        raise NotImplementedError

    def pods(self, name: str, *, namespace: str | None = None) -> Pods:
        """See `AsyncMSJobClient.pods`."""
        raise NotImplementedError

    def events(self, name: str, *, namespace: str | None = None) -> Events:
        """See `AsyncMSJobClient.events`."""
        raise NotImplementedError

    def why(self, name: str, *, namespace: str | None = None) -> Explanation:
        """See `AsyncMSJobClient.why`."""
        raise NotImplementedError

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
        raise NotImplementedError

    def suspend(self, name: str, *, namespace: str | None = None) -> MSJob:
        """See `AsyncMSJobClient.suspend`."""
        raise NotImplementedError

    def resume(self, name: str, *, namespace: str | None = None) -> MSJob:
        """See `AsyncMSJobClient.resume`."""
        raise NotImplementedError

    def restart(self, name: str, *, namespace: str | None = None) -> MSJob:
        """See `AsyncMSJobClient.restart`."""
        raise NotImplementedError

    def scale(self, name: str, replicas: int, *, namespace: str | None = None) -> MSJob:
        """See `AsyncMSJobClient.scale`."""
        raise NotImplementedError

    def delete(
        self, name: str, *, wait: bool = False, timeout: float | None = None, namespace: str | None = None
    ) -> None:
        """See `AsyncMSJobClient.delete`."""
        raise NotImplementedError
