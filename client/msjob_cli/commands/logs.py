"""`msjob logs`."""

import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from msjob_cli import names as of_jobs
from msjob_cli import terminal
from msjob_cli.cluster import Cluster, cluster
from msjob_cli.debug import debug
from msjob_cli.durations import Duration
from msjob_cli.exits import ExitCode, Failure

if TYPE_CHECKING:
    from msjob_client import LogLine, MSJob

_COLOURS: Final = ("cyan", "green", "yellow", "magenta", "blue", "bright_cyan", "bright_green", "bright_yellow")


@click.command()
@of_jobs.one
@cluster
@click.option("-f", "--follow", is_flag=True, help="Go on until the job has ended, over its restarts.")
@click.option(
    "--role",
    "roles",
    type=click.Choice(["scheduler", "ps", "worker"], case_sensitive=False),
    multiple=True,
    help="Only pods of this role. May be given several times.",
)
@click.option(
    "--index",
    "indexes",
    metavar="N",
    type=click.IntRange(min=0),
    multiple=True,
    help="Only pods of this replica index. May be given several times.",
)
@click.option("-c", "--container", metavar="NAME", help="Which container.  [default: mindspore]")
@click.option("--all-containers", is_flag=True, help="All containers of each pod, init containers too.")
@click.option("--tail", metavar="N", type=click.IntRange(min=0), help="Only the last so many lines of each container.")
@click.option("--since", metavar="TIME", type=Duration(), help="Only lines of the last 90s, 5m, 1h30m.")
@click.option("--timestamps", is_flag=True, help="The time of each line, in UTC.")
@click.option("--no-prefix", is_flag=True, help="The lines alone, without the pod.")
@debug
def command(  # noqa: PLR0913 - one for each option
    *,
    name: str,
    cluster: Cluster,
    follow: bool,
    roles: tuple[str, ...],
    indexes: tuple[int, ...],
    container: str | None,
    all_containers: bool,
    tail: int | None,
    since: float | None,
    timestamps: bool,
    no_prefix: bool,
) -> int:
    """Print the logs of the pods of an MSJob.

    Merged by time, each line with its pod before it. With -f lines come as they are written, those of pods that a
    restart makes anew, too; a line on standard error tells where an attempt begins.

    Exit codes: 0 good, 2 wrong usage, 3 there is no such job, or the cluster cannot be asked.
    """
    if container and all_containers:
        raise click.UsageError("-c and --all-containers exclude each other")
    with cluster.client() as client, _refused():
        form = Form(client.get(name), roles, prefix=not no_prefix, containers=all_containers, timestamps=timestamps)
        attempt, written = 0, False
        with client.logs(
            name,
            roles=roles or None,
            indexes=indexes or None,
            container=container or None,
            all_containers=all_containers,
            follow=follow,
            tail=tail,
            since=since,
        ) as lines:
            for line in lines:
                if follow and line.attempt > attempt:
                    attempt = line.attempt
                    terminal.note(f"attempt {attempt}")
                terminal.result(form.text(line))
                written = True
        if not written and not follow and tail != 0:
            terminal.note(f"no lines of MSJob {name}: see `msjob why {name}`")
    return ExitCode.GOOD


@contextmanager
def _refused() -> Iterator[None]:
    """Let a pod or a container that the job does not have be no fault of the job."""
    from msjob_client import InvalidJobError  # noqa: PLC0415 - takes time, which the help has not

    try:
        yield
    except InvalidJobError as error:
        raise Failure(str(error)) from None


class Form:
    """How a line is printed.

    Args:
        job: whose pods are told apart.
        roles: those that are printed; empty for all.
        prefix: with the pod before each line.
        containers: with the container, too.
        timestamps: with the time.
    """

    def __init__(
        self,
        job: "MSJob",
        roles: Collection[str] = (),
        *,
        prefix: bool,
        containers: bool,
        timestamps: bool,
    ) -> None:
        self._prefix = prefix
        self._containers = containers
        self._timestamps = timestamps
        self._coloured = _on_terminal()
        last = {role.lower(): counts.replicas - 1 for role, counts in job.roles.items() if counts.replicas}
        shown = ((role, index) for role, index in last.items() if not roles or role in roles)
        self._width = max((len(f"{role}-{index}") for role, index in shown), default=0)

    def text(self, line: "LogLine") -> str:
        """The line as it is printed, with its end."""
        parts = []
        if self._prefix:
            parts.append(self._label(line))
        if self._timestamps and line.time is not None:
            parts.append(line.time.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))
        return " ".join([*parts, line.text]) + "\n"

    def _label(self, line: "LogLine") -> str:
        name = f"{line.label} {line.container}" if self._containers else line.label
        self._width = max(self._width, len(name))
        label = f"[{name}]".ljust(self._width + 2)
        if not self._coloured:
            return label
        place = line.rank if line.rank is not None else (line.index or 0)
        bold = line.role != "Worker" or None
        return click.style(label, fg=_COLOURS[place % len(_COLOURS)], bold=bold)


def _on_terminal() -> bool:
    return terminal.colour() is None and sys.stdout is not None and sys.stdout.isatty()
