"""Wait for something to come true."""

import time
from collections.abc import Callable
from typing import TypeVar

from support.testbed.errors import NotFoundError, WaitTimeoutError

T = TypeVar("T")


def wait_for(predicate: Callable[[], T], timeout: float = 10, *, what: str = "", interval: float = 0.05) -> T:
    """Ask again and again until a predicate gives something true.

    Args:
        predicate: What to ask. That an object is not there yet counts as not true; any other error ends the wait.
        timeout: Seconds to wait at most.
        what: What is waited for, for the message.
        interval: Seconds between two questions.

    Returns:
        What the predicate gave.

    Raises:
        WaitTimeoutError: It did not come true in time; with what the predicate gave last.
    """
    deadline = time.monotonic() + timeout
    while True:
        last: object
        try:
            result = predicate()
        except NotFoundError as error:
            last = error
        else:
            if result:
                return result
            last = result
        if time.monotonic() >= deadline:
            raise WaitTimeoutError(f"waited {timeout:g} s for {what or 'something to come true'}; last: {last!r}")
        time.sleep(interval)
