"""The bytes of a file or of standard input, and their text."""

import codecs
import re
import sys
from pathlib import Path
from typing import Final

from msjob.loading.errors import LoadError
from msjob.loading.limits import MAX_BYTES

STDIN: Final = "-"
"""Name that stands for standard input."""

SUFFIXES: Final = (".json", ".yaml", ".yml")
"""Files of a folder that are read: those that kubectl reads."""

_NOT_TEXT = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What YAML 1.1 does not allow in a file (its production `c-printable`)."""

_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def files(name: str) -> list[str]:
    """Give the files that a name stands for.

    Args:
        name: path of a file or of a folder, or `-` for standard input.

    Returns:
        The name itself, or of a folder all files in it that kubectl would read, sorted; folders in it are left out.

    Raises:
        LoadError: a folder cannot be read or holds no such file.
    """
    path = Path(name)
    try:
        if name == STDIN or not path.is_dir():
            return [name]
        found = sorted(str(item) for item in path.iterdir() if item.suffix in SUFFIXES and not item.is_dir())
    except (OSError, ValueError) as error:
        raise _unreadable(name, error) from None
    if not found:
        raise LoadError(name, None, None, f"the folder holds no file that ends in {', '.join(SUFFIXES)}")
    return found


def read_bytes(name: str) -> bytes:
    """Read a file.

    Args:
        name: path, or `-` for standard input.

    Returns:
        At most one byte more than `read` accepts, so that an endless stream ends.

    Raises:
        LoadError: it is missing, a folder, or cannot be read.
    """
    if name == STDIN and sys.stdin is None:
        raise LoadError(name, None, None, "cannot be read: standard input is closed")
    try:
        if name == STDIN:
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with Path(name).open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except IsADirectoryError:
        raise LoadError(name, None, None, "is a folder: name the files in it") from None
    except (OSError, ValueError) as error:
        raise _unreadable(name, error) from None


def _unreadable(name: str, error: OSError | ValueError) -> LoadError:
    reason = error.strerror if isinstance(error, OSError) else None
    return LoadError(name, None, None, f"cannot be read: {reason or error}")


def decode(source: bytes, name: str) -> str:
    """Turn the bytes of a file into text.

    Args:
        source: UTF-8, with or without a byte order mark, or UTF-16 with one: what kubectl reads.
        name: for messages.

    Raises:
        LoadError: too large, in another encoding, or not text at all.
    """
    if len(source) > MAX_BYTES:
        raise LoadError(name, None, None, f"is larger than {MAX_BYTES >> 20} MiB: split it into several files")
    encoding = "utf-16" if source.startswith(_UTF16) else "utf-8-sig"
    try:
        text = source.decode(encoding)
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        message = f"is not text in UTF-8 (byte 0x{source[error.start]:02x} at offset {error.start}): save it as UTF-8"
        raise LoadError(name, line if encoding == "utf-8-sig" else None, None, message) from None
    found = _NOT_TEXT.search(text)
    if found:
        line, column = place(text, found.start())
        message = f"control character U+{ord(found[0]):04X}: this is no text file, or it must be written as an escape"
        raise LoadError(name, line, column, message)
    return text


def place(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
