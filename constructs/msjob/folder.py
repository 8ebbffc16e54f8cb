"""Replacing a folder as a whole: readers see the old one or the new one, and a failure leaves the old one."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give an empty folder that takes the place of another when the block ends without an exception.

    The new folder is made beside the old one, on the same file system, so that it can take the place by a rename. There
    is a moment between two renames when the target is missing: a process killed right there leaves the old folder
    beside it, in `.<name>.<random>/old`.

    Args:
        target: the folder to replace. It need not exist; its parents are made. A symbolic link keeps pointing where it
            does, and what it points to is replaced.

    Yields:
        The folder to fill.

    Raises:
        OSError: something could not be written or renamed; the target is as it was.
    """
    place = target.resolve()
    place.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    try:
        # Not the scratch folder itself, which is closed to other users.
        fresh = scratch / "new"
        fresh.mkdir()
        yield fresh
        _exchange(place, fresh, scratch / "old")
    finally:
        # The old folder is given up only for another in its place.
        if place.exists() or not (scratch / "old").exists():
            shutil.rmtree(scratch, ignore_errors=True)


def _exchange(place: Path, fresh: Path, old: Path) -> None:
    if not place.exists():
        fresh.rename(place)
        return
    place.rename(old)
    try:
        fresh.rename(place)
    except BaseException:
        old.rename(place)
        raise
