"""`msjob delete`."""

from collections.abc import Iterator, Sequence

import click

from msjob_cli import names as of_jobs
from msjob_cli import terminal
from msjob_cli.cluster import Cluster, cluster, each, tell
from msjob_cli.debug import debug
from msjob_cli.durations import Duration
from msjob_cli.exits import ExitCode, Failure
from msjob_cli.options import FilesCommand, optional_files
from msjob_cli.waiting import Deadline

_Job = tuple[str, str | None]
"""Name and namespace of a job."""


@click.command(cls=FilesCommand)
@of_jobs.several(required=False)
@optional_files
@cluster
@click.option("--wait", is_flag=True, help="Wait until the jobs and their pods are gone.")
@click.option("--timeout", metavar="TIME", type=Duration(), help="With --wait: wait no longer, as in 90s, 5m, 1h30m.")
@debug
def command(
    *, names: tuple[str, ...], files: tuple[str, ...], cluster: Cluster, wait: bool, timeout: float | None
) -> int:
    """Delete MSJobs and their pods.

    Those that are named, or those in files, which need not be valid.

    Exit codes: 0 good, 2 wrong usage or a file that cannot be read as MSJobs, 3 a job is not there, or the cluster
    refuses, 124 time is up.
    """
    if bool(names) == bool(files):
        raise click.UsageError("name the jobs as NAME..., or files that hold them as -f FILE")
    if timeout is not None and not wait:
        raise click.UsageError("--timeout goes with --wait")
    jobs: list[_Job] = [*_in_files(files, cluster.namespace)] if files else [(name, None) for name in names]
    deadline = Deadline(timeout)
    with cluster.client() as client:

        def delete(job: _Job) -> None:
            name, namespace = job
            client.delete(name, wait=wait, timeout=deadline.left(), namespace=namespace)
            tell(name, "deleted")

        return each(jobs, delete)


def _in_files(files: Sequence[str], namespace: str | None) -> Iterator[_Job]:
    """Names of the jobs in files, all of which must be readable before anything is deleted."""
    from msjob.loading import LoadError  # noqa: PLC0415 - takes time, which the help has not
    from msjob_cli.findings import documents, unreadable  # noqa: PLC0415 - likewise

    faults = []
    for found in documents(files):
        if isinstance(found, LoadError):
            faults += [str(finding) for finding in unreadable(found).findings]
            continue
        metadata = found.object.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        name, own = metadata.get("name"), metadata.get("namespace")
        line, column = found.position(("metadata", "name"))
        place = f"{found.file}:{line}:{column}: metadata"
        if not isinstance(name, str) or not name:
            faults.append(f"{place}.name: names no job, so that there is none to be deleted")
        elif namespace is not None and own not in (None, "", namespace):
            faults.append(f"{place}.namespace: is not {namespace}, which --namespace asks for: leave out one of them")
        else:
            yield name, own if isinstance(own, str) and own else None
    for fault in faults:
        terminal.note(fault)
    if faults:
        raise Failure("nothing was deleted: not all of the files tell which jobs are meant", ExitCode.UNREADABLE)
