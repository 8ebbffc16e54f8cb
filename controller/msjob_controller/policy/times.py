"""Kubernetes timestamps, and when a timer that is counted from one goes off."""

from datetime import UTC, datetime, timedelta


def parse_time(text: object) -> datetime | None:
    """Read a Kubernetes timestamp (RFC 3339); None for None or for what is none."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC) if isinstance(text, str) else None
    except (ValueError, OverflowError):
        return None


def format_time(when: datetime) -> str:
    """Write a Kubernetes timestamp: UTC, whole seconds."""
    # No strftime: its year has no leading zeros on Linux.
    return when.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def remaining(since: datetime | None, seconds: float | None, now: datetime) -> float | None:
    """Seconds until a timer goes off; 0 once it has, None for one that is not set or has nothing to count from.

    At no look is it further away than it is long, though the clock was set back; `skew` sees to it that it comes
    nearer. A clock that was set forward lets it go off early, as for every timer of Kubernetes: the time that is stored
    is all there is.

    Args:
        since: when the timer was started.
        seconds: its length.
        now: current time.
    """
    if since is None or seconds is None:
        return None
    try:
        end = since + timedelta(seconds=seconds)
    except OverflowError:
        return None
    return min(max((end - now).total_seconds(), 0.0), float(seconds))
