"""The rules a job must keep beyond types and enums, each in one place.

A rule stands here twice, side by side: as CEL, which the CRD carries to the API server, and as Python, which `msjob
validate` and the controller run. A test holds the two together on a real API server, by an accepted and a refused
example of each.

An object stored before a rule existed must keep its status, be suspended and be deleted. Rules at the root and rules on
`spec` are not ratcheted by the API server once anything below them changes, so each is written to let an update pass
whose old object already broke it (`optionalOldSelf`).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from msjob.api import meta
from msjob.api.problem import Problem
from msjob.api.roles import Role, duplicates

Json = Mapping[str, Any]
Check = Callable[[Json], Iterator[tuple[str | int, ...]]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        id: stable, in kebab case.
        scope: where the CEL rule stands: at the root of the object or on `spec`.
        cel: expression over `self` that is true for a good object. A transition rule is over `self` and `old`.
        message: what is wrong and what to do.
        check: yields the path of each fault, relative to the root; None for a transition, which only the API server
            sees.
        lenient: CEL that also lets an update pass, over `self` and `oldSelf.value()`. By default an update passes whose
            old object broke the rule; a rule states its own where the API server finds that too dear.
    """

    id: str
    scope: Literal["root", "spec"]
    cel: str
    message: str
    check: Check | None = None
    lenient: str = ""

    def entry(self) -> dict[str, Any]:
        """The rule as an item of `x-kubernetes-validations`."""
        if self.check is None:
            rule = f"!oldSelf.hasValue() || [oldSelf.value()].all(old, {self.cel})"
        else:
            lenient = self.lenient or "!({})".format(re.sub(r"\bself\b", "oldSelf.value()", self.cel))
            rule = f"({self.cel}) || (oldSelf.hasValue() && {lenient})"
        return {"rule": rule, "message": self.message, "optionalOldSelf": True}


_ROLES = "self.msReplicaSpecs"
_NO_ROLES = "!has(self.msReplicaSpecs)"
_REPLICAS = f"(has({_ROLES}[k].replicas) ? {_ROLES}[k].replicas : 1)"
_ROOT_ROLES = "self.spec.msReplicaSpecs"
_NO_ROOT_ROLES = "!has(self.spec) || !has(self.spec.msReplicaSpecs)"
_ROOT_REPLICAS = f"(has({_ROOT_ROLES}[k].replicas) ? {_ROOT_ROLES}[k].replicas : 1)"
_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


def _with_role(role: Role, more: str = "true") -> str:
    return f"{_ROLES}.exists(k, k.lowerAscii() == '{role.slug}' && {more})"


def _roles(obj: Json) -> Json:
    return (obj.get("spec") or {}).get("msReplicaSpecs") or {}


def _replicas(spec: Json) -> int:
    value = spec.get("replicas")
    return 1 if value is None else int(value)


def _path(*parts: str | int) -> tuple[str | int, ...]:
    return ("spec", *parts)


def _has(obj: Json, role: Role) -> bool:
    return any(Role.parse(key) is role for key in _roles(obj))


def _job_name(obj: Json) -> str:
    """The name, or one such as the API server makes of `generateName`: cut to leave room for five random characters."""
    metadata = obj.get("metadata") or {}
    generate = metadata.get("generateName")
    return metadata.get("name") or (f"{generate[: meta.MAX_NAME - 5]}00000" if generate else "")


def _name(obj: Json) -> Iterator[tuple[str | int, ...]]:
    if not _NAME.fullmatch(_job_name(obj)):
        yield ("metadata", "name")


def _name_length(obj: Json) -> Iterator[tuple[str | int, ...]]:
    name = _job_name(obj)
    for key, spec in _roles(obj).items():
        if len(name) + len(key) + 2 + len(str(max(_replicas(spec) - 1, 0))) > meta.MAX_NAME:
            yield ("metadata", "name")
            return


def _spec_present(obj: Json) -> Iterator[tuple[str | int, ...]]:
    if not _roles(obj):
        yield _path("msReplicaSpecs")


def _roles_known(obj: Json) -> Iterator[tuple[str | int, ...]]:
    yield from (_path("msReplicaSpecs", key) for key in _roles(obj) if Role.parse(key) is None)


def _roles_unique(obj: Json) -> Iterator[tuple[str | int, ...]]:
    yield from (_path("msReplicaSpecs", later) for _, later in duplicates(_roles(obj)))


def _scheduler_single(obj: Json) -> Iterator[tuple[str | int, ...]]:
    for key, spec in _roles(obj).items():
        if Role.parse(key) is Role.SCHEDULER and _replicas(spec) != 1:
            yield _path("msReplicaSpecs", key, "replicas")


