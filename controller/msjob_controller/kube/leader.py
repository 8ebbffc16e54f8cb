"""Leader election on a Lease: of several instances one acts.

The rules are those of client-go. The holder renews the Lease every `retry` seconds and stops acting when it could not
for `renew_deadline`; another takes over when it has seen no change for `duration`. A candidate measures that by its own
monotonic clock from the moment it saw the last change: clocks of different machines are never compared. Since
`renew_deadline` < `duration`, the old leader has stopped before the new one starts; all writes of the Lease carry its
resource version, so of two candidates one wins.

A process that was frozen wakes up believing it leads. `is_leader` is false from the moment its Lease may have been
taken, so ask it before acting.
"""

import asyncio
import random
import socket
import time
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Final, NoReturn

import structlog

from msjob_controller.kube.errors import AlreadyExists, ApiError, Conflict, LeadershipLost, NotFound
from msjob_controller.kube.hints import hint
from msjob_controller.kube.paths import resource_path
from msjob_controller.kube.transport import Object, Transport, decode, encode

_API_VERSION: Final = "coordination.k8s.io/v1"
_JITTER: Final = 1.2
"""Candidates wait between one and 2.2 times `retry`, so that they do not ask in step."""
_RELEASE_TIMEOUT: Final = 2.0
_log = structlog.get_logger(__name__)


