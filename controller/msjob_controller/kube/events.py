"""Kubernetes events about objects: written in the background, never in the way.

`kubectl describe` shows them. They are a courtesy: when the API server is down or a flood comes, events are dropped and
counted, and no reconcile ever waits for one or fails because of one.

An event that repeats (same object, type, reason and message) raises the count of the first instead of making another.
Each reason of an object has 25 new events at once and then one every five minutes (client-go has these figures for the
object as a whole, where a flood of one reason hides all others).

While there is other work, an event waits a few seconds for the end of it: when hundreds of jobs come at once, pods are
made first, and then told of.
"""

import asyncio
import itertools
import socket
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple

import structlog

from msjob_controller.kube.errors import ApiError, NotFound, ServerError, TooManyRequests, Unreachable
from msjob_controller.kube.paths import resource_path
from msjob_controller.kube.queue import KeyedQueue
from msjob_controller.kube.ratelimit import TokenBucket
from msjob_controller.kube.transport import Object, Transport, encode

EventType = Literal["Normal", "Warning"]

_MESSAGE_BYTES: Final = 1024
"""The API's limit for a message."""
_NAME_LENGTH: Final = 253
"""The API's limit for a name."""
_BURST: Final = 25
_REFILL: Final = 1 / 300
_REMEMBERED: Final = 4096
"""Events whose repetition is recognised, and reasons whose rate is."""
_ATTEMPTS: Final = 5
_DEFERRED: Final = 5.0
"""Seconds that an event waits for other work at most."""
_LOOKS: Final = 0.05
"""Seconds between two looks whether there is other work."""
_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 30.0
_WORKERS: Final = 4
_log = structlog.get_logger(__name__)


class _Key(NamedTuple):
    """Events of one key are one event with a count."""

    uid: str
    type: str
    reason: str
    message: str


@dataclass(slots=True)
class _Pending:
    """Occurrences not yet written."""

    involved: Object
    count: int
    first: str
    last: str
    since: float
    """Monotonic seconds."""
    sequence: int
    """Part of the name of the event: names tell the order in which events were reported, however they are written."""


@dataclass(slots=True)
class _Written:
    """The event in the API server."""

    path: str
    count: int


