"""`msjob submit`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from msjob_cli import terminal
from msjob_cli.cluster import Cluster, cluster, each, tell
from msjob_cli.debug import debug
from msjob_cli.durations import Duration
from msjob_cli.exits import ExitCode
from msjob_cli.options import FilesCommand, files
from msjob_cli.waiting import Deadline, wait_for

if TYPE_CHECKING:
    from msjob_client import MSJob


@click.command(cls=FilesCommand)
@files
@cluster
@click.option("--replace", is_flag=True, help="Delete a job of that name that has ended, with its pods, first.")
@click.option("--dry-run", is_flag=True, help="Let the API server judge the jobs, and store nothing.")
@click.option("--wait", is_flag=True, help="Wait until the jobs have ended, as msjob wait does.")
@click.option("--timeout", metavar="TIME", type=Duration(), help="With --wait: wait no longer, as in 90s, 5m, 1h30m.")
@debug
def command(
    *,
    files: tuple[str, ...],
    cluster: Cluster,
    replace: bool,
    dry_run: bool,
    wait: bool,
    timeout: float | None,
) -> int:
    """Create MSJobs from files.

    Jobs are checked first, as by msjob validate, and none is created if one is not valid.

    Exit codes: 0 all jobs were created, and with --wait have succeeded; 1 a job is not valid, or has failed; 2 wrong
    usage or a file that cannot be read as MSJobs; 3 a job is there already, or the cluster refuses; 124 time is up.
    """
    if timeout is not None and not wait:
        raise click.UsageError("--timeout goes with --wait")
    if dry_run and wait:
        raise click.UsageError("--dry-run creates nothing that --wait could wait for")
    code, jobs = _checked(files, cluster.namespace)
    if code is not ExitCode.GOOD:
        return code
    created: list[MSJob] = []
    with cluster.client() as client:

        def submit(job: Mapping[str, Any]) -> None:
            stored = client.submit(job, replace=replace, dry_run=dry_run)
            tell(stored.name, "created (dry run)" if dry_run else "created")
            created.append(stored)

        code = each(jobs, submit)
        if not wait:
            return code
        deadline = Deadline(timeout)

        def follow(job: "MSJob") -> ExitCode:
            label = f"{job.name}  " if len(jobs) > 1 else ""
            return wait_for(client, job.name, timeout=deadline.left(), namespace=job.namespace, label=label)

        return max(code, each(created, follow))


def _checked(files: tuple[str, ...], namespace: str | None) -> tuple[ExitCode, list[Mapping[str, Any]]]:
    """Check jobs in files, tell what was found, and give those that are good."""
    from msjob_cli.commands.validate import exit_code  # noqa: PLC0415 - takes time, which the help has not
    from msjob_cli.findings import APPLY_SIZE, check_files  # noqa: PLC0415 - likewise

    checked = [*check_files(files, namespace)]
    for item in checked:
        for finding in item.findings:
            if finding.rule != APPLY_SIZE:
                terminal.note(str(finding))
    return exit_code(checked), [_unstored(item.object) for item in checked if item.object is not None]


def _unstored(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """A job that may be an export of a stored one, which an API server takes for new without its version only."""
    metadata = {key: value for key, value in job["metadata"].items() if key != "resourceVersion"}
    return {**job, "metadata": metadata}
