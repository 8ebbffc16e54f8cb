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


class RestartScope(StrEnum):
    """What a failed pod of a role takes along when it is restarted."""

    JOB = "Job"
    POD = "Pod"


class FailureAction(StrEnum):
    """What is done about a failed pod that a rule matches."""

    FAIL_JOB = "FailJob"
    RESTART = "Restart"
    RESTART_IGNORING_LIMIT = "RestartIgnoringLimit"
    IGNORE_POD = "IgnorePod"


class Manager(StrEnum):
    """Controllers that a job may name as the one that runs it."""

    SELF = meta.MANAGED_BY_SELF
    MULTIKUEUE = meta.MANAGED_BY_MULTIKUEUE


class OnExitCodes(ApiModel):
    """Exit codes of one container."""

    container_name: Annotated[str, Field(min_length=1, max_length=63)] | None = Field(
        None, description="Container whose exit code counts. Default: mindspore."
    )
    operator: Literal["In", "NotIn"] = Field(description="In: the code is one of values. NotIn: it is none of them.")
    values: Annotated[list[Annotated[int, Field(ge=0, le=255)]], Field(min_length=1, max_length=255)] = Field(
        description="Exit codes."
    )


class OnPodCondition(ApiModel):
    """One condition of a pod."""

    type: Annotated[str, Field(min_length=1, max_length=316)] = Field(
        description="Type of the condition, such as DisruptionTarget."
    )
    status: Literal["True", "False", "Unknown"] | None = Field(
        None, description="Status of the condition. Default: True."
    )


class FailureRule(ApiModel):
    """What to do about a failed pod that has all that the rule names."""

    action: FailureAction = Field(
        description=(
            "FailJob: the job fails. Restart: restart, counted against backoffLimit. RestartIgnoringLimit: restart "
            "without counting. IgnorePod: the job goes on without the pod, and fails when none is left."
        )
    )
    on_exit_codes: OnExitCodes | None = Field(None, description="The exit code of a container.")
    on_pod_conditions: Annotated[list[OnPodCondition], Field(min_length=1, max_length=20)] | None = Field(
        None, description="Conditions of the pod; one of them is enough."
    )
    on_pod_reasons: (
        Annotated[list[Annotated[str, Field(min_length=1, max_length=128)]], Field(min_length=1, max_length=20)] | None
    ) = Field(None, description="Reasons of the pod or of its container, such as Evicted; one of them is enough.")
    replica_types: Annotated[list[Annotated[str, Field(max_length=63)]], Field(min_length=1, max_length=3)] | None = (
        Field(None, description="Roles that the rule is about. Default: all.")
    )


class FailurePolicy(ApiModel):
    """Rules about failed pods. The first that matches decides; without one, restartPolicy of the role does."""

    rules: Annotated[list[FailureRule], Field(min_length=1, max_length=20)] = Field(
        description="Rules in their order; the first that matches decides."
    )


class ElasticPolicy(ApiModel):
    """Bounds between which a HorizontalPodAutoscaler scales the Workers."""

    min_replicas: Annotated[int, Field(ge=1, le=meta.MAX_REPLICAS)] | None = Field(
        None, description="Fewest Workers. Default 1."
    )
    max_replicas: Annotated[int, Field(ge=1, le=meta.MAX_REPLICAS)] = Field(description="Most Workers.")
    metrics: Annotated[list[dict[str, Any]], Field(max_length=20)] | None = Field(
        None,
        description=(
            "Metrics to scale by, as in spec.metrics of a HorizontalPodAutoscaler (autoscaling/v2). Default: that of "
            "the HorizontalPodAutoscaler, which is 80 % of the requested CPU."
        ),
    )


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
        None,
        description=(
            "Seconds the job may be active, counted from its start or resume; then it fails. Default: no limit."
        ),
    )
    startup_deadline_seconds: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = Field(
        None,
        description=(
            "Seconds from start or resume within which all pods of the job must run. MindSpore gets it as "
            "MS_TOPO_TIMEOUT. Default: no limit."
        ),
    )
    backoff_limit: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = Field(
        None,
        description=(
            "How many counted restarts the job may have, where restartPolicy or a rule restarts. Restarts after a "
            "disruption (evicted, preempted, deleted, node lost) and after scaling do not count. Default: no limit."
        ),
    )
    failure_policy: FailurePolicy | None = Field(
        None, description="Rules about failed pods, asked before restartPolicy of the role."
    )
    force_delete_after_seconds: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = Field(
        None,
        description=(
            "Seconds after which a pod that is being deleted on a lost node is removed without the node's word. "
            "Default: never, since the process may still run there."
        ),
    )
    scheduling_policy: SchedulingPolicy | None = Field(
        None, description="Gang scheduling of the pods of the job. Not acted on in this version."
    )
    suspend: bool | None = Field(
        None, description="True: the job has no pods. Set back to false to start or resume it."
    )
    managed_by: Manager | None = Field(
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
    restart_scope: RestartScope | None = Field(
        None,
        description=(
            "What a restart after a failure in this role takes along. Job (default): all pods of the job, since a "
            "lone MindSpore process cannot rejoin its cluster. Pod: the failed pod alone; default in launch mode "
            "Standalone, and useful for the Scheduler with MindSpore 2.8 or newer."
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
    elastic_policy: ElasticPolicy | None = Field(
        None,
        description=(
            "Lets a HorizontalPodAutoscaler change the number of Workers. Each change restarts the job once with the "
            "new world size. Needs the role key Worker."
        ),
    )
    managed_by: Manager | None = Field(
        None, description="Same as runPolicy.managedBy, at the place where MultiKueue looks for it. Immutable."
    )
