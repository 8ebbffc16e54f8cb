"""Rules about policies: who manages a job, what its failures mean, between which bounds it is scaled."""

from collections.abc import Iterator
from typing import Final, get_args

from msjob.api import meta
from msjob.api.kubernetes import MetricSpec
from msjob.api.roles import Role
from msjob.api.rules.rule import NO_ROLES, ROLES, Json, Path, Rule, replicas_of, roles_of, spec_path
from msjob.api.rules.shape import job_name

_FAILURE_KEYS: Final = ("onExitCodes", "onPodConditions", "onPodReasons", "replicaTypes")
_NO_FAILURE_RULES = "!has(self.runPolicy) || !has(self.runPolicy.failurePolicy)"
_FAILURE_RULES = "self.runPolicy.failurePolicy.rules"
_SAME_FAILURE_RULES = (
    f"has(old.runPolicy) && has(old.runPolicy.failurePolicy) && {_FAILURE_RULES} == old.runPolicy.failurePolicy.rules"
)
"""The API server knows no bound for lists of the old object, so that a second look at each rule is too dear for it."""
_ELASTIC = "self.elasticPolicy"
_METRICS = {kind: kind[0].lower() + kind[1:] for kind in get_args(MetricSpec.model_fields["type"].annotation)}
_NO_ELASTIC = f"!has({_ELASTIC})"
_ELASTIC_MIN = f"(has({_ELASTIC}.minReplicas) ? {_ELASTIC}.minReplicas : 1)"
_WORKERS = f"(has({ROLES}.Worker.replicas) ? {ROLES}.Worker.replicas : 1)"


def _managed_by_agrees(obj: Json) -> Iterator[Path]:
    spec = obj.get("spec") or {}
    inner = (spec.get("runPolicy") or {}).get("managedBy")
    if inner is not None and spec.get("managedBy") is not None and inner != spec["managedBy"]:
        yield spec_path("managedBy")


def _failure_rules(obj: Json) -> Iterator[tuple[int, Json]]:
    policy = ((obj.get("spec") or {}).get("runPolicy") or {}).get("failurePolicy") or {}
    return enumerate(policy.get("rules") or [])


def _failure_path(index: int, *parts: str | int) -> Path:
    return spec_path("runPolicy", "failurePolicy", "rules", index, *parts)


def _failure_names(obj: Json) -> Iterator[Path]:
    for index, rule in _failure_rules(obj):
        if not any(rule.get(key) is not None for key in _FAILURE_KEYS):
            yield _failure_path(index)


def _failure_codes(obj: Json) -> Iterator[Path]:
    for index, rule in _failure_rules(obj):
        codes = rule.get("onExitCodes") or {}
        if codes.get("operator") == "In" and 0 in codes["values"]:
            yield _failure_path(index, "onExitCodes", "values")


def _failure_roles(obj: Json) -> Iterator[Path]:
    roles = {key.lower() for key in roles_of(obj)}
    for index, rule in _failure_rules(obj):
        for place, role in enumerate(rule.get("replicaTypes") or []):
            if roles and not (role.isascii() and role.lower() in roles):
                yield _failure_path(index, "replicaTypes", place)


def _elastic(obj: Json) -> Json | None:
    policy: Json | None = (obj.get("spec") or {}).get("elasticPolicy")
    return policy


def _elastic_min(policy: Json) -> int:
    value = policy.get("minReplicas")
    return 1 if value is None else int(value)


def _elastic_bounds(obj: Json) -> Iterator[Path]:
    policy = _elastic(obj)
    if policy is not None and _elastic_min(policy) > policy["maxReplicas"]:
        yield spec_path("elasticPolicy", "minReplicas")


def _elastic_worker(obj: Json) -> Iterator[Path]:
    if _elastic(obj) is not None and roles_of(obj) and Role.WORKER not in roles_of(obj):
        yield spec_path("elasticPolicy")


def _elastic_replicas(obj: Json) -> Iterator[Path]:
    policy, worker = _elastic(obj), roles_of(obj).get(Role.WORKER)
    if policy is not None and worker is not None:
        replicas = replicas_of(worker)
        if replicas < _elastic_min(policy) or replicas > policy["maxReplicas"]:
            yield spec_path("msReplicaSpecs", Role.WORKER, "replicas")


def _elastic_metrics(obj: Json) -> Iterator[Path]:
    for index, metric in enumerate((_elastic(obj) or {}).get("metrics") or []):
        named = [kind for kind, field in _METRICS.items() if metric.get(field) is not None]
        if named != [metric["type"]]:
            yield spec_path("elasticPolicy", "metrics", index)


