"""What is there, and then each change, for as long as it is wanted."""

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncGenerator, Mapping
from typing import Final

from msjob_controller.kube.backoff import jittered
from msjob_controller.kube.errors import (
    ApiError,
    Forbidden,
    Gone,
    NotFound,
    ServerError,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
from msjob_controller.kube.store import Change, Store
from msjob_controller.kube.transport import Transport
from msjob_controller.kube.watch import PATIENCE, watch

Changes = list[Change]

_FIRST_PAUSE: Final = 0.3
_LONGEST_PAUSE: Final = 10.0
"""Seconds: a person watches, who wants to see at once that the API server is back."""
_AWAKENING: Final = 30.0
"""Seconds after a failure of the connection in which a refusal is taken for one of an API server that has just started:
until it has read the roles and CRDs, it forbids what they allow, and does not find what they define."""


async def changes(transport: Transport, path: str, params: Mapping[str, str] | None = None) -> AsyncGenerator[Changes]:
    """Tell of objects: first of all that are there, in one piece, then of each change.

    It goes on over watches that end or break, over an API server that is away, and over resource versions that are
    too old, after which only differences are told. What nobody but the user can mend ends it.

    Args:
        transport: The API server.
        path: Of the collection.
        params: Selectors.

    Yields:
        The changes; the first list may be empty, no other one is.

    Raises:
        ApiError: The collection cannot be read at the start, or may not be read any more.
    """
    following = _Following(transport, path, dict(params or {}))
    while True:
        try:
            if following.version is None:
                first = not following.listed
                if (found := await following.list()) or first:
                    yield found
            async with contextlib.aclosing(following.watch()) as news:
                async for change in news:
                    yield [change]
        except ApiError as error:
            await following.recover(error)


class _Following:
    """How far the news of one collection have been heard."""

    def __init__(self, transport: Transport, path: str, params: dict[str, str]) -> None:
        self.version: str | None = None
        self.listed = False
        self._transport = transport
        self._path = path
        self._params = params
        self._store = Store()
        self._failures = 0
        self._lost = -math.inf

    async def list(self) -> Changes:
        """Read all of it, and give what is new."""
        objects, self.version = await self._transport.list(self._path, self._params)
        self.listed = True
        return self._store.replace(objects, int(self.version))

    async def watch(self) -> AsyncGenerator[Change]:
        """Hear of changes until the watch ends."""
        stream = watch(self._transport, self._path, self._params, self.version or "")
        async with contextlib.aclosing(stream) as events:
            async for kind, obj in events:
                change = None if kind == "BOOKMARK" else self._store.observe(kind, obj)
                self.version = obj["metadata"]["resourceVersion"]
                if change is not None:
                    yield change
                self._failures = 0

    async def recover(self, error: ApiError) -> None:
        """Wait after a failure that will pass.

        Raises:
            ApiError: It will not.
        """
        if isinstance(error, Gone) and self.listed:
            self.version = None
            if self._failures == 0:
                self._failures = 1
                return
        elif not self.listed or not self._will_pass(error):
            raise error
        self._failures += 1
        if self._failures % PATIENCE == 0:
            self.version = None
        pause = jittered(self._failures - 1, base=_FIRST_PAUSE, cap=_LONGEST_PAUSE)
        await asyncio.sleep(max(pause, min(error.retry_after or 0.0, _LONGEST_PAUSE)))

    def _will_pass(self, error: ApiError) -> bool:
        """Whether a failure is none that the user must mend."""
        now = time.monotonic()
        if isinstance(error, (Unreachable, ServerError)):
            self._lost = now
        if isinstance(error, (Forbidden, NotFound, Unauthorized)):
            return now < self._lost + _AWAKENING
        return isinstance(error, (Unreachable, ServerError, TooManyRequests))
