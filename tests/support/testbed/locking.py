"""A lock between processes, for what only one of them may make at a time. It ends with the process that holds it."""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from support.testbed.progress import Progress


@contextlib.contextmanager
def locked(path: Path, waiting: str, progress: Progress) -> Iterator[None]:
    """Hold a lock, once no other process does.

    Args:
        path: The file that stands for it; it stays.
        waiting: What to tell while another process holds it.
        progress: Is told that.
    """
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"{waiting} ({path})")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
