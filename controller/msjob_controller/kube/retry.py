"""Which request is sent again, and after what pause."""

from typing import Final

from msjob_controller.kube.backoff import jittered
from msjob_controller.kube.errors import ApiError, TooManyRequests

_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 5.0
_LONGEST_RETRY_AFTER: Final = 60.0


def allowed(method: str, error: ApiError) -> bool:
    """Whether a request that met an error may be sent again: a write may have taken effect, unless it was turned away.

    Args:
        method: Of the request.
        error: No answer, 429 or 5xx.
    """
    if error.retry_after is not None and error.retry_after > _LONGEST_RETRY_AFTER:
        return False
    return isinstance(error, TooManyRequests) or method == "GET"


def pause(attempt: int, error: ApiError) -> float:
    """Seconds to wait before the next attempt.

    Args:
        attempt: The one that failed, from 0.
        error: Its error.
    """
    return max(jittered(attempt, base=_FIRST_PAUSE, cap=_LONGEST_PAUSE), error.retry_after or 0.0)
