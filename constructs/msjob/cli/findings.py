"""What is to be said about the jobs in files, with file, line and field."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from msjob.api import InvalidJobError, Job, Problem
from msjob.api.job import managed
from msjob.loading import Document, LoadError, jobs, read, read_bytes
from msjob.validation import admit
from msjob.workload.notices import notices

UNREADABLE: Final = "unreadable"
"""The rule of a finding about a file that cannot be read as MSJobs."""

MANAGED: Final = "managed-by"
"""The rule of a warning about a job that another controller runs."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong or worth knowing.

    Attributes:
        file: as the user named it.
        line: from 1; None where no line is at fault.
        column: from 1; likewise.
        severity: whether the job cannot run as it is, or runs in a way that may surprise.
        job: `namespace/name` of the job, empty if no job could be read.
        field: of the job, empty if it is about the whole.
        message: what is wrong and what to do.
        rule: stable identifier: `unreadable`, that of a `Problem`, or the reason of a notice.
    """

    file: str
    line: int | None
    column: int | None
    severity: Literal["error", "warning"]
    job: str
    field: str
    message: str
    rule: str

    def __str__(self) -> str:
        """`FILE:LINE:COLUMN: FIELD: message [rule]`, with `warning:` before the field of a warning."""
        place = "".join(f"{part}:" for part in (self.file, self.line, self.column) if part is not None)
        severity = "warning: " if self.severity == "warning" else ""
        field = f"{self.field}: " if self.field else ""
        return f"{place} {severity}{field}{self.message} [{self.rule}]"

    def to_json(self) -> dict[str, Any]:
        """As a mapping, all keys always there."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Checked:
    """A job that was looked at, or a file that holds none.

    Attributes:
        label: the file, and the name of the job if there is one.
        job: None unless it is good.
        findings: errors, or for a good job warnings.
    """

    label: str
    job: Job | None
    findings: list[Finding]

    @property
    def readable(self) -> bool:
        """Whether there was a job to judge."""
        return not any(finding.rule == UNREADABLE for finding in self.findings)


def check_files(names: Sequence[str]) -> Iterator[Checked]:
    """Look at every job in files.

    Args:
        names: paths; `-` is standard input.

    Yields:
        One item for each job, and for each thing that is none.
    """
    for name in names:
        try:
            documents = read(read_bytes(name), name)
        except LoadError as error:
            yield _unreadable(error)
            continue
        for document in documents:
            try:
                found = jobs(document)
            except LoadError as error:
                yield _unreadable(error)
                continue
            yield from map(check, found)


def check(document: Document) -> Checked:
    """Judge a job as the API server and the controller would, and parse it as the API server would store it."""
    stored, problems = admit(document.object)
    name = _name(document)
    label = f"{document.file}: {name}"
    if not problems:
        try:
            job = Job.parse(stored)
        except InvalidJobError as error:
            problems = error.problems
        else:
            told = [Problem(item.path, item.message, item.reason.value) for item in notices(job)]
            if not managed(stored):
                told.insert(
                    0,
                    Problem(
                        ("spec",), "managedBy names another controller: ms-operator leaves this job alone", MANAGED
                    ),
                )
            return Checked(label, job, [_finding(document, "warning", name, item) for item in told])
    return Checked(label, None, [_finding(document, "error", name, problem) for problem in problems])


def _finding(document: Document, severity: Literal["error", "warning"], job: str, problem: Problem) -> Finding:
    line, column = document.position(problem.path)
    return Finding(document.file, line, column, severity, job, problem.field, problem.message, problem.rule)


def _unreadable(error: LoadError) -> Checked:
    finding = Finding(error.file, error.line, error.column, "error", "", "", error.message, UNREADABLE)
    return Checked(error.file, None, [finding])


def _name(document: Document) -> str:
    metadata = document.object.get("metadata")
    parts = metadata if isinstance(metadata, dict) else {}
    return f"{parts.get('namespace') or 'default'}/{parts.get('name') or ''}"
