"""Rules about updates: what of a stored job may be changed, and when. Only the API server knows both states."""

from typing import Final

from msjob.api import meta
from msjob.api.rules.rule import Rule

_SUSPENDED = "(has({0}.runPolicy) && has({0}.runPolicy.suspend) && {0}.runPolicy.suspend)"
_EITHER_SUSPENDED = f"({_SUSPENDED.format('self')} || {_SUSPENDED.format('old')})"
_BOTH_ROLES = "has(self.msReplicaSpecs) && has(old.msReplicaSpecs)"


def _manager(which: str) -> str:
    return (
        f"(has({which}.managedBy) ? {which}.managedBy : has({which}.runPolicy) && has({which}.runPolicy.managedBy) ? "
        f"{which}.runPolicy.managedBy : '{meta.MANAGED_BY_SELF}')"
    )


def _same(field: str, default: str) -> str:
    return f"(has(self.{field}) ? self.{field} : {default}) == (has(old.{field}) ? old.{field} : {default})"


def _unchanged(field: str, self: str = "self", old: str = "old") -> str:
    return f"has({self}.{field}) == has({old}.{field}) && (!has({self}.{field}) || {self}.{field} == {old}.{field})"


def _same_in_role(field: str, default: str, spec: str = "") -> str:
    def value(which: str) -> str:
        role = f"{which}{spec}.msReplicaSpecs[k]"
        return f"(has({role}.{field}) ? {role}.{field} : {default})"

    return f"{value('self')} == {value('old')}"


_FINISHED_BEFORE = (
    "(has(old.status) && has(old.status.conditions) && old.status.conditions.exists(c, "
    "has(c.type) && c.type in ['Succeeded', 'Failed'] && has(c.status) && c.status == 'True'))"
)

RULES: Final = (
    Rule(
        "managed-by-immutable",
        "spec",
        f"{_manager('self')} == {_manager('old')}",
        "managedBy cannot be changed: two controllers would run the job; delete it and create it anew",
    ),
    Rule(
        "mode-immutable",
        "spec",
        f"{_same('launchMode', chr(39) * 2)} && {_same('successPolicy', chr(39) * 2)} && "
        f"{_same('enableDynamicWorker', 'false')} && "
        f"{_unchanged('procPerWorker')} && {_unchanged('elasticPolicy')}",
        "launchMode, successPolicy, enableDynamicWorker, procPerWorker and elasticPolicy cannot be changed: create a "
        "new job",
    ),
    Rule(
        "roles-immutable",
        "spec",
        f"{_EITHER_SUSPENDED} || !({_BOTH_ROLES}) || self.msReplicaSpecs.all(k, !(k in old.msReplicaSpecs) || "
        f"{_unchanged('template', 'self.msReplicaSpecs[k]', 'old.msReplicaSpecs[k]')})",
        "pod templates cannot be changed while the job runs, or once it has ended: suspend a job that runs in the same "
        "update or before, or create a new one",
    ),
    Rule(
        "roles-fixed",
        "spec",
        f"!({_BOTH_ROLES}) || (size(self.msReplicaSpecs) == size(old.msReplicaSpecs) && self.msReplicaSpecs.all(k, "
        f"k in old.msReplicaSpecs && {_same_in_role('restartPolicy', chr(39) * 2)} && "
        f"{_same_in_role('restartScope', chr(39) * 2)} && "
        f"(k.lowerAscii() == 'worker' || {_same_in_role('replicas', '1')})))",
        "roles, their restartPolicy and restartScope, and the replicas of Scheduler and PS cannot be changed: create a "
        "new job",
    ),
    Rule(
        "workers-final",
        "root",
        f"!{_FINISHED_BEFORE} || !(has(self.spec) && has(old.spec) && has(self.spec.msReplicaSpecs) && "
        "has(old.spec.msReplicaSpecs)) || self.spec.msReplicaSpecs.all(k, k.lowerAscii() != 'worker' || "
        "!(k in old.spec.msReplicaSpecs) || "
        f"{_same_in_role('replicas', '1', '.spec')})",
        "the job has finished, its Workers cannot be scaled any more: create a new job",
    ),
)
