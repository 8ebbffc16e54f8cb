"""Jumps of the wall clock."""

import asyncio
from typing import Any

import pytest
from structlog.testing import capture_logs

from msjob_controller import clock
from support.jobs import msjob


class Clocks:
    """A wall clock and a monotonic clock that a test moves; each sleep takes its time on both.

    Args:
        steps: what happens to the wall clock in each second, beside its going on.
    """

    def __init__(self, *steps: float) -> None:
        self.monotonic = 1000.0
        self.wall = 1_760_000_000.0
        self.jumps: list[float] = []
        self._steps = list(steps)

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        if not self._steps:
            raise asyncio.CancelledError
        self.monotonic += seconds
        self.wall += seconds + self._steps.pop(0)

    async def watch(self) -> list[float]:
        """Watch until there are no more steps; give the seconds, from the start, at which a jump was told."""
        with pytest.raises(asyncio.CancelledError):
            await clock.watch(
                lambda: self.jumps.append(self.monotonic - 1000.0),
                wall=lambda: self.wall,
                monotonic=lambda: self.monotonic,
                sleep=self.sleep,
            )
        return self.jumps


@pytest.mark.parametrize("seconds", [3600.0, -3600.0, 0.6, -0.6, 86_400.0 * 365])
async def test_jump(seconds: float) -> None:
    """A clock that is set ahead or back is noticed within a second, once, and the log says by how much."""
    with capture_logs() as logs:
        assert await Clocks(0, 0, seconds, 0, 0, 0).watch() == [3]
    assert [(entry["event"], entry["seconds"]) for entry in logs] == [("clock.jumped", seconds)]


async def test_back_again() -> None:
    """Each jump counts from where the clock was after the last one."""
    assert await Clocks(60, 0, -60, 0, 0.4, 0).watch() == [1, 3]


async def test_slewed() -> None:
    """A clock that drifts a little at a time is followed each time that half a second has come together."""
    assert await Clocks(*[0.125] * 16).watch() == [5, 10, 15]


async def test_steady() -> None:
    """Nothing happens while both clocks go on alike, however late the event loop is, or differ by less than matters."""
    assert await Clocks(*[0.0] * 50).watch() == []
    assert await Clocks(0.2, -0.2, 0.4, -0.4, 0.3, -0.6).watch() == []


ENDED = {"conditions": [{"type": "Succeeded", "status": "True"}]}


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (msjob(), True),
        (msjob(status={"conditions": [{"type": "Running", "status": "True"}]}), True),
        (msjob(status=ENDED), False),
        (msjob(status=ENDED, run_policy={"ttlSecondsAfterFinished": 0}), True),
        ({"metadata": {}}, True),
        ({"spec": None, "status": None}, True),
        ({"spec": {"runPolicy": "x"}, "status": ENDED}, False),
    ],
)
def test_who_may_wait(job: dict[str, Any], *, expected: bool) -> None:
    """All jobs may have timers but those that have ended and are to stay; a broken one does no harm."""
    assert clock.may_wait(job) is expected
