"""`msjob render`."""

import ipaddress
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Literal

import click

from msjob.api import Job
from msjob.naming import PLACEHOLDER
from msjob.printer import to_yaml
from msjob.rendered import Rendered
from msjob.settings import CONSTRUCT
from msjob.workload.tokens import Facts
from msjob_cli import terminal
from msjob_cli.commands.validate import exit_code
from msjob_cli.debug import debug
from msjob_cli.exits import ExitCode, Failure
from msjob_cli.findings import Checked, check_files
from msjob_cli.node import starting_node
from msjob_cli.options import FilesCommand, files, namespace

_DEFAULTS = Facts()
_UID = re.compile(r"[A-Za-z0-9][-A-Za-z0-9._]{0,127}")
"""An API server gives UUIDs; other names are let through for tests, but nothing that JSON would have to escape."""


def _address(_context: click.Context, _option: click.Parameter, value: str) -> str:
    try:
        return value if value == _DEFAULTS.scheduler_ip else str(ipaddress.ip_address(value))
    except ValueError:
        raise click.BadParameter(f"{value!r} is no IP address, and MindSpore resolves no names") from None


def _uid(_context: click.Context, _option: click.Parameter, value: str) -> str:
    if not _UID.fullmatch(value):
        raise click.BadParameter(f"{value!r} is no uid: use letters, digits, '-', '_' and '.'")
    return value


def _construct(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    if value is not None and not CONSTRUCT.fullmatch(value):
        raise click.BadParameter(f"{value!r} names no class: write it as package.module:Class")
    return value


@click.command(cls=FilesCommand)
@files
@namespace
@click.option(
    "--scheduler-ip",
    metavar="IP",
    default=_DEFAULTS.scheduler_ip,
    show_default=True,
    callback=_address,
    help="Cluster IP of the Service in front of the MindSpore Scheduler.",
)
@click.option(
    "--owner-uid",
    metavar="UID",
    default=_DEFAULTS.owner_uid,
    show_default=True,
    callback=_uid,
    help="metadata.uid of the MSJob.",
)
@click.option(
    "--attempt",
    metavar="N",
    type=click.IntRange(min=0),
    default=_DEFAULTS.attempt,
    show_default=True,
    help="How often the job was restarted before.",
)
@click.option(
    "--job-construct",
    metavar="MODULE:CLASS",
    callback=_construct,
    help="A subclass of msjob.workload.construct.MSJobWorkload to build the objects with, as given to the operator.",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["yaml", "json"]),
    default="yaml",
    show_default=True,
    help="yaml: a document for each object. json: a line for each object, byte for byte as it is sent.",
)
@debug
def command(
    *,
    files: tuple[str, ...],
    namespace: str | None,
    scheduler_ip: str,
    owner_uid: str,
    attempt: int,
    job_construct: str | None,
    output: Literal["yaml", "json"],
) -> int:
    """Print the objects of MSJobs exactly as the operator creates them.

    What only a running cluster knows is given by options; placeholders stand for what is not given. Jobs are checked
    first, as by msjob validate, and nothing is printed if one is not valid. Needs Node.js 22 or newer, but no cluster.

    Exit codes: 0 all jobs were rendered, 1 a job is not valid, 2 wrong usage or a file that cannot be read as MSJobs,
    3 a job could not be rendered.
    """
    checked = [*check_files(files, namespace)]
    _tell(checked)
    code = exit_code(checked)
    if code is not ExitCode.GOOD:
        return code
    facts = Facts(scheduler_ip, owner_uid, attempt)
    for rendered in _render([item.job for item in checked if item.job], job_construct):
        for body in rendered.bodies(facts):
            terminal.result(f"{body}\n" if output == "json" else to_yaml([json.loads(body)]))
    return ExitCode.GOOD


def _render(jobs: list[Job], construct: str | None) -> Iterator[Rendered]:
    """Render jobs one after the other, so that the first is printed while the next is made."""
    with starting_node():
        from msjob.render import RenderError, load_construct, render  # noqa: PLC0415 - starts Node.js
        from msjob.workload.construct import MSJobWorkload  # noqa: PLC0415 - likewise
    if construct:
        # As for python -m: what lies in the working folder can be named, after all that is installed.
        sys.path.append(os.getcwd())  # noqa: PTH109 - sys.path takes text
    try:
        # What a site's module prints is no object.
        with redirect_stdout(sys.stderr):
            used = load_construct(construct) if construct else MSJobWorkload
        for job in jobs:
            with redirect_stdout(sys.stderr):
                rendered = render(job, used)
            yield rendered
    except RenderError as error:
        raise Failure(str(error)) from None


def _tell(checked: list[Checked]) -> None:
    for item in checked:
        for finding in item.findings:
            terminal.note(str(finding))
        if item.generated:
            terminal.note(
                f"{item.label}: warning: metadata.generateName: {PLACEHOLDER} stands for what the API server adds to it"
            )
        if item.job is not None and item.job.suspended:
            terminal.note(f"{item.label}: warning: the job is suspended: its pods are created once it is resumed")