def micro_time(moment: datetime) -> str:
    """Return a time as the `MicroTime` of the API: RFC 3339, UTC, always six digits."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class LeaderElector:
    """One candidate.

    Args:
        transport: Used for the Lease alone: a renewal must not wait in line behind a thousand creates.
        namespace: Of the Lease.
        name: Of the Lease.
        identity: Must be unique; by default host name and a random part.
        duration: Seconds without a change after which others take over.
        renew_deadline: Seconds without a renewal after which the leader gives up.
        retry: Seconds between attempts.
        clock: Monotonic seconds.
        now: Wall clock, for the times written to the Lease, which nobody computes with.

    Attributes:
        identity: Own name.
        holder: Who holds the Lease, as last seen; empty when nobody does.

    Raises:
        ValueError: The times do not fit together.
    """

    def __init__(  # noqa: PLR0913 - each has a default and is a keyword
        self,
        transport: Transport,
        *,
        namespace: str = "ms-operator-system",
        name: str = "ms-operator-leader",
        identity: str | None = None,
        duration: float = 15.0,
        renew_deadline: float = 10.0,
        retry: float = 2.0,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        if not duration > renew_deadline > retry * _JITTER > 0:
            raise ValueError(
                f"a Lease needs duration > renew deadline > {_JITTER} * retry > 0,"
                f" not {duration}, {renew_deadline}, {retry}"
            )
        self.identity = identity or f"{socket.gethostname()}_{uuid.uuid4()}"
        self.holder = ""
        self._transport = transport
        self._collection = resource_path(_API_VERSION, "leases", namespace)
        self._path = resource_path(_API_VERSION, "leases", namespace, name)
        self._meta = {"name": name, "namespace": namespace}
        self._duration = duration
        self._renew_deadline = renew_deadline
        self._retry = retry
        self._clock = clock
        self._now = now
        self._lease: Object | None = None
        """The Lease as last seen; None when it has to be read first."""
        self._spec: dict[str, Any] | None = None
        self._changed_at = 0.0
        """When `_spec` was first seen like this."""
        self._renewed_at: float | None = None
        """When the last successful renewal was begun; None while not leading."""

    @property
    def is_leader(self) -> bool:
        """Whether nobody else can lead at this moment."""
        return self._renewed_at is not None and self._clock() < self._renewed_at + self._duration

    async def lead(self, work: Callable[[], Awaitable[None]]) -> None:
        """Wait for leadership, work as long as it lasts, then release it.

        Cancelling stops the work first and releases the Lease then, so the next instance starts at once.

        Args:
            work: What the leader does; cancelled when leadership is lost.

        Raises:
            LeadershipLost: The caller must exit.
        """
        await self.acquire()
        working = asyncio.ensure_future(work())
        holding = asyncio.ensure_future(self.hold())
        try:
            await asyncio.wait((working, holding), return_when=asyncio.FIRST_COMPLETED)
        finally:
            working.cancel()
            # Bounded: after it somebody else may lead, whatever the work is still doing.
            stopped, _ = await asyncio.wait((working,), timeout=self._duration - self._renew_deadline)
            holding.cancel()
            await asyncio.wait((holding,))
            if stopped:
                await self.release()
        if not holding.cancelled():
            holding.result()
        if not working.cancelled():
            working.result()

    async def acquire(self) -> None:
        """Wait until this instance leads."""
        _log.info("leader.waiting", identity=self.identity, lease=self._path)
        while not await self._attempt(self._renew_deadline):  # noqa: ASYNC110 - the news is in the API server
            await asyncio.sleep(self._retry * (1 + random.random() * _JITTER))  # noqa: S311 - no secret
        _log.info("leader.acquired", identity=self.identity, lease=self._path)

    async def hold(self) -> NoReturn:
        """Renew the Lease until that fails for too long.

        Raises:
            LeadershipLost: Somebody else holds the Lease, or it could not be renewed in time.
        """
        while True:
            await asyncio.sleep(self._retry)
            renewed_at = self._renewed_at
            if renewed_at is None:
                raise LeadershipLost(f"{self.identity} does not lead")
            remaining = renewed_at + self._renew_deadline - self._clock()
            # When frozen for long there is no time left, but one attempt tells whether it is still ours.
            if await self._attempt(max(remaining, self._retry)):
                continue
            if self.holder != self.identity:
                self._renewed_at = None
                raise LeadershipLost(f"{self.holder or 'nobody'} leads now")
            if self._clock() >= renewed_at + self._renew_deadline:
                self._renewed_at = None
                raise LeadershipLost(f"the Lease could not be renewed for {self._renew_deadline:g} s")

    async def release(self) -> None:
        """Give the Lease back, if it is still ours, so that nobody has to wait for it to run out."""
        if not self.is_leader:
            return
        self._renewed_at = None
        try:
            async with asyncio.timeout(_RELEASE_TIMEOUT):
                try:
                    await self._give_back()
                except Conflict:
                    # A renewal that was cut short by the end of the work, and has taken effect all the same.
                    self._lease = None
                    await self._give_back()
        except (ApiError, TimeoutError) as error:
            _log.warning("leader.release_failed", error=str(error) or "timed out")

    async def _give_back(self) -> None:
        lease = self._lease
        if lease is None:
            lease = await self._transport.get(self._path)
            self._see(lease)
        if self.holder != self.identity:
            return
        spec = {
            **(self._spec or {}),
            "holderIdentity": "",
            "leaseDurationSeconds": 1,
            "renewTime": micro_time(self._now()),
        }
        self._see(await self._transport.replace(self._path, {**lease, "spec": spec}))
        _log.info("leader.released", identity=self.identity)

    async def _attempt(self, seconds: float) -> bool:
        """Take or renew the Lease, if it may be taken, within so many seconds."""
        try:
            async with asyncio.timeout(seconds):
                return await self._take()
        except (ApiError, TimeoutError) as error:
            # The outcome of a write may be unknown: read before the next one.
            self._lease = None
            _log.warning("leader.attempt_failed", error=str(error) or "timed out", **hint(error))
            return False

    async def _take(self) -> bool:
        started = self._clock()
        try:
            if self._lease is None:
                self._see(await self._transport.get(self._path))
            if not self._may_take():
                self._lease = None
                return False
            lease = await self._transport.replace(self._path, {**(self._lease or {}), "spec": self._next_spec()})
        except NotFound:
            self.holder = ""
            body = {"apiVersion": _API_VERSION, "kind": "Lease", "metadata": self._meta, "spec": self._first_spec()}
            try:
                lease = decode(await self._transport.create(self._collection, encode(body)), self._path)
            except AlreadyExists:
                lease = None
        except Conflict:
            lease = None
        if lease is None:
            # Somebody was faster. Who leads now must be known at once, should it have been us.
            self._see(await self._transport.get(self._path))
            return False
        self._see(lease)
        self._renewed_at = started
        return True

    def _see(self, lease: Object) -> None:
        spec = lease.get("spec") or {}
        self._lease = lease
        self.holder = spec.get("holderIdentity") or ""
        if spec != self._spec:
            self._spec = spec
            self._changed_at = self._clock()

    def _may_take(self) -> bool:
        if self.holder == self.identity:
            return True
        if self._renewed_at is not None:
            return False  # We led, and somebody took it from us.
        if not self.holder:
            return True
        # Should the holder have been started with a longer duration, it is right to expect that.
        theirs = (self._spec or {}).get("leaseDurationSeconds") or 0
        return self._clock() >= self._changed_at + max(self._duration, theirs)

    def _first_spec(self) -> dict[str, Any]:
        now = micro_time(self._now())
        return {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": max(1, round(self._duration)),
            "acquireTime": now,
            "renewTime": now,
            "leaseTransitions": 0,
        }

    def _next_spec(self) -> dict[str, Any]:
        known = self._spec or {}
        if self.holder == self.identity:
            return {**known, "renewTime": micro_time(self._now())}
        return {**known, **self._first_spec(), "leaseTransitions": (known.get("leaseTransitions") or 0) + 1}
