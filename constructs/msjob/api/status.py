"""The MSJob v1 status: what the operator reports."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from msjob.api.types import ApiModel


class Condition(ApiModel):
    """One condition of a job. The list is ordered: the lifecycle condition that is True stands last."""

    type: Annotated[str, Field(max_length=316)] = Field(description="Type of the condition.")
    status: Literal["True", "False", "Unknown"] = Field(description="True, False or Unknown.")
    reason: Annotated[str, Field(max_length=1024)] | None = Field(
        None, description="Reason for the last transition, one CamelCase word."
    )
    message: Annotated[str, Field(max_length=32768)] | None = Field(None, description="What happened, for a person.")
    last_update_time: datetime | None = Field(None, description="When reason or message last changed.")
    last_transition_time: datetime | None = Field(None, description="When status last changed.")


class ReplicaStatus(ApiModel):
    """Pods of one role by phase."""

    active: int | None = Field(None, description="Pods that run.")
    succeeded: int | None = Field(None, description="Pods whose mindspore container ended with 0.")
    failed: int | None = Field(None, description="Pods that failed.")
    selector: Annotated[str, Field(max_length=2048)] | None = Field(
        None, description="Label selector of the pods, for the scale subresource."
    )


class MSJobStatus(ApiModel):
    """What the operator observed last."""

    conditions: Annotated[list[Condition], Field(max_length=16)] | None = Field(
        None, description="Where the job stands and how it came there; the last one is its state."
    )
    replica_statuses: dict[Annotated[str, Field(max_length=63)], ReplicaStatus] | None = Field(
        None, description="Pods by role.", max_length=3
    )
    start_time: datetime | None = Field(None, description="When the operator first acted on the job, or resumed it.")
    completion_time: datetime | None = Field(None, description="When the job succeeded or failed.")
    observed_generation: int | None = Field(None, description="Generation of the spec that this status is about.")
    workers_ready: Annotated[str, Field(max_length=32)] | None = Field(
        None, description="Running Workers of those wanted, for people: 3/4."
    )
    restarts: int | None = Field(None, description="How often the job was restarted.")
