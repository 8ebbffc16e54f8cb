"""The option `-f`, which names the files of a command."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from msjob_cli.namespaces import namespace_name

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

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
    return _files(required=True)(function)


def optional_files(function: F) -> F:
    """Add `-f FILE`, also none, as the argument `files`, to a `FilesCommand`."""
    return _files(required=False)(function)


def _files(*, required: bool) -> Callable[[F], F]:
    return click.option(
        *_NAMES,
        "files",
        metavar="FILE",
        multiple=True,
        required=required,
        callback=_standard_input_once,
        shell_complete=_paths,
        help="YAML or JSON with one or more MSJobs, or a folder of such files; - reads standard input. May be given "
        "several times.",
    )


def namespace(function: F) -> F:
    """Add `--namespace`, as the argument `namespace`."""
    option = click.option(
        "-n",
        "--namespace",
        metavar="NAMESPACE",
        callback=namespace_name,
        help="Namespace of jobs that name none, as for kubectl; a job that names another is not valid.  "
        "[default: default]",
    )
    return option(function)


def _standard_input_once(_context: click.Context, _option: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    from msjob.loading import STDIN  # noqa: PLC0415 - takes time, which the help has not

    if value.count(STDIN) > 1:
        raise click.BadParameter("standard input can be read once only")
    return value


def _paths(_context: click.Context, _option: click.Parameter, incomplete: str) -> "list[CompletionItem[str]]":
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - of use in a completion only

    return [CompletionItem(incomplete, type="file")]
