"""`msjob completion`."""

from typing import Literal

import click

from msjob_cli import completing, terminal
from msjob_cli.debug import debug
from msjob_cli.exits import ExitCode


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@debug
@click.pass_context
def command(context: click.Context, *, shell: Literal["bash", "zsh", "fish"]) -> int:
    """Print the completion of a shell, to be loaded there.

    \b
    bash (4.4 or newer), in ~/.bashrc:    source <(msjob completion bash)
    zsh, in ~/.zshrc after compinit:      source <(msjob completion zsh)
    fish, in ~/.config/fish/config.fish:  msjob completion fish | source

    Names of jobs are completed from the cluster. kubectl completes words after `kubectl msjob` by itself where
    kubectl_complete-msjob is on the PATH, as it is beside msjob.

    Exit codes: 0 good, 2 wrong usage.
    """  # noqa: D301 - click's mark of lines that are not to be joined
    terminal.result(completing.script(context.find_root().command, shell))
    return ExitCode.GOOD
