"""What the test bed tells people while it does something that takes long."""

import sys
from collections.abc import Callable

Progress = Callable[[str], None]
"""Takes one line of news."""


def to_stderr(line: str) -> None:
    """Write one line to standard error at once."""
    print(f"testbed: {line}", file=sys.stderr, flush=True)  # noqa: T201 - this is the progress display
