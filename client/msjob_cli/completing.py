"""Completion of commands, options and names of jobs, for shells and for kubectl.

Whatever goes wrong, a completion says nothing: its user is in the middle of a line.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NoReturn

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete

from msjob_cli.cluster import Cluster
from msjob_cli.debug import Debug
from msjob_cli.exits import ExitCode
from msjob_cli.program import COMPLETE_VARIABLE, PROGRAM

LIMIT: Final = 3.0
"""Seconds that names of jobs may take."""

_NO_FILES: Final = 4
_FOLDERS: Final = 16
"""What a completion of kubectl ends in: `ShellCompDirective` of cobra, whose zero lets the shell complete files."""


class _Fish(FishComplete):
    """Click's own completion for fish, which cuts what a word does at its first comma."""

    source_template = FishComplete.source_template.replace("string split ", "string split --max 1 ")


_SHELLS: Final[dict[str, type[ShellComplete]]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": _Fish}


def script(cli: click.Command, shell: str) -> str:
    """The script that a shell loads.

    Args:
        cli: the program.
        shell: `bash`, `zsh` or `fish`.
    """
    return _of(shell, cli).source()


def answer(cli: click.Command, asked: str) -> NoReturn:
    """Answer a shell, and exit.

    Args:
        cli: the program.
        asked: value of `COMPLETE_VARIABLE`, such as `bash_complete`.
    """
    shell, _, what = asked.partition("_")
    with _quietly():
        found = _of(shell, cli)
        click.echo((found.source() if what == "source" else found.complete()).encode(), nl=what != "source")
    _leave()


def kubectl(cli: click.Command, given: Sequence[str]) -> NoReturn:
    """Answer kubectl, and exit.

    Args:
        cli: the program.
        given: the words after `kubectl msjob`, the one to be completed last.
    """
    *words, incomplete = given or [""]
    with _quietly():
        found = ShellComplete(cli, {"obj": Debug()}, PROGRAM, COMPLETE_VARIABLE).get_completions(words, incomplete)
        kinds = {item.type for item in found}
        lines = [f"{item.value}\t{item.help}" if item.help else item.value for item in found if item.type == "plain"]
        directive = 0 if "file" in kinds else _FOLDERS if "dir" in kinds else _NO_FILES
        click.echo("\n".join([*lines, f":{directive}"]))
    _leave()


def job_names(context: click.Context, argument: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Names of jobs in the cluster and namespace that the words before ask for, but for those that stand there.

    Args:
        context: of the command.
        argument: that is completed.
        incomplete: what stands there so far.
    """
    given = context.params
    cluster = Cluster(given.get("namespace"), given.get("context"), _path(given.get("kubeconfig")))
    there = given.get(argument.name or "") or ()
    found: list[CompletionItem[str]] = []

    def look() -> None:
        with _quietly(), cluster.client() as client:
            found.extend(CompletionItem(job.name, help=job.state or None) for job in client.list())

    # A cluster may not answer, and a plugin that logs in may wait for somebody: the thread is left behind then.
    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(LIMIT)
    return [item for item in found if item.value.startswith(incomplete) and item.value not in there]


def _of(shell: str, cli: click.Command) -> ShellComplete:
    return _SHELLS[shell](cli, {"obj": Debug()}, PROGRAM, COMPLETE_VARIABLE)


def _path(value: str | Path | None) -> Path | None:
    return Path(value) if value else None


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    with contextlib.suppress(Exception, SystemExit):
        yield


def _leave() -> NoReturn:
    """Exit at once, without waiting for a connection that nobody needs any more."""
    with _quietly():
        sys.stdout.flush()
    os._exit(ExitCode.GOOD)
