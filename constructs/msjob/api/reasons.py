"""Condition types, reasons and event reasons: each stands here once.

The MSJob* reasons and the kubeflow event reasons are those of the Go operator; alerts and scripts match on them.
"""

from enum import StrEnum
from typing import Final


class ConditionType(StrEnum):
    """Types of `status.conditions`."""

    CREATED = "Created"
    RUNNING = "Running"
    SUSPENDED = "Suspended"
    STALLED = "Stalled"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"


FINISHED: Final = frozenset({ConditionType.SUCCEEDED, ConditionType.FAILED})
"""End states: exactly one of them is ever True, and nothing changes after it."""


class Reason(StrEnum):
    """Reasons of conditions; the event that tells of the transition carries the same reason."""

    CREATED = "MSJobCreated"
    RUNNING = "MSJobRunning"
    SUCCEEDED = "MSJobSucceeded"
    FAILED = "MSJobFailed"
    SUSPENDED = "MSJobSuspended"
    RESUMED = "MSJobResumed"
    FAILED_VALIDATION = "MSJobFailedValidation"
    RENDER_FAILED = "MSJobRenderFailed"


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
    EXITED_WITH_CODE = "ExitedWithCode"
    RESERVED_ENV = "ReservedEnvOverridden"
    TEMPLATE_RESTART_POLICY = "SetPodTemplateRestartPolicy"
    TEMPLATE_HOSTNAME = "SetPodTemplateHostname"
    MSRUN_WITHOUT_JOIN = "MsrunWithoutJoin"
    PARAMETER_SERVER = "ParameterServerDeprecated"
