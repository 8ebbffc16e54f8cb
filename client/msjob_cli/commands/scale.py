"""`msjob scale`."""

import click

from msjob_cli import names as of_jobs
from msjob_cli.cluster import Cluster, cluster, tell
from msjob_cli.debug import debug
from msjob_cli.exits import ExitCode


@click.command()
@of_jobs.one
@cluster
@click.option(
    "--replicas", metavar="N", type=click.IntRange(min=0), required=True, help="The number of Workers from now on."
)
@debug
def command(*, name: str, cluster: Cluster, replicas: int) -> int:
    """Set the number of Workers of an MSJob.

    A job that runs is restarted once, with the new world size; that restart does not count. A Standalone job gets or
    loses single pods. The role is found however the job spells it, which kubectl scale does not do.

    Exit codes: 0 good, 1 the job may not have that many, 2 wrong usage, 3 it is not there or has ended, or the cluster
    refuses.
    """
    with cluster.client() as client:
        client.scale(name, replicas)
        tell(name, "scaled")
    return ExitCode.GOOD
