"""What a change of a job's status is worth: counters, and a line in the log for each condition that became True."""

from collections.abc import Mapping
from typing import Any, Final

import structlog

from msjob.api import ConditionType
from msjob_controller.metrics import Metrics, RestartReason
from msjob_controller.policy import conditions

Json = dict[str, Any]
Status = Mapping[str, Any]

_COUNTED: Final = {
    ConditionType.CREATED: "created",
    ConditionType.SUCCEEDED: "successful",
    ConditionType.FAILED: "failed",
}

_log = structlog.get_logger(__name__)


def record(job: Json, before: Status, after: Status, metrics: Metrics) -> None:
    """Take note of a status that has been written.

    Args:
        job: the job.
        before: its status until then.
        after: its status now.
        metrics: where to count.
    """
    namespace, name = job["metadata"]["namespace"], job["metadata"]["name"]
    for condition in after.get("conditions") or []:
        kind = condition["type"]
        if condition["status"] == "True" and not conditions.is_true(before.get("conditions") or [], kind):
            _log.info("job.condition", job=f"{namespace}/{name}", condition=kind, reason=condition.get("reason"))
            if kind in _COUNTED:
                metrics.job(_COUNTED[kind], namespace)
    metrics.failed_pods.inc(max(0, _failed(after) - _failed(before)))
    for reason, count in restarts(before, after).items():
        metrics.restarted(namespace, reason, count)


def restarts(before: Status, after: Status) -> dict[RestartReason, int]:
    """The restarts between two statuses, by what they were for.

    A failure is one that counts towards backoffLimit, a disruption any other; a scaling is a new attempt with another
    number of Workers.
    """
    grown = _growth(before, after, "restarts")
    counted = min(grown, _growth(before, after, "restartsCountTowardsLimit"))
    sizes = before.get("workerReplicas"), after.get("workerReplicas")
    scaled = grown == 0 and _growth(before, after, "attempt") > 0 and None not in sizes and sizes[0] != sizes[1]
    found: dict[RestartReason, int] = {"failure": counted, "disruption": grown - counted, "scale": int(scaled)}
    return {reason: count for reason, count in found.items() if count}


def _growth(before: Status, after: Status, field: str) -> int:
    return max(0, (after.get(field) or 0) - (before.get(field) or 0))


def _failed(status: Status) -> int:
    """Failed pods that a status counts."""
    return sum(role.get("failed") or 0 for role in (status.get("replicaStatuses") or {}).values())
