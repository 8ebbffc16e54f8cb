"""Rendering the jobs of a command: the option `--job-construct`, what is said before, and Node.js while it runs."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from typing import Any, TypeVar

import click

from msjob.api import Job
from msjob.naming import PLACEHOLDER
from msjob.rendered import Rendered
from msjob.settings import CONSTRUCT
from msjob_cli import terminal
from msjob_cli.exits import Failure
from msjob_cli.findings import Checked
from msjob_cli.node import starting_node

F = TypeVar("F", bound=Callable[..., Any])


def job_construct(function: F) -> F:
    """Add `--job-construct`, as the argument `job_construct`."""
    option = click.option(
        "--job-construct",
        metavar="MODULE:CLASS",
        callback=_construct,
        help="A subclass of msjob.workload.construct.MSJobWorkload to build the objects with, as given to the "
        "operator.",
    )
    return option(function)


def _construct(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    if value is not None and not CONSTRUCT.fullmatch(value):
        raise click.BadParameter(f"{value!r} names no class: write it as package.module:Class")
    return value


def tell(checked: list[Checked]) -> None:
    """Say what was found about jobs that are to be rendered."""
    for item in checked:
        for finding in item.findings:
            terminal.note(str(finding))
        if item.generated:
            terminal.note(
                f"{item.label}: warning: metadata.generateName: {PLACEHOLDER} stands for what the API server adds to it"
            )
        if item.job is not None and item.job.suspended:
            terminal.note(f"{item.label}: warning: the job is suspended: its pods are created once it is resumed")


def rendered(jobs: list[Job], construct: str | None) -> Iterator[Rendered]:
    """Render jobs one after the other, so that the first is there while the next is made.

    Args:
        jobs: good ones.
        construct: value of `--job-construct`.

    Raises:
        Failure: there is no usable Node.js, or a construct cannot be loaded or fails.
    """
    with starting_node():
        from msjob.render import RenderError, load_construct, render  # noqa: PLC0415 - starts Node.js
        from msjob.workload.construct import MSJobWorkload  # noqa: PLC0415 - likewise
    if construct:
        # As for python -m: what lies in the working folder can be named, after all that is installed.
        sys.path.append(os.getcwd())  # noqa: PTH109 - sys.path takes text
    try:
        # What a site's module prints is no object.
        with redirect_stdout(sys.stderr):
            used = load_construct(construct) if construct else MSJobWorkload
        for job in jobs:
            with redirect_stdout(sys.stderr):
                result = render(job, used)
            yield result
    except RenderError as error:
        raise Failure(str(error)) from None
