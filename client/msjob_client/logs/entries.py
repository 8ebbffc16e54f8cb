"""The bytes of a log with timestamps, cut into entries. Pure: no connection is known here."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple

_BILLION: Final = 10**9
_LONGEST_STAMP: Final = 40
"""Bytes of a timestamp with nanoseconds and an offset: 35."""
_DIGITS: Final = 9


class Entry(NamedTuple):
    """One line, or one part of a line that a carriage return ends.

    Attributes:
        stamp: Nanoseconds since 1970 at which the container runtime took the line in; None if it does not say.
        time: The same as a time.
        text: What was written.
    """

    stamp: int | None
    time: datetime | None
    text: bytes


class Cutter:
    """Cuts one answer into entries.

    A carriage return ends an entry, too: what draws progress bars ends its lines late or never.

    Attributes:
        rest: What has come of the line that has no end yet.
    """

    def __init__(self) -> None:
        self.rest = b""
        self._pending: list[bytes] = []
        self._line: Entry | None = None

    def feed(self, chunk: bytes) -> Iterator[Entry]:
        """Take in what has come, and give the entries that it completes."""
        if b"\n" not in chunk and b"\r" not in chunk:
            self._pending.append(chunk)
            return
        *lines, rest = b"".join((*self._pending, chunk)).split(b"\n")
        for line in lines:
            yield from self._end(line)
        # A carriage return at the very end may be the first half of a line end.
        head, mark, tail = rest[:-1].rpartition(b"\r")
        if mark:
            yield from self._parts(head)
            rest = tail + rest[-1:]
        self._pending = [rest]

    def flush(self) -> Iterator[Entry]:
        """Give what is left as if its line had ended."""
        if rest := b"".join(self._pending):
            self._pending = []
            yield from self._end(rest)

    @property
    def complete(self) -> bool:
        """Whether all that has come is whole lines."""
        return not any(self._pending) and self._line is None

    def _end(self, line: bytes) -> Iterator[Entry]:
        begun = self._line is not None
        parts = list(self._parts(line.removesuffix(b"\r")))
        if not parts and not begun and self._line is not None:
            parts = [self._line]
        self._line = None
        yield from parts

    def _parts(self, text: bytes) -> Iterator[Entry]:
        """The parts of a line, or of its beginning, that are not empty."""
        if self._line is None:
            self._line = _parse(text)
            text = self._line.text
            self._line = self._line._replace(text=b"")
        for part in text.split(b"\r"):
            if part:
                yield self._line._replace(text=part)


def _parse(line: bytes) -> Entry:
    """Take the timestamp off a line (RFC 3339, up to nanoseconds)."""
    head, space, text = line[:_LONGEST_STAMP].partition(b" ")
    if not space or b"T" not in head:
        return Entry(None, None, line)
    text = line[len(head) + 1 :]
    try:
        written = head.decode("ascii")
        time = datetime.fromisoformat(written)
    except ValueError:
        return Entry(None, None, line)
    if time.tzinfo is None:
        return Entry(None, None, line)
    _, _, fraction = written.partition(".")
    digits = "".join(_leading_digits(fraction))[:_DIGITS].ljust(_DIGITS, "0")
    seconds = int(time.replace(microsecond=0).timestamp())
    return Entry(seconds * _BILLION + int(digits), time.astimezone(UTC), text)


def _leading_digits(text: str) -> Iterator[str]:
    for character in text:
        if not character.isdigit():
            return
        yield character
