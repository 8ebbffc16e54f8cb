"""The store: of news that come from three sides in any order, the newest wins."""

import copy
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msjob_controller.kube.store import Change, Object, Store, key_of, version_of


def thing(name: str, version: int, uid: str = "u", **labels: str) -> Object:
    """Return an object with a resource version."""
    return {
        "metadata": {"name": name, "namespace": "ns", "uid": uid, "resourceVersion": str(version), "labels": labels}
    }


def by_color(obj: Object) -> list[str]:
    """Index by a label."""
    return [obj["metadata"]["labels"]["color"]] if "color" in obj["metadata"]["labels"] else []


def store_at(version: int, *objects: Object) -> Store:
    """Return a store after its first list."""
    store = Store(indexers={"color": by_color})
    store.replace(objects, version)
    return store


def test_keys() -> None:
    """Objects in a namespace are named with it, cluster-scoped ones without."""
    assert key_of(thing("a", 1)) == "ns/a"
    assert key_of({"metadata": {"name": "node"}}) == "node"


def test_watch_tells_each_change_once() -> None:
    """The three events of an object's life, with what was before."""
    store = store_at(10)
    first, second, last = thing("a", 11), thing("a", 12), thing("a", 13)

    assert store.observe("ADDED", first) == Change("ADDED", None, first)
    assert store.observe("MODIFIED", second) == Change("MODIFIED", first, second)
    assert store.observe("MODIFIED", second) is None
    assert store.observe("DELETED", last) == Change("DELETED", last, None)
    assert len(store) == 0


def test_list_tells_the_difference() -> None:
    """After a gap in the watch a list tells what came, changed, went, and was replaced under the same name."""
    same, changed, gone, old = (
        thing("same", 1),
        thing("changed", 2),
        thing("gone", 3),
        thing("replaced", 4, uid="old"),
    )
    store = store_at(10, same, changed, gone, old)
    newer, added, successor = thing("changed", 15), thing("added", 16), thing("replaced", 17, uid="new")

    changes = store.replace([thing("same", 1), newer, added, successor], 20)

    assert sorted(changes, key=str) == sorted(
        [
            Change("MODIFIED", changed, newer),
            Change("ADDED", None, added),
            Change("DELETED", old, None),
            Change("ADDED", None, successor),
            Change("DELETED", gone, None),
        ],
        key=str,
    )


def test_own_write_is_seen_at_once_and_told_once() -> None:
    """The answer to a write is in the store at once, and the event of the same write is no news."""
    store = store_at(10, thing("a", 5))
    written = thing("a", 11)

    assert store.put_local(written)
    assert store.get("ns/a") is written
    assert store.observe("MODIFIED", thing("a", 11)) is None
    assert store.observe("MODIFIED", thing("a", 12)) == Change("MODIFIED", written, thing("a", 12))


def test_late_answer_is_ignored() -> None:
    """An answer that arrives after the watch has told more changes nothing, also when the object is gone by then."""
    store = store_at(10)
    store.observe("ADDED", thing("a", 11))
    store.observe("MODIFIED", thing("a", 12))

    assert not store.put_local(thing("a", 11))
    assert store.get("ns/a") == thing("a", 12)

    store.observe("DELETED", thing("a", 13))

    assert not store.put_local(thing("a", 12))
    assert store.get("ns/a") is None


def test_late_deletion_spares_the_successor() -> None:
    """The deletion of the old object does not remove the new one we created meanwhile, but is told."""
    store = store_at(10, thing("a", 5, uid="old"))
    store.put_local(thing("a", 13, uid="new"))

    change = store.observe("DELETED", thing("a", 12, uid="old"))

    assert change == Change("DELETED", thing("a", 12, uid="old"), None)
    assert store.get("ns/a") == thing("a", 13, uid="new")


def test_list_does_not_undo_own_writes() -> None:
    """A list taken before our last writes neither removes what we created nor reverts what we changed."""
    store = store_at(10, thing("a", 5))
    store.put_local(thing("a", 21))
    store.put_local(thing("b", 22))

    assert store.replace([thing("a", 5)], 20) == []
    assert store.get("ns/a") == thing("a", 21)
    assert store.get("ns/b") == thing("b", 22)


def test_confirmed_deletion() -> None:
    """A deletion the server confirmed is seen at once; only the object meant goes."""
    store = store_at(10, thing("a", 5, uid="one"))

    assert not store.drop_local("ns/a", "two")
    assert store.drop_local("ns/a", "one")
    assert not store.drop_local("ns/a", "one")
    assert store.observe("DELETED", thing("a", 11, uid="one")) is not None


def test_restored_cluster() -> None:
    """After etcd was restored from a backup, numbers start lower: the list is right, and nothing we know is newer."""
    store = store_at(1000, thing("a", 900), thing("b", 950))
    store.put_local(thing("c", 1001))

    changes = store.replace([thing("a", 400)], 500)

    assert {change.kind for change in changes} == {"MODIFIED", "DELETED"}
    assert [key for key, _ in store.items()] == ["ns/a"]
    assert store.observe("MODIFIED", thing("a", 501)) is not None


