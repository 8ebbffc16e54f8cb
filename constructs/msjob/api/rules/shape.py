"""Rules about the name of a job, its roles, and how and where they start."""

import re
from collections.abc import Iterator
from typing import Final

from msjob.api import meta
from msjob.api.roles import Role, duplicates
from msjob.api.rules.rule import NO_ROLES, ROLES, Json, Path, Rule, replicas_of, roles_of, spec_path
from msjob.api.types import LaunchMode

_REPLICAS = f"(has({ROLES}[k].replicas) ? {ROLES}[k].replicas : 1)"
_ROOT_ROLES = "self.spec.msReplicaSpecs"
_NO_ROOT_ROLES = "!has(self.spec) || !has(self.spec.msReplicaSpecs)"
_ROOT_REPLICAS = f"(has({_ROOT_ROLES}[k].replicas) ? {_ROOT_ROLES}[k].replicas : 1)"
_NUMBERS_NO_DEVICES: Final = (LaunchMode.STANDALONE, LaunchMode.NONE)
"""Launch modes in which the operator forms no cluster, so that it is nothing to it which host name a Worker has."""
_LONE = (
    f"(has(self.launchMode) ? self.launchMode in {[mode.value for mode in _NUMBERS_NO_DEVICES]} : "
    f"!{ROLES}.exists(k, k.lowerAscii() == '{Role.SCHEDULER.slug}'))"
)
_SEVERAL = f"({_REPLICAS} > 1 || (has(self.elasticPolicy) && self.elasticPolicy.maxReplicas > 1))"
_POD = f"{ROLES}[k].template.spec"
_ON_ONE_HOST = (
    f"has({ROLES}[k].template) && has({_POD}) && has({_POD}.hostNetwork) && {_POD}.hostNetwork && "
    f"has({_POD}.nodeName) && {_POD}.nodeName != ''"
)
_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


def _with_role(role: Role, more: str = "true") -> str:
    return f"{ROLES}.exists(k, k.lowerAscii() == '{role.slug}' && {more})"


def _has(obj: Json, role: Role) -> bool:
    return any(Role.parse(key) is role for key in roles_of(obj))


def job_name(obj: Json) -> str:
    """The name, or one such as the API server makes of `generateName`: cut to leave room for five random characters."""
    metadata = obj.get("metadata") or {}
    generate = metadata.get("generateName")
    return metadata.get("name") or (f"{generate[: meta.MAX_NAME - 5]}00000" if generate else "")


def _name(obj: Json) -> Iterator[Path]:
    if not _NAME.fullmatch(job_name(obj)):
        yield ("metadata", "name")


def _name_length(obj: Json) -> Iterator[Path]:
    name = job_name(obj)
    for key, spec in roles_of(obj).items():
        if len(name) + len(key) + 2 + len(str(max(replicas_of(spec) - 1, 0))) > meta.MAX_NAME:
            yield ("metadata", "name")
            return


def _spec_present(obj: Json) -> Iterator[Path]:
    if not roles_of(obj):
        yield spec_path("msReplicaSpecs")


def _roles_known(obj: Json) -> Iterator[Path]:
    yield from (spec_path("msReplicaSpecs", key) for key in roles_of(obj) if Role.parse(key) is None)


def _roles_unique(obj: Json) -> Iterator[Path]:
    yield from (spec_path("msReplicaSpecs", later) for _, later in duplicates(roles_of(obj)))


def _scheduler_single(obj: Json) -> Iterator[Path]:
    for key, spec in roles_of(obj).items():
        if Role.parse(key) is Role.SCHEDULER and replicas_of(spec) != 1:
            yield spec_path("msReplicaSpecs", key, "replicas")


def _some_pod(obj: Json) -> Iterator[Path]:
    roles = roles_of(obj)
    if roles and not any(replicas_of(spec) > 0 for spec in roles.values()):
        yield spec_path("msReplicaSpecs")


def _container(obj: Json) -> Iterator[Path]:
    for key, spec in roles_of(obj).items():
        containers = ((spec.get("template") or {}).get("spec") or {}).get("containers") or []
        if not any(container.get("name") == meta.CONTAINER for container in containers):
            yield spec_path("msReplicaSpecs", key, "template", "spec", "containers")


def _ps_scheduler(obj: Json) -> Iterator[Path]:
    if _has(obj, Role.PS) and not _has(obj, Role.SCHEDULER):
        yield spec_path("msReplicaSpecs")


def _mode(obj: Json) -> str | None:
    mode = (obj.get("spec") or {}).get("launchMode")
    return mode if isinstance(mode, str) else None


def _dynamic_scheduler(obj: Json) -> Iterator[Path]:
    if _mode(obj) == "DynamicCluster" and roles_of(obj) and not _has(obj, Role.SCHEDULER):
        yield spec_path("launchMode")


def _standalone_alone(obj: Json) -> Iterator[Path]:
    if _mode(obj) == "Standalone" and (_has(obj, Role.SCHEDULER) or _has(obj, Role.PS)):
        yield spec_path("launchMode")


