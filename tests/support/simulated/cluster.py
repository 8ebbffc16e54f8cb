"""The API server of the simulation: objects with versions, and watches that tell of each change in order."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from support.pods import stamp

Json = dict[str, Any]

NAME = "train"
"""Name of the job."""


class Kind(StrEnum):
    """Kinds of objects; each has a watch of its own, and none waits for another."""

    JOB = "msjobs"
    POD = "pods"
    SERVICE = "services"
    AUTOSCALER = "horizontalpodautoscalers"
    NODE = "nodes"


@dataclass(frozen=True, slots=True)
class Change:
    """What a watch tells.

    Attributes:
        name: of the object.
        item: its state, the last one if it is gone.
        gone: it is.
        time: when it happened.
    """

    name: str
    item: Json
    gone: bool = False
    time: float = 0.0

    @property
    def version(self) -> int:
        """Resource version of the state."""
        return int(self.item["metadata"]["resourceVersion"])


@dataclass
class Cluster:
    """Objects and time. What is stored is never changed in place, so that caches may share it.

    Attributes:
        time: seconds since the beginning, by the clock of API server and kubelets.
        quota: used up: no pod can be created.
        log: what happened, for whoever looks into a violation.
    """

    time: float = 0.0
    quota: bool = False
    log: list[str] = field(default_factory=list)
    objects: dict[Kind, dict[str, Json]] = field(default_factory=lambda: {kind: {} for kind in Kind})
    watches: dict[Kind, deque[Change]] = field(default_factory=lambda: {kind: deque() for kind in Kind})
    version: int = 0
    uids: int = 0

    def note(self, text: str) -> None:
        """Write a line into the log."""
        self.log.append(f"t={self.time:.2f} {text}")

    def new_uid(self) -> str:
        """A uid that nothing had."""
        self.uids += 1
        return f"uid-{self.uids}"

    def put(self, kind: Kind, item: Json, **parts: Json) -> Json:
        """Store an object, or another state of it.

        Args:
            kind: of the object.
            item: its state; it gets the next version.
            **parts: `metadata`, `spec` or `status` that take the place of those of `item`.
        """
        self.version += 1
        item = {**item, **parts}
        item["metadata"] = {**item["metadata"], "resourceVersion": self.version}
        name = item["metadata"]["name"]
        self.objects[kind][name] = item
        self.watches[kind].append(Change(name, item, time=self.time))
        return item

    def drop(self, kind: Kind, name: str) -> None:
        """Remove an object."""
        self.version += 1
        item = self.objects[kind].pop(name)
        item = {**item, "metadata": {**item["metadata"], "resourceVersion": self.version}}
        self.watches[kind].append(Change(name, item, gone=True, time=self.time))

    def get(self, kind: Kind, name: str) -> Json | None:
        """The present state of an object; None if there is none."""
        return self.objects[kind].get(name)

    @property
    def job(self) -> Json | None:
        """The job; None while there is none."""
        return self.objects[Kind.JOB].get(NAME)

    def owned(self, kind: Kind, uid: str) -> list[Json]:
        """Objects that a job owns, in order of their names."""
        return [item for _, item in sorted(self.objects[kind].items()) if owner(item) == uid]

    def pods(self) -> Iterator[Json]:
        """Pods of the present job, in order of their names."""
        if self.job is not None:
            yield from self.owned(Kind.POD, self.job["metadata"]["uid"])

    def mark_deleted(self, kind: Kind, item: Json, grace: int) -> Json:
        """Set the deletion timestamp of an object."""
        told = {"deletionTimestamp": stamp(int(self.time) + grace), "deletionGracePeriodSeconds": grace}
        return self.put(kind, item, metadata={**item["metadata"], **told})


def owner(item: Json) -> str:
    """Uid of the job that owns an object; empty for none."""
    owners = item["metadata"].get("ownerReferences") or [{}]
    return str(owners[0].get("uid", ""))


def leaving(item: Json) -> bool:
    """Whether an object is being deleted."""
    return "deletionTimestamp" in item["metadata"]


def condition(item: Json, kind: str) -> Json:
    """The condition of a type that an object has, empty if it has none."""
    listed = (item.get("status") or {}).get("conditions") or []
    return next((entry for entry in listed if entry["type"] == kind), {})


def is_true(item: Json, kind: str) -> bool:
    """Whether the condition of a type is there and True."""
    return bool(condition(item, kind).get("status") == "True")


def ended(job: Json) -> bool:
    """Whether a job has succeeded or failed."""
    return is_true(job, "Succeeded") or is_true(job, "Failed")
