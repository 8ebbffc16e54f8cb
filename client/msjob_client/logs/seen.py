"""What has been read of a log, so that reading on loses nothing and tells nothing twice. Pure."""

from collections import Counter, deque
from datetime import UTC, datetime
from typing import Final

from msjob_client.logs.entries import Entry

_BILLION: Final = 10**9
_BACK: Final = 1
"""Seconds to go back beyond the newest entry: two streams of one process may be stamped a little out of order."""


class Seen:
    """The entries of the last seconds.

    The kubelet is asked for a log from a whole second on, so that part of what it answers is known already. Entries are
    compared by stamp and text, and as often as they were there: a log may hold the same line twice, and its beginning
    may have been rotated away.
    """

    def __init__(self) -> None:
        self._first: Entry | None = None
        self._before_first = False
        self._newest: int | None = None
        self._recent: deque[Entry] = deque()
        self._known: Counter[tuple[int | None, bytes]] = Counter()
        self._unstamped: set[bytes] = set()

    @property
    def since(self) -> datetime | None:
        """From when on to read; None while nothing has been read."""
        return None if self._newest is None else datetime.fromtimestamp(self._floor(), UTC)

    def reopen(self) -> None:
        """Expect the entries from `since` on once more."""
        floor = 0 if self._newest is None else self._floor() * _BILLION
        again = [item for item in self._recent if (item.stamp or 0) >= floor]
        self._known = Counter((item.stamp, item.text) for item in again)
        self._before_first = bool(again) and again[0] is self._first

    @property
    def caught_up(self) -> bool:
        """Whether all that was to come once more has come: an answer without it has broken off, or the log is new."""
        return not self._known.total()

    def is_news(self, entry: Entry) -> bool:
        """Whether an entry is not one of those that come once more."""
        if entry.stamp is None:
            # In place of a log the kubelet may say something of its own, each time anew.
            return entry.text not in self._unstamped
        key = (entry.stamp, entry.text)
        if self._known[key] > 0:
            self._known[key] -= 1
            self._before_first = False
            return False
        # What stands before the first entry was left out by whoever asked for the last lines alone.
        return not (self._before_first and self._first is not None and entry.stamp <= (self._first.stamp or 0))

    def add(self, entry: Entry) -> None:
        """Remember an entry that was news and has been told."""
        if entry.stamp is None:
            self._unstamped.add(entry.text)
            return
        if self._first is None:
            self._first = entry
        self._recent.append(entry)
        if self._newest is None or entry.stamp > self._newest:
            self._newest = entry.stamp
            floor = self._floor() * _BILLION
            while (self._recent[0].stamp or 0) < floor:
                self._recent.popleft()

    def _floor(self) -> int:
        return (self._newest or 0) // _BILLION - _BACK
