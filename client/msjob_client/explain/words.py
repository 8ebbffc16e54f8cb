"""Times, names and numbers in words."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from msjob_client.job import MSJob
from msjob_client.pod import PodView

_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 86400
_SHOWN: Final = 3
_JUST: Final = 2.0
"""Seconds that are not worth telling: stored times are whole seconds."""


def span(seconds: float) -> str:
    """A length of time: `45 s`, `5 min`, `2 h 5 min`, `3 d 4 h`."""
    whole = max(0, round(seconds))
    if whole < 2 * _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min"
    for unit, name, part, part_name in ((_DAY, "d", _HOUR, "h"), (_HOUR, "h", _MINUTE, "min")):
        if whole >= unit:
            rest = whole % unit // part
            return f"{whole // unit} {name} {rest} {part_name}" if rest else f"{whole // unit} {name}"
    return f"{whole} s"


def ago(then: datetime | None, now: datetime) -> str:
    """How long ago something was: `5 min ago`, `just now`; empty if that is not known."""
    if then is None:
        return ""
    seconds = (now - then).total_seconds()
    return "just now" if seconds < _JUST else f"{span(seconds)} ago"


def since(then: datetime | None, now: datetime) -> str:
    """For how long something has been: ` for 5 min`, with the blank before it; empty if that is not known."""
    if then is None or (now - then).total_seconds() < _JUST:
        return ""
    return f" for {span((now - then).total_seconds())}"


def at(then: datetime, now: datetime) -> str:
    """When something will be: `in 40 s (09:31:10 UTC)`; `now` once that has come."""
    left = (then - now).total_seconds()
    if left < 1:
        return "now"
    day = "" if then.date() == now.date() else f"{then:%Y-%m-%d} "
    return f"in {span(left)} ({day}{then:%H:%M:%S} UTC)"


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 pod`, `3 pods`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Iterable[str]) -> str:
    """Some of the names, and how many more there are."""
    found = list(names)
    more = len(found) - _SHOWN
    return ", ".join(found[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def pods(found: Sequence[PodView]) -> str:
    """Pods by their names: `pod train-worker-0`, `pods train-worker-0, train-worker-1`."""
    return f"{'pod' if len(found) == 1 else 'pods'} {listed(pod.name for pod in found)}"


def sentence(text: str) -> str:
    """A message of somebody else in one line, with a full stop."""
    line = " ".join(text.split())
    return line if not line or line.endswith((".", "!", "?", ":", "…")) else f"{line}."


def said(job: MSJob, message: str) -> str:
    """What the operator says of a job, as a sentence that begins with `It`."""
    begin = f"MSJob {job.namespace}/{job.name} "
    return sentence(f"It {message.removeprefix(begin)}" if message.startswith(begin) else message)


def kept(lines: Iterable[str]) -> tuple[str, ...]:
    """Lines without those that are empty or came before."""
    return tuple(dict.fromkeys(line for line in lines if line))
