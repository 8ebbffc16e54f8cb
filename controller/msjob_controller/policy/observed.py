"""What is there: a job's children as the decisions see them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

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
class Trouble:
    """What keeps a pod from running.

    Attributes:
        reason: as the kubelet or the scheduler names it: `ImagePullBackOff`, `Unschedulable`.
        message: what they say of it.
        container: the container it is about; empty for the pod as a whole.
    """

    reason: str
    message: str = ""
    container: str = ""


@dataclass(frozen=True, slots=True)
class End:
    """How a container ended that was started again.

    Attributes:
        exit_code: of the container.
        reason: likewise.
        message: its termination message.
        finished_at: when.
    """

    exit_code: int | None = None
    reason: str = ""
    message: str = ""
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod of a job.

    Attributes:
        name: of the pod.
        role: from its labels.
        index: replica index, likewise.
        outcome: what it has come to.
        uid: of the pod.
        attempt: attempt of the job that it was made for; 0 for one without the label, as the Go operator made them.
        started: its `mindspore` container runs or has run.
        ready: it runs, and nothing says that it is not ready.
        deleting: it has a deletion timestamp.
        asked_to_go: when its deletion was asked for.
        gone_by: its deletion timestamp, by which it should be gone.
        lingering: its `mindspore` container has ended and another container still runs.
        closing: all its containers have ended for good, and its phase does not say so yet.
        exit_code: of the container to blame, if one ended: `mindspore`, else a failed init container.
        container: the container to blame, likewise.
        exit_codes: of all containers that have ended, by name.
        started_at: when the `mindspore` container started.
        finished_at: when the container to blame ended, in whole seconds.
        reason: why it failed: reason of the container, or of the pod if that has one.
        message: likewise; the termination message if there is one.
        conditions: types and statuses of its conditions.
        given_up: it was put out because its node had been lost for some minutes (taint-eviction-controller).
        reasons: every reason its failure has: of pod and containers.
        node: name of its node; empty before it has one.
        trouble: what keeps it from running, if something does.
        restart_count: how often the kubelet has restarted its `mindspore` container.
        last_end: how that container ended before, if it did.
        kubelet_restarts: whether the kubelet restarts its containers.
    """

    name: str
    role: Role
    index: int
    outcome: Outcome = Outcome.PENDING
    uid: str = ""
    attempt: int = 0
    started: bool = False
    ready: bool = False
    deleting: bool = False
    asked_to_go: datetime | None = None
    gone_by: datetime | None = None
    lingering: bool = False
    closing: bool = False
    exit_code: int | None = None
    container: str = meta.CONTAINER
    exit_codes: Mapping[str, int] = field(default_factory=dict)
    started_at: datetime | None = None
    finished_at: datetime | None = None
    reason: str = ""
    message: str = ""
    conditions: Mapping[str, str] = field(default_factory=dict)
    given_up: bool = False
    reasons: frozenset[str] = frozenset()
    node: str = ""
    trouble: Trouble | None = None
    restart_count: int = 0
    last_end: End | None = None
    kubelet_restarts: bool = False

    @property
    def key(self) -> PodKey:
        """Role and index."""
        return (self.role, self.index)


@dataclass(frozen=True, slots=True)
class Service:
    """The Service in front of the MindSpore Scheduler.

    Attributes:
        name: of the Service.
        cluster_ip: empty until the API server has allocated one.
        deleting: it has a deletion timestamp.
        port: it listens on; None if that is not known.
    """

    name: str
    cluster_ip: str = ""
    deleting: bool = False
    port: int | None = None


@dataclass(frozen=True, slots=True)
class Autoscaler:
    """The HorizontalPodAutoscaler of an elastic job.

    Attributes:
        name: of the object.
        deleting: it has a deletion timestamp.
    """

    name: str
    deleting: bool = False


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything a job owns, and what is known of the nodes it is on.

    Attributes:
        pods: by role and index, whatever attempt they are of.
        service: None if there is none.
        autoscaler: None if there is none.
        lost_nodes: names of nodes of these pods that are gone or do not answer.
    """

    pods: Mapping[PodKey, Pod]
    service: Service | None = None
    autoscaler: Autoscaler | None = None
    lost_nodes: frozenset[str] = frozenset()
