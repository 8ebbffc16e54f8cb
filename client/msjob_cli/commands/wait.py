"""`msjob wait`."""

import click

from msjob_cli import names as of_jobs
from msjob_cli.cluster import Cluster, cluster
from msjob_cli.debug import debug
from msjob_cli.durations import Duration
from msjob_cli.waiting import wait_for


@click.command()
@of_jobs.one
@cluster
@click.option(
    "--for",
    "until",
    type=click.Choice(["finished", "succeeded", "running", "suspended", "deleted"]),
    default="finished",
    show_default=True,
    help="What to wait for. finished: succeeded or failed.",
)
@click.option("--timeout", metavar="TIME", type=Duration(), help="Wait no longer, as in 90s, 5m, 1h30m; 0 looks once.")
@click.option("-q", "--quiet", is_flag=True, help="Print the result alone, and no progress.")
@debug
def command(*, name: str, cluster: Cluster, until: str, timeout: float | None, quiet: bool) -> int:
    """Wait for an MSJob to end, or for another state of it.

    Each change of the job is a line on standard error: the time since the wait began, state, Workers ready, restarts
    and what happened. What came of it is a line on standard output.

    Exit codes: 0 the job has succeeded, or is as wanted; 1 it has failed, or what was waited for cannot come any more;
    2 wrong usage; 3 there is no such job, it was deleted meanwhile, or the cluster cannot be asked; 124 time is up.
    """
    with cluster.client() as client:
        return wait_for(client, name, until=until, timeout=timeout, quiet=quiet)
