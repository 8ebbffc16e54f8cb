"""The token bucket and the back-off."""

import pytest

from msjob_controller.kube.backoff import exponential, jittered
from msjob_controller.kube.ratelimit import TokenBucket
from support.virtual_time import ManualClock


def test_burst_then_rate() -> None:
    """A full bucket gives its burst at once, then one token for each period, and never saves up more."""
    clock = ManualClock()
    bucket = TokenBucket(2, 3, clock=clock.time)

    assert [bucket.take() for _ in range(4)] == [True, True, True, False]

    clock.advance(0.5)

    assert [bucket.take() for _ in range(2)] == [True, False]

    clock.advance(3600)

    assert [bucket.take() for _ in range(4)] == [True, True, True, False]


def test_reservations_are_served_in_order() -> None:
    """Each waiter is told its own moment, one period after the one before."""
    bucket = TokenBucket(10, 1, clock=ManualClock().time)

    assert [bucket.reserve() for _ in range(4)] == pytest.approx([0.0, 0.1, 0.2, 0.3])


@pytest.mark.parametrize(("rate", "burst"), [(0, 1), (-1, 1), (1, 0)])
def test_impossible_bucket_is_refused(rate: float, burst: float) -> None:
    """A bucket that never gives anything is a mistake in a flag."""
    with pytest.raises(ValueError, match="token bucket"):
        TokenBucket(rate, burst)


def test_backoff_doubles_up_to_its_cap() -> None:
    """Waits double, stop at the cap, and no number of failures overflows."""
    waits = [exponential(failures, base=0.5, cap=4) for failures in (0, 1, 2, 3, 4, 10_000)]

    assert waits == [0.5, 1, 2, 4, 4, 4]


def test_jitter_only_shortens() -> None:
    """Jitter takes away up to a half, so that waits stay bounded and differ."""
    waits = [jittered(3, base=1, cap=60) for _ in range(100)]

    assert all(4 <= wait <= 8 for wait in waits)
    assert len(set(waits)) > 50
