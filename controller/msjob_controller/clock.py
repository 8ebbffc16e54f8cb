"""Jumps of the wall clock.

Timers are waited for by the monotonic clock, and are due by the wall clock: `startTime` and its like are wall clock
times. When somebody sets the clock, or the machine slept, each timer has to be computed again.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, NoReturn

import structlog

from msjob_controller.policy import conditions
from msjob_controller.policy.stored import readable

EVERY_SECONDS: Final = 1.0
"""Time between two looks, and so the longest delay of a timer after a jump."""
TOLERANCE_SECONDS: Final = 0.5
"""What the clocks may drift apart before all timers are computed again. Timers have whole seconds."""

_log = structlog.get_logger(__name__)


async def watch(
    on_jump: Callable[[], None],
    *,
    wall: Callable[[], float] = time.time,
    monotonic: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> NoReturn:
    """Watch the wall clock until cancelled.

    Args:
        on_jump: called when it has gone ahead or back against the monotonic clock since the last call. A clock that is
            slewed adds up, so that no timer is ever further off than the tolerance.
        wall: seconds since some moment, as people set them.
        monotonic: seconds since some moment, which nobody sets.
        sleep: waits.
    """
    offset = wall() - monotonic()
    while True:
        await sleep(EVERY_SECONDS)
        jump = wall() - monotonic() - offset
        if abs(jump) > TOLERANCE_SECONDS:
            offset += jump
            _log.warning("clock.jumped", seconds=round(jump, 3))
            on_jump()


def may_wait(job: dict[str, Any]) -> bool:
    """Whether a job may have a timer: it has not ended, or it is to be deleted some time after its end.

    Args:
        job: as it is stored, broken in whatever way.
    """
    spec, listed = job.get("spec"), readable(job.get("status")).get("conditions")
    policy = spec.get("runPolicy") if isinstance(spec, dict) else None
    ttl = policy.get("ttlSecondsAfterFinished") if isinstance(policy, dict) else None
    return ttl is not None or not conditions.finished(listed or [])
