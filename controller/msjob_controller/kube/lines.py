"""A watch stream, cut into its lines."""

import json
from collections.abc import AsyncIterator
from typing import Any, Final

import aiohttp

_LONGEST_LINE: Final = 64 * 2**20
"""Bytes. etcd stores 1.5 MB an object by default; nothing sane comes near this."""


async def json_lines(content: aiohttp.StreamReader) -> AsyncIterator[dict[str, Any]]:
    """Parse a stream of JSON objects, one a line.

    Read in chunks of any size: aiohttp's own line reader refuses lines longer than its buffer, and objects of a few
    hundred kilobytes are ordinary.

    Args:
        content: Body of the response.

    Yields:
        The objects, until the stream ends.

    Raises:
        ValueError: A line is no JSON object or has no end.
        aiohttp.ClientError: The connection broke.
    """
    pending: list[bytes] = []
    size = 0
    async for chunk in content.iter_any():
        head, newline, tail = chunk.partition(b"\n")
        pending.append(head)
        size += len(head)
        if size > _LONGEST_LINE:
            raise ValueError(f"a line of the watch is longer than {_LONGEST_LINE} bytes")
        if not newline:
            continue
        yield _parse(b"".join(pending))
        *lines, rest = tail.split(b"\n")
        for line in lines:
            yield _parse(line)
        pending = [rest]
        size = len(rest)
    if any(pending):
        raise ValueError("the watch ended in the middle of a line")


def _parse(line: bytes) -> dict[str, Any]:
    event = json.loads(line)
    if not isinstance(event, dict):
        raise ValueError(f"a line of the watch is no JSON object: {line[:80]!r}")  # noqa: TRY004 - bad data, not a bug
    return event
