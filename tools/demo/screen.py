"""What the demo prints: headings with the time since its start, sentences, and commands with all they print."""

import os
import shlex
import sys
import textwrap
import time
from collections.abc import Sequence


class OutputClosedError(Exception):
    """Nobody reads what is printed any more."""


class Screen:
    """Standard output. The time counts from when this is made."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self._started

    def step(self, text: str) -> None:
        """Print what begins, with the time."""
        self.line(f"\n[{self.seconds:5.1f} s] {text}")

    def say(self, text: str) -> None:
        """Print a sentence, folded."""
        indent = " " * 10
        # Names are kept whole, to be found and copied.
        lines = textwrap.wrap(
            text, 118, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
        )
        self.line("\n".join(lines))

    def news(self, text: str) -> None:
        """Print what the test bed says while something takes long."""
        self.line(f"          {text}")

    def command(self, command: Sequence[str], *, comment: str = "") -> None:
        """Print a command as one would type it."""
        self.line(f"\n$ {shlex.join(command)}{f'    # {comment}' if comment else ''}")

    def line(self, text: str) -> None:
        """Print a line at once.

        Raises:
            OutputClosedError: Nobody reads any more.
        """
        try:
            sys.stdout.write(f"{text}\n")
            sys.stdout.flush()
        except BrokenPipeError:
            # Else Python tries once more at its end, and says so.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise OutputClosedError from None
