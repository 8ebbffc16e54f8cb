"""What an explanation is made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Self

from msjob.installed import PROJECT
from msjob_client.event import EventView
from msjob_client.job import MSJob
from msjob_client.pod import PodView
from msjob_client.reading import at, count, moment, number, objects, text

OPERATOR_LABEL: Final = f"app.kubernetes.io/name={PROJECT}"
"""Selects the Deployment of the operator in any namespace."""


@dataclass(frozen=True, slots=True)
class Operator:
    """A Deployment of the operator.

    Attributes:
        namespace: Where it is.
        name: Its name.
        wanted: Replicas of its spec.
        ready: Those that are ready.
    """

    namespace: str
    name: str
    wanted: int
    ready: int

    @classmethod
    def read(cls, obj: Mapping[str, Any]) -> Self:
        """Read a Deployment of any shape."""
        wanted = number(at(obj, "spec", "replicas"))
        return cls(
            namespace=text(at(obj, "metadata", "namespace")),
            name=text(at(obj, "metadata", "name")),
            wanted=1 if wanted is None else wanted,
            ready=count(at(obj, "status", "readyReplicas")),
        )


@dataclass(frozen=True, slots=True)
class Facts:
    """What the cluster says of a job.

    Attributes:
        name: Of the job.
        namespace: Where it was looked for.
        job: The job; None if there is none.
        installed: Whether the cluster knows MSJobs.
        pods: The pods of the job, sorted.
        services: Its Services.
        events: Of the job and what belongs to it, oldest first; without a job those of an earlier one of its name.
        operators: Deployments of the operator; None if that is not known.
        elsewhere: Other namespaces with a job of that name.
    """

    name: str
    namespace: str
    job: MSJob | None = None
    installed: bool = True
    pods: tuple[PodView, ...] = ()
    services: tuple[Mapping[str, Any], ...] = ()
    events: tuple[EventView, ...] = ()
    operators: tuple[Operator, ...] | None = None
    elsewhere: tuple[str, ...] = ()

    def warnings(self, name: str) -> list[EventView]:
        """Warnings about an object, the newest first."""
        return [event for event in reversed(self.events) if event.warning and event.name == name]

    def policy(self, field: str) -> int | None:
        """A number of `spec.runPolicy`."""
        return None if self.job is None else number(at(self.job.raw, "spec", "runPolicy", field))


def timer(start: datetime | None, seconds: int | None) -> datetime | None:
    """When a timer goes off; None if it is not set or has not begun."""
    if start is None or seconds is None:
        return None
    try:
        return start + timedelta(seconds=seconds)
    except OverflowError:
        return None


def changed(job: MSJob) -> tuple[datetime | None, str]:
    """When the spec was last changed, and the name of the program that did it (`metadata.managedFields`)."""
    found = [
        (time, text(item.get("manager")))
        for item in objects(at(job.raw, "metadata", "managedFields"))
        if not item.get("subresource") and (time := moment(item.get("time"))) is not None
    ]
    return max(found, default=(job.created, ""))


def suspender(job: MSJob) -> tuple[datetime | None, str]:
    """When `suspend` was set or cleared, and by which program, as far as `metadata.managedFields` tells."""
    for item in objects(at(job.raw, "metadata", "managedFields")):
        owned = at(item, "fieldsV1", "f:spec", "f:runPolicy", "f:suspend")
        if owned is not None:
            return moment(item.get("time")), text(item.get("manager"))
    return None, ""
