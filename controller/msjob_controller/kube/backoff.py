"""How long to wait after the n-th failure in a row."""

import random

_MAX_DOUBLINGS = 30


def exponential(failures: int, *, base: float, cap: float) -> float:
    """Double from `base` up to `cap`.

    Args:
        failures: Failures before this one, from 0.
        base: Seconds after the first failure.
        cap: Longest wait in seconds.

    Returns:
        Seconds.
    """
    return float(min(cap, base * 2 ** min(failures, _MAX_DOUBLINGS)))


def jittered(failures: int, *, base: float, cap: float) -> float:
    """Return `exponential`, shortened by a random part of up to one half.

    Clients that lost the same server at the same moment must not come back at the same moment.
    """
    return exponential(failures, base=base, cap=cap) * (1.0 - random.random() / 2)  # noqa: S311 - no secret