class EventRecorder:
    """Writes events. Make it inside a running event loop, and keep `run` running.

    Args:
        transport: The API server.
        component: Who reports.
        instance: Which replica reports; the host name by default.
        capacity: Different events that may wait to be written. From half of it on they wait for nothing else.
        busy: Whether there is work that comes first.
        now: Wall clock, for the times of events.
        clock: Monotonic seconds, for the rate.

    Attributes:
        dropped: Events that will never be seen, since the start.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        component: str = "ms-operator",
        instance: str | None = None,
        capacity: int = 4000,
        busy: Callable[[], bool] = lambda: False,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.dropped = 0
        self._transport = transport
        self._component = component
        self._instance = instance or socket.gethostname()
        self._capacity = capacity
        self._others_work = busy
        self._hurries = False
        self._now = now
        self._clock = clock
        self._queue: KeyedQueue[_Key] = KeyedQueue(base=_FIRST_PAUSE, cap=_LONGEST_PAUSE)
        self._pending: dict[_Key, _Pending] = {}
        self._written: OrderedDict[_Key, _Written] = OrderedDict()
        self._buckets: OrderedDict[tuple[str, str, str], TokenBucket] = OrderedDict()
        self._idle = asyncio.Event()
        self._idle.set()
        self._busy = 0
        self._sequence = itertools.count(time.time_ns())

    def event(self, obj: Object, event_type: EventType, reason: str, message: str) -> None:
        """Report something about an object. Returns at once and never raises.

        Args:
            obj: The object; needs `apiVersion`, `kind` and its metadata. The event lands in its namespace.
            event_type: `Normal` or `Warning`.
            reason: CamelCase, from a closed set.
            message: For people; cut to 1024 bytes.
        """
        meta = obj["metadata"]
        message = _cut(message)
        key = _Key(meta.get("uid", ""), event_type, reason, message)
        stamp = self._now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        if pending := self._pending.get(key):
            pending.count += 1
            pending.last = stamp
            return
        if len(self._pending) >= self._capacity or not self._bucket(key).take():
            self._drop(1, reason)
            return
        involved = {
            "apiVersion": obj.get("apiVersion"),
            "kind": obj.get("kind"),
            "name": meta["name"],
            "namespace": meta.get("namespace"),
            "uid": meta.get("uid"),
            "resourceVersion": meta.get("resourceVersion"),
        }
        involved = {name: value for name, value in involved.items() if value}
        self._pending[key] = _Pending(involved, 1, stamp, stamp, self._clock(), next(self._sequence))
        self._idle.clear()
        self._queue.add(key)

    async def run(self) -> None:
        """Write events until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(_WORKERS):
                group.create_task(self._work())

    async def flush(self, seconds: float = 2.0) -> bool:
        """Wait until everything reported so far is written or dropped, but no longer than so many seconds.

        From now on events wait for no other work.

        Returns:
            Whether it is.
        """
        self._hurries = True
        try:
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True

    async def _work(self) -> None:
        while (key := await self._queue.get()) is not None:
            while self._waits(key):  # noqa: ASYNC110 - other work does not tell of its end
                await asyncio.sleep(_LOOKS)
            pending = self._pending.pop(key, None)
            if pending is None:  # A retry came due after a newer occurrence had taken it along.
                self._queue.done(key)
                continue
            self._busy += 1
            try:
                await self._write(key, pending)
            except (Unreachable, ServerError, TooManyRequests) as error:
                self._retry(key, pending, error)
            except ApiError as error:
                # Namespaces that are being deleted refuse new events, for one.
                self._give_up(key, pending, error)
            else:
                self._queue.forget(key)
            finally:
                self._busy -= 1
                self._queue.done(key)
                if not self._pending and not self._busy:
                    self._idle.set()

    def _waits(self, key: _Key) -> bool:
        pending = self._pending.get(key)
        if pending is None or self._hurries or len(self._pending) > self._capacity / 2:
            return False
        return self._clock() - pending.since < _DEFERRED and self._others_work()

    async def _write(self, key: _Key, pending: _Pending) -> None:
        written = self._written.get(key)
        if written is not None:
            try:
                count = written.count + pending.count
                await self._transport.patch_merge(written.path, {"count": count, "lastTimestamp": pending.last})
            except NotFound:
                del self._written[key]  # Events live for an hour by default.
            else:
                written.count = count
                self._written.move_to_end(key)
                return
        body = self._body(key, pending)
        namespace = body["metadata"]["namespace"]
        await self._transport.create(resource_path("v1", "events", namespace), encode(body))
        path = resource_path("v1", "events", namespace, body["metadata"]["name"])
        self._written[key] = _Written(path, pending.count)
        if len(self._written) > _REMEMBERED:
            self._written.popitem(last=False)

    def _body(self, key: _Key, pending: _Pending) -> dict[str, Any]:
        suffix = f".{pending.sequence:x}"
        name = pending.involved["name"][: _NAME_LENGTH - len(suffix)].rstrip(".-")
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name + suffix, "namespace": pending.involved.get("namespace") or "default"},
            "involvedObject": pending.involved,
            "type": key.type,
            "reason": key.reason,
            "message": key.message,
            "count": pending.count,
            "firstTimestamp": pending.first,
            "lastTimestamp": pending.last,
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "reportingInstance": self._instance,
        }

    def _retry(self, key: _Key, pending: _Pending, error: ApiError) -> None:
        if self._queue.retries(key) + 1 >= _ATTEMPTS:
            self._give_up(key, pending, error)
            return
        if newer := self._pending.get(key):
            pending.count += newer.count
            pending.last = newer.last
        self._pending[key] = pending
        self._queue.add_rate_limited(key)

    def _give_up(self, key: _Key, pending: _Pending, error: ApiError) -> None:
        self._queue.forget(key)
        self._drop(pending.count, key.reason, error=str(error))

    def _drop(self, count: int, reason: str, **details: str) -> None:
        self.dropped += count
        _log.warning("event.dropped", reason=reason, count=count, **details)

    def _bucket(self, key: _Key) -> TokenBucket:
        name = (key.uid, key.type, key.reason)
        bucket = self._buckets.pop(name, None) or TokenBucket(_REFILL, _BURST, clock=self._clock)
        self._buckets[name] = bucket
        if len(self._buckets) > _REMEMBERED:
            self._buckets.popitem(last=False)
        return bucket


def _cut(message: str) -> str:
    encoded = message.encode(errors="replace")
    if len(encoded) <= _MESSAGE_BYTES:
        return encoded.decode()
    return encoded[: _MESSAGE_BYTES - len("…".encode())].decode(errors="ignore") + "…"
