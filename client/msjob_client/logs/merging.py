"""The logs of several containers as one, in the order of their times."""

import asyncio
import contextlib
import heapq
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from msjob_client.errors import MSJobError
from msjob_client.faults import Doing, out_of_files, translate
from msjob_client.line import LogLine
from msjob_client.logs.source import Source
from msjob_controller.kube.errors import ApiError, Forbidden, NotFound, Unauthorized, Unreachable

_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
_ATTEMPTS: Final = 4
"""Answers that may break off without a single new line."""
_READS: Final = 3
"""Answers of a container that goes on writing, after which there is an end of it."""
_ANSWERS: Final = 8
"""Answers in all: one that lacks what is known has broken off, or its log has been rotated meanwhile."""
_PAUSE: Final = 0.3
_NOT_STARTED: Final = 400
_SHOWN: Final = 3


class _Next(NamedTuple):
    time: datetime
    order: int
    line: LogLine


async def merged(sources: Sequence[Source], broken: dict[str, ApiError]) -> AsyncGenerator[LogLine]:
    """Read logs as they are now, and give their lines in the order of their times.

    Args:
        sources: The logs; those that have not begun, or are gone, have no lines.
        broken: Filled with pods whose log cannot be read, and why. The others are read all the same.

    Yields:
        Lines; those of one container stay in the order in which it wrote them.

    Raises:
        ApiError: Logs may not be read at all.
    """
    readers = [_patient(source, broken) for source in sources]
    async with contextlib.AsyncExitStack() as stack:
        for reader in readers:
            stack.push_async_callback(reader.aclose)
        # All have to have ended before one may be closed.
        firsts = await asyncio.gather(*(anext(reader, None) for reader in readers), return_exceptions=True)
        for first in firsts:
            if isinstance(first, BaseException):
                raise first
        heap = [
            _Next(line.time or _EARLIEST, place, line) for place, line in enumerate(firsts) if isinstance(line, LogLine)
        ]
        heapq.heapify(heap)
        while heap:
            time, place, line = heap[0]
            yield line
            if (following := await anext(readers[place], None)) is None:
                heapq.heappop(heap)
            else:
                # Never earlier than the line before it, though the clock of its node be set back.
                heapq.heapreplace(heap, _Next(max(time, following.time or time), place, following))


async def whole(source: Source, *, previous: bool = False) -> AsyncGenerator[LogLine]:
    """Read a log to its end, which two answers have to agree on: a kubelet that falls ends an answer in good order.

    Args:
        source: The log.
        previous: Read that of the run before the present one.

    Raises:
        ApiError: The log is refused, or the answer broke off.
    """
    rest: object = None
    reads = 0
    told = same = False
    for _ in range(_ANSWERS):
        told = False
        async with contextlib.aclosing(source.read(previous=previous)) as lines:
            async for line in lines:
                told = True
                yield line
        same = rest == source.rest
        reads += source.caught_up
        if (not told and same and source.caught_up) or reads == _READS:
            break
        rest = source.rest
    else:
        # All that lack the same are of a log that has been rotated; those that end here and there have broken off.
        if not told and not same:
            raise Unreachable(f"the log of {source.pod.name} breaks off again and again")
    for line in source.read_rest():
        yield line


async def _patient(source: Source, broken: dict[str, ApiError]) -> AsyncGenerator[LogLine]:
    """Read a log over answers that break off."""
    failures = 0
    while True:
        try:
            async with contextlib.aclosing(whole(source)) as lines:
                async for line in lines:
                    failures = 0
                    yield line
        except NotFound:
            return
        except (Forbidden, Unauthorized):
            raise
        except ApiError as error:
            if out_of_files(error):
                raise
            failures += 1
            if error.status == _NOT_STARTED:
                return
            if failures >= _ATTEMPTS:
                broken[source.pod.name] = error
                return
            await asyncio.sleep(_PAUSE * failures)
        else:
            return


def unreadable(broken: dict[str, ApiError]) -> MSJobError:
    """The error at the end of logs of which some could not be read."""
    pods = sorted(broken)
    named = ", ".join(pods[:_SHOWN]) + (f" and {len(pods) - _SHOWN} more" if len(pods) > _SHOWN else "")
    return translate(broken[pods[0]], Doing(f"the log of {named} cannot be read to its end"))
