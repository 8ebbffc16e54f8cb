"""The MSJob v1 status: what the operator reports."""

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field

from msjob.api.kubernetes import LabelSelector
from msjob.api.types import ApiModel

INDEXES_LIMIT: Final = 300_000
"""Characters of a set of indices: every second one of `MAX_REPLICAS`, with a comma."""

Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
AttemptNumber = Annotated[int, Field(ge=0, le=999_999_999)]
"""As many digits as a label is read with."""


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
    completed_indexes: Annotated[str, Field(max_length=INDEXES_LIMIT)] | None = Field(
        None, description="Indices of pods that have succeeded in this attempt, as in a Job: 0,2-4."
    )
    ignored_indexes: Annotated[str, Field(max_length=INDEXES_LIMIT)] | None = Field(
        None, description="Indices of pods that have failed in this attempt and that the job goes on without."
    )
    label_selector: LabelSelector | None = Field(
        None, description="Written by the Go operator only; kept for jobs that it has run."
    )


class LastFailure(ApiModel):
    """The last pod that was to blame for a restart or for the end of the job. It outlives the pod."""

    pod: Annotated[str, Field(max_length=253)] | None = Field(None, description="Name of the pod.")
    role: Annotated[str, Field(max_length=63)] | None = Field(None, description="Role of the pod.")
    index: int | None = Field(None, description="Replica index of the pod.")
    container: Annotated[str, Field(max_length=63)] | None = Field(
        None, description="Container that failed, if one did."
    )
    exit_code: int | None = Field(None, description="Exit code of that container.")
    reason: Annotated[str, Field(max_length=1024)] | None = Field(
        None, description="Reason of the container or pod: Error, OOMKilled, Evicted, NodeLost, Deleted."
    )
    message: Annotated[str, Field(max_length=32768)] | None = Field(
        None, description="Termination message of the container, else the message of the pod."
    )
    time: datetime | None = Field(None, description="When the container ended, else when the operator saw it.")
    node: Annotated[str, Field(max_length=253)] | None = Field(None, description="Node of the pod.")
    attempt: int | None = Field(None, description="Attempt that the pod belonged to.")
    counts_towards_limit: bool | None = Field(
        None, description="Whether a restart for this failure counts towards backoffLimit."
    )


class PodReplacement(ApiModel):
    """A failed pod that is replaced alone, because its role has restartScope Pod."""

    pod: Annotated[str, Field(max_length=253)] = Field(description="Name of the pod.")
    uid: Annotated[str, Field(max_length=64)] = Field(description="UID of the failed pod.")
    time: datetime = Field(description="When its successor may be created.")


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
    restarts: Count | None = Field(
        None, description="How often the job, or a pod of it alone, was restarted after a failure or a disruption."
    )
    restarts_count_towards_limit: Count | None = Field(
        None, description="Those of the restarts that count towards runPolicy.backoffLimit."
    )
    attempt: AttemptNumber | None = Field(
        None,
        description=(
            "Number of the present attempt, from 0: each restart of the whole job, each scaling and each resume begins "
            "a new one. Pods carry it as label and as MSJOB_RESTART_ATTEMPT."
        ),
    )
    ready_attempt: AttemptNumber | None = Field(
        None, description="Last attempt of which all pods ran; absent until one has since start or resume."
    )
    worker_replicas: Count | None = Field(None, description="Number of Workers that the present attempt was made with.")
    next_restart_time: datetime | None = Field(None, description="When the pods of the present attempt are created.")
    replacements: Annotated[list[PodReplacement], Field(max_length=100)] | None = Field(
        None, description="Failed pods that are being replaced one by one."
    )
    kubelet_restarts: Count | None = Field(
        None, description="Restarts by the kubelet of pods that are there, which are counted already."
    )
    last_failure: LastFailure | None = Field(None, description="The last pod that was to blame.")
    last_reconcile_time: datetime | None = Field(
        None, description="Written by the Go operator only; kept for jobs that it has run."
    )
