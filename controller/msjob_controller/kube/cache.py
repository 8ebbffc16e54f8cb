"""A local copy of all objects of one resource type, kept up to date by list + watch."""

import asyncio
import contextlib
from collections.abc import Callable, Collection, Mapping
from typing import Final

import structlog

from msjob_controller.kube.backoff import jittered
from msjob_controller.kube.errors import (
    ApiError,
    Forbidden,
    Gone,
    ServerError,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
from msjob_controller.kube.hints import hint
from msjob_controller.kube.store import Change, Indexer, Kind, Object, Store, key_of
from msjob_controller.kube.transport import PAGE_SIZE, SILENCE, Transport
from msjob_controller.kube.watch import PATIENCE, watch

EventHandler = Callable[[Kind, Object | None, Object | None], None]
"""Called with kind, old and new object, see `Change`."""

_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 30.0
_REFUSED_PAUSE: Final = 300.0
"""Seconds at most until a collection that may not be read, and need not, is asked for again: rights seldom change.

The first pauses are short: an API server that has just started refuses whatever it has not read the rights for.
"""
_log = structlog.get_logger(__name__)


def drop_noise(obj: Object) -> Object:
    """Drop what no controller reads and what is often most of an object: field ownership, and kubectl's own copy.

    Args:
        obj: An object that belongs to the caller; it is changed in place.
    """
    meta = obj["metadata"]
    meta.pop("managedFields", None)
    if annotations := meta.get("annotations"):
        annotations.pop("kubectl.kubernetes.io/last-applied-configuration", None)
    return obj


class Informer:
    """Lists a collection, watches it, and tells what changes.

    `on_event` hears of every object once it is known: of each object of the first list as an addition, of what a later
    list finds as the difference. It does not hear of what `apply_local` stored: who writes knows. It is called in the
    event loop and must be quick (put a key in a queue).

    Objects in the cache are shared: nobody may change them.

    Args:
        transport: The API server.
        path: Path of the collection, of one namespace or of all.
        on_event: Called for each change.
        params: Selectors.
        key: Gives the key of an object; `namespace/name` by default.
        trim: Applied to each object before it is stored, to save memory; may change it in place.
        indexers: Index name -> function of a trimmed object.
        page_size: Objects in one page of a list.
        silence: Seconds without a byte after which the watch counts as dead, see `Transport.stream`.
        optional: The work goes on without it: when it may not be read, that is logged once and tried again now and
            then, and `has_synced` is no longer set, since what is in the cache grows old.
        on_sync: Called when a list is in the cache; after a failure when it is also kept up to date again.

    Attributes:
        has_synced: Set once the first list is in the cache.
        failure: Why the cache may be behind at present; None while the watch runs. For probes and messages.
    """

    def __init__(  # noqa: PLR0913 - each has a default, all but three are keywords
        self,
        transport: Transport,
        path: str,
        on_event: EventHandler,
        *,
        params: Mapping[str, str] | None = None,
        key: Callable[[Object], str] = key_of,
        trim: Callable[[Object], Object] = drop_noise,
        indexers: Mapping[str, Indexer] | None = None,
        page_size: int = PAGE_SIZE,
        silence: float = SILENCE,
        optional: bool = False,
        on_sync: Callable[[], None] | None = None,
    ) -> None:
        self.has_synced = asyncio.Event()
        self.failure: ApiError | None = None
        self.path = path
        self._transport = transport
        self._on_event = on_event
        self._params = dict(params or {})
        self._key = key
        self._trim_with = trim
        self._page_size = page_size
        self._silence = silence
        self._store = Store(key=key, indexers=indexers)
        self._resource_version: str | None = None
        self._failures = 0
        self._optional = optional
        self._on_sync = on_sync
        self._refused = False

    def __len__(self) -> int:
        """Return the number of objects in the cache."""
        return len(self._store)

    def get(self, key: str) -> Object | None:
        """Return an object, not to be changed; None when the cache has none."""
        return self._store.get(key)

    def items(self) -> Collection[tuple[str, Object]]:
        """Return keys and objects, not to be changed."""
        return self._store.items()

    def by(self, index: str, value: str) -> list[Object]:
        """Return the objects an index holds under a value, in no order."""
        return self._store.by(index, value)

    def apply_local(self, obj: Object) -> bool:
        """Store the answer to our own write, so that the next pass sees it before its event comes.

        Args:
            obj: The object as the server returned it; it belongs to the cache from now on.

        Returns:
            Whether it was newer than what the cache had.
        """
        return self._store.put_local(self._trim(obj))

    def remove_local(self, key: str, uid: str) -> bool:
        """Forget an object whose deletion the server confirmed.

        Args:
            key: Its key.
            uid: Its uid; a successor of the same name stays.

        Returns:
            Whether it was in the cache.
        """
        return self._store.drop_local(key, uid)

    async def run(self) -> None:
        """List and watch until cancelled. Errors of the API server never end it: they are logged and retried."""
        while True:
            try:
                if self._resource_version is None:
                    await self._list()
                await self._watch(self._resource_version or "")
            except ApiError as error:
                await self._recover(error)

    async def _list(self) -> None:
        # Read from the quorum, not from an API server's cache: what comes must not be older than what was seen.
        objects, version = await self._transport.list(
            self.path, self._params, limit=self._page_size, convert=self._trim
        )
        for change in self._store.replace(objects, int(version)):
            self._tell(change)
        self._resource_version = version
        self.has_synced.set()
        if self._on_sync is not None and self.failure is None:
            self._on_sync()

    async def _watch(self, version: str) -> None:
        stream = watch(self._transport, self.path, self._params, version, silence=self._silence, on_open=self._opened)
        async with contextlib.aclosing(stream) as events:
            async for kind, obj in events:
                self._take(kind, obj)
                self._failures = 0
        self._failures = 0

    def _take(self, kind: str, obj: Object) -> None:
        version = obj["metadata"]["resourceVersion"]
        if kind == "BOOKMARK":
            self._store.observed = max(self._store.observed, int(version))
        elif (change := self._store.observe(kind, self._trim(obj))) is not None:
            self._tell(change)
        self._resource_version = version

    def _tell(self, change: Change) -> None:
        try:
            self._on_event(*change)
        except Exception:  # noqa: BLE001 - one odd object must not stop the news of all others
            key = self._key(change.new or change.old or {})
            _log.exception("informer.handler_failed", path=self.path, key=key)

    def _trim(self, obj: Object) -> Object:
        try:
            return self._trim_with(obj)
        except Exception:  # noqa: BLE001 - odd content in one object costs memory, not the cache
            _log.exception("informer.trim_failed", path=self.path, key=self._key(obj))
            return obj

    def _opened(self) -> None:
        recovered = self.failure is not None
        self.failure = None
        self._refused = False
        if recovered and self._on_sync is not None and self.has_synced.is_set():
            self._on_sync()

    async def _recover(self, error: ApiError) -> None:
        """Decide whether to list again or to resume, and wait."""
        if self._optional and isinstance(error, Forbidden):
            await self._do_without(error)
            return
        transient = isinstance(error, (Unreachable, TooManyRequests, ServerError, Unauthorized))
        if not transient or (self._failures + 1) % PATIENCE == 0:
            self._resource_version = None
        if isinstance(error, Gone) and self._failures == 0:
            # Ordinary after a long silence: list at once. Should it come again and again, wait like for all else.
            self._failures += 1
            _log.info("informer.relist", path=self.path, reason=error.message)
            return
        pause = max(jittered(self._failures, base=_FIRST_PAUSE, cap=_LONGEST_PAUSE), error.retry_after or 0.0)
        self._failures += 1
        self.failure = error
        _log.warning("informer.failed", path=self.path, error=str(error), retry_in=round(pause, 1), **hint(error))
        await asyncio.sleep(min(pause, _LONGEST_PAUSE))

    async def _do_without(self, error: ApiError) -> None:
        """Bear with it that the collection may not be read."""
        self._resource_version = None
        self.failure = error
        self.has_synced.clear()
        if not self._refused:
            self._refused = True
            _log.warning("informer.refused", path=self.path, error=str(error), retry_in_at_most=_REFUSED_PAUSE)
        pause = jittered(self._failures, base=_FIRST_PAUSE, cap=_REFUSED_PAUSE)
        self._failures += 1
        await asyncio.sleep(pause)