def _msrun_workers(obj: Json) -> Iterator[Path]:
    workers = any(Role.parse(k) is Role.WORKER and replicas_of(spec) > 0 for k, spec in roles_of(obj).items())
    if _mode(obj) == "Msrun" and roles_of(obj) and (_has(obj, Role.PS) or not workers):
        yield spec_path("launchMode")


def _host_network_node(obj: Json) -> Iterator[Path]:
    default = LaunchMode.DYNAMIC_CLUSTER if _has(obj, Role.SCHEDULER) else LaunchMode.STANDALONE
    if (_mode(obj) or default) in _NUMBERS_NO_DEVICES:
        return
    elastic = (obj.get("spec") or {}).get("elasticPolicy") or {}
    for key, spec in roles_of(obj).items():
        pod = (spec.get("template") or {}).get("spec") or {}
        several = max(replicas_of(spec), elastic.get("maxReplicas") or 0) > 1
        if Role.parse(key) is Role.WORKER and several and pod.get("hostNetwork") and pod.get("nodeName"):
            yield spec_path("msReplicaSpecs", key, "template", "spec", "nodeName")


RULES: Final = (
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
            f"has(old.spec) && has(old.spec.msReplicaSpecs) && {_ROOT_ROLES}.all(k, "
            f"k in old.spec.msReplicaSpecs && {_ROOT_REPLICAS} <= (has(old.spec.msReplicaSpecs[k].replicas) ? "
            "old.spec.msReplicaSpecs[k].replicas : 1))"
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
        f"{NO_ROLES} || {ROLES}.all(k, k.lowerAscii() in ['scheduler', 'ps', 'worker'])",
        "unknown role in msReplicaSpecs: use Scheduler, PS or Worker",
        _roles_known,
    ),
    Rule(
        "roles-unique",
        "spec",
        f"{NO_ROLES} || {ROLES}.all(a, {ROLES}.exists_one(b, a.lowerAscii() == b.lowerAscii()))",
        "one role is named twice in msReplicaSpecs in different spellings: keep one (case does not matter, but only "
        "Worker can be scaled by kubectl scale and autoscalers)",
        _roles_unique,
    ),
    Rule(
        "scheduler-single",
        "spec",
        f"{NO_ROLES} || {ROLES}.all(k, k.lowerAscii() != 'scheduler' || {_REPLICAS} == 1)",
        "a job has one Scheduler: set its replicas to 1, or leave the role out",
        _scheduler_single,
    ),
    Rule(
        "some-pod",
        "spec",
        f"{NO_ROLES} || size({ROLES}) == 0 || {ROLES}.exists(k, {_REPLICAS} > 0)",
        "all roles have 0 replicas: a job needs at least one pod",
        _some_pod,
    ),
    Rule(
        "container",
        "spec",
        f"{NO_ROLES} || {ROLES}.all(k, has({ROLES}[k].template) && has({ROLES}[k].template.spec) && "
        f"has({ROLES}[k].template.spec.containers) && "
        f"{ROLES}[k].template.spec.containers.exists(c, c.name == '{meta.CONTAINER}'))",
        f"each role needs a container named {meta.CONTAINER}: its exit is the outcome of the pod",
        _container,
        lenient=f"has(old.msReplicaSpecs) && {ROLES} == old.msReplicaSpecs",
    ),
    Rule(
        "ps-scheduler",
        "spec",
        f"{NO_ROLES} || !{_with_role(Role.PS)} || {_with_role(Role.SCHEDULER)}",
        "PS needs a Scheduler: add the role Scheduler to msReplicaSpecs",
        _ps_scheduler,
    ),
    Rule(
        "launch-dynamic",
        "spec",
        f"!has(self.launchMode) || self.launchMode != 'DynamicCluster' || {NO_ROLES} || size({ROLES}) == 0 || "
        f"{_with_role(Role.SCHEDULER)}",
        "launchMode DynamicCluster needs a Scheduler: add the role, or use Msrun or Standalone",
        _dynamic_scheduler,
    ),
    Rule(
        "launch-standalone",
        "spec",
        f"!has(self.launchMode) || self.launchMode != 'Standalone' || {NO_ROLES} || "
        f"!({_with_role(Role.SCHEDULER)} || {_with_role(Role.PS)})",
        "launchMode Standalone runs each Worker on its own: remove Scheduler and PS, or use DynamicCluster",
        _standalone_alone,
    ),
    Rule(
        "launch-msrun",
        "spec",
        f"!has(self.launchMode) || self.launchMode != 'Msrun' || {NO_ROLES} || size({ROLES}) == 0 || "
        f"({_with_role(Role.WORKER, f'{_REPLICAS} > 0')} && !{_with_role(Role.PS)})",
        "launchMode Msrun needs Workers and takes no PS: msrun starts Worker processes only",
        _msrun_workers,
    ),
    Rule(
        "host-network-node",
        "spec",
        f"{NO_ROLES} || {_LONE} || !{_with_role(Role.WORKER, f'{_SEVERAL} && {_ON_ONE_HOST}')}",
        "with hostNetwork and nodeName all Workers have the host name of that node, and MindSpore, which numbers "
        "devices by host name, counts its devices once for each Worker: leave out nodeName, so that each Worker gets a "
        "node of its own, or use one Worker (in elasticPolicy too) and procPerWorker",
        _host_network_node,
    ),
)