def test_index_follows_the_objects() -> None:
    """An index finds an object under its present value only, whatever way the news came."""
    store = store_at(10, thing("a", 1, color="red"), thing("b", 2, color="red"), thing("c", 3))
    store.observe("MODIFIED", thing("a", 11, color="blue"))
    store.put_local(thing("c", 12, color="red"))

    assert set(store.keys_by("color", "red")) == {"ns/b", "ns/c"}
    assert store.by("color", "blue") == [thing("a", 11, color="blue")]

    store.observe("DELETED", thing("a", 13))
    store.drop_local("ns/c", "u")

    assert store.by("color", "blue") == []
    assert store.keys_by("color", "red") == {"ns/b"}
    assert list(store.keys_by("color", "none")) == []


def test_failing_indexer_leaves_the_store_whole() -> None:
    """An object no indexer can read is refused as a whole."""
    store = Store(indexers={"bad": lambda obj: [obj["no such field"]]})

    with pytest.raises(KeyError):
        store.observe("ADDED", thing("a", 11))

    assert len(store) == 0


class World:
    """A server's history, and a store that hears of it late and from all sides."""

    def __init__(self) -> None:
        self.version = 10
        self.live: dict[str, Object] = {}
        self.history: list[tuple[str, Object]] = []
        self.told = 0
        self.store = Store(indexers={"color": by_color})
        self.store.replace([], self.version)

    def write(self, name: str, color: str) -> None:
        """Somebody creates or changes an object."""
        self.version += 1
        old = self.live.get(name)
        uid = old["metadata"]["uid"] if old else f"uid-{self.version}"
        self.live[name] = thing(name, self.version, uid, color=color)
        self.history.append(("MODIFIED" if old else "ADDED", self.live[name]))

    def delete(self, name: str) -> None:
        """Somebody deletes an object."""
        if name in self.live:
            self.version += 1
            gone = copy.deepcopy(self.live.pop(name))
            gone["metadata"]["resourceVersion"] = str(self.version)
            self.history.append(("DELETED", gone))

    def watch(self, count: int) -> None:
        """The watch delivers some events."""
        for kind, obj in self.history[self.told : self.told + count]:
            self.hear([self.store.observe(kind, obj)])
        self.told = min(len(self.history), self.told + count)

    def relist(self, count: int) -> None:
        """The watch breaks, and a list shows the state after some more events."""
        self.told = min(len(self.history), self.told + count)
        state: dict[str, Object] = {}
        for kind, obj in self.history[: self.told]:
            state.pop(obj["metadata"]["name"], None)
            if kind != "DELETED":
                state[obj["metadata"]["name"]] = obj
        version = version_of(self.history[self.told - 1][1]) if self.told else 10
        self.hear(self.store.replace(list(state.values()), version))

    def answer(self, position: int) -> None:
        """The answer to one of our own writes arrives, at any time after it."""
        if self.history:
            kind, obj = self.history[position % len(self.history)]
            if kind == "DELETED":
                self.store.drop_local(key_of(obj), obj["metadata"]["uid"])
            else:
                self.store.put_local(obj)

    def hear(self, changes: Sequence[Change | None]) -> None:
        """Follow what is told, as a handler would."""
        for change in changes:
            if change is not None and change.new is not None:
                assert change.old is None or version_of(change.old) < version_of(change.new)

    def check(self) -> None:
        """Index and objects agree."""
        for color in "rgb":
            expected = {key for key, obj in self.store.items() if by_color(obj) == [color]}
            assert set(self.store.keys_by("color", color)) == expected


STEPS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from("abc"), st.sampled_from("rgb")),
    st.tuples(st.just("delete"), st.sampled_from("abc")),
    st.tuples(st.just("watch"), st.integers(1, 4)),
    st.tuples(st.just("relist"), st.integers(0, 4)),
    st.tuples(st.just("answer"), st.integers(0, 30)),
)


@given(st.lists(STEPS, max_size=40))
def test_store_ends_up_right(steps: list[tuple[Any, ...]]) -> None:
    """Whatever the order of events, lists and late answers, the store agrees with the server once all is told."""
    world = World()
    for name, *arguments in steps:
        getattr(world, name)(*arguments)
        world.check()

    world.watch(len(world.history))

    assert {key: obj["metadata"] for key, obj in world.store.items()} == {
        key_of(obj): obj["metadata"] for obj in world.live.values()
    }


@given(st.lists(STEPS, max_size=40))
def test_nothing_seen_becomes_older(steps: list[tuple[Any, ...]]) -> None:
    """While an object stays in the store, it never goes back in time."""
    world = World()
    for name, *arguments in steps:
        before = {key: version_of(obj) for key, obj in world.store.items()}
        getattr(world, name)(*arguments)
        after = {key: version_of(obj) for key, obj in world.store.items()}

        assert all(after[key] >= before[key] for key in after.keys() & before.keys())
