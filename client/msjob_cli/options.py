"""The option `-f`, which names the files of a command."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from msjob.loading import STDIN
from msjob.settings import DNS_LABEL

F = TypeVar("F", bound=Callable[..., Any])

_NAMES: Final = ("-f", "--filename")
_HOW: Final = "name files with MSJobs as -f FILE, or a folder as -f FOLDER; -f - reads standard input"


class FilesCommand(click.Command):
    """A command that takes files by `-f`, and says how where they are given in another way."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments.

        Raises:
            click.UsageError: they make no sense.
        """
        ctx.allow_extra_args = True
        try:
            rest = super().parse_args(ctx, args)
        except click.MissingParameter as error:
            raise click.UsageError(f"Missing option '-f': {_HOW}.", ctx) from error
        except click.BadOptionUsage as error:
            if error.option_name not in _NAMES:
                raise
            raise click.UsageError(f"{error.message.removesuffix('.')}: {_HOW}.", ctx) from error
        if rest:
            said = f"Got unexpected argument {rest[0]}: each file needs an -f of its own, as -f a.yaml -f b.yaml"
            raise click.UsageError(f"{said}; or name their folder, as -f FOLDER.", ctx)
        return rest


def files(function: F) -> F:
    """Add `-f FILE`, at least one, as the argument `files`, to a `FilesCommand`."""
    option = click.option(
        *_NAMES,
        "files",
        metavar="FILE",
        multiple=True,
        required=True,
        callback=_standard_input_once,
        help="YAML or JSON with one or more MSJobs, or a folder of such files; - reads standard input. May be given "
        "several times.",
    )
    return option(function)


def namespace(function: F) -> F:
    """Add `--namespace`, as the argument `namespace`."""
    option = click.option(
        "-n",
        "--namespace",
        metavar="NAMESPACE",
        callback=_namespace_name,
        help="Namespace of jobs that name none, as for kubectl; a job that names another is not valid.  "
        "[default: default]",
    )
    return option(function)


def _namespace_name(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    if value is not None and not DNS_LABEL.fullmatch(value):
        raise click.BadParameter(f"{value!r} is no namespace name: use lower-case letters, digits and '-'")
    return value


def _standard_input_once(_context: click.Context, _option: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    if value.count(STDIN) > 1:
        raise click.BadParameter("standard input can be read once only")
    return value
