"""A stored MSJob as its users read it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, Self

from msjob.api import ConditionType, Role, meta
from msjob_client.reading import at, count, mapping, moment, number, objects, text


class Until(StrEnum):
    """What `wait` waits for."""

    FINISHED = "finished"
    """The job has succeeded or failed."""
    SUCCEEDED = "succeeded"
    RUNNING = "running"
    """All pods that the job needs run."""
    SUSPENDED = "suspended"
    """The last pod of the suspended job is gone."""
    DELETED = "deleted"
    """There is no such job any more."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One entry of `status.conditions`, see docs/reference/status.md.

    Attributes:
        type: Such as `Running`.
        status: `True`, `False` or `Unknown`.
        reason: One CamelCase word.
        message: What happened, for a person.
        changed: When `status` last changed.
        updated: When reason or message last changed.
    """

    type: str
    status: str
    reason: str = ""
    message: str = ""
    changed: datetime | None = None
    updated: datetime | None = None

    @property
    def true(self) -> bool:
        """Whether its status is `True`."""
        return self.status == "True"

    @classmethod
    def read(cls, item: Mapping[str, Any]) -> Self:
        """Read one entry of any shape."""
        return cls(
            type=text(item.get("type")),
            status=text(item.get("status")),
            reason=text(item.get("reason")),
            message=text(item.get("message")),
            changed=moment(item.get("lastTransitionTime")),
            updated=moment(item.get("lastUpdateTime")),
        )


@dataclass(frozen=True, slots=True)
class RoleCounts:
    """Pods of one role.

    Attributes:
        replicas: Wanted by the spec, 1 unless set.
        active: That run.
        succeeded: That ended with 0.
        failed: That failed.
        key: Of the role in `spec.msReplicaSpecs`, as the job spells it.
    """

    replicas: int
    active: int = 0
    succeeded: int = 0
    failed: int = 0
    key: str = ""


@dataclass(frozen=True, slots=True)
class LastFailure:
    """The last pod that was to blame for a restart or for the end; it outlives the pod.

    Attributes:
        pod: Its name.
        role: Its role, as in `Worker`.
        index: Its replica index.
        container: The container that failed, empty if none did.
        exit_code: Of that container.
        reason: Such as `Error`, `OOMKilled`, `Evicted`, `NodeLost`, `Deleted`.
        message: The termination message, else what the cluster said of the pod.
        time: When the container ended, else when the operator saw it.
        node: Where the pod was.
        attempt: Which attempt it belonged to.
        counts_towards_limit: Whether a restart for it was counted against `backoffLimit`.
    """

    pod: str = ""
    role: str = ""
    index: int | None = None
    container: str = ""
    exit_code: int | None = None
    reason: str = ""
    message: str = ""
    time: datetime | None = None
    node: str = ""
    attempt: int = 0
    counts_towards_limit: bool | None = None

    @classmethod
    def read(cls, item: Mapping[str, Any]) -> Self:
        """Read `status.lastFailure` of any shape."""
        counts = item.get("countsTowardsLimit")
        return cls(
            pod=text(item.get("pod")),
            role=text(item.get("role")),
            index=number(item.get("index")),
            container=text(item.get("container")),
            exit_code=number(item.get("exitCode")),
            reason=text(item.get("reason")),
            message=text(item.get("message")),
            time=moment(item.get("time")),
            node=text(item.get("node")),
            attempt=count(item.get("attempt")),
            counts_towards_limit=counts if isinstance(counts, bool) else None,
        )


@dataclass(frozen=True, slots=True)
class MSJob:
    """A stored job at one moment. What its status lacks, or garbles, is None or empty; nothing here raises.

    Attributes:
        name: Of the job.
        namespace: Where it is.
        uid: Of this very job; another of its name has another.
        created: When it was created.
        deleting: When it is to be gone, once its deletion was asked for.
        generation: Counts the changes of its spec.
        observed_generation: The generation that the status is about.
        state: Type of the last condition, as `kubectl get` shows it; empty before the operator has seen the job.
        reason: Of the last condition.
        message: Of the last condition.
        conditions: All of them, in their order.
        roles: Pods by role (`Scheduler`, `PS`, `Worker`).
        workers: Workers ready of those wanted, as in `3/4`; empty if not known.
        suspend: Whether its spec asks for it to be suspended.
        attempt: Number of the present attempt, from 0.
        restarts: How often it was restarted after a failure or a disruption.
        restarts_counted: Those of them that count towards `backoffLimit`.
        next_restart_time: When the pods of the present attempt are created, while that waits.
        last_failure: The last pod that was to blame.
        start_time: When the operator first acted on it, or resumed it.
        completion_time: When it succeeded or failed.
        managed_by: The other controller that runs it; empty if this operator does.
        raw: The whole object. It is shared, so do not change it.
    """

    name: str
    namespace: str
    uid: str = ""
    created: datetime | None = None
    deleting: datetime | None = None
    generation: int = 0
    observed_generation: int = 0
    state: str = ""
    reason: str = ""
    message: str = ""
    conditions: tuple[Condition, ...] = ()
    roles: Mapping[str, RoleCounts] = field(default_factory=lambda: MappingProxyType({}))
    workers: str = ""
    suspend: bool = False
    attempt: int = 0
    restarts: int = 0
    restarts_counted: int = 0
    next_restart_time: datetime | None = None
    last_failure: LastFailure | None = None
    start_time: datetime | None = None
    completion_time: datetime | None = None
    managed_by: str = ""
    raw: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), repr=False, compare=False)

    def condition(self, kind: str) -> Condition | None:
        """The condition of a type, such as `Stalled`; None if there is none."""
        return next((item for item in self.conditions if item.type == kind), None)

    def is_true(self, kind: str) -> bool:
        """Whether the condition of a type is there and True."""
        found = self.condition(kind)
        return found is not None and found.true

    @property
    def succeeded(self) -> bool:
        """Whether the job has succeeded."""
        return self.is_true(ConditionType.SUCCEEDED)

    @property
    def failed(self) -> bool:
        """Whether the job has failed."""
        return self.is_true(ConditionType.FAILED)

    @property
    def finished(self) -> bool:
        """Whether the job has ended, after which nothing of its status changes."""
        return self.succeeded or self.failed

    @property
    def running(self) -> bool:
        """Whether all pods that the job needs run."""
        return self.is_true(ConditionType.RUNNING) and not self.finished

    @property
    def suspended(self) -> bool:
        """Whether the job is suspended and its last pod gone."""
        return self.is_true(ConditionType.SUSPENDED)

    @property
    def stalled(self) -> Condition | None:
        """What keeps the job from going on; None if nothing does."""
        found = self.condition(ConditionType.STALLED)
        return found if found is not None and found.true else None

    @classmethod
    def read(cls, obj: Mapping[str, Any]) -> Self:
        """Read an object as the API server gave it, or any other.

        Args:
            obj: JSON of an MSJob.
        """
        metadata, spec, status = (mapping(obj.get(key)) for key in ("metadata", "spec", "status"))
        conditions = tuple(map(Condition.read, objects(status.get("conditions"))))
        last = conditions[-1] if conditions else Condition("", "")
        failure = mapping(status.get("lastFailure"))
        return cls(
            name=text(metadata.get("name")),
            namespace=text(metadata.get("namespace")),
            uid=text(metadata.get("uid")),
            created=moment(metadata.get("creationTimestamp")),
            deleting=moment(metadata.get("deletionTimestamp")),
            generation=count(metadata.get("generation")),
            observed_generation=count(status.get("observedGeneration")),
            state=last.type,
            reason=last.reason,
            message=last.message,
            conditions=conditions,
            roles=MappingProxyType(_roles(spec, status)),
            workers=text(status.get("workersReady")),
            suspend=at(spec, "runPolicy", "suspend") is True,
            attempt=count(status.get("attempt")),
            restarts=count(status.get("restarts")),
            restarts_counted=count(status.get("restartsCountTowardsLimit")),
            next_restart_time=moment(status.get("nextRestartTime")),
            last_failure=LastFailure.read(failure) if failure else None,
            start_time=moment(status.get("startTime")),
            completion_time=moment(status.get("completionTime")),
            managed_by=_managed_by(spec),
            raw=obj,
        )


@dataclass(frozen=True, slots=True)
class MSJobEvent:
    """A change that `watch` tells of.

    Attributes:
        type: What happened; a job that is there at the start is `ADDED`.
        job: The job as it is now; for `DELETED` as it was last.
    """

    type: Literal["ADDED", "MODIFIED", "DELETED"]
    job: MSJob


def _roles(spec: Mapping[str, Any], status: Mapping[str, Any]) -> dict[str, RoleCounts]:
    counted = {Role.parse(key): mapping(item) for key, item in mapping(status.get("replicaStatuses")).items()}
    found: dict[Role, RoleCounts] = {}
    for key, item in mapping(spec.get("msReplicaSpecs")).items():
        role = Role.parse(key) if isinstance(key, str) else None
        if role is None or role in found:
            continue
        replicas = number(mapping(item).get("replicas"))
        counts = counted.get(role, {})
        found[role] = RoleCounts(
            replicas=1 if replicas is None else replicas,
            active=count(counts.get("active")),
            succeeded=count(counts.get("succeeded")),
            failed=count(counts.get("failed")),
            key=key,
        )
    return {role.value: found[role] for role in Role if role in found}


def _managed_by(spec: Mapping[str, Any]) -> str:
    named = text(at(spec, "runPolicy", "managedBy")) or text(spec.get("managedBy"))
    return "" if named == meta.MANAGED_BY_SELF else named
