"""`msjob get`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import click

from msjob_cli import names as of_jobs
from msjob_cli import terminal
from msjob_cli.cluster import Cluster, cluster, each, full_name
from msjob_cli.columns import Columns
from msjob_cli.debug import debug
from msjob_cli.exits import ExitCode

if TYPE_CHECKING:
    from msjob_client import MSJob, MSJobClient, Table

Output = Literal["table", "wide", "yaml", "json", "name"]


@click.command()
@of_jobs.several(required=False)
@cluster
@click.option("-A", "--all-namespaces", is_flag=True, help="The jobs of all namespaces.")
@click.option(
    "-l", "--selector", metavar="SELECTOR", help="Only jobs with these labels, as in team=vision,stage!=test."
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "wide", "yaml", "json", "name"]),
    default="table",
    show_default=True,
    help="table: the columns of kubectl get. wide: Workers, restarts and the reason, too. yaml, json: the whole jobs.",
)
@click.option("-w", "--watch", is_flag=True, help="Go on with each change, until Ctrl-C.")
@debug
def command(
    *,
    names: tuple[str, ...],
    cluster: Cluster,
    all_namespaces: bool,
    selector: str | None,
    output: Output,
    watch: bool,
) -> int:
    """List MSJobs.

    All of a namespace, or those that are named. The table is the one that the API server makes for kubectl get.

    Exit codes: 0 good, 2 wrong usage, 3 a job is not there, or the cluster cannot be asked.
    """
    if names and (all_namespaces or selector):
        raise click.UsageError("NAME goes with neither -A nor -l: a name is of one job in one namespace")
    if all_namespaces and cluster.namespace:
        raise click.UsageError("-A and -n exclude each other")
    if watch and len(names) > 1:
        raise click.UsageError("-w follows one job or all: name one, or none")
    with cluster.client() as client:
        which: dict[str, Any] = {"all_namespaces": all_namespaces, "selector": selector}
        if watch:
            name = names[0] if names else None
            return _follow(client, name, which, _Printer(output, namespaces=all_namespaces, listed=False))
        printer = _Printer(output, namespaces=all_namespaces, listed=not names or len(names) > 1)
        return _named(client, names, printer) if names else _all(client, which, printer)


class _Printer:
    """Prints jobs in the form that was asked for.

    Args:
        output: that form.
        namespaces: whether the table shows them.
        listed: whether the whole jobs are printed as one `List`, as kubectl does for several.
    """

    def __init__(self, output: Output, *, namespaces: bool, listed: bool) -> None:
        self._output = output
        self._listed = listed
        self._columns = Columns(wide=output == "wide", namespaces=namespaces)

    @property
    def tabular(self) -> bool:
        """Whether it prints tables, and not jobs."""
        return self._output in {"table", "wide"}

    def table(self, table: "Table") -> None:
        """Print rows."""
        terminal.result(self._columns.text(table))

    def jobs(self, jobs: "Sequence[MSJob]") -> None:
        """Print whole jobs, or their names."""
        if self._output == "name":
            terminal.result("".join(f"{full_name(job.name)}\n" for job in jobs))
            return
        shown = [_without_managed_fields(job.raw) for job in jobs]
        listed = {"apiVersion": "v1", "items": shown, "kind": "List", "metadata": {"resourceVersion": ""}}
        for item in [listed] if self._listed else shown:
            terminal.result(_text(item, self._output))


def _all(client: "MSJobClient", which: Mapping[str, Any], printer: _Printer) -> ExitCode:
    if printer.tabular:
        table = client.table(**which)
        if table.rows:
            printer.table(table)
        else:
            where = "" if which["all_namespaces"] else f" in {client.namespace} namespace"
            terminal.note(f"No resources found{where}.")
    else:
        printer.jobs(client.list(**which))
    return ExitCode.GOOD


def _named(client: "MSJobClient", names: Sequence[str], printer: _Printer) -> ExitCode:
    tables: list[Table] = []
    jobs: list[MSJob] = []

    def read(name: str) -> None:
        if printer.tabular:
            tables.append(client.table(name))
        else:
            jobs.append(client.get(name))

    code = each(names, read)
    if tables:
        printer.table(_joined(tables))
    if jobs:
        printer.jobs(jobs)
    return code


def _follow(client: "MSJobClient", name: str | None, which: Mapping[str, Any], printer: _Printer) -> ExitCode:
    """Print what is there, then each change. The watch tells of it, and the API server makes its row."""
    from msjob_client import JobNotFoundError  # noqa: PLC0415 - takes time, which the help has not

    shown: dict[tuple[str, str], Table] = {}
    if name is not None:
        client.get(name)
    with client.watch(name, **which) as events:
        for event in events:
            job = event.job
            if not printer.tabular:
                printer.jobs([job])
                continue
            # Of one that is gone there is no row any more but the last one, which kubectl shows, too.
            if event.type != "DELETED":
                try:
                    shown[job.namespace, job.name] = client.table(job.name, namespace=job.namespace)
                except JobNotFoundError:
                    continue
            if (job.namespace, job.name) in shown:
                printer.table(shown[job.namespace, job.name])
    return ExitCode.GOOD


def _joined(tables: "Sequence[Table]") -> "Table":
    return replace(tables[0], rows=tuple(row for table in tables for row in table.rows))


def _without_managed_fields(job: Mapping[str, Any]) -> dict[str, Any]:
    """A job without who set which of its fields, which kubectl leaves out, too."""
    metadata = {key: value for key, value in job["metadata"].items() if key != "managedFields"}
    return {**job, "metadata": metadata}


def _text(item: Mapping[str, Any], output: Output) -> str:
    if output == "json":
        return json.dumps(item, indent=4, ensure_ascii=False) + "\n"
    from msjob.printer import to_yaml  # noqa: PLC0415 - takes time, which the help has not

    return to_yaml([item])
