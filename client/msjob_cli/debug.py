"""The option `--debug`, which every command takes."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class Debug:
    """Whether to show the traceback of an internal error: one object a run, switched on by `--debug` at any place."""

    def __init__(self) -> None:
        self.on = False


def debug(function: F) -> F:
    """Add `--debug` to a command."""
    option = click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        callback=_switch_on,
        help="Show the traceback of an internal error.",
    )
    return option(function)


def _switch_on(context: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click calls it
    if value:
        context.ensure_object(Debug).on = True
