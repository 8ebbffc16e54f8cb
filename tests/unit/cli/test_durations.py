"""Lengths of time, as options take them and as they are printed."""

import click
import pytest

from msjob_cli.durations import Duration, short
from support.cli import msjob_call


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0), ("90", 90), ("90s", 90), ("5m", 300), ("1h30m", 5400), ("2d", 172_800), ("0.5s", 0.5), ("1.5h", 5400)],
)
def test_read(text: str, seconds: float) -> None:
    """Seconds, or numbers with units, that add up."""
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["", "s", "-1", "5 m", "1h30", "5min", "1e3", "inf", "nan", "٣s", "9" * 10, "1h-30m"])
def test_refused(text: str) -> None:
    """Everything else is refused, with examples of what works."""
    with pytest.raises(click.BadParameter, match="write it as 90s, 5m or 1h30m"):
        Duration().convert(text, None, None)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-3, "0s"),
        (0.9, "0s"),
        (119, "119s"),
        (120, "2m"),
        (125, "2m5s"),
        (3600, "1h"),
        (3661, "1h1m"),
        (86_400, "1d"),
        (90_061, "1d1h"),
    ],
)
def test_printed(seconds: float, text: str) -> None:
    """Two units at most, never one that is zero behind another."""
    assert short(seconds) == text


def test_an_option_refuses_it_as_wrong_usage() -> None:
    """A command ends with exit code 2 before it looks for a cluster."""
    outcome = msjob_call("wait", "train", "--timeout", "soon")

    assert (outcome.code, outcome.out) == (2, "")
    assert "'soon' is no length of time" in outcome.err
