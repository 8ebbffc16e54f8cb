"""Lengths of time: as options take them, and as they are printed."""

import re
from typing import Final

import click

_UNITS: Final = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_PART: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)([dhms])")
_WHOLE: Final = re.compile(rf"(?:{_PART.pattern})+")
_SECONDS: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,3})?")
_MINUTES_FROM: Final = 120
"""Seconds from which on minutes are told, too: `119s`, `2m`. kubectl does so in its ages."""


class Duration(click.ParamType[float]):
    """A length of time on the command line, as seconds."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read `90`, `90s`, `5m` or `1h30m`."""
        if isinstance(value, (int, float)):
            return float(value)
        text = str(value)
        if _SECONDS.fullmatch(text):
            return float(text)
        if not _WHOLE.fullmatch(text):
            self.fail(f"{text!r} is no length of time: write it as 90s, 5m or 1h30m", param, ctx)
        return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))


def short(seconds: float) -> str:
    """Print a length of time, to the second below an hour and to the minute above.

    Args:
        seconds: below zero counts as zero.
    """
    left = max(0, int(seconds))
    if left < _MINUTES_FROM:
        return f"{left}s"
    if left < _UNITS["h"]:
        return _two(left, "m", "s")
    return _two(left, "h", "m") if left < _UNITS["d"] else _two(left, "d", "h")


def _two(seconds: int, large: str, small: str) -> str:
    whole, rest = divmod(seconds, _UNITS[large])
    more = rest // _UNITS[small]
    return f"{whole}{large}{more}{small}" if more else f"{whole}{large}"
