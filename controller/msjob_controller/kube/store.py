"""Objects by key and by index, ordered by resource version.

A store hears of the same object from three sides: the watch, a fresh list, and the answers to our own writes. They
arrive in any order, and the newest must win. Resource versions decide: for objects of one resource type they grow with
every write. Kubernetes declares them comparable as integers since 1.35 (KEP-5504); before, they were opaque by
contract but the etcd revision in fact, for built-in and custom resources alike. Here a wrong comparison would cost a
stale entry until the next event of the object, never a wrong write: writes are guarded by the server.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple

Object = dict[str, Any]
Indexer = Callable[[Object], Iterable[str]]
"""Returns the values under which an object is found."""
Kind = Literal["ADDED", "MODIFIED", "DELETED"]

_NOTHING: Final[frozenset[str]] = frozenset()


class Change(NamedTuple):
    """What happened to an object.

    Attributes:
        kind: What.
        old: The object before; for a deletion its last state, as far as it is known. None for an addition.
        new: The object now; None for a deletion.
    """

    kind: Kind
    old: Object | None
    new: Object | None


def key_of(obj: Object) -> str:
    """Return `namespace/name`, or the bare name of a cluster-scoped object."""
    meta = obj["metadata"]
    namespace = meta.get("namespace")
    return f"{namespace}/{meta['name']}" if namespace else str(meta["name"])


def version_of(obj: Object) -> int:
    """Return the resource version as a number."""
    return int(obj["metadata"]["resourceVersion"])


class Store:
    """The newest known state of the objects of one resource type.

    Args:
        key: Gives the key of an object.
        indexers: Index name -> function.

    Attributes:
        observed: Resource version up to which list and watch have told everything.
    """

    def __init__(self, *, key: Callable[[Object], str] = key_of, indexers: Mapping[str, Indexer] | None = None) -> None:
        self.observed = 0
        self._key = key
        self._objects: dict[str, Object] = {}
        self._indexers = dict(indexers or {})
        self._indexes: dict[str, dict[str, set[str]]] = {name: {} for name in self._indexers}

    def __len__(self) -> int:
        """Return the number of objects."""
        return len(self._objects)

    def get(self, key: str) -> Object | None:
        """Return an object, not to be changed; None when there is none."""
        return self._objects.get(key)

    def items(self) -> Collection[tuple[str, Object]]:
        """Return keys and objects, not to be changed."""
        return self._objects.items()

    def keys_by(self, index: str, value: str) -> Collection[str]:
        """Return the keys of the objects an index holds under a value, in no order. Copy before awaiting anything."""
        return self._indexes[index].get(value, _NOTHING)

    def by(self, index: str, value: str) -> list[Object]:
        """Return the objects an index holds under a value, in no order."""
        return [self._objects[key] for key in self.keys_by(index, value)]

    def observe(self, kind: str, obj: Object) -> Change | None:
        """Take in an event of the watch.

        Args:
            kind: `ADDED`, `MODIFIED` or `DELETED`.
            obj: The object; for a deletion its last state.

        Returns:
            What is new about it; None when `put_local` told it before.
        """
        key = self._key(obj)
        version = version_of(obj)
        self.observed = max(self.observed, version)
        old = self._objects.get(key)
        if kind == "DELETED":
            # What we have may be the successor, known from the answer to our own create.
            if old is not None and version_of(old) <= version:
                self._drop(key, old)
            return Change("DELETED", obj, None)
        if old is not None and version_of(old) >= version:
            return None
        self._put(key, obj, old)
        return Change("ADDED", None, obj) if old is None else Change("MODIFIED", old, obj)

    def replace(self, objects: Iterable[Object], version: int) -> list[Change]:
        """Take in a complete list.

        Args:
            objects: The objects.
            version: Resource version of the list.

        Returns:
            What has changed since the last event.
        """
        # A cluster restored from a backup counts from an old number again: then nothing we know is newer.
        restored = version < self.observed
        changes: list[Change] = []
        missing = dict(self._objects)
        for obj in objects:
            key = self._key(obj)
            old = missing.pop(key, None)
            changes += self._replace_one(key, old, obj, 0 if restored else version)
        for key, old in missing.items():
            if restored or version_of(old) <= version:
                self._drop(key, old)
                changes.append(Change("DELETED", old, None))
        self.observed = version
        return changes

    def _replace_one(self, key: str, old: Object | None, new: Object, version: int) -> list[Change]:
        if old is None:
            self._put(key, new, None)
            return [Change("ADDED", None, new)]
        if version and version_of(old) > version:
            return []
        same_version = version_of(old) == version_of(new)
        same_uid = old["metadata"].get("uid") == new["metadata"].get("uid")
        if same_version and same_uid and version:
            return []
        self._put(key, new, old)
        if same_uid:
            return [Change("MODIFIED", old, new)]
        return [Change("DELETED", old, None), Change("ADDED", None, new)]

    def put_local(self, obj: Object) -> bool:
        """Take in the answer to our own write, unless the watch has been there already.

        Args:
            obj: The object as the server returned it.

        Returns:
            Whether it was news. The event that follows will not be.
        """
        version = version_of(obj)
        # Not above `observed`: the watch has told it, and if the object is missing, its deletion as well.
        if version <= self.observed:
            return False
        key = self._key(obj)
        old = self._objects.get(key)
        if old is not None and version_of(old) >= version:
            return False
        self._put(key, obj, old)
        return True

    def drop_local(self, key: str, uid: str) -> bool:
        """Forget an object whose deletion the server confirmed.

        An event on its way may bring it back for a moment, until that of the deletion arrives.

        Args:
            key: Its key.
            uid: Its uid; another object of that key stays.

        Returns:
            Whether it was there.
        """
        old = self._objects.get(key)
        if old is None or old["metadata"].get("uid") != uid:
            return False
        self._drop(key, old)
        return True

    def _put(self, key: str, new: Object, old: Object | None) -> None:
        # All values first: an indexer that fails must leave the store as it was.
        after = self._values(new)
        before = self._values(old)
        self._objects[key] = new
        self._reindex(key, before, after)

    def _drop(self, key: str, old: Object) -> None:
        before = self._values(old)
        del self._objects[key]
        self._reindex(key, before, self._values(None))

    def _values(self, obj: Object | None) -> list[set[str]]:
        return [set() if obj is None else set(indexer(obj)) for indexer in self._indexers.values()]

    def _reindex(self, key: str, before: list[set[str]], after: list[set[str]]) -> None:
        for index, leave, join in zip(self._indexes.values(), before, after, strict=True):
            for value in leave - join:
                keys = index[value]
                keys.discard(key)
                if not keys:
                    del index[value]
            for value in join - leave:
                index.setdefault(value, set()).add(key)
