"""What is in the file that the demo shows, and what it expects to be there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from demo.stages import DEFAULT_SECONDS, EXIT_CODE, LONGEST_SECONDS, SECONDS
from msjob.api import Job, Role, meta
from msjob.api.job import RoleSpec
from msjob.loading import Document, LoadError, files, jobs, read, read_bytes
from msjob_cli.findings import UNREADABLE, Finding, check, not_twice

Json = dict[str, Any]

_OWN: Final = frozenset({"default", "kube-node-lease", "kube-public", "kube-system"})
"""Namespaces that a cluster has by itself."""

_NEVER_MADE: Final = frozenset({"default"})
"""A ServiceAccount that every namespace gets by itself."""

_WELL_KNOWN: Final = frozenset({"system-cluster-critical", "system-node-critical"})
"""Priority classes that a cluster has by itself."""


class SampleError(Exception):
    """The sample cannot be shown.

    Attributes:
        lines: Why, as ``msjob validate`` says it.
        readable: Whether there was a job to judge.
    """

    def __init__(self, lines: list[str], *, readable: bool) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines
        self.readable = readable


@dataclass(frozen=True, slots=True)
class Sample:
    """A file, or a folder of files, with MSJobs.

    Attributes:
        path: As the user named it.
        jobs: The MSJobs, in the order of the file. One whose name the API server makes has a placeholder as its name.
        generated: MSJobs whose name the API server makes, as JSON: ``kubectl apply`` does not take them.
        applied: All else, MSJobs and others, as JSON.
        warnings: What ``msjob validate`` says about jobs that are good.
    """

    path: str
    jobs: list[Job]
    generated: list[Json]
    applied: list[Json]
    warnings: list[str]

    @property
    def lasts(self) -> bool:
        """Whether it can be read once more: standard input and other pipes cannot."""
        return Path(self.path).is_dir() or Path(self.path).is_file()

    @property
    def longest(self) -> float:
        """Seconds that the Worker runs that runs longest."""
        workers = (job.roles[Role.WORKER] for job in self.jobs if Role.WORKER in job.roles)
        return max((float(_annotations(role).get(SECONDS, DEFAULT_SECONDS)) for role in workers), default=0)

    @property
    def schedulers(self) -> set[str]:
        """Schedulers that pods ask for by name."""
        return {name for role in _roles(self.jobs) if (name := _spec(role).get("schedulerName"))}

    def namespaces(self) -> list[str]:
        """Namespaces that have to be there before the file can be applied, and that it does not bring along."""
        own = {_metadata(item).get("name") for item in self.applied if item.get("kind") == "Namespace"}
        used = {_metadata(item).get("namespace") or "default" for item in (*self.applied, *self.generated)}
        return sorted(used - own - _OWN)

    def expected(self) -> list[Json]:
        """What pods name and no pod can be created without, and that the file does not bring along."""
        wanted = {
            (item["kind"], item["metadata"]["name"], item["metadata"].get("namespace")): item
            for job in self.jobs
            for item in _expected(job)
        }
        for item in self.applied:
            metadata = _metadata(item)
            place = metadata.get("namespace") or "default" if item.get("kind") == "ServiceAccount" else None
            wanted.pop((str(item.get("kind")), str(metadata.get("name")), place), None)
        return [wanted[key] for key in sorted(wanted, key=str)]


def load(path: str) -> Sample:
    """Read a sample.

    Args:
        path: Of a file, or of a folder with files.

    Raises:
        SampleError: It cannot be read, holds no MSJob, or one that is not valid.
    """
    try:
        documents = [item for file in files(path) for item in read(read_bytes(file), file)]
        objects = [item for document in documents for item in _flat(document)]
        found = [item for item in objects if _is_job(item.object)]
        # In the words of `msjob validate`, which says what it found instead.
        for document in [] if found else documents:
            jobs(document)
        for item in objects:
            _check_type(item)
    except LoadError as error:
        raise _unreadable(error) from None
    if not found:
        raise _unreadable(LoadError(path, None, None, "no MSJob in it: its lists are empty"))
    seen: dict[str, str] = {}
    checked = [not_twice(item, check(item), seen) for item in found]
    good = [item.job for item in checked if item.job is not None]
    said = [str(finding) for item in checked for finding in item.findings]
    if len(good) < len(checked):
        raise SampleError([*said, *_doubts(path, good)], readable=True)
    if doubts := _doubts(path, good):
        raise SampleError(doubts, readable=True)
    generated = [item.object for item in objects if _is_generated(item.object)]
    applied = [item.object for item in objects if not _is_generated(item.object)]
    return Sample(path, good, [dict(item) for item in generated], [dict(item) for item in applied], said)


def _check_type(item: Document) -> None:
    """Refuse what kubectl does not take for an object, before anything is started.

    Raises:
        LoadError: It does not say what it is.
    """
    for key in ("apiVersion", "kind"):
        if not isinstance(item.object.get(key), str):
            raise item.error((key,), f"{key} is missing: expected an object of Kubernetes")


def _unreadable(error: LoadError) -> SampleError:
    finding = Finding(error.file, error.line, error.column, "error", "", "", error.message, UNREADABLE)
    return SampleError([str(finding)], readable=False)


def _flat(document: Document) -> Iterator[Document]:
    """An object, or the items of a list."""
    is_list = document.object.get("kind") in {"List", meta.LIST_KIND}
    items = document.root.find(("items",)).children if is_list else None
    if isinstance(items, list):
        for item in items:
            yield from _flat(Document(document.file, item))
    elif isinstance(document.root.value, dict):
        yield document


def _doubts(path: str, found: list[Job]) -> list[str]:
    """What is wrong with annotations of the demo."""
    return [
        f"{Path(path)}: {job.namespace}/{job.name}: {role.role}: {doubt}"
        for job in found
        for role in job.roles.values()
        for doubt in (_wrong(role, SECONDS, LONGEST_SECONDS), _wrong(role, EXIT_CODE, 255, whole=True))
        if doubt
    ]


def _wrong(role: RoleSpec, key: str, most: float, *, whole: bool = False) -> str:
    text = _annotations(role).get(key)
    if text is None:
        return ""
    digits = str(text) if whole else str(text).replace(".", "", 1)
    if digits.isascii() and digits.isdecimal() and float(text) <= most:
        return ""
    kind = "whole number" if whole else "number"
    return f"annotation {key} is {text!r}: write a {kind} from 0 to {most:g}, in quotes"


def _expected(job: Job) -> Iterator[Json]:
    for role in job.roles.values():
        spec = _spec(role)
        if name := spec.get("runtimeClassName"):
            yield {
                "apiVersion": "node.k8s.io/v1",
                "kind": "RuntimeClass",
                "metadata": {"name": name},
                "handler": "demo",
            }
        if (name := spec.get("priorityClassName")) and name not in _WELL_KNOWN:
            yield {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": 1000,
            }
        name = spec.get("serviceAccountName") or spec.get("serviceAccount")
        if name and name not in _NEVER_MADE:
            metadata = {"name": name, "namespace": job.namespace}
            yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}


def _is_job(item: Mapping[str, Any]) -> bool:
    return item.get("kind") == meta.KIND and item.get("apiVersion") == meta.API_VERSION


def _is_generated(item: Mapping[str, Any]) -> bool:
    return not _metadata(item).get("name") and bool(_metadata(item).get("generateName"))


def _metadata(item: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = item.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def _annotations(role: RoleSpec) -> Mapping[str, Any]:
    return (role.template.get("metadata") or {}).get("annotations") or {}


def _roles(found: list[Job]) -> Iterator[RoleSpec]:
    for job in found:
        yield from job.roles.values()


def _spec(role: RoleSpec) -> Mapping[str, Any]:
    return role.template.get("spec") or {}
