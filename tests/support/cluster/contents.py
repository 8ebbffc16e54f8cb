"""What goes into an image, and a key for it: an image is built once for each content."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

KEY_LENGTH: Final = 12
"""Hexadecimal digits of a key."""

_CACHES: Final = "**/__pycache__"


def included(dockerignore: str) -> list[str]:
    r"""Give the paths that a ``.dockerignore`` lets in.

    Args:
        dockerignore: Its text. It first leaves out everything, then names what is in the image.

    Raises:
        ValueError: It is written in another way, so what it lets in is not known here.

    >>> included("*\n!train.py\n**/__pycache__")
    ['train.py']
    """
    lines = [line.strip() for line in dockerignore.splitlines() if line.strip() and not line.startswith("#")]
    others = [line for line in lines[1:] if not line.startswith("!") and line != _CACHES]
    if lines[:1] != ["*"] or others:
        raise ValueError(f"it is not `*` first, and then `!path` or `{_CACHES}`: {lines}")
    return [line.removeprefix("!") for line in lines if line.startswith("!")]


def context_files(folder: Path) -> dict[str, bytes]:
    """Read all that an image is built from: what its ``.dockerignore`` lets in, that file, and its Dockerfile.

    Args:
        folder: The build's context.

    Returns:
        Contents by path in the folder.
    """
    files: dict[str, bytes] = {}
    for name in ("Dockerfile", ".dockerignore", *included((folder / ".dockerignore").read_text())):
        path = folder / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and "__pycache__" not in file.parts:
                files[str(file.relative_to(folder))] = file.read_bytes()
    return files


def key_of(files: Mapping[str, bytes], *more: str) -> str:
    """Give a key for a content: whoever changes, renames, adds or removes anything gets another one.

    Args:
        files: Contents by path.
        *more: What else an image depends on, such as its base image.
    """
    digest = hashlib.sha256()
    for part in (*more, "", *(item for name in sorted(files) for item in (name, files[name]))):
        data = part if isinstance(part, bytes) else part.encode()
        digest.update(f"{len(data)}:".encode() + data)
    return digest.hexdigest()[:KEY_LENGTH]
