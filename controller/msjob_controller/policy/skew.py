"""Stored times that lie ahead of the clock, because somebody has set it back.

Timers count from stored times. One that lies in the future would hold its timer up until the clock has caught up, so it
is taken for now: no timer is ever longer than it should be by more than what had passed of it.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from msjob_controller.policy import backoff
from msjob_controller.policy.times import format_time, parse_time

TOLERANCE: Final = timedelta(seconds=2)
"""What clocks of two operators that follow each other may differ by."""


def mend(status: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """The status with times that can be true now.

    Args:
        status: of a job that has not ended.
        now: current time.
    """
    mended = dict(status)
    if _ahead(mended.get("startTime"), now):
        mended["startTime"] = format_time(now)
    longest = now + timedelta(seconds=backoff.LONGEST_SECONDS)
    if _ahead(mended.get("nextRestartTime"), longest):
        mended["nextRestartTime"] = format_time(now)
    if any(_ahead(entry.get("time"), longest) for entry in mended.get("replacements") or []):
        mended["replacements"] = [
            {**entry, "time": format_time(now)} if _ahead(entry.get("time"), longest) else entry
            for entry in mended["replacements"]
        ]
    return mended


def _ahead(text: object, of: datetime) -> bool:
    when = parse_time(text)
    return when is not None and when > of + TOLERANCE
