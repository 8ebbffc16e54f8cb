"""The MSJob v1 types: what a user may write in `spec`.

These pydantic models are the one source of the CRD schema (`msjob.schema`), of the offline validation
(`msjob.validation`) and of what the workload and the controller read. Field descriptions become `kubectl explain`.

Wire format and defaults follow the Go operator; new fields are optional. Defaults that the schema must not carry (a
default the user leaves out shows as drift in client-side GitOps diffs) are applied in code by `msjob.api.job`.
"""

from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from msjob.api import meta

Int32 = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]
QUANTITY: Final = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
"""The grammar of a quantity (k8s.io/apimachinery/pkg/api/resource), as CRDs state it."""

Quantity = int | Annotated[str, Field(pattern=QUANTITY)]
"""A Kubernetes quantity: a number or a string such as `500m` or `2Gi`."""


class ApiModel(BaseModel):
    """Base of all API types: camelCase on the wire, unknown fields ignored (the schema refuses or prunes them)."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore", frozen=True)


class CleanPodPolicy(StrEnum):
    """Which pods go when the job has finished."""

    UNSET = ""
    ALL = "All"
    RUNNING = "Running"
    NONE = "None"


class RestartPolicy(StrEnum):
    """What a failed pod of a role means."""

    UNSET = ""
    ALWAYS = "Always"
    ON_FAILURE = "OnFailure"
    NEVER = "Never"
    EXIT_CODE = "ExitCode"


class SuccessPolicy(StrEnum):
    """When the job has succeeded."""

    DEFAULT = ""
    ALL_WORKERS = "AllWorkers"


class LaunchMode(StrEnum):
    """How the processes of the job find each other."""

    DYNAMIC_CLUSTER = "DynamicCluster"
    MSRUN = "Msrun"
    STANDALONE = "Standalone"
    NONE = "None"


class SchedulingPolicy(ApiModel):
    """How the pods of the job are scheduled as a group. Needs an operator that runs with gang scheduling."""

    min_available: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = Field(
        None, description="Pods that must be placed together. Default: all pods of the job."
    )
    queue: Annotated[str, Field(max_length=253)] | None = Field(None, description="Queue of the gang scheduler.")
    min_resources: dict[Annotated[str, Field(max_length=317)], Quantity] | None = Field(
        None,
        description="Resources that must be free before the group starts. Default: the sum of the requests.",
        max_length=64,
    )
    priority_class: Annotated[str, Field(max_length=253)] | None = Field(
        None, description="PriorityClass of the group."
    )
    schedule_timeout_seconds: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = Field(
        None, description="Seconds the scheduler may hold part of the group while waiting for the rest."
    )


class RunPolicy(ApiModel):
    """How long the job may run, how often it may be tried, and what is left of it."""

    clean_pod_policy: CleanPodPolicy | None = Field(
        None,
        description=(
            "Which pods are deleted once the job has finished: Running (default: those still running or pending), "
            "All, or None."
        ),
    )
    ttl_seconds_after_finished: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = Field(
        None, description="Seconds after which a finished job is deleted. Default: never."
    )
    active_deadline_seconds: Annotated[int, Field(ge=1, le=2**53)] | None = Field(
        None, description="Seconds the job may be active, counted from its start or resume. Default: no limit."
    )
    backoff_limit: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = Field(
        None, description="How many counted restarts the job may have. Default: no limit."
    )
    scheduling_policy: SchedulingPolicy | None = Field(None, description="Gang scheduling of the pods of the job.")
    suspend: bool | None = Field(
        None, description="True: the job has no pods. Set back to false to start or resume it."
    )
    managed_by: Literal["mindspore.gitee.com/ms-operator", "kueue.x-k8s.io/multikueue"] | None = Field(
        None,
        description=(
            "Controller that runs the job. Any other than mindspore.gitee.com/ms-operator (default) makes this "
            "operator leave the job alone. Immutable; must agree with spec.managedBy."
        ),
    )


class ReplicaSpec(ApiModel):
    """The pods of one role."""

    replicas: Annotated[int, Field(ge=0, le=meta.MAX_REPLICAS)] | None = Field(
        1, description="How many pods the role has. The Scheduler has one."
    )
    restart_policy: RestartPolicy | None = Field(
        None,
        description=(
            "What a failed pod means. Never (default): the job fails. OnFailure, Always: restart. ExitCode: exit codes "
            "1-127 fail the job, 128-255 restart. Overrides restartPolicy of the template."
        ),
    )
    template: dict[str, Any] = Field(
        default_factory=dict,
        description=(
            "Pod template of the role. It needs a container named mindspore, whose exit is the outcome of the pod."
        ),
    )


class MSJobSpec(ApiModel):
    """What the user asks for."""

    run_policy: RunPolicy | None = Field(None, description="Limits, retries, suspension and clean-up of the job.")
    success_policy: SuccessPolicy | None = Field(
        None,
        description=(
            "When the job has succeeded. Empty (default): worker 0 or all Workers succeeded. AllWorkers: all Workers "
            "succeeded."
        ),
    )
    ms_replica_specs: dict[Annotated[str, Field(max_length=63)], ReplicaSpec] = Field(
        default_factory=dict,
        description="The roles of the job: Scheduler, PS, Worker. Keys are matched without regard to case.",
        max_length=3,
    )
    enable_dynamic_worker: bool | None = Field(
        None, description="Workers may fail: the job goes on with those that are left."
    )
    launch_mode: LaunchMode | None = Field(
        None,
        description=(
            "How processes find each other. DynamicCluster (default with a Scheduler): MS_* environment. Msrun: "
            "Workers start their processes with msrun. Standalone (default without a Scheduler): each Worker on its "
            "own. None: no environment is injected."
        ),
    )
    proc_per_worker: Annotated[int, Field(ge=1, le=1024)] | Literal["auto"] | None = Field(
        None,
        description=(
            "MindSpore processes in each Worker pod: a number, or auto for as many as the container has accelerators. "
            "Default 1."
        ),
    )
    managed_by: Literal["mindspore.gitee.com/ms-operator", "kueue.x-k8s.io/multikueue"] | None = Field(
        None, description="Same as runPolicy.managedBy, at the place where MultiKueue looks for it. Immutable."
    )
