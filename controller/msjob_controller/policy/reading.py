"""Children of a job, read from the JSON of the API server. Anything that is missing there is taken as not known."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from msjob.api import Role, meta
from msjob_controller.policy.observed import Autoscaler, End, Observed, Outcome, Pod, Service, Trouble
from msjob_controller.policy.times import parse_time

Json = Mapping[str, Any]

WAITING: Final = frozenset(
    {
        "CrashLoopBackOff",
        "CreateContainerConfigError",
        "CreateContainerError",
        "ErrImageNeverPull",
        "ErrImagePull",
        "ImageInspectError",
        "ImagePullBackOff",
        "InvalidImageName",
        "RunContainerError",
    }
)
"""Reasons of a waiting container that do not pass by themselves (kubelet: pkg/kubelet/images, kuberuntime)."""

_DIGITS: Final = 8
"""Digits of a number in a label: with them an attempt has room to grow in a status."""
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
_TAINTED: Final = "DeletionByTaintManager"
"""Reason of the condition DisruptionTarget of a pod whose toleration of its node's taint is over, 300 s by default."""
_UNREACHABLE: Final = frozenset({"node.kubernetes.io/unreachable", "node.kubernetes.io/out-of-service"})


def observe(
    pods: Iterable[Json],
    services: Iterable[Json],
    autoscalers: Iterable[Json] = (),
    lost_nodes: Iterable[str] = (),
) -> Observed:
    """Read the children of one job.

    Args:
        pods: Pod JSON, all owned by the job. Pods without the operator's labels are left out.
        services: Service JSON, likewise.
        autoscalers: HorizontalPodAutoscaler JSON, likewise.
        lost_nodes: names of nodes that are gone or do not answer, see `node_is_lost`.
    """
    found = [pod for item in pods if (pod := read_pod(item)) is not None]
    return Observed(
        {pod.key: pod for pod in found},
        next(map(read_service, services), None),
        next(map(read_autoscaler, autoscalers), None),
        frozenset(lost_nodes),
    )


def read_pod(item: Json) -> Pod | None:
    """Read one pod; None if its labels do not say which one it is.

    What a pod does because it is being deleted is no outcome: a process that is told to stop may exit with anything,
    0 too. Such a pod counts as Pending, and once it is gone it is missing.
    """
    metadata = item["metadata"]
    labels = metadata.get("labels") or {}
    role = Role.parse(labels.get(meta.LABEL_REPLICA_TYPE) or labels.get(meta.LABEL_REPLICA_TYPE_OLD) or "")
    index = labels.get(meta.LABEL_REPLICA_INDEX) or labels.get(meta.LABEL_REPLICA_INDEX_OLD) or ""
    if role is None or not _is_number(index):
        return None
    attempt = labels.get(meta.LABEL_RESTART_ATTEMPT) or ""
    status, spec = item.get("status") or {}, item.get("spec") or {}
    containers = {entry.get("name"): entry for entry in status.get("containerStatuses") or []}
    main = containers.get(meta.CONTAINER) or {}
    name, ended = _to_blame(status, main)
    kubelet_restarts = spec.get("restartPolicy", "Never") != "Never"
    outcome = _outcome(status.get("phase") or "Pending", main, kubelet_restarts=kubelet_restarts)
    finished_at = parse_time(ended.get("finishedAt"))
    asked_to_go = _asked_to_go(metadata)
    if outcome.ended and asked_to_go is not None and not _ended_before(finished_at, asked_to_go, metadata):
        outcome = Outcome.PENDING
    conditions = {entry.get("type"): entry for entry in status.get("conditions") or []}
    # A node that puts a pod out says so on the pod; its container then only tells of a signal.
    source = ended if ended.get("exitCode") is not None and not status.get("reason") else status
    return Pod(
        name=metadata["name"],
        role=role,
        index=int(index),
        uid=metadata.get("uid") or "",
        attempt=int(attempt) if _is_number(attempt) else 0,
        outcome=outcome,
        started=_has_started(main) or outcome is Outcome.RUNNING,
        ready=outcome is Outcome.RUNNING and (conditions.get("Ready") or {}).get("status", "True") == "True",
        deleting=asked_to_go is not None,
        asked_to_go=asked_to_go,
        gone_by=parse_time(metadata.get("deletionTimestamp")),
        closing=not kubelet_restarts and status.get("phase") == "Running" and _all_ended(status),
        lingering=outcome.ended and _others_run(containers.values()),
        exit_code=ended.get("exitCode"),
        container=name,
        exit_codes=_exit_codes(status),
        started_at=parse_time((_state(main, "terminated") or _state(main, "running")).get("startedAt")),
        finished_at=finished_at,
        reason=str(source.get("reason") or ""),
        message=str(ended.get("message") or status.get("message") or "").strip(),
        conditions={str(key): str(entry.get("status") or "") for key, entry in conditions.items()},
        given_up=(conditions.get("DisruptionTarget") or {}).get("reason") == _TAINTED,
        reasons=frozenset(filter(None, (status.get("reason"), ended.get("reason")))),
        node=spec.get("nodeName") or "",
        trouble=_trouble(status, conditions),
        restart_count=main.get("restartCount") or 0,
        last_end=_last_end(main),
        kubelet_restarts=kubelet_restarts,
    )


def read_service(item: Json) -> Service:
    """Read one Service."""
    spec = item.get("spec") or {}
    address = spec.get("clusterIP") or ""
    return Service(
        name=item["metadata"]["name"],
        cluster_ip="" if address == "None" else address,
        deleting=item["metadata"].get("deletionTimestamp") is not None,
        port=next(
            (entry.get("port") for entry in spec.get("ports") or [] if entry.get("name") == meta.PORT_NAME), None
        ),
    )


