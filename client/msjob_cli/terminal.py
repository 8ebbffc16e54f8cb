"""Writing: results to standard output, messages to standard error."""

import os
import sys
from contextlib import suppress
from typing import TextIO

import click

from msjob_cli.exits import Failure, OutputClosed

_LONGEST = 2000
"""Characters of a message. Names and values of the user's stand in messages, and some input is all name."""


def result(text: str) -> None:
    """Write a result, always in UTF-8, whatever the locale.

    Args:
        text: with its line ends.

    Raises:
        OutputClosed: nobody reads it.
        Failure: it cannot be written.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.buffer.write(text.encode())
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        silence(sys.stdout)
        raise OutputClosed from None
    except OSError as error:
        silence(sys.stdout)
        raise unwritten(error) from None


def unwritten(error: OSError) -> Failure:
    """The error of output that cannot be written."""
    return Failure(f"cannot write the output: {error.strerror or error}")


def silence(stream: TextIO | None) -> None:
    """Let nothing more come out of a stream, nor an error when the interpreter flushes it at its end.

    Args:
        stream: None for one that was closed when the program began.
    """
    if stream is None:
        return
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())


def colour() -> bool | None:
    """Whether to use colours: never where `NO_COLOR` is set (no-color.org), else on a terminal."""
    return False if os.environ.get("NO_COLOR") else None


def note(text: str) -> None:
    """Write a message of one line."""
    _message(printable(text))


def error(text: str) -> None:
    """Write what ends the program."""
    lines = "\n".join(map(printable, text.splitlines()))
    _message(f"{click.style('error:', fg='red', bold=True)} {lines}")


def usage(error: click.ClickException) -> None:
    """Write what is wrong with the arguments, in click's own way."""
    if sys.stderr is not None:  # click takes standard output then
        with suppress(OSError):
            error.show()


def _message(text: str) -> None:
    """Write to standard error. Where nobody can read it the exit code still tells, so that this is no fault."""
    with suppress(OSError):
        click.echo(text, err=True, color=colour())


def printable(text: str) -> str:
    """Make text from elsewhere fit for one line of a terminal: control characters escaped, not too long."""
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
