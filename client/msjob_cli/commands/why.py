"""`msjob why`."""

import json
from typing import TYPE_CHECKING, Literal

import click

from msjob_cli import names as of_jobs
from msjob_cli import terminal
from msjob_cli.cluster import Cluster, cluster
from msjob_cli.debug import debug
from msjob_cli.exits import ExitCode

if TYPE_CHECKING:
    from msjob_client import Explanation


@click.command()
@of_jobs.one
@cluster
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="text: a sentence, what bears it out, and what to do. json: the same as data.",
)
@debug
def command(*, name: str, cluster: Cluster, output: Literal["text", "json"]) -> int:
    """Tell what an MSJob waits for, or died of.

    From its status, its pods, its Service and their events.

    Exit codes: 0 good, 2 wrong usage, 3 there is no such job, or the cluster cannot be asked.
    """
    with cluster.client() as client:
        from msjob_client import Kind  # noqa: PLC0415 - takes time, which the help has not

        told = client.why(name)
        absent = told.kind in {Kind.NOT_FOUND, Kind.NOT_INSTALLED}
    terminal.result(json.dumps(told.to_json(), indent=2) + "\n" if output == "json" else text(told))
    return ExitCode.FAILED if absent else ExitCode.GOOD


def text(told: "Explanation") -> str:
    """An explanation for people: the verdict, what bears it out, and what to do."""
    lines = [told.verdict, *(f"  {line}" for line in told.because), *(f"  - {line}" for line in told.advice)]
    return "".join(f"{terminal.printable(line)}\n" for line in lines)
