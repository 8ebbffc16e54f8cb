"""What Kubernetes tells in Events of a job and its pods."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Self

from msjob_client.reading import at, mapping, moment, number, text

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


def _joined(one: EventView, other: EventView) -> EventView:
    times = [time for time in (one.time, other.time) if time is not None]
    firsts = [time for time in (one.first, other.first) if time is not None]
    return replace(one, time=max(times, default=None), first=min(firsts, default=None), count=one.count + other.count)
