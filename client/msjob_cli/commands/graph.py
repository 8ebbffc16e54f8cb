"""`msjob graph`."""

from typing import Literal

import click

from msjob.graph import dot, draw, mermaid
from msjob_cli import terminal
from msjob_cli.commands.validate import exit_code
from msjob_cli.debug import debug
from msjob_cli.exits import ExitCode
from msjob_cli.findings import check_files
from msjob_cli.options import FilesCommand, files, namespace
from msjob_cli.rendering import job_construct, rendered, tell


@click.command(cls=FilesCommand)
@files
@namespace
@job_construct
@click.option(
    "-o",
    "--output",
    type=click.Choice(["mermaid", "dot"]),
    default="mermaid",
    show_default=True,
    help="mermaid: for a code block in Markdown. dot: for Graphviz.",
)
@debug
def command(
    *, files: tuple[str, ...], namespace: str | None, job_construct: str | None, output: Literal["mermaid", "dot"]
) -> int:
    """Draw the objects of MSJobs: who owns, calls and needs what.

    One picture of all jobs: what each owns, who calls the MindSpore Scheduler, and which claims, ConfigMaps and Secrets
    have to be there. It is made from the objects that msjob render prints, and jobs are checked first. Needs Node.js 22
    or newer, but no cluster.

    Exit codes: 0 all jobs are drawn, 1 a job is not valid, 2 wrong usage or a file that cannot be read as MSJobs, 3 a
    job could not be rendered.
    """
    checked = [*check_files(files, namespace)]
    tell(checked)
    code = exit_code(checked)
    if code is not ExitCode.GOOD:
        return code
    jobs = [item.job for item in checked if item.job]
    picture = draw(zip(jobs, rendered(jobs, job_construct), strict=True))
    terminal.result(mermaid(picture) if output == "mermaid" else dot(picture))
    return ExitCode.GOOD
