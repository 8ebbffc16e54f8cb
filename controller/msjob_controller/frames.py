"""Messages between the controller and its construct worker: a length of four bytes, then JSON."""

import json
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO, Final

HEADER: Final = struct.Struct(">I")
"""Length of the JSON that follows, in bytes."""


def encode(message: Mapping[str, object]) -> bytes:
    """One message as bytes."""
    body = json.dumps(message, separators=(",", ":")).encode()
    return HEADER.pack(len(body)) + body


def read(stream: BinaryIO) -> dict[str, Any] | None:
    """Read one message; None at the end of the stream, also in the middle of a message."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (length,) = HEADER.unpack(header)
    body = stream.read(length)
    return json.loads(body) if len(body) == length else None
