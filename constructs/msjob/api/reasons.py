"""Condition types, reasons and event reasons: each stands here once.

The MSJob* reasons and the kubeflow event reasons are those of the Go operator; alerts and scripts match on them.
"""

from enum import StrEnum
from typing import Final


class ConditionType(StrEnum):
    """Types of `status.conditions`."""

    CREATED = "Created"
    RUNNING = "Running"
    RESTARTING = "Restarting"
    SUSPENDED = "Suspended"
    STALLED = "Stalled"
    PODS_READY = "PodsReady"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"


FINISHED: Final = frozenset({ConditionType.SUCCEEDED, ConditionType.FAILED})
"""End states: exactly one of them is ever True, and nothing changes after it."""


AUXILIARY: Final = frozenset({ConditionType.STALLED, ConditionType.PODS_READY})
"""Types that are no states of a job: they stand before those of its life, since the last condition is its state."""


class Reason(StrEnum):
    """Reasons of conditions; the event that tells of the transition carries the same reason."""

    CREATED = "MSJobCreated"
    RUNNING = "MSJobRunning"
    RESTARTING = "MSJobRestarting"
    SUCCEEDED = "MSJobSucceeded"
    FAILED = "MSJobFailed"
    SUSPENDED = "MSJobSuspended"
    SUSPENDING = "MSJobSuspending"
    RESUMED = "MSJobResumed"
    FAILED_VALIDATION = "MSJobFailedValidation"
    RENDER_FAILED = "MSJobRenderFailed"
    DEADLINE = "DeadlineExceeded"
    STARTUP_DEADLINE = "StartupDeadlineExceeded"
    BACKOFF_LIMIT = "BackoffLimitExceeded"
    PODS_READY = "PodsReady"
    PODS_NOT_READY = "PodsNotReady"
    IMAGE_PULL = "ImagePullBackOff"
    CONTAINER_CONFIG = "CreateContainerError"
    CRASH_LOOP = "CrashLoopBackOff"
    UNSCHEDULABLE = "Unschedulable"
    TERMINATING = "PodStuckTerminating"
    SERVICE = "ServiceNotReady"
    QUOTA = "QuotaExceeded"
    FORBIDDEN = "Forbidden"
    ADMISSION = "AdmissionDenied"
    NAME_TAKEN = "NameTaken"
    CREATE_FAILED = "CreateFailed"
    RESOLVED = "Resolved"


class EventReason(StrEnum):
    """Reasons of events that are no condition transitions."""

    CREATED_POD = "SuccessfulCreatePod"
    FAILED_CREATE_POD = "FailedCreatePod"
    DELETED_POD = "SuccessfulDeletePod"
    FAILED_DELETE_POD = "FailedDeletePod"
    CREATED_SERVICE = "SuccessfulCreateService"
    FAILED_CREATE_SERVICE = "FailedCreateService"
    DELETED_SERVICE = "SuccessfulDeleteService"
    FAILED_DELETE_SERVICE = "FailedDeleteService"
    CREATED_AUTOSCALER = "SuccessfulCreateAutoscaler"
    FAILED_CREATE_AUTOSCALER = "FailedCreateAutoscaler"
    DELETED_AUTOSCALER = "SuccessfulDeleteAutoscaler"
    FAILED_DELETE_AUTOSCALER = "FailedDeleteAutoscaler"
    FORCE_DELETED_POD = "ForceDeletedPod"
    DELETED_JOB = "SuccessfulDeleteJob"
    FAILED_DELETE_JOB = "FailedDeleteJob"
    EXITED_WITH_CODE = "ExitedWithCode"
    RESERVED_ENV = "ReservedEnvOverridden"
    TEMPLATE_RESTART_POLICY = "SetPodTemplateRestartPolicy"
    TEMPLATE_HOSTNAME = "SetPodTemplateHostname"
    MSRUN_WITHOUT_JOIN = "MsrunWithoutJoin"
    PARAMETER_SERVER = "ParameterServerDeprecated"
    HOST_NETWORK = "HostNetwork"
    CANNOT_REJOIN = "CannotRejoin"
    SCALE_UNAVAILABLE = "ScaleUnavailable"
    RETRIES_UNUSED = "RetriesUnused"
    TRAINS_ALONE = "WorkersTrainAlone"
    GANG_UNAVAILABLE = "GangSchedulingUnavailable"
