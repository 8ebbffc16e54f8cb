"""How long a restart waits."""

from typing import Final

FIRST_SECONDS: Final = 10
LONGEST_SECONDS: Final = 360
"""Pauses of batch/v1 Job: 10 s, doubled each time, at most 6 minutes; here the first restart waits for nothing."""


def pause(restart: int) -> int:
    """Seconds to wait before a restart.

    Args:
        restart: which restart it is, from 1.

    Returns:
        0, then 10, 20, 40 ... 360.
    """
    return 0 if restart <= 1 else min(FIRST_SECONDS << min(restart - 2, 10), LONGEST_SECONDS)
