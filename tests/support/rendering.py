"""Looking into rendered objects."""

from typing import Any

from kubernetes_validate import utils

from msjob.render import render
from msjob.workload.construct import MSJobWorkload
from msjob.workload.tokens import Facts
from support.jobs import UID, Json

FACTS = Facts(scheduler_ip="10.96.0.7", owner_uid=UID, attempt=0)
"""Facts of a cluster that tests pretend to run in."""


def objects(job: Json, facts: Facts = FACTS, construct: type[MSJobWorkload] = MSJobWorkload) -> list[Json]:
    """All objects of a job, in order of creation.

    Args:
        job: an MSJob.
        facts: of the cluster.
        construct: the construct to render it with.
    """
    return render(job, construct).objects(facts)


def pods(job: Json, facts: Facts = FACTS, construct: type[MSJobWorkload] = MSJobWorkload) -> dict[str, Json]:
    """The pods of a job by `<role>-<index>`, such as `worker-0`; see `objects`."""
    prefix = job["metadata"]["name"] + "-"
    found = [item for item in objects(job, facts, construct) if item["kind"] == "Pod"]
    return {item["metadata"]["name"].removeprefix(prefix): item for item in found}


def service(job: Json, facts: Facts = FACTS) -> Json | None:
    """The Service of a job, None for a job without; see `objects`."""
    return next((item for item in objects(job, facts) if item["kind"] == "Service"), None)


def main_container(pod: Json) -> Json:
    """The `mindspore` container of a pod."""
    return next(item for item in pod["spec"]["containers"] if item["name"] == "mindspore")


def variables(pod: Json) -> dict[str, Any]:
    """The environment of a pod's `mindspore` container: the values, and for a field of the pod its path in `<>`."""
    found = {}
    for item in main_container(pod).get("env", []):
        source = item.get("valueFrom", {})
        found[item["name"]] = f"<{source['fieldRef']['fieldPath']}>" if "fieldRef" in source else item.get("value")
    return found


def check_schema(manifest: Json) -> None:
    """Check an object against the schema that Kubernetes publishes of its kind, in which no unknown field is allowed.

    Raises:
        kubernetes_validate.ValidationError: it does not keep the schema.
    """
    utils.validate(manifest, utils.latest_version(), strict=True)
