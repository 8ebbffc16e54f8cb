"""`msjob render`."""

import ipaddress
import json
import re
from typing import Literal

import click

from msjob.printer import to_yaml
from msjob.workload.tokens import Facts
from msjob_cli import terminal
from msjob_cli.commands.validate import exit_code
from msjob_cli.debug import debug
from msjob_cli.exits import ExitCode
from msjob_cli.findings import check_files
from msjob_cli.options import FilesCommand, files, namespace
from msjob_cli.rendering import job_construct, rendered, tell

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
@job_construct
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
    tell(checked)
    code = exit_code(checked)
    if code is not ExitCode.GOOD:
        return code
    facts = Facts(scheduler_ip, owner_uid, attempt)
    for result in rendered([item.job for item in checked if item.job], job_construct):
        for body in result.bodies(facts):
            terminal.result(f"{body}\n" if output == "json" else to_yaml([json.loads(body)]))
    return ExitCode.GOOD
