"""What Kubernetes tells in Events of a job and its pods."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Self

from msjob.api import Role, meta
from msjob_client.job import MSJob
from msjob_client.reading import at, mapping, moment, number, text

_SLUGS: Final = frozenset(role.slug for role in Role)
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class EventView:
    """One kind of news about one object, as often as it came.

    Attributes:
        time: When it came last.
        first: When it came first.
        type: `Normal` or `Warning`.
        reason: One CamelCase word.
        message: What happened, for a person.
        count: How often it came.
        kind: Of the object that it is about, such as `Pod`.
        name: Of that object.
        source: Who tells it, such as `kubelet`.
    """

    time: datetime | None
    first: datetime | None
    type: str
    reason: str
    message: str
    count: int = 1
    kind: str = ""
    name: str = ""
    source: str = ""

    @property
    def warning(self) -> bool:
        """Whether its type is `Warning`."""
        return self.type == "Warning"

    @classmethod
    def read(cls, obj: Mapping[str, Any]) -> Self:
        """Read an Event as the API server gave it, of the old form (`count`) or the new one (`series`)."""
        about = mapping(obj.get("involvedObject"))
        last = at(obj, "series", "lastObservedTime") or obj.get("lastTimestamp") or obj.get("eventTime")
        first = obj.get("firstTimestamp") or obj.get("eventTime")
        created = moment(at(obj, "metadata", "creationTimestamp"))
        times = number(at(obj, "series", "count")) or number(obj.get("count")) or 1
        return cls(
            time=moment(last) or created,
            first=moment(first) or created,
            type=text(obj.get("type")),
            reason=text(obj.get("reason")),
            message=text(obj.get("message")).strip(),
            count=max(1, times),
            kind=text(about.get("kind")),
            name=text(about.get("name")),
            source=text(obj.get("reportingComponent")) or text(at(obj, "source", "component")),
        )


def merged(events: Iterable[EventView]) -> list[EventView]:
    """Join events that say the same of the same object, and sort them by when they came last, oldest first."""
    found: dict[tuple[str, ...], EventView] = {}
    for event in events:
        key = (event.kind, event.name, event.type, event.reason, event.message)
        before = found.get(key)
        found[key] = event if before is None else _joined(before, event)
    return sorted(found.values(), key=lambda event: (event.time or _EARLIEST, event.first or _EARLIEST))


def about(job: MSJob, events: Iterable[Mapping[str, Any]]) -> list[EventView]:
    """Pick the events of a job and of what it owns, merged.

    Objects of an earlier job of the same name do not count: the job is known by its uid, what it owns by its name and
    by an event that is younger than the job.

    Args:
        job: The job.
        events: JSON of all events of its namespace.
    """
    found = []
    for item in events:
        event = EventView.read(item)
        if event.kind == meta.KIND:
            if event.name == job.name and at(item, "involvedObject", "uid") == job.uid:
                found.append(event)
        elif _is_child(job, event):
            found.append(event)
    return merged(found)


def _is_child(job: MSJob, event: EventView) -> bool:
    if job.created is not None and event.time is not None and event.time < job.created:
        return False
    stem, _, index = event.name.rpartition("-")
    role = stem.removeprefix(f"{job.name}-")
    match event.kind:
        case "Pod" | "Service":
            return stem != role and index.isdecimal() and role in _SLUGS
        case "HorizontalPodAutoscaler":
            return event.name == job.name
    return False


def _joined(one: EventView, other: EventView) -> EventView:
    times = [time for time in (one.time, other.time) if time is not None]
    firsts = [time for time in (one.first, other.first) if time is not None]
    return replace(one, time=max(times, default=None), first=min(firsts, default=None), count=one.count + other.count)
