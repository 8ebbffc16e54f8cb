"""Jobs, pods and events at one moment, for tests of what is said about them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from msjob_client import EventView, Explanation, MSJob, PodView
from msjob_client.explain import Facts, explain
from support.jobs import Json, msjob

NOW = datetime(2026, 12, 1, 12, 0, 0, tzinfo=UTC)
GUILTY: Json = {
    "pod": "train-worker-1",
    "role": "Worker",
    "index": 1,
    "container": "mindspore",
    "exitCode": 1,
    "reason": "Error",
    "node": "n7",
    "attempt": 0,
}


def moment(seconds: float) -> str:
    """A moment so many seconds after `NOW`."""
    return (NOW + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def condition(kind: str, reason: str = "", message: str = "", *, status: str = "True", age: float = 120) -> Json:
    """A condition that changed some seconds ago."""
    stamp = moment(-age)
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": stamp}


CREATED = condition("Created", "MSJobCreated", age=900)


def stored(*conditions: Json, managers: list[Json] | None = None, age: float = 900, **fields: Any) -> MSJob:
    """A job as it is stored; without conditions it has no status.

    Args:
        conditions: after `Created`.
        managers: `metadata.managedFields`.
        age: seconds since it was created.
        fields: `run_policy`, `status_…` for fields of the status, and what `msjob` takes.
    """
    status = {key.removeprefix("status_"): fields.pop(key) for key in list(fields) if key.startswith("status_")}
    if conditions:
        status = {"conditions": [CREATED, *conditions], "observedGeneration": 1, "startTime": moment(-600), **status}
    job = msjob(uid="u", generation=fields.pop("generation", 1), status=status or None, **fields)
    job["metadata"] |= {"creationTimestamp": moment(-age), "managedFields": managers or []}
    return MSJob.read(job)


def pod(name: str, phase: str = "Running", *, spec: Json | None = None, attempt: int = 0, **status: Any) -> PodView:
    """A pod of the job, on a node unless it is said to be on none."""
    role, _, index = name.rpartition("-")
    return PodView.read(
        {
            "metadata": {
                "name": f"train-{name}",
                "namespace": "default",
                "uid": name,
                "labels": {
                    "training.kubeflow.org/replica-type": role,
                    "training.kubeflow.org/replica-index": index,
                    "mindspore.gitee.com/restart-attempt": str(attempt),
                },
            },
            "spec": {"nodeName": "n1", "containers": [{"name": "mindspore"}], **(spec or {})},
            "status": {"phase": phase, "conditions": [{"type": "Ready", "status": "True"}], **status},
        }
    )


def waiting(reason: str, message: str = "", container: str = "mindspore") -> Json:
    """The status of a container that waits."""
    return {"name": container, "state": {"waiting": {"reason": reason, "message": message}}}


def event(reason: str, message: str, name: str = "train", *, age: float = 60, count: int = 1) -> EventView:
    """A warning."""
    when = NOW - timedelta(seconds=age)
    return EventView(when, when, "Warning", reason, message, count, "Pod", name)


def told(job: MSJob | None, *pods: PodView, **facts: Any) -> Explanation:
    """Explain it."""
    return explain(Facts("train", "default", job, pods=pods, **facts), NOW)
