"""An event loop in a thread of its own, for callers that have none."""

from collections.abc import Iterator
from types import TracebackType
from typing import Generic, Self, TypeVar

T = TypeVar("T")


class Stream(Iterator[T], Generic[T]):
    """What an asynchronous iterator gives, for a plain `for` loop. Close it to end it before its end.

    Leaving a `with` block closes it, and so does the garbage collector.
    """

    def __next__(self) -> T:
        raise NotImplementedError

    def close(self) -> None:
        """End it, and wait until its connections are closed. Does nothing a second time."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
