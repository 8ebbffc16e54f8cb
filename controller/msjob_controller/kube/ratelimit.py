"""A token bucket: `burst` at once, then `rate` a second."""

import time
from collections.abc import Callable


class TokenBucket:
    """Tokens come back at a steady rate, up to a limit.

    Args:
        rate: Tokens a second, above 0.
        burst: Tokens when full, at least 1.
        clock: Monotonic seconds.
    """

    __slots__ = ("_burst", "_clock", "_rate", "_then", "_tokens")

    def __init__(self, rate: float, burst: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        if rate <= 0 or burst < 1:
            raise ValueError(f"a token bucket needs a rate above 0 and a burst of at least 1, not {rate} and {burst}")
        self._rate = rate
        self._burst = float(burst)
        self._clock = clock
        self._tokens = self._burst
        self._then = clock()

    def take(self) -> bool:
        """Take a token if there is one.

        Returns:
            Whether there was one.
        """
        self._refill()
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def reserve(self) -> float:
        """Take a token, on credit if there is none.

        Returns:
            Seconds to wait until the token is really there. Waiters are served in the order of their calls.
        """
        self._refill()
        self._tokens -= 1
        return max(0.0, -self._tokens / self._rate)

    def _refill(self) -> None:
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._then) * self._rate)
        self._then = now
