"""The one judgement of a job, for `msjob validate`, `msjob render` and the controller.

It agrees with what the API server says to a `kubectl apply` of the same object (a test compares them), and it knows
more: what the API server stores although no pod could ever be made of it.
"""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from msjob import object_meta
from msjob.api import meta, rules
from msjob.api.problem import Problem
from msjob.pruning import Pruner, Unknown
from msjob.schema import openapi_schema
from msjob.structure import Structure

MAX_PROBLEMS: Final = 100
"""How many problems of one object are told."""

_TOO_LARGE: Final = (
    f"the job has more than {meta.MAX_JOB_BYTES} bytes as JSON, too many to store: keep scripts and data in a ConfigMap"
    " or a volume"
)


def validate(obj: object, unknown: Unknown = "error") -> list[Problem]:
    """Judge a job.

    Args:
        obj: an MSJob as a YAML or JSON reader, or the API server, gives it; anything else is a problem too.
        unknown: whether a field that the API does not know is a problem, or dropped as by an API server that is not
            asked for strict validation.

    Returns:
        What is wrong, at most `MAX_PROBLEMS`; empty for a good job. Faults of types come alone: the rules are only
        asked about an object whose types are sound.
    """
    return admit(obj, unknown)[1]


def admit(obj: object, unknown: Unknown = "error") -> tuple[dict[str, Any], list[Problem]]:
    """Judge a job, and give it as an API server would store it.

    Args:
        obj: see `validate`.
        unknown: see `validate`.

    Returns:
        The job without status, nulls and unknown fields and with the defaults of the schema, to be used only if there
        are no problems; and what is wrong, as `validate` gives it.
    """
    if problems := _check_kind(obj):
        return {}, problems
    pruned = _pruner().prune(obj, unknown)  # type: ignore[arg-type]  # checked to be a mapping
    if not pruned.complete:
        return {}, [Problem((), _TOO_LARGE, "size")]
    job = pruned.value
    job.pop("status", None)
    problems = [*pruned.problems, *(found for found in _structure().check(job) if found.path not in pruned.faulty)]
    if not problems:
        problems = [*_check_metadata(job), *rules.check(job)]
    # First: what is cut off at the end must not be this.
    return job, [*_check_size(job), *problems][:MAX_PROBLEMS]


@cache
def _pruner() -> Pruner:
    return Pruner(_schema())


@cache
def _structure() -> Structure:
    schema = _schema()
    del schema["properties"]["status"]
    return Structure(schema)


def _schema() -> dict[str, Any]:
    schema = openapi_schema()
    schema["properties"]["metadata"] = object_meta.SCHEMA
    return schema


def _check_kind(obj: object) -> list[Problem]:
    if not isinstance(obj, Mapping):
        return [Problem((), "must be an object with apiVersion, kind, metadata and spec")]
    wanted = {"apiVersion": meta.API_VERSION, "kind": meta.KIND}
    return [Problem((key,), f"must be {value}") for key, value in wanted.items() if obj.get(key) != value]


def _check_size(job: dict[str, Any]) -> list[Problem]:
    size = len(json.dumps(job, ensure_ascii=False, separators=(",", ":")).encode())
    return [Problem((), _TOO_LARGE, "size")] if size > meta.MAX_JOB_BYTES else []


def _check_metadata(job: dict[str, Any]) -> list[Problem]:
    problems = [*object_meta.check(job.get("metadata", {}))]
    for role, spec in job.get("spec", {}).get("msReplicaSpecs", {}).items():
        path = ("spec", "msReplicaSpecs", role, "template", "metadata")
        problems += object_meta.check(spec.get("template", {}).get("metadata", {}), path)
    return problems
