"""One watch of a collection: what the API server tells until it ends it."""

import contextlib
import random
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Final

from msjob_controller.kube.errors import ServerError, Unreachable, from_status
from msjob_controller.kube.transport import SILENCE, Object, Transport

PATIENCE: Final = 3
"""Failures of a watch in a row after which to list again: its resource version may be what is wrong."""
_SECONDS: Final = (300, 600)
"""A watch ends after a random time in this range, as in client-go, so that watches spread over API servers."""
_SHORT: Final = 1.0
"""Seconds: a watch that ends sooner and without an event counts as a failure, or the loop would spin."""
_KINDS: Final = frozenset({"ADDED", "MODIFIED", "DELETED", "BOOKMARK"})


async def watch(
    transport: Transport,
    path: str,
    params: Mapping[str, str],
    version: str,
    *,
    silence: float = SILENCE,
    on_open: Callable[[], None] | None = None,
) -> AsyncGenerator[tuple[str, Object]]:
    """Watch a collection once.

    Args:
        transport: The API server.
        path: Of the collection.
        params: Selectors.
        version: Resource version after which to begin.
        silence: See `Transport.stream`.
        on_open: Called when the server has accepted the watch.

    Yields:
        `ADDED`, `MODIFIED`, `DELETED` or `BOOKMARK`, and the object; of a bookmark it has the resource version alone.

    Raises:
        ApiError: The watch was refused or broke off, the server told of an error, or it ended the watch at once.
    """
    seconds = random.randint(*_SECONDS)  # noqa: S311 - no secret
    query = {
        **params,
        "watch": "1",
        "allowWatchBookmarks": "true",
        "resourceVersion": version,
        "timeoutSeconds": str(seconds),
    }
    started, heard = time.monotonic(), False
    async with contextlib.aclosing(transport.stream(path, query, silence=silence, on_open=on_open)) as events:
        async for event in events:
            yield _checked(event, path)
            heard = True
    if not heard and time.monotonic() - started < _SHORT:
        raise Unreachable("the server ended the watch at once", request=f"WATCH {path}")


def _checked(event: Object, path: str) -> tuple[str, Object]:
    kind, obj = event.get("type"), event.get("object")
    if kind == "ERROR" and isinstance(obj, dict):
        raise from_status(obj, request=f"WATCH {path}")
    if not isinstance(obj, dict) or kind not in _KINDS:
        raise ServerError(500, "BadEvent", f"unknown watch event of type {kind!r}", request=f"WATCH {path}")
    return kind, obj
