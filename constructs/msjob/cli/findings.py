"""What is to be said about the jobs in files, with file, line and field."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import itemgetter
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
            return Checked(label, job, _findings(document, "warning", name, _warnings(job, stored)))
    return Checked(label, None, _findings(document, "error", name, problems))


def _warnings(job: Job, stored: Mapping[str, Any]) -> Iterator[Problem]:
    if not managed(stored):
        yield Problem(("spec",), "managedBy names another controller: ms-operator leaves this job alone", MANAGED)
    for notice in notices(job):
        yield Problem(notice.path, notice.message, notice.reason.value)


def _findings(
    document: Document, severity: Literal["error", "warning"], job: str, problems: Iterable[Problem]
) -> list[Finding]:
    """Problems with their places, in the order of the file."""
    placed = sorted(((document.position(item.path), item) for item in problems), key=itemgetter(0))
    return [
        Finding(document.file, line, column, severity, job, item.field, item.message, item.rule)
        for (line, column), item in placed
    ]


def _unreadable(error: LoadError) -> Checked:
    finding = Finding(error.file, error.line, error.column, "error", "", "", error.message, UNREADABLE)
    return Checked(error.file, None, [finding])


def _name(document: Document) -> str:
    metadata = document.object.get("metadata")
    parts = metadata if isinstance(metadata, dict) else {}
    return f"{parts.get('namespace') or 'default'}/{parts.get('name') or ''}"
