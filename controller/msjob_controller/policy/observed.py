"""What is there: a job's pods and Service as the decisions see them, read from plain JSON."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from msjob.api import Role, meta

PodKey = tuple[Role, int]


class Outcome(StrEnum):
    """What a pod has come to. The exit of its `mindspore` container decides, whatever its sidecars do."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"

    @property
    def ended(self) -> bool:
        """Whether the training process of the pod is over."""
        return self in (Outcome.SUCCEEDED, Outcome.FAILED)


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod of a job.

    Attributes:
        name: of the pod.
        role: from its labels.
        index: replica index, likewise.
        outcome: what it has come to.
        deleting: it has a deletion timestamp.
        lingering: its `mindspore` container has ended and another container still runs.
        exit_code: of the `mindspore` container, if it ended.
        finished_at: when that container ended, in whole seconds.
        cause: why it failed, for people: reason and message of container or pod.
    """

    name: str
    role: Role
    index: int
    outcome: Outcome = Outcome.PENDING
    deleting: bool = False
    lingering: bool = False
    exit_code: int | None = None
    finished_at: datetime | None = None
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Service:
    """The Service in front of the MindSpore Scheduler.

    Attributes:
        name: of the Service.
        cluster_ip: empty until the API server has allocated one.
        deleting: it has a deletion timestamp.
    """

    name: str
    cluster_ip: str = ""
    deleting: bool = False


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything a job owns.

    Attributes:
        pods: by role and index.
        service: None if there is none.
    """

    pods: Mapping[PodKey, Pod]
    service: Service | None = None


def observe(pods: Iterable[Mapping[str, Any]], services: Iterable[Mapping[str, Any]]) -> Observed:
    """Read the children of one job.

    Args:
        pods: Pod JSON, all owned by the job. Pods without the operator's labels are left out.
        services: Service JSON, likewise.
    """
    found = [pod for item in pods if (pod := read_pod(item)) is not None]
    return Observed({(pod.role, pod.index): pod for pod in found}, next(map(read_service, services), None))


def read_pod(item: Mapping[str, Any]) -> Pod | None:
    """Read one pod; None if its labels do not say which one it is.

    What a pod does because it is being deleted is no outcome: a process that is told to stop may exit with anything,
    0 too. Such a pod counts as Pending, and once it is gone it is missing.
    """
    metadata = item["metadata"]
    labels = metadata.get("labels") or {}
    role = Role.parse(labels.get(meta.LABEL_REPLICA_TYPE) or labels.get(meta.LABEL_REPLICA_TYPE_OLD) or "")
    index = labels.get(meta.LABEL_REPLICA_INDEX) or labels.get(meta.LABEL_REPLICA_INDEX_OLD) or ""
    if role is None or not index.isdecimal():
        return None
    status = item.get("status") or {}
    ended = _terminated(status)
    keeps_trying = (item.get("spec") or {}).get("restartPolicy", "Never") != "Never"
    outcome = _outcome(status.get("phase") or "Pending", ended, keeps_trying=keeps_trying)
    finished_at = parse_time(ended.get("finishedAt"))
    asked_to_go = _asked_to_go(metadata)
    if outcome.ended and asked_to_go is not None and not _ended_before(finished_at, asked_to_go, metadata):
        outcome = Outcome.PENDING
    return Pod(
        name=metadata["name"],
        role=role,
        index=int(index),
        outcome=outcome,
        deleting=asked_to_go is not None,
        lingering=outcome.ended and _others_run(status),
        exit_code=ended.get("exitCode"),
        finished_at=finished_at,
        cause=": ".join(filter(None, _cause(status, ended))),
    )


def read_service(item: Mapping[str, Any]) -> Service:
    """Read one Service."""
    address = (item.get("spec") or {}).get("clusterIP") or ""
    return Service(
        name=item["metadata"]["name"],
        cluster_ip="" if address == "None" else address,
        deleting=item["metadata"].get("deletionTimestamp") is not None,
    )


def parse_time(text: str | None) -> datetime | None:
    """Read a Kubernetes timestamp (RFC 3339); None for None or for what is none."""
    try:
        return None if text is None else datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        return None


def format_time(when: datetime) -> str:
    """Write a Kubernetes timestamp: UTC, whole seconds."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _asked_to_go(metadata: Mapping[str, Any]) -> datetime | None:
    """When the deletion was asked for: the API server adds the grace period to that for the deletion timestamp."""
    when = parse_time(metadata.get("deletionTimestamp"))
    return None if when is None else when - timedelta(seconds=metadata.get("deletionGracePeriodSeconds") or 0)


def _ended_before(finished_at: datetime | None, asked_to_go: datetime, metadata: Mapping[str, Any]) -> bool:
    """Whether a pod is known to have ended before its deletion was asked for.

    With a grace of 0 nothing is known: the kubelet, done with stopping a pod, asks for its deletion once more without
    grace, and the API server then moves the deletion timestamp to that moment (seen on 1.36). Such a pod vanishes next.
    """
    grace = metadata.get("deletionGracePeriodSeconds") or 0
    return grace > 0 and finished_at is not None and finished_at < asked_to_go


def _others_run(status: Mapping[str, Any]) -> bool:
    return any(
        container.get("name") != meta.CONTAINER and (container.get("state") or {}).get("running") is not None
        for container in status.get("containerStatuses") or []
    )


def _terminated(status: Mapping[str, Any]) -> Mapping[str, Any]:
    for container in status.get("containerStatuses") or []:
        if container.get("name") == meta.CONTAINER:
            return (container.get("state") or {}).get("terminated") or {}
    return {}


def _outcome(phase: str, ended: Mapping[str, Any], *, keeps_trying: bool) -> Outcome:
    """The container's exit first; then the phase, which alone tells of evicted pods and of nodes that are gone."""
    code = ended.get("exitCode")
    if code == 0:
        return Outcome.SUCCEEDED
    if code is not None and not keeps_trying:
        return Outcome.FAILED
    if phase in (Outcome.SUCCEEDED, Outcome.FAILED, Outcome.RUNNING):
        return Outcome(phase)
    return Outcome.PENDING


def _cause(status: Mapping[str, Any], ended: Mapping[str, Any]) -> tuple[str, str]:
    # A node that puts a pod out says so on the pod; its container then only tells of a signal.
    source = ended if ended.get("exitCode") is not None and not status.get("reason") else status
    return str(source.get("reason") or ""), str(source.get("message") or "").strip()
