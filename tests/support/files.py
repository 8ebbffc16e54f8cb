"""Folders as values, to be compared."""

from pathlib import Path


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder: its path from there, and its content."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
