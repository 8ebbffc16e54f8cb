"""Live objects against what ``msjob render`` prints for the same facts."""

import copy
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.jobs import Json
from support.live_jobs import SERVICES, Jobs
from support.operator import program_environment
from support.programs import ROOT, run_program
from support.testbed.client import PODS, Client

_RESOURCES = {
    "Pod": PODS,
    "Service": SERVICES,
    "ConfigMap": "v1/configmaps",
    "HorizontalPodAutoscaler": "autoscaling/v2/horizontalpodautoscalers",
}
_GIVEN_BY_THE_SERVER = ("creationTimestamp", "generation", "managedFields", "namespace", "resourceVersion", "uid")
_TOKEN_VOLUME = "kube-api-access-"  # noqa: S105 - the name that admission gives, and no token


def rendered(file: Path, jobs: Jobs, name: str, *flags: str, env: dict[str, str] | None = None) -> list[Json]:
    """What ``msjob render`` prints for a job of a file, given the facts of the live one.

    Args:
        file: the job.
        jobs: where the live job is.
        name: of the job.
        flags: more flags.
        env: more variables.
    """
    services = jobs.client.list(SERVICES, jobs.namespace, labels=f"training.kubeflow.org/job-name={name}")
    facts = ["--owner-uid", jobs.get(name)["metadata"]["uid"]]
    facts += [part for service in services for part in ("--scheduler-ip", service["spec"]["clusterIP"])]
    command = [sys.executable, "-m", "msjob", "render", "-f", str(file), "-o", "json", *facts, *flags]
    result = run_program(*command, env={**program_environment(), **(env or {})}, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def live(jobs: Jobs, name: str) -> dict[str, Json]:
    """All objects that a live job owns, by kind and name."""
    uid = jobs.get(name)["metadata"]["uid"]
    found = {}
    for kind, resource in _RESOURCES.items():
        for item in jobs.client.list(resource, jobs.namespace):
            if any(owner["uid"] == uid for owner in item["metadata"].get("ownerReferences", [])):
                version = resource.rpartition("/")[0]
                found[f"{kind} {item['metadata']['name']}"] = {"apiVersion": version, "kind": kind, **item}
    return found


def as_stored(client: Client, item: Json, namespace: str) -> Json:
    """What the API server makes of an object: its defaults and admission, asked for without storing anything.

    Args:
        client: a client that may do everything.
        item: the object.
        namespace: a namespace in which there is no such object.
    """
    body = copy.deepcopy(item)
    body["metadata"]["namespace"] = namespace
    return client.create(_RESOURCES[item["kind"]], body, namespace, dryRun="All")


def comparable(item: Json) -> Json:
    """An object without what the API server gives each one anew."""
    result: Json = json.loads(json.dumps(item))
    result.pop("status", None)
    for field in _GIVEN_BY_THE_SERVER:
        result["metadata"].pop(field, None)
    spec = result.get("spec", {})
    for field in ("clusterIP", "clusterIPs"):
        spec.pop(field, None)
    for entry in _volumes(spec):
        if entry["name"].startswith(_TOKEN_VOLUME):
            entry["name"] = _TOKEN_VOLUME
    return result


def _volumes(spec: Json) -> list[Any]:
    containers = [*spec.get("containers", []), *spec.get("initContainers", [])]
    return [*spec.get("volumes", []), *(mount for item in containers for mount in item.get("volumeMounts", []))]


def differing(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """The places in which two JSON values differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            yield from differing(one.get(key), other.get(key), f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differing(left, right, f"{path}[{index}]")
    elif one != other:
        yield f"{path}: {one!r} is not {other!r}"


def check_same(jobs: Jobs, name: str, printed: list[Json], elsewhere: str) -> None:
    """Check that the objects of a live job are those printed: all of them, no other, and each in every field.

    Args:
        jobs: where the live job is.
        name: of the job.
        printed: what ``msjob render`` printed for it.
        elsewhere: another namespace, see `as_stored`.
    """
    wanted = {f"{item['kind']} {item['metadata']['name']}": item for item in printed}
    found = live(jobs, name)
    assert found.keys() == wanted.keys()
    for key, item in wanted.items():
        differences = list(differing(comparable(found[key]), comparable(as_stored(jobs.client, item, elsewhere))))
        assert not differences, f"{key}: {differences}"
