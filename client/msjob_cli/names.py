"""The names of jobs, on the command line."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])

_NAME: Final = re.compile(r"[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?")
"""Any name that an API server takes. That of a job is shorter and has no dots, but one that was stored before there was
that rule may be."""


class JobName(click.ParamType[str]):
    """The name of a job, also as commands print it: `msjob.mindspore.gitee.com/train`."""

    name = "name"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Take the kind away, and check the rest."""
        kind, slash, name = str(value).rpartition("/")
        if slash and kind.lower() not in _kinds():
            self.fail(f"{value!r}: expected the name of an MSJob; -n names its namespace", param, ctx)
        if not _NAME.fullmatch(name):
            self.fail(f"{name!r} is no name of a job: use lower-case letters, digits and '-'", param, ctx)
        return name

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "list[CompletionItem[str]]":
        """Complete names of jobs that are there."""
        from msjob_cli.completing import job_names  # noqa: PLC0415 - of use in a completion only

        return job_names(ctx, param, incomplete)


def one(function: F) -> F:
    """Add `NAME` as the argument `name`."""
    return click.argument("name", metavar="NAME", type=JobName())(function)


def several(*, required: bool = True) -> Callable[[F], F]:
    """Add `NAME...` as the argument `names`.

    Args:
        required: whether there must be one.
    """
    metavar = "NAME..." if required else "[NAME]..."
    return click.argument("names", metavar=metavar, nargs=-1, required=required, type=JobName(), callback=_once)


def _once(_context: click.Context, _argument: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _kinds() -> frozenset[str]:
    from msjob.api.meta import GROUP, PLURAL, SHORT_NAME, SINGULAR  # noqa: PLC0415 - takes time, which the help has not

    return frozenset({PLURAL, SINGULAR, SHORT_NAME, f"{PLURAL}.{GROUP}", f"{SINGULAR}.{GROUP}"})
