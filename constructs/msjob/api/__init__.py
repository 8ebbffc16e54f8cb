"""The MSJob v1 API: types, defaults, rules, conditions, reasons. Plain Python, no Kubernetes client, no constructs."""

from msjob.api.job import InvalidJobError, Job, RoleSpec, managed
from msjob.api.problem import Problem, summarise
from msjob.api.reasons import AUXILIARY, FINISHED, ConditionType, EventReason, Reason
from msjob.api.roles import Role
from msjob.api.types import (
    CleanPodPolicy,
    ElasticPolicy,
    FailureAction,
    FailureRule,
    LaunchMode,
    MSJobSpec,
    RestartPolicy,
    RestartScope,
    RunPolicy,
    SuccessPolicy,
)

__all__ = [
    "AUXILIARY",
    "FINISHED",
    "CleanPodPolicy",
    "ConditionType",
    "ElasticPolicy",
    "EventReason",
    "FailureAction",
    "FailureRule",
    "InvalidJobError",
    "Job",
    "LaunchMode",
    "MSJobSpec",
    "Problem",
    "Reason",
    "RestartPolicy",
    "RestartScope",
    "Role",
    "RoleSpec",
    "RunPolicy",
    "SuccessPolicy",
    "managed",
    "summarise",
]
