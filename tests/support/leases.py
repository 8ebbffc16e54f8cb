"""A Lease in memory, with a network that can be slow, broken or cut for one candidate. For virtual time."""

import asyncio
import copy
import json
from collections.abc import Callable
from typing import Any, cast

from msjob_controller.kube.errors import AlreadyExists, Conflict, NotFound, Unreachable
from msjob_controller.kube.leader import LeaderElector
from msjob_controller.kube.transport import Transport

Object = dict[str, Any]


class LeaseServer:
    """Stores one Lease, guarded by resource versions.

    Attributes:
        lease: The Lease, or None.
        writes: How often it was written.
    """

    def __init__(self) -> None:
        self.lease: Object | None = None
        self.writes = 0

    def read(self) -> Object:
        """Return the Lease."""
        if self.lease is None:
            raise NotFound(404, "NotFound", "no lease")
        return copy.deepcopy(self.lease)

    def store(self, lease: Object) -> Object:
        """Write the Lease."""
        self.writes += 1
        self.lease = copy.deepcopy(lease)
        self.lease["metadata"]["resourceVersion"] = str(self.writes)
        return copy.deepcopy(self.lease)

    @property
    def spec(self) -> Object:
        """The spec of the Lease."""
        return cast("Object", self.read()["spec"])


class Network:
    """How one candidate reaches the server; stands where a `Transport` is expected.

    Attributes:
        delay: Gives the seconds before a request takes effect, and those before its answer arrives.
        cut: While true, requests hang and never take effect.
        lose_answers: While true, requests take effect and their answers are lost.
        requests: Methods asked for so far.
    """

    def __init__(self, server: LeaseServer, delay: Callable[[], float] = lambda: 0.0) -> None:
        self.server = server
        self.delay = delay
        self.cut = False
        self.lose_answers = False
        self.requests: list[str] = []

    @property
    def transport(self) -> Transport:
        """Itself, as what the elector asks for."""
        return cast("Transport", self)

    async def get(self, _: str) -> Object:
        """Read the Lease."""
        return await self._call("get", self.server.read)

    async def replace(self, _: str, lease: Object) -> Object:
        """Replace the Lease, if it is still the one that was read."""

        def change() -> Object:
            if lease["metadata"]["resourceVersion"] != self.server.read()["metadata"]["resourceVersion"]:
                raise Conflict(409, "Conflict", "the lease has changed")
            return self.server.store(lease)

        return await self._call("replace", change)

    async def create(self, _: str, body: bytes) -> bytes:
        """Create the Lease."""

        def create() -> Object:
            if self.server.lease is not None:
                raise AlreadyExists(409, "AlreadyExists", "there is a lease")
            return self.server.store(json.loads(body))

        return json.dumps(await self._call("create", create)).encode()

    async def _call(self, method: str, effect: Callable[[], Object]) -> Object:
        self.requests.append(method)
        await asyncio.sleep(self.delay())
        if self.cut:
            await asyncio.sleep(3600)
        result = effect()
        if self.lose_answers:
            raise Unreachable("the answer was lost")
        await asyncio.sleep(self.delay())
        return result


def now() -> float:
    """Return the virtual time."""
    return asyncio.get_running_loop().time()


def candidate(network: Network, name: str, **options: Any) -> LeaderElector:
    """Return a candidate that lives in virtual time."""
    return LeaderElector(network.transport, identity=name, clock=now, **options)


async def forever() -> None:
    """Work without end."""
    await asyncio.Event().wait()


async def stop(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait for its end."""
    task.cancel()
    await asyncio.wait((task,))
