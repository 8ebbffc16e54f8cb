"""What is to be said about the jobs in files, with file, line and field."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import itemgetter
from typing import Any, Final, Literal

from msjob.api import InvalidJobError, Job, Problem
from msjob.api.job import managed
from msjob.loading import Document, LoadError, files, jobs, read, read_bytes
from msjob.naming import named
from msjob.object_meta import MAX_ANNOTATIONS
from msjob.validation import admit
from msjob.workload.notices import notices

UNREADABLE: Final = "unreadable"
"""The rule of a finding about a file that cannot be read as MSJobs."""

MANAGED: Final = "managed-by"
"""The rule of a warning about a job that another controller runs."""

NAMESPACE: Final = "namespace"
"""The rule of an error about a job of another namespace than the one that was asked for."""

DUPLICATE: Final = "duplicate"
"""The rule of a warning about a job that is there twice."""

APPLY_SIZE: Final = "apply-size"
"""The rule of a warning about a job that a plain `kubectl apply` cannot send."""


LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which `kubectl apply` keeps what it was given."""


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
        rule: stable identifier: one of this module, that of a `Problem`, or the reason of a notice.
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
        job: None unless it is good. Its name ends in a placeholder where the API server would make it.
        findings: errors, or for a good job warnings.
        generated: whether the API server makes its name.
        object: the job as it was written, in the namespace that was asked for; None unless it is good.
    """

    label: str
    job: Job | None
    findings: list[Finding]
    generated: bool = False
    object: Mapping[str, Any] | None = None

    @property
    def readable(self) -> bool:
        """Whether there was a job to judge."""
        return not any(finding.rule == UNREADABLE for finding in self.findings)


def check_files(names: Sequence[str], namespace: str | None = None) -> Iterator[Checked]:
    """Look at every job in files.

    Args:
        names: paths of files and folders; `-` is standard input.
        namespace: of jobs that name none; None for `default`.

    Yields:
        One item for each job, and for each thing that is none.
    """
    seen: dict[str, str] = {}
    for found in documents(names):
        if isinstance(found, LoadError):
            yield unreadable(found)
            continue
        yield not_twice(found, check(found, namespace), seen)


def documents(names: Sequence[str]) -> Iterator[Document | LoadError]:
    """Every job in files and folders, and why something is none.

    Args:
        names: see `check_files`.
    """
    for name in names:
        try:
            contents = files(name)
        except LoadError as error:
            yield error
            continue
        for file in contents:
            try:
                found = read(read_bytes(file), file)
            except LoadError as error:
                yield error
                continue
            for document in found:
                try:
                    yield from jobs(document)
                except LoadError as error:
                    yield error


def check(document: Document, namespace: str | None = None) -> Checked:
    """Judge a job as the API server and the controller would, and parse it as the API server would store it.

    Args:
        document: the job.
        namespace: see `check_files`.
    """
    wanted, refused = _placed(document.object, namespace)
    stored, problems = admit(wanted)
    problems = [*refused, *problems]
    name = _name(wanted)
    label = f"{document.file}: {name}"
    generated = not _metadata(wanted).get("name") and bool(_metadata(wanted).get("generateName"))
    if not problems:
        try:
            job = Job.parse(named(stored))
        except InvalidJobError as error:
            problems = [*error.problems]
        else:
            warnings = [*_warnings(job, stored), *_apply_size(document.object)]
            return Checked(label, job, _findings(document, "warning", name, warnings), generated, wanted)
    return Checked(label, None, _findings(document, "error", name, problems), generated)


def _placed(job: Mapping[str, Any], namespace: str | None) -> tuple[Mapping[str, Any], list[Problem]]:
    """A job in the namespace that was asked for, and whether it names another, which kubectl refuses."""
    own = _metadata(job).get("namespace")
    if namespace is None or own == namespace or not isinstance(job.get("metadata"), dict):
        return job, []
    if not own:
        return {**job, "metadata": {**job["metadata"], "namespace": namespace}}, []
    message = f"is not {namespace}, which --namespace asks for: leave out one of them"
    return job, [Problem(("metadata", "namespace"), message, NAMESPACE)]


def not_twice(document: Document, checked: Checked, seen: dict[str, str]) -> Checked:
    """Add a warning to a good job if one of that name was there before.

    Args:
        document: the job.
        checked: what is said about it.
        seen: where which job was first; it is added.
    """
    if not _metadata(document.object).get("name"):
        return checked
    path = ("metadata", "name")
    line, _ = document.position(path)
    name = checked.label.removeprefix(f"{document.file}: ")
    first = seen.get(name)
    seen.setdefault(name, f"{document.file}:{line}")
    if first is None or checked.job is None:
        return checked
    problem = Problem(path, f"{name} is there twice, first in {first}: the later one would replace it", DUPLICATE)
    return replace(checked, findings=[*checked.findings, *_findings(document, "warning", name, [problem])])


def _apply_size(job: Mapping[str, Any]) -> Iterator[Problem]:
    """A job that is stored well enough, but not with the copy of it that `kubectl apply` puts into an annotation."""
    annotations = _metadata(job).get("annotations") or {}
    others = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items() if key != LAST_APPLIED)
    copy = {key: value for key, value in job.items() if key != "status"}
    text = json.dumps(copy, separators=(",", ":"), ensure_ascii=False)
    # kubectl writes each of these as an escape of six characters.
    size = len(text.encode()) + 5 * sum(map(text.count, "<>&")) + len(LAST_APPLIED)
    if size + others > MAX_ANNOTATIONS:
        message = (
            f"with {size} bytes the job is too large for a plain kubectl apply, which keeps a copy in an annotation "
            f"(at most {MAX_ANNOTATIONS} bytes): use kubectl apply --server-side, or kubectl create"
        )
        yield Problem((), message, APPLY_SIZE)


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


def unreadable(error: LoadError) -> Checked:
    """What is to be said about a file that cannot be read as MSJobs."""
    finding = Finding(error.file, error.line, error.column, "error", "", "", error.message, UNREADABLE)
    return Checked(error.file, None, [finding])


def _name(job: Mapping[str, Any]) -> str:
    metadata = _metadata(job)
    name = metadata.get("name")
    if not name and isinstance(metadata.get("generateName"), str):
        name = named({"metadata": metadata})["metadata"].get("name")
    return f"{metadata.get('namespace') or 'default'}/{name or ''}"


def _metadata(job: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = job.get("metadata")
    return metadata if isinstance(metadata, dict) else {}