def _some_pod(obj: Json) -> Iterator[tuple[str | int, ...]]:
    roles = _roles(obj)
    if roles and not any(_replicas(spec) > 0 for spec in roles.values()):
        yield _path("msReplicaSpecs")


def _container(obj: Json) -> Iterator[tuple[str | int, ...]]:
    for key, spec in _roles(obj).items():
        containers = ((spec.get("template") or {}).get("spec") or {}).get("containers") or []
        if not any(container.get("name") == meta.CONTAINER for container in containers):
            yield _path("msReplicaSpecs", key, "template", "spec", "containers")


def _ps_scheduler(obj: Json) -> Iterator[tuple[str | int, ...]]:
    if _has(obj, Role.PS) and not _has(obj, Role.SCHEDULER):
        yield _path("msReplicaSpecs")


def _mode(obj: Json) -> str | None:
    mode = (obj.get("spec") or {}).get("launchMode")
    return mode if isinstance(mode, str) else None


def _dynamic_scheduler(obj: Json) -> Iterator[tuple[str | int, ...]]:
    if _mode(obj) == "DynamicCluster" and _roles(obj) and not _has(obj, Role.SCHEDULER):
        yield _path("launchMode")


def _standalone_alone(obj: Json) -> Iterator[tuple[str | int, ...]]:
    if _mode(obj) == "Standalone" and (_has(obj, Role.SCHEDULER) or _has(obj, Role.PS)):
        yield _path("launchMode")


def _msrun_workers(obj: Json) -> Iterator[tuple[str | int, ...]]:
    workers = any(Role.parse(k) is Role.WORKER and _replicas(spec) > 0 for k, spec in _roles(obj).items())
    if _mode(obj) == "Msrun" and _roles(obj) and (_has(obj, Role.PS) or not workers):
        yield _path("launchMode")


def _managed_by_agrees(obj: Json) -> Iterator[tuple[str | int, ...]]:
    spec = obj.get("spec") or {}
    inner = (spec.get("runPolicy") or {}).get("managedBy")
    if inner is not None and spec.get("managedBy") is not None and inner != spec["managedBy"]:
        yield _path("managedBy")


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


