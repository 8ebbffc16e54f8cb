"""What happened to the objects of a namespace, and when this process heard of it."""

import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Self

from support.testbed.client import MSJOBS, PODS, Client
from support.testbed.errors import ApiError, UnreachableError
from support.testbed.watch import Watch

_PAUSE = 0.3


class Seen(NamedTuple):
    """One change.

    Attributes:
        at: Seconds on the monotonic clock when it was heard of.
        resource: Such as ``v1/pods``.
        type: ADDED, MODIFIED or DELETED.
        object: As it was then.
    """

    at: float
    resource: str
    type: str
    object: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of the object."""
        return str(self.object["metadata"]["name"])

    @property
    def uid(self) -> str:
        """The uid of the object."""
        return str(self.object["metadata"]["uid"])


class Recorder:
    """Watches the MSJobs and pods of a namespace. Use it with ``with``.

    Args:
        client: A client that may watch them.
        namespace: The namespace.

    Attributes:
        seen: All changes so far, in their order.
    """

    def __init__(self, client: Client, namespace: str) -> None:
        self.seen: list[Seen] = []
        self._client = client
        self._namespace = namespace
        self._closing = threading.Event()
        self._watches = dict[str, Watch]()
        self._threads = [
            threading.Thread(target=self._watch, args=(resource,), name=f"recorder {resource}", daemon=True)
            for resource in (MSJOBS, PODS)
        ]

    def first(self, resource: str, predicate: Callable[[Seen], bool], *, after: float = 0) -> Seen | None:
        """The first change of a resource that a predicate holds for, and that was heard of after a time."""
        return next(
            (item for item in self.seen if item.resource == resource and item.at >= after and predicate(item)), None
        )

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        for watch in tuple(self._watches.values()):
            watch.close()
        for thread in self._threads:
            thread.join(10)

    def _watch(self, resource: str) -> None:
        known: dict[str, str] = {}
        while not self._closing.is_set():
            try:
                # Without a version it begins with all that is there.
                watch = self._client.watch(resource, self._namespace)
                self._watches[resource] = watch
                for kind, item in watch:
                    self._take(resource, kind, item, known)
            except (ApiError, UnreachableError):
                pass
            self._closing.wait(_PAUSE)

    def _take(self, resource: str, kind: str, item: dict[str, Any], known: dict[str, str]) -> None:
        uid, version = item["metadata"]["uid"], item["metadata"]["resourceVersion"]
        if known.get(uid) != version:
            known[uid] = version
            self.seen.append(Seen(time.monotonic(), resource, kind, item))
