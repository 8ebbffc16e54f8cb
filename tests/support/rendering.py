"""Looking into rendered objects."""

from typing import Any

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
    env = main_container(pod).get("env", [])
    return {
        item["name"]: item["value"] if "value" in item else f"<{item['valueFrom']['fieldRef']['fieldPath']}>"
        for item in env
    }
