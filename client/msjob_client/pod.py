"""A pod of a job as its users read it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Literal, Self

from msjob.api import Role, meta
from msjob.workload.environment import LOCAL_WORKERS, NODE_ID, NODE_RANK
from msjob_client.reading import at, count, mapping, moment, number, objects, text

State = Literal["waiting", "running", "terminated", ""]

_ROLES: Final = {role: place for place, role in enumerate(Role)}
_DIGITS: Final = 8
"""Digits of a number in a label: as many as the operator reads."""


@dataclass(frozen=True, slots=True)
class ContainerView:
    """One container of a pod.

    Attributes:
        name: Of the container.
        init: Whether it is an init container.
        restarts_alone: Whether it is a sidecar that Kubernetes restarts whatever the pod does (an init container with
            `restartPolicy: Always`).
        state: What it does; empty if the kubelet has not said.
        reason: Why it waits, or how it ended: `ContainerCreating`, `ImagePullBackOff`, `Error`, `OOMKilled`.
        message: What the kubelet or the process said with it.
        exit_code: Of the present end, if it has ended.
        started: When the present run began.
        finished: When it ended.
        restarts: How often the kubelet restarted it.
        ready: Whether its probes are content.
    """

    name: str
    init: bool = False
    restarts_alone: bool = False
    state: State = ""
    reason: str = ""
    message: str = ""
    exit_code: int | None = None
    started: datetime | None = None
    finished: datetime | None = None
    restarts: int = 0
    ready: bool = False


@dataclass(frozen=True, slots=True)
class PodView:
    """A pod of a job at one moment. What it lacks, or garbles, is None or empty; nothing here raises.

    Attributes:
        name: Of the pod.
        namespace: Where it is.
        uid: Of this very pod: the pod of a later attempt has the same name and another uid.
        role: `Scheduler`, `PS` or `Worker`; empty for a pod without the operator's labels.
        index: Replica index in the role.
        rank: MindSpore rank of the pod's first process, where the environment of the pod says it: in a Worker of a job
            without PS. None elsewhere.
        attempt: The attempt that it belongs to.
        phase: `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
        reason: Of the pod itself, such as `Evicted`.
        message: Of the pod itself.
        node: Where it runs; empty before it has a place.
        ip: Its address.
        ready: Whether it says that it is ready.
        deleting: When it is to be gone, once its deletion was asked for.
        created: When it was created.
        started: When its `mindspore` container began.
        finished: When that container ended.
        exit_code: Of that container.
        unschedulable: What the scheduler says while it finds no place.
        containers: Its containers, init containers first.
        raw: The whole object. It is shared, so do not change it.
    """

    name: str
    namespace: str = ""
    uid: str = ""
    role: str = ""
    index: int | None = None
    rank: int | None = None
    attempt: int = 0
    phase: str = ""
    reason: str = ""
    message: str = ""
    node: str = ""
    ip: str = ""
    ready: bool = False
    deleting: datetime | None = None
    created: datetime | None = None
    started: datetime | None = None
    finished: datetime | None = None
    exit_code: int | None = None
    unschedulable: str = ""
    containers: tuple[ContainerView, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), repr=False, compare=False)

    @property
    def ended(self) -> bool:
        """Whether it has succeeded or failed."""
        return self.phase in {"Succeeded", "Failed"}

    @property
    def label(self) -> str:
        """Role and index in short, such as `worker-0`; the name of a pod without them."""
        return self.name if self.index is None else f"{self.role.lower()}-{self.index}"

    def container(self, name: str = meta.CONTAINER) -> ContainerView | None:
        """The container of a name; None if there is none."""
        return next((item for item in self.containers if item.name == name), None)

    @classmethod
    def read(cls, obj: Mapping[str, Any]) -> Self:
        """Read a pod as the API server gave it, or any other object.

        Args:
            obj: JSON of a pod.
        """
        metadata, spec, status = (mapping(obj.get(key)) for key in ("metadata", "spec", "status"))
        labels = mapping(metadata.get("labels"))
        role = Role.parse(_label(labels, meta.LABEL_REPLICA_TYPE, meta.LABEL_REPLICA_TYPE_OLD))
        index = _digits(_label(labels, meta.LABEL_REPLICA_INDEX, meta.LABEL_REPLICA_INDEX_OLD))
        containers = tuple(_containers(spec, status))
        main = next((item for item in containers if item.name == meta.CONTAINER and not item.init), None)
        conditions = {text(item.get("type")): item for item in objects(status.get("conditions"))}
        scheduled = conditions.get("PodScheduled", {})
        no_place = scheduled.get("status") == "False" and scheduled.get("reason") == "Unschedulable"
        return cls(
            name=text(metadata.get("name")),
            namespace=text(metadata.get("namespace")),
            uid=text(metadata.get("uid")),
            role="" if role is None else role.value,
            index=None if role is None else index,
            rank=_rank(spec) if role is Role.WORKER else None,
            attempt=_digits(_label(labels, meta.LABEL_RESTART_ATTEMPT)) or 0,
            phase=text(status.get("phase")),
            reason=text(status.get("reason")),
            message=text(status.get("message")),
            node=text(spec.get("nodeName")),
            ip=text(status.get("podIP")),
            ready=conditions.get("Ready", {}).get("status") == "True",
            deleting=moment(metadata.get("deletionTimestamp")),
            created=moment(metadata.get("creationTimestamp")),
            started=None if main is None else main.started,
            finished=None if main is None else main.finished,
            exit_code=None if main is None else main.exit_code,
            unschedulable=(text(scheduled.get("message")) or "Unschedulable") if no_place else "",
            containers=containers,
            raw=obj,
        )


def in_order(pods: Iterable[PodView]) -> list[PodView]:
    """Sort pods by role, index and attempt; those that carry no index come last."""
    return sorted(pods, key=lambda pod: (*place(pod), pod.attempt, pod.name))


def place(pod: PodView) -> tuple[int, int]:
    """Where a pod stands among those of its job: its role, then its index."""
    order = _ROLES[Role(pod.role)] if pod.role else len(_ROLES)
    return order, 0 if pod.index is None else pod.index


def _label(labels: Mapping[str, Any], *names: str) -> str:
    return next((found for name in names if (found := text(labels.get(name)))), "")


def _digits(label: str) -> int | None:
    return int(label) if label.isascii() and label.isdecimal() and len(label) <= _DIGITS else None


def _containers(spec: Mapping[str, Any], status: Mapping[str, Any]) -> Iterable[ContainerView]:
    for field_name, init in (("initContainers", True), ("containers", False)):
        said = "initContainerStatuses" if init else "containerStatuses"
        statuses = {text(item.get("name")): item for item in objects(status.get(said))}
        for item in objects(spec.get(field_name)):
            name = text(item.get("name"))
            alone = item.get("restartPolicy") == "Always"
            yield _container(name, mapping(statuses.get(name)), init=init, alone=alone)


def _container(name: str, status: Mapping[str, Any], *, init: bool, alone: bool) -> ContainerView:
    states = mapping(status.get("state"))
    kinds: tuple[State, ...] = ("terminated", "running", "waiting")
    state: State = next((kind for kind in kinds if isinstance(states.get(kind), Mapping)), "")
    now = mapping(states.get(state))
    return ContainerView(
        name=name,
        init=init,
        restarts_alone=alone,
        state=state,
        reason=text(now.get("reason")),
        message=text(now.get("message")).strip(),
        exit_code=number(now.get("exitCode")),
        started=moment(now.get("startedAt")),
        finished=moment(now.get("finishedAt")),
        restarts=count(status.get("restartCount")),
        ready=status.get("ready") is True,
    )


def _rank(spec: Mapping[str, Any]) -> int | None:
    """The rank that MindSpore gives the first process of a pod, from the variables that decide it."""
    main = next((item for item in objects(spec.get("containers")) if item.get("name") == meta.CONTAINER), {})
    env = {text(item.get("name")): text(at(item, "value")) for item in objects(main.get("env"))}
    local, node = _digits(env.get(LOCAL_WORKERS, "")), _digits(env.get(NODE_RANK, ""))
    if local is not None and node is not None:
        return local * node
    return _digits(env.get(NODE_ID, ""))
