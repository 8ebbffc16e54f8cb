"""The samples as rendered: what the operator creates of each, for people to read beside it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msjob.api import Job
from msjob.loading import Document, jobs, read, read_bytes
from msjob.naming import named
from msjob.render import RenderError, render
from msjob.validation import admit
from msjob.workload.notices import notices
from msjob.workload.tokens import Facts


@dataclass(frozen=True, slots=True)
class Example:
    """One sample.

    Attributes:
        sample: the file it comes from.
        objects: what the operator creates for the jobs in it, with placeholders for what only a cluster knows.
        warnings: what `msjob validate` and `msjob render` warn of, likewise.
    """

    sample: Path
    objects: list[dict[str, Any]]
    warnings: list[str]

    @property
    def file(self) -> str:
        """Path below the folder of examples."""
        return f"{self.sample.stem}/rendered.yaml"

    @property
    def source(self) -> str:
        """The sample with the folder that it lies in, wherever that is."""
        return f"{self.sample.parent.resolve().name}/{self.sample.name}"

    @property
    def note(self) -> str:
        """What a reader of the file has to know, in lines."""
        facts = Facts()
        warnings = "".join(f"\nWarning: {warning}" for warning in self.warnings)
        return (
            f"To read, not to apply: the operator creates these objects when {self.source} is applied, and\n"
            f"msjob render -f {self.source} prints them.\n"
            f"{facts.scheduler_ip} and {facts.owner_uid} stand for what only a cluster knows.{warnings}"
        )


def examples(samples: Path) -> Iterator[Example]:
    """Render all samples.

    Args:
        samples: folder with MSJobs as `*.yaml`.

    Yields:
        One example a file, sorted by name.

    Raises:
        LoadError: a file cannot be read, or holds something other than good MSJobs.
        RenderError: a job could not be rendered.
    """
    for path in sorted(samples.glob("*.yaml")):
        documents = read(read_bytes(str(path)), str(path))
        found = [_judged(job) for document in documents for job in jobs(document)]
        objects = [item for job in found for item in _objects(path, job)]
        yield Example(path, objects, [warning for job in found for warning in _warnings(job)])


def _judged(document: Document) -> Job:
    job, problems = admit(document.object)
    if problems:
        raise document.error(problems[0].path, str(problems[0]))
    return Job.parse(named(job))


def _warnings(job: Job) -> Iterator[str]:
    if job.suspended:
        yield "the job is suspended: its pods are created once it is resumed"
    for notice in notices(job):
        yield notice.message


def _objects(path: Path, job: Job) -> list[dict[str, Any]]:
    try:
        return render(job).objects()
    except RenderError as error:
        raise RenderError(f"{path}: {error}") from error
