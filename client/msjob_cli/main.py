"""The program: its commands, and how it ends."""

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Final

import click

from msjob_cli import terminal
from msjob_cli.debug import Debug, debug
from msjob_cli.exits import ExitCode, Failure, OutputClosed
from msjob_cli.program import COMPLETE_VARIABLE, PROGRAM

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

GROUPS: Final = {
    "Offline": {
        "completion": "Print the completion of a shell, to be loaded there.",
        "graph": "Draw the objects of MSJobs: who owns, calls and needs what.",
        "render": "Print the objects of MSJobs exactly as the operator creates them.",
        "synth": "Write the manifests of the installation to a folder.",
        "validate": "Check MSJobs against the rules of the API.",
    },
    "In a cluster": {
        "submit": "Create MSJobs from files.",
        "get": "List MSJobs.",
        "wait": "Wait for an MSJob to end, or for another state of it.",
        "why": "Tell what an MSJob waits for, or died of.",
        "logs": "Print the logs of the pods of an MSJob.",
        "suspend": "Suspend MSJobs: their pods go, the jobs stay.",
        "resume": "Resume suspended MSJobs.",
        "restart": "Restart MSJobs that run: all their pods are made anew.",
        "scale": "Set the number of Workers of an MSJob.",
        "delete": "Delete MSJobs and their pods.",
    },
}
"""The commands, as the help groups them."""

COMMANDS: Final = {name: says for group in GROUPS.values() for name, says in group.items()}
"""Each is a module of `msjob_cli.commands` that holds a `command`, loaded when it is called: some load much more."""


_UNWRITTEN: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""Errors of a file that what click prints goes to."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - likewise
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"msjob_cli.commands.{cmd_name}").command
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called.

        Raises:
            click.UsageError: there is none of that name; the nearest one is named.
        """
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], COMMANDS, n=1)
            if not near:
                raise
            raise click.UsageError(f"{error.message.removesuffix('.')}; did you mean {near[0]}?", ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - likewise
        width = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{width}}", says) for name, says in commands.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem[str]]":
        """Complete names of commands without loading them."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - of use in a completion only

        found = [CompletionItem(name, help=says) for name, says in COMMANDS.items() if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="ms-operator", prog_name=PROGRAM, message="%(prog)s %(version)s")
@debug
def cli() -> None:
    """Submit MSJobs, follow them and find out what they wait for; render and check them without a cluster.

    Exit codes: 0 good, 1 a job is not valid or has failed, 2 wrong usage or unreadable input, 3 it could not be done,
    124 time is up.
    """


def main(args: Sequence[str] | None = None) -> None:
    """Run the program and exit.

    Args:
        args: arguments; those of the process by default.
    """
    _exit(run(args))


def kubectl() -> None:
    """Run the program as a plugin of kubectl, which names it `kubectl msjob`, and exit."""
    _exit(run(program=f"kubectl {PROGRAM}"))


def complete_for_kubectl() -> None:
    """Complete words for kubectl, which calls this program for its plugin, and exit."""
    from msjob_cli import completing  # noqa: PLC0415 - of use in a completion only

    completing.kubectl(cli, sys.argv[1:])


def _exit(code: int) -> None:
    if code != ExitCode.GOOD:
        # All has been said; in the end jsii would complain in many lines about a Node.js that died, as with Ctrl-C.
        terminal.silence(sys.stderr)
    sys.exit(code)


def run(args: Sequence[str] | None = None, program: str = PROGRAM) -> int:
    """Run the program.

    Args:
        args: arguments; those of the process by default.
        program: how its user called it.

    Returns:
        The exit code. Everything has been said by then: no exception leaves this function.
    """
    state = Debug()
    try:
        if asked := os.environ.get(COMPLETE_VARIABLE):
            from msjob_cli import completing  # noqa: PLC0415 - of use in a completion only

            return completing.answer(cli, asked)
        code = cli.main(args=args, prog_name=program, standalone_mode=False, obj=state, color=terminal.colour())
    except click.ClickException as error:
        return _fail(error)
    except (click.Abort, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    except (OutputClosed, SystemExit):  # the second is click's, which writes help and version itself
        terminal.silence(sys.stdout)
        return ExitCode.OUTPUT_CLOSED
    except Exception as error:  # noqa: BLE001 - the last door: whatever it is, the user gets one line
        return _fail_unexpectedly(error, debug=state.on)
    return code if isinstance(code, int) else ExitCode.GOOD


def _fail(error: click.ClickException) -> int:
    if isinstance(error, Failure):
        terminal.error(error.message)
        return error.code
    terminal.usage(error)
    return ExitCode.UNREADABLE


def _fail_unexpectedly(error: Exception, *, debug: bool) -> int:
    if isinstance(error, OSError) and error.filename is None and error.errno in _UNWRITTEN:
        terminal.silence(sys.stdout)
        return _fail(terminal.unwritten(error))
    if debug:
        traceback.print_exception(error)
    advice = "" if debug else "; please report it with the output of --debug"
    said = str(error).partition("\n")[0]
    terminal.error(f"internal error: {type(error).__name__}: {said}{advice}")
    return ExitCode.FAILED