RULES: Final[tuple[Rule, ...]] = (
    Rule(
        "name",
        "root",
        "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
        "metadata.name becomes part of pod, Service and host names: use lower-case letters, digits and '-', start with "
        "a letter, end with a letter or digit (RFC 1035 label, no dots)",
        _name,
        lenient="true",  # a name never changes
    ),
    Rule(
        "name-length",
        "root",
        f"{_NO_ROOT_ROLES} || {_ROOT_ROLES}.all(k, size(self.metadata.name) + size(k) + 2 + "
        f"size(string({_ROOT_REPLICAS} > 0 ? {_ROOT_REPLICAS} - 1 : 0)) <= {meta.MAX_NAME})",
        f"metadata.name is too long: <name>-<role>-<highest index> must fit in {meta.MAX_NAME} characters; choose a "
        "shorter name",
        _name_length,
        lenient=(
            f"[oldSelf.value()].all(old, has(old.spec) && has(old.spec.msReplicaSpecs) && {_ROOT_ROLES}.all(k, "
            f"k in old.spec.msReplicaSpecs && {_ROOT_REPLICAS} <= (has(old.spec.msReplicaSpecs[k].replicas) ? "
            "old.spec.msReplicaSpecs[k].replicas : 1)))"
        ),
    ),
    Rule(
        "roles-present",
        "root",
        "has(self.spec) && has(self.spec.msReplicaSpecs) && size(self.spec.msReplicaSpecs) > 0",
        "spec.msReplicaSpecs is empty: name at least one role, for example Worker",
        _spec_present,
    ),
    Rule(
        "roles-known",
        "spec",
        f"{_NO_ROLES} || {_ROLES}.all(k, k.lowerAscii() in ['scheduler', 'ps', 'worker'])",
        "unknown role in msReplicaSpecs: use Scheduler, PS or Worker",
        _roles_known,
    ),
    Rule(
        "roles-unique",
        "spec",
        f"{_NO_ROLES} || {_ROLES}.all(a, {_ROLES}.exists_one(b, a.lowerAscii() == b.lowerAscii()))",
        "one role is named twice in msReplicaSpecs in different spellings: keep one (case does not matter)",
        _roles_unique,
    ),
    Rule(
        "scheduler-single",
        "spec",
        f"{_NO_ROLES} || {_ROLES}.all(k, k.lowerAscii() != 'scheduler' || {_REPLICAS} == 1)",
        "a job has one Scheduler: set its replicas to 1, or leave the role out",
        _scheduler_single,
    ),
    Rule(
        "some-pod",
        "spec",
        f"{_NO_ROLES} || size({_ROLES}) == 0 || {_ROLES}.exists(k, {_REPLICAS} > 0)",
        "all roles have 0 replicas: a job needs at least one pod",
        _some_pod,
    ),
    Rule(
        "container",
        "spec",
        f"{_NO_ROLES} || {_ROLES}.all(k, has({_ROLES}[k].template) && has({_ROLES}[k].template.spec) && "
        f"{_ROLES}[k].template.spec.containers.exists(c, c.name == '{meta.CONTAINER}'))",
        f"each role needs a container named {meta.CONTAINER}: its exit is the outcome of the pod",
        _container,
    ),
    Rule(
        "ps-scheduler",
        "spec",
        f"{_NO_ROLES} || !{_with_role(Role.PS)} || {_with_role(Role.SCHEDULER)}",
        "PS needs a Scheduler: add the role Scheduler to msReplicaSpecs",
        _ps_scheduler,
    ),
    Rule(
        "launch-dynamic",
        "spec",
        f"!has(self.launchMode) || self.launchMode != 'DynamicCluster' || {_NO_ROLES} || size({_ROLES}) == 0 || "
        f"{_with_role(Role.SCHEDULER)}",
        "launchMode DynamicCluster needs a Scheduler: add the role, or use Msrun or Standalone",
        _dynamic_scheduler,
    ),
    Rule(
        "launch-standalone",
        "spec",
        f"!has(self.launchMode) || self.launchMode != 'Standalone' || {_NO_ROLES} || "
        f"!({_with_role(Role.SCHEDULER)} || {_with_role(Role.PS)})",
        "launchMode Standalone runs each Worker on its own: remove Scheduler and PS, or use DynamicCluster",
        _standalone_alone,
    ),
    Rule(
        "launch-msrun",
        "spec",
        f"!has(self.launchMode) || self.launchMode != 'Msrun' || {_NO_ROLES} || size({_ROLES}) == 0 || "
        f"({_with_role(Role.WORKER, f'{_REPLICAS} > 0')} && !{_with_role(Role.PS)})",
        "launchMode Msrun needs Workers and takes no PS: msrun starts Worker processes only",
        _msrun_workers,
    ),
    Rule(
        "managed-by-agrees",
        "spec",
        "!has(self.managedBy) || !has(self.runPolicy) || !has(self.runPolicy.managedBy) || "
        "self.managedBy == self.runPolicy.managedBy",
        "managedBy and runPolicy.managedBy differ: set one of them, or both to the same value",
        _managed_by_agrees,
    ),
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
        f"{_same('enableDynamicWorker', 'false')} && has(self.procPerWorker) == has(old.procPerWorker) && "
        "(!has(self.procPerWorker) || self.procPerWorker == old.procPerWorker)",
        "launchMode, successPolicy, enableDynamicWorker and procPerWorker cannot be changed: create a new job",
    ),
    Rule(
        "roles-immutable",
        "spec",
        f"{_EITHER_SUSPENDED} || !({_BOTH_ROLES}) || self.msReplicaSpecs == old.msReplicaSpecs",
        "msReplicaSpecs cannot be changed while the job runs: set runPolicy.suspend to true in the same update or "
        "before, or create a new job",
    ),
    Rule(
        "roles-fixed",
        "spec",
        f"!({_BOTH_ROLES}) || (size(self.msReplicaSpecs) == size(old.msReplicaSpecs) && self.msReplicaSpecs.all(k, "
        "k in old.msReplicaSpecs && "
        "(has(self.msReplicaSpecs[k].restartPolicy) ? self.msReplicaSpecs[k].restartPolicy : '') == "
        "(has(old.msReplicaSpecs[k].restartPolicy) ? old.msReplicaSpecs[k].restartPolicy : '') && "
        "(k.lowerAscii() == 'worker' || "
        "(has(self.msReplicaSpecs[k].replicas) ? self.msReplicaSpecs[k].replicas : 1) == "
        "(has(old.msReplicaSpecs[k].replicas) ? old.msReplicaSpecs[k].replicas : 1))))",
        "roles, their restartPolicy, and the replicas of Scheduler and PS cannot be changed: create a new job",
    ),
)


def cel_for_root() -> list[dict[str, Any]]:
    """`x-kubernetes-validations` of the root of the CRD schema."""
    return [rule.entry() for rule in RULES if rule.scope == "root"]


def cel_for_spec() -> list[dict[str, Any]]:
    """`x-kubernetes-validations` of `spec`."""
    return [rule.entry() for rule in RULES if rule.scope == "spec"]


def check(obj: Json) -> list[Problem]:
    """Check a job against every rule that does not need its earlier version.

    Args:
        obj: an MSJob whose types are sound (see `msjob.validation.validate`, which calls this).

    Returns:
        What is wrong, in the order of the rules; empty for a good job.
    """
    return [
        Problem(path, rule.message, rule.id) for rule in RULES if rule.check is not None for path in rule.check(obj)
    ]
