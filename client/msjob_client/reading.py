"""JSON of any shape, read without complaint: what is not there, or is no such thing, is absent."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final

Json = Mapping[str, Any]

NOTHING: Final[Json] = MappingProxyType({})


def mapping(value: object) -> Json:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else NOTHING


def objects(value: object) -> Iterator[Json]:
    """The objects in a list, without anything else that is there."""
    yield from (item for item in value if isinstance(item, Mapping)) if isinstance(value, list) else ()


def text(value: object) -> str:
    """The value if it is text, else an empty one."""
    return value if isinstance(value, str) else ""


def number(value: object) -> int | None:
    """The value if it is a whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def count(value: object) -> int:
    """The value if it is a whole number that is not negative, else 0."""
    return max(0, number(value) or 0)


def moment(value: object) -> datetime | None:
    """A Kubernetes timestamp (RFC 3339), in UTC."""
    try:
        return datetime.fromisoformat(value).astimezone(UTC) if isinstance(value, str) else None
    except (ValueError, OverflowError):
        return None


def at(value: object, *path: str) -> object:
    """What stands at a path of keys; None where it ends early."""
    for key in path:
        value = mapping(value).get(key)
    return value
