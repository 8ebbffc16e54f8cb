"""`msjob suspend`."""

import click

from msjob_cli import names as of_jobs
from msjob_cli.cluster import Cluster, cluster, each, tell
from msjob_cli.debug import debug


@click.command()
@of_jobs.several()
@cluster
@debug
def command(*, names: tuple[str, ...], cluster: Cluster) -> int:
    """Suspend MSJobs: their pods go, the jobs stay.

    Sets runPolicy.suspend. The pods have their grace to write a last checkpoint; msjob wait NAME --for suspended waits
    until they are gone. A job that is suspended already stays so.

    Exit codes: 0 good, 2 wrong usage, 3 a job is not there or has ended, or the cluster refuses.
    """
    with cluster.client() as client:

        def suspend(name: str) -> None:
            client.suspend(name)
            tell(name, "suspended")

        return each(names, suspend)
