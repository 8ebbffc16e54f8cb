"""The program: its commands, and how it ends."""

import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Final

import click

from msjob_cli import terminal
from msjob_cli.debug import Debug, debug
from msjob_cli.exits import ExitCode, Failure, OutputClosed

COMMANDS: Final = {
    "render": "Print the objects of MSJobs exactly as the operator creates them.",
    "synth": "Write the manifests of the installation to a folder.",
    "validate": "Check MSJobs against the rules of the API.",
}
"""Each is a module of `msjob_cli.commands` that holds a `command`, loaded when it is called: some load much more."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - likewise
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"msjob_cli.commands.{cmd_name}").command
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - likewise
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="ms-operator", prog_name="msjob", message="%(prog)s %(version)s")
@debug
def cli() -> None:
    """MSJobs and the operator that runs them, as Kubernetes manifests. No command needs a cluster.

    Exit codes: 0 good, 1 a job is not valid, 2 wrong usage or unreadable input, 3 the work could not be done.
    """


def main(args: Sequence[str] | None = None) -> None:
    """Run the program and exit.

    Args:
        args: arguments; those of the process by default.
    """
    code = run(args)
    if code != ExitCode.GOOD:
        # All has been said; in the end jsii would complain in many lines about a Node.js that died, as with Ctrl-C.
        terminal.silence(sys.stderr)
    sys.exit(code)


def run(args: Sequence[str] | None = None) -> int:
    """Run the program.

    Args:
        args: arguments; those of the process by default.

    Returns:
        The exit code. Everything has been said by then: no exception leaves this function.
    """
    state = Debug()
    try:
        code = cli.main(args=args, prog_name="msjob", standalone_mode=False, obj=state, color=terminal.colour())
    except click.ClickException as error:
        return _fail(error)
    except (click.Abort, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    except OutputClosed:
        return ExitCode.OUTPUT_CLOSED
    except Exception as error:  # noqa: BLE001 - the last door: whatever it is, the user gets one line
        return _fail_unexpectedly(error, debug=state.on)
    return code if isinstance(code, int) else ExitCode.GOOD


def _fail(error: click.ClickException) -> int:
    if isinstance(error, Failure):
        terminal.error(error.message)
        return error.code
    error.show()
    return ExitCode.UNREADABLE


def _fail_unexpectedly(error: Exception, *, debug: bool) -> int:
    if debug:
        traceback.print_exception(error)
    advice = "" if debug else "; please report it with the output of --debug"
    said = str(error).partition("\n")[0]
    terminal.error(f"internal error: {type(error).__name__}: {said}{advice}")
    return ExitCode.FAILED
