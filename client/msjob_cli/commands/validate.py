"""`msjob validate`."""

import json
from typing import Literal

import click

from msjob_cli import terminal
from msjob_cli.debug import debug
from msjob_cli.exits import ExitCode
from msjob_cli.findings import Checked, check_files
from msjob_cli.options import FilesCommand, files, namespace


@click.command(cls=FilesCommand)
@files
@namespace
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="text: a line for each finding and each good job. json: one list of all findings.",
)
@debug
def command(*, files: tuple[str, ...], namespace: str | None, output: Literal["text", "json"]) -> int:
    """Check MSJobs against the rules of the API.

    The rules are those of the CRD, so what passes here passes an API server that has it installed. Needs neither a
    cluster nor Node.js. Every file is read to its end and every finding is printed, with file, line and column of the
    field.

    Exit codes: 0 all jobs are good, 1 a job is not valid, 2 a file cannot be read as MSJobs.
    """
    checked = []
    for item in check_files(files, namespace):
        checked.append(item)
        if output == "text":
            terminal.result(_text(item))
    if output == "json":
        found = [finding.to_json() for item in checked for finding in item.findings]
        terminal.result(json.dumps(found, indent=2) + "\n")
    return exit_code(checked)


def exit_code(checked: list[Checked]) -> ExitCode:
    """Give the worst of what was found."""
    if not all(item.readable for item in checked):
        return ExitCode.UNREADABLE
    return ExitCode.GOOD if all(item.job for item in checked) else ExitCode.PROBLEMS


def _text(item: Checked) -> str:
    lines = [str(finding) for finding in item.findings]
    if item.job is not None:
        lines.append(f"{item.label} is valid")
    return "".join(f"{terminal.printable(line)}\n" for line in lines)