def read_autoscaler(item: Json) -> Autoscaler:
    """Read one HorizontalPodAutoscaler."""
    return Autoscaler(item["metadata"]["name"], item["metadata"].get("deletionTimestamp") is not None)


def node_is_lost(node: Json | None) -> bool:
    """Whether what ran on a node must be taken for lost.

    Args:
        node: Node JSON; None for a node that is gone.

    Returns:
        True if it is gone, does not call itself ready (False, or Unknown once its kubelet is silent for 40 to 50 s,
        --node-monitor-grace-period), or has the taint that says that it cannot be reached or is out of service.
    """
    if node is None:
        return True
    listed = (node.get("status") or {}).get("conditions") or []
    ready: Json = next((item for item in listed if item.get("type") == "Ready"), {})
    taints = (node.get("spec") or {}).get("taints") or []
    return ready.get("status", "True") != "True" or any(taint.get("key") in _UNREACHABLE for taint in taints)


def _is_number(label: str) -> bool:
    """Whether a label holds a number that the operator may have written, and none that would not fit in a status."""
    return label.isascii() and label.isdecimal() and len(label) <= _DIGITS


def _asked_to_go(metadata: Json) -> datetime | None:
    """When the deletion was asked for: the API server adds the grace period to that for the deletion timestamp."""
    when = parse_time(metadata.get("deletionTimestamp"))
    if when is None:
        return None
    try:
        return when - timedelta(seconds=metadata.get("deletionGracePeriodSeconds") or 0)
    except OverflowError:
        # A grace of thousands of years, which a template may ask for and which no clock can hold.
        return _EARLIEST


def _ended_before(finished_at: datetime | None, asked_to_go: datetime, metadata: Json) -> bool:
    """Whether a pod is known to have ended before its deletion was asked for.

    With a grace of 0 nothing is known: the kubelet, done with stopping a pod, asks for its deletion once more without
    grace, and the API server then moves the deletion timestamp to that moment (seen on 1.36). Such a pod vanishes next.
    """
    grace = metadata.get("deletionGracePeriodSeconds") or 0
    return grace > 0 and finished_at is not None and finished_at < asked_to_go


def _state(container: Json, kind: str) -> Json:
    return (container.get("state") or {}).get(kind) or {}


def _has_started(main: Json) -> bool:
    return bool(
        _state(main, "running") or _state(main, "terminated") or (main.get("lastState") or {}).get("terminated")
    )


def _last_end(main: Json) -> End | None:
    ended = (main.get("lastState") or {}).get("terminated")
    if not ended:
        return None
    return End(
        exit_code=ended.get("exitCode"),
        reason=str(ended.get("reason") or ""),
        message=str(ended.get("message") or "").strip(),
        finished_at=parse_time(ended.get("finishedAt")),
    )


def _others_run(containers: Iterable[Json]) -> bool:
    return any(
        container.get("name") != meta.CONTAINER and (container.get("state") or {}).get("running") is not None
        for container in containers
    )


def _all_ended(status: Json) -> bool:
    kinds = ("containerStatuses", "initContainerStatuses")
    return bool(status.get(kinds[0])) and all(
        _state(container, "terminated") for kind in kinds for container in status.get(kind) or []
    )


def _to_blame(status: Json, main: Json) -> tuple[str, Json]:
    """The container whose end is that of the pod: `mindspore`, or an init container that failed before it."""
    ended = _state(main, "terminated")
    if not ended:
        for container in status.get("initContainerStatuses") or []:
            failed = _state(container, "terminated")
            if failed.get("exitCode"):
                return str(container.get("name")), failed
    return meta.CONTAINER, ended


def _exit_codes(status: Json) -> dict[str, int]:
    return {
        str(container.get("name")): code
        for kind in ("initContainerStatuses", "containerStatuses")
        for container in status.get(kind) or []
        if (code := _state(container, "terminated").get("exitCode")) is not None
    }


def _outcome(phase: str, main: Json, *, kubelet_restarts: bool) -> Outcome:
    """The container's exit first; then the phase, which alone tells of evicted pods and of nodes that are gone.

    A pod is Pending until each of its containers has started: a sidecar whose image is missing keeps it so for good.
    """
    code = _state(main, "terminated").get("exitCode")
    if code == 0:
        return Outcome.SUCCEEDED
    if code is not None and not kubelet_restarts:
        return Outcome.FAILED
    if phase in (Outcome.SUCCEEDED, Outcome.FAILED, Outcome.RUNNING):
        return Outcome(phase)
    return Outcome.RUNNING if phase == Outcome.PENDING and _state(main, "running") else Outcome.PENDING


def _trouble(status: Json, conditions: Json) -> Trouble | None:
    """What keeps a pod from running: a container that cannot start, else the scheduler that finds no place."""
    for kind in ("initContainerStatuses", "containerStatuses"):
        for container in status.get(kind) or []:
            waiting = _state(container, "waiting")
            if waiting.get("reason") in WAITING:
                return Trouble(waiting["reason"], str(waiting.get("message") or ""), str(container.get("name")))
    scheduled = conditions.get("PodScheduled") or {}
    if scheduled.get("status") == "False" and scheduled.get("reason") == "Unschedulable":
        return Trouble("Unschedulable", str(scheduled.get("message") or ""))
    return None