def _elastic_name(obj: Json) -> Iterator[Path]:
    policy = _elastic(obj)
    if policy is not None:
        last = f"-{Role.WORKER}-{policy['maxReplicas'] - 1}"
        if len(job_name(obj)) + len(last) > meta.MAX_NAME:
            yield ("metadata", "name")


RULES: Final = (
    Rule(
        "managed-by-agrees",
        "spec",
        "!has(self.managedBy) || !has(self.runPolicy) || !has(self.runPolicy.managedBy) || "
        "self.managedBy == self.runPolicy.managedBy",
        "managedBy and runPolicy.managedBy differ: set one of them, or both to the same value",
        _managed_by_agrees,
    ),
    Rule(
        "failure-rule-names",
        "spec",
        f"{_NO_FAILURE_RULES} || {_FAILURE_RULES}.all(r, {' || '.join(f'has(r.{key})' for key in _FAILURE_KEYS)})",
        "a rule of failurePolicy that names nothing would match every failure: give it onExitCodes, onPodConditions, "
        "onPodReasons or replicaTypes",
        _failure_names,
        lenient=_SAME_FAILURE_RULES,
    ),
    Rule(
        "failure-rule-codes",
        "spec",
        f"{_NO_FAILURE_RULES} || {_FAILURE_RULES}.all(r, !has(r.onExitCodes) || r.onExitCodes.operator != 'In' || "
        "!(0 in r.onExitCodes.values))",
        "exit code 0 is no failure, so that a rule of failurePolicy never meets it: remove 0 from the values",
        _failure_codes,
        lenient=_SAME_FAILURE_RULES,
    ),
    Rule(
        "failure-rule-roles",
        "spec",
        f"{_NO_FAILURE_RULES} || {NO_ROLES} || size({ROLES}) == 0 || {_FAILURE_RULES}.all(r, !has(r.replicaTypes) || "
        f"r.replicaTypes.all(t, {ROLES}.exists(k, k.lowerAscii() == t.lowerAscii())))",
        "replicaTypes of failurePolicy name a role that the job does not have: use keys of msReplicaSpecs (case does "
        "not matter)",
        _failure_roles,
        lenient=_SAME_FAILURE_RULES,
    ),
    Rule(
        "elastic-bounds",
        "spec",
        f"{_NO_ELASTIC} || {_ELASTIC_MIN} <= {_ELASTIC}.maxReplicas",
        "minReplicas of elasticPolicy is greater than maxReplicas: swap them, or raise maxReplicas",
        _elastic_bounds,
    ),
    Rule(
        "elastic-worker",
        "spec",
        f"{_NO_ELASTIC} || {NO_ROLES} || size({ROLES}) == 0 || 'Worker' in {ROLES}",
        "elasticPolicy scales the role Worker, spelled exactly so in msReplicaSpecs: the scale subresource finds no "
        "other",
        _elastic_worker,
    ),
    Rule(
        "elastic-replicas",
        "spec",
        f"{_NO_ELASTIC} || {NO_ROLES} || !('Worker' in {ROLES}) || "
        f"({_ELASTIC_MIN} <= {_WORKERS} && {_WORKERS} <= {_ELASTIC}.maxReplicas)",
        "replicas of Worker (1 unless set) are outside minReplicas (1 unless set) and maxReplicas of elasticPolicy: "
        "set a number between them",
        _elastic_replicas,
    ),
    Rule(
        "elastic-metrics",
        "spec",
        f"{_NO_ELASTIC} || !has({_ELASTIC}.metrics) || {_ELASTIC}.metrics.all(m, "
        + " && ".join(f"has(m.{field}) == (m.type == '{kind}')" for kind, field in _METRICS.items())
        + ")",
        "a metric of elasticPolicy needs the field that its type names, and no other: with type Resource, resource",
        _elastic_metrics,
        lenient="has(old.elasticPolicy) && self.elasticPolicy == old.elasticPolicy",
    ),
    Rule(
        "elastic-name",
        "root",
        "!has(self.spec) || !has(self.spec.elasticPolicy) || size(self.metadata.name) + size('-Worker-') + "
        f"size(string(self.spec.elasticPolicy.maxReplicas - 1)) <= {meta.MAX_NAME}",
        f"metadata.name is too long for maxReplicas of elasticPolicy: <name>-worker-<maxReplicas - 1> must fit in "
        f"{meta.MAX_NAME} characters; choose a shorter name",
        _elastic_name,
    ),
)
