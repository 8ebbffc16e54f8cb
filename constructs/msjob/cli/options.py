"""The option `-f`, which names the files of a command."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from msjob.loading import STDIN

F = TypeVar("F", bound=Callable[..., Any])


def files(function: F) -> F:
    """Add `-f FILE`, at least one, as the argument `files`."""
    option = click.option(
        "-f",
        "--filename",
        "files",
        metavar="FILE",
        multiple=True,
        required=True,
        callback=_standard_input_once,
        help="YAML or JSON with one or more MSJobs; - reads standard input. May be given several times.",
    )
    return option(function)


def _standard_input_once(_context: click.Context, _option: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    if value.count(STDIN) > 1:
        raise click.BadParameter("standard input can be read once only")
    return value
