"""`msjob restart`."""

import click

from msjob_cli import names as of_jobs
from msjob_cli.cluster import Cluster, cluster, each, tell
from msjob_cli.debug import debug


@click.command()
@of_jobs.several()
@cluster
@debug
def command(*, names: tuple[str, ...], cluster: Cluster) -> int:
    """Restart MSJobs that run: all their pods are made anew.

    Deletes the pods that have not ended, which the operator takes for a disruption: one restart of the whole job that
    does not count towards backoffLimit. A job that has ended does not run again; msjob submit --replace does that.

    Exit codes: 0 good, 2 wrong usage, 3 a job is not there, has ended or is suspended, or the cluster refuses.
    """
    with cluster.client() as client:

        def restart(name: str) -> None:
            client.restart(name)
            tell(name, "restarted")

        return each(names, restart)
