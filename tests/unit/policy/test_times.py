"""Timestamps, and when a timer goes off."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msjob_controller.policy.times import format_time, parse_time, remaining
from support.pods import START, at


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2026-01-02T03:04:05.678901Z", datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)),
        ("2026-01-02T03:04:05.123456789Z", datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=UTC)),
        ("2026-01-02T05:04:05+02:00", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime.min.replace(tzinfo=UTC)),
        ("0001-01-01T00:00:00+23:00", None),
        ("9999-12-31T23:59:59-23:00", None),
        ("2026-01-02T03:04:60Z", None),
        ("yesterday", None),
        ("", None),
        (None, None),
        (12, None),
    ],
)
def test_reading(text: object, when: datetime | None) -> None:
    """Kubernetes' timestamps are read in UTC; what is none, or lies outside the calendar, is no time."""
    assert parse_time(text) == when


def test_writing() -> None:
    """The API server stores whole seconds: to write more would differ from what is read back."""
    when = datetime(2026, 1, 2, 3, 4, 5, 999999, tzinfo=UTC)
    assert format_time(when) == "2026-01-02T03:04:05Z"
    assert parse_time(format_time(when)) == when.replace(microsecond=0)


def test_writing_years_of_few_digits() -> None:
    """A year has four digits whatever it is: the schema refuses any other, and with it the whole status."""
    assert format_time(datetime.min.replace(tzinfo=UTC)) == "0001-01-01T00:00:00Z"
    assert format_time(datetime(203, 4, 5, 6, 7, 8, tzinfo=UTC)) == "0203-04-05T06:07:08Z"


@pytest.mark.parametrize(
    ("since", "seconds", "now", "left"),
    [
        pytest.param(at(0), 60, at(0), 60, id="just set"),
        pytest.param(at(0), 60, at(59), 1, id="one second early"),
        pytest.param(at(0), 60, at(59.5), 0.5, id="part of a second early"),
        pytest.param(at(0), 60, at(60), 0, id="in that very second"),
        pytest.param(at(0), 60, at(61), 0, id="late"),
        pytest.param(at(0), 60, at(10**9), 0, id="decades late"),
        pytest.param(at(0), 60, at(-5), 60, id="the clock was set back: no longer than it is"),
        pytest.param(at(0), 60, at(-(10**9)), 60, id="set back by decades"),
        pytest.param(at(0), 0, at(0), 0, id="of length 0"),
        pytest.param(at(0), 0, at(-5), 0, id="of length 0, clock set back"),
        pytest.param(at(0), None, at(0), None, id="not set"),
        pytest.param(None, 60, at(0), None, id="nothing to count from"),
        pytest.param(at(0), 2**53, at(0), None, id="beyond the calendar"),
    ],
)
def test_timer(since: datetime | None, seconds: float | None, now: datetime, left: float | None) -> None:
    """A timer goes off in its second, is never longer than it is, and never ends below 0."""
    assert remaining(since, seconds, now) == left


@given(st.integers(1, 2**31 - 1), st.integers(-(10**9), 10**9))
def test_any_timer(seconds: int, moved: int) -> None:
    """Whatever the clock does, what is left lies between 0 and the length, and it is 0 from its second on."""
    left = remaining(START, seconds, START + timedelta(seconds=moved))
    assert left is not None
    assert 0 <= left <= seconds
    assert (left == 0) == (moved >= seconds)
