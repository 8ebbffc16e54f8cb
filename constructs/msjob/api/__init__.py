"""The MSJob v1 API: types, defaults, rules, conditions, reasons. Plain Python, no Kubernetes client, no constructs."""

from msjob.api.job import InvalidJobError, Job, RoleSpec, managed
from msjob.api.problem import Problem, summarise
from msjob.api.reasons import FINISHED, ConditionType, EventReason, Reason
from msjob.api.roles import Role
from msjob.api.types import CleanPodPolicy, LaunchMode, MSJobSpec, RestartPolicy, RunPolicy, SuccessPolicy

__all__ = [
    "FINISHED",
    "CleanPodPolicy",
    "ConditionType",
    "EventReason",
    "InvalidJobError",
    "Job",
    "LaunchMode",
    "MSJobSpec",
    "Problem",
    "Reason",
    "RestartPolicy",
    "Role",
    "RoleSpec",
    "RunPolicy",
    "SuccessPolicy",
    "managed",
    "summarise",
]
