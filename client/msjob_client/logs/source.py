"""The log of one container of one pod, read in as many pieces as it takes."""

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import Final, NamedTuple

from msjob_client.line import LogLine
from msjob_client.logs.entries import Cutter, Entry
from msjob_client.logs.seen import Seen
from msjob_client.pod import ContainerView, PodView
from msjob_client.reading import at
from msjob_controller.kube.paths import resource_path
from msjob_controller.kube.transport import Transport

SILENCE: Final = 300.0
"""Seconds without a line after which a log that is followed is asked for anew, in case that the connection is dead."""

_BEGUN: Final = frozenset({"running", "terminated"})

IsMine = Callable[[Entry], bool]
Whose = Callable[[], Awaitable[IsMine]]


_MOST_LINES: Final = 2**63 - 1
"""What the API server can read, an `int64`."""
_MOST_SECONDS: Final = (2**63 - 1) // 10**9
"""What the kubelet can count with: a `time.Duration`, in nanoseconds."""


class Start(NamedTuple):
    """Where to begin.

    Attributes:
        tail: Only the last so many lines; None for all.
        since: Only lines of the last so many seconds; None for all.
    """

    tail: int | None = None
    since: float | None = None


class Source:
    """One container's log.

    Args:
        transport: The API server.
        pod: The pod.
        container: The container.
        start: Where to begin.

    Attributes:
        pod: The pod as it was known last.
        container: The container.
        run: Which run of the container is read: the restarts by the kubelet before it.
        rest: What the last answer had of a line without an end.
        whose: Asked once an answer has begun: which of its entries are of the pod that is meant, since by then another
            one may have its name. None to take all of them for it.
        done: Whether there is nothing more to read.
    """

    def __init__(self, transport: Transport, pod: PodView, container: str, start: Start) -> None:
        self.pod = pod
        self.container = container
        self.run = self.restarts
        self._transport = transport
        self._path = resource_path("v1", "pods", pod.namespace, pod.name, "log")
        self._start: Start | None = start
        self._seen = Seen()
        self.rest: tuple[Entry, ...] = ()
        self.whose: Whose | None = None
        self.done = False

    @property
    def view(self) -> ContainerView | None:
        """The container as its pod was known last."""
        return self.pod.container(self.container)

    @property
    def restarts(self) -> int:
        """How often the kubelet has restarted the container, as far as it is known."""
        return 0 if self.view is None else self.view.restarts

    @property
    def restarted(self) -> bool:
        """Whether it has done so since the run that is read."""
        return self.restarts > self.run

    @property
    def readable(self) -> bool:
        """Whether the container has begun to run, so that there is a log."""
        view = self.view
        return view is not None and (view.state in _BEGUN or view.restarts > 0)

    @property
    def ended(self) -> bool:
        """Whether the container has ended and will not be started again by the kubelet."""
        view = self.view
        if self.pod.ended or view is None or view.state != "terminated":
            return self.pod.ended
        policy = at(self.pod.raw, "spec", "restartPolicy") or "Always"
        if view.restarts_alone:
            return False
        return policy == "Never" or (view.exit_code == 0 and (policy == "OnFailure" or view.init))

    @property
    def begun(self) -> bool:
        """Whether it has been read to its end once, or anything of it."""
        return self._start is None

    async def read(self, *, follow: bool = False, previous: bool = False) -> AsyncGenerator[LogLine]:
        """Read on, until the answer ends. What comes of a last line without an end is kept in `rest`.

        Args:
            follow: Wait for more.
            previous: Read what is left of the run before the present one.

        Yields:
            What has not been told yet.

        Raises:
            ApiError: The log is refused, or the answer broke off.
        """
        cutter = Cutter()
        params = self._params(follow=follow, previous=previous)
        silent = self._start is not None and self._start.tail == 0
        self._seen.reopen()
        chunks = self._transport.stream_bytes(self._path, params, silence=SILENCE)
        is_mine: IsMine | None = None
        async with contextlib.aclosing(chunks) as answer:
            async for chunk in answer:
                if is_mine is None:
                    is_mine = _anybodys if self.whose is None else await self.whose()
                for entry in filter(self._seen.is_news, filter(is_mine, cutter.feed(chunk))):
                    if not silent:
                        yield self._line(entry)
                    # After it was told: what a reader who is cancelled did not take is told again.
                    self._seen.add(entry)
                    self._start = None
        self._start = None
        self.rest = tuple(filter(self._seen.is_news, filter(is_mine, cutter.flush())))

    @property
    def caught_up(self) -> bool:
        """Whether the last answer had all of what is known already, as one that is not broken off has."""
        return self._seen.caught_up

    def read_rest(self) -> Iterator[LogLine]:
        """Give what there is of a last line without an end, once nothing can be added to it."""
        for entry in self.rest:
            yield self._line(entry)
            self._seen.add(entry)
        self.rest = ()

    def _params(self, *, follow: bool, previous: bool) -> dict[str, str]:
        params = {"container": self.container, "timestamps": "true"}
        if follow:
            params["follow"] = "true"
        if previous:
            params["previous"] = "true"
        if self._seen.since is not None:
            params["sinceTime"] = self._seen.since.strftime("%Y-%m-%dT%H:%M:%SZ")
        elif self._start is not None:
            if self._start.tail is not None:
                # The last line tells where to begin when none is asked for.
                params["tailLines"] = str(min(max(1, self._start.tail), _MOST_LINES))
            if self._start.since is not None:
                params["sinceSeconds"] = str(min(max(1, round(self._start.since)), _MOST_SECONDS))
        return params

    def _line(self, entry: Entry) -> LogLine:
        return LogLine(
            pod=self.pod.name,
            role=self.pod.role,
            index=self.pod.index,
            rank=self.pod.rank,
            attempt=self.pod.attempt,
            container=self.container,
            time=entry.time,
            text=entry.text.decode(errors="replace"),
        )


def before(successor: PodView | None, container: str) -> IsMine:
    """Tell the entries of a pod from those of the one that has its name now.

    Args:
        successor: The pod that has the name; None if none has.
        container: The container that is read.
    """
    view = None if successor is None else successor.container(container)
    if view is None or successor is None or not (view.restarts or view.state in _BEGUN):
        # One that has not begun has no log, so that the answer cannot be its own.
        return _anybodys
    began = view.started if view.started is not None and not view.restarts else successor.created
    if began is None:
        return lambda _: False
    stamp = int(began.timestamp()) * 10**9
    return lambda entry: entry.stamp is not None and entry.stamp < stamp


def _anybodys(_: Entry) -> bool:
    return True
