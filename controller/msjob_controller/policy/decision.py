"""What a decision can ask for. The shell renders and carries out; nothing here does."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from msjob.api import EventReason, Reason
from msjob_controller.policy.observed import PodKey


class EventType(StrEnum):
    """Types of Kubernetes events."""

    NORMAL = "Normal"
    WARNING = "Warning"


@dataclass(frozen=True, slots=True)
class Event:
    """An event on the job, to be sent once the status it tells of is written.

    Attributes:
        type: Normal or Warning.
        reason: documented reason.
        message: for people.
    """

    type: EventType
    reason: Reason | EventReason
    message: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do about a job now.

    The status is written before anything is deleted: once pods are gone, only the status tells what they came to, and
    a pod of an attempt that the status has left behind is nobody's failure. Creation may go on beside the write.

    Attributes:
        status: the status the job should have, complete. `attempt` in it is that of the pods to make.
        create_service: make the Service.
        create_autoscaler: make the HorizontalPodAutoscaler.
        create_pods: pods to make, in this order.
        delete_service: remove the Service.
        delete_autoscaler: remove the HorizontalPodAutoscaler.
        delete_pods: pods to remove, with the grace that they ask for.
        force_delete_pods: pods to remove at once, without the word of their node.
        delete_job: remove the job itself.
        events: what to tell.
        requeue_after: seconds until the job must be looked at again although nothing happened; None for never.
    """

    status: dict[str, Any]
    create_service: bool = False
    create_autoscaler: bool = False
    create_pods: tuple[PodKey, ...] = ()
    delete_service: bool = False
    delete_autoscaler: bool = False
    delete_pods: tuple[PodKey, ...] = ()
    force_delete_pods: tuple[PodKey, ...] = ()
    delete_job: bool = False
    events: tuple[Event, ...] = field(default=())
    requeue_after: float | None = None
