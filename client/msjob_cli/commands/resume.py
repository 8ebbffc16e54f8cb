"""`msjob resume`."""

import click

from msjob_cli import names as of_jobs
from msjob_cli.cluster import Cluster, cluster, each, tell
from msjob_cli.debug import debug


@click.command()
@of_jobs.several()
@cluster
@debug
def command(*, names: tuple[str, ...], cluster: Cluster) -> int:
    """Resume suspended MSJobs.

    Sets runPolicy.suspend back; the pods are made anew. A job that is not suspended stays as it is.

    Exit codes: 0 good, 2 wrong usage, 3 a job is not there or has ended, or the cluster refuses.
    """
    with cluster.client() as client:

        def resume(name: str) -> None:
            client.resume(name)
            tell(name, "resumed")

        return each(names, resume)
