"""Exit codes of `msjob`, and the errors that end it."""

from enum import IntEnum

import click


class ExitCode(IntEnum):
    """What the exit code says."""

    GOOD = 0
    PROBLEMS = 1
    """A job is not valid, or the one that was waited for came to another end."""
    UNREADABLE = 2
    """Wrong usage, or a file that cannot be read as MSJobs."""
    FAILED = 3
    """The input is good, but the work could not be done: no usable Node.js, a construct that fails, a full disk; no
    answer from the cluster, no such job there, no right to it."""
    TIME_UP = 124
    """`--timeout` has passed, as for the program `timeout`."""
    INTERRUPTED = 130
    """Ctrl-C."""
    OUTPUT_CLOSED = 141
    """Nobody reads the output any more, as after `| head`."""


class Failure(click.ClickException):
    """Ends the program with a message.

    Args:
        message: one line for the user.
        code: exit code.
    """

    def __init__(self, message: str, code: ExitCode = ExitCode.FAILED) -> None:
        super().__init__(message)
        self.code = code


class OutputClosed(Exception):  # noqa: N818 - no error: the reader has seen enough
    """Nobody reads standard output any more."""
