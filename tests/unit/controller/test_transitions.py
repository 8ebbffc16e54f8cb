"""What a change of a job's status is worth."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from msjob_controller.metrics import Metrics
from msjob_controller.transitions import record, restarts
from support.jobs import msjob

Json = dict[str, Any]


def status(*conditions: str, **fields: Any) -> Json:
    """A status with conditions, False where there is a dash before the type."""
    listed = [
        {"type": kind.strip("-"), "status": "False" if kind[0] == "-" else "True", "reason": f"Why{kind}"}
        for kind in conditions
    ]
    return {"conditions": listed, **fields}


def counted(metrics: Metrics) -> dict[str, float]:
    """All counters that are not 0."""
    samples = [sample for family in metrics.registry.collect() for sample in family.samples]
    return {sample.name.removeprefix("training_operator_"): sample.value for sample in samples if sample.value}


@pytest.mark.parametrize(
    ("before", "after", "told", "expected"),
    [
        (status(), status("Created"), ["Created"], {"jobs_created_total": 1}),
        (status("Created"), status("Created", "Running"), ["Running"], {}),
        (status("Created", "Running"), status("Created", "Running"), [], {}),
        (status("-Stalled", "Created"), status("Stalled", "Created"), ["Stalled"], {}),
        (status("Stalled", "Created"), status("-Stalled", "Created"), [], {}),
        (status("Running"), status("-Running", "Succeeded"), ["Succeeded"], {"jobs_successful_total": 1}),
        ({}, status("Created", "Failed"), ["Created", "Failed"], {"jobs_created_total": 1, "jobs_failed_total": 1}),
    ],
)
def test_conditions(before: Json, after: Json, told: list[str], expected: dict[str, float]) -> None:
    """Each condition that became True is one line with job and reason, and counts if it is one that is counted."""
    metrics = Metrics()
    with capture_logs() as logs:
        record(msjob(), before, after, metrics)
    assert [(entry["job"], entry["condition"], entry["reason"]) for entry in logs] == [
        ("default/train", kind, f"Why{kind}") for kind in told
    ]
    assert counted(metrics) == expected


def test_failed_pods() -> None:
    """Pods count as failed once, and those of an attempt that is over are not taken back."""
    metrics = Metrics()
    numbers: list[Json] = [{"Worker": {"failed": 2}, "PS": {"failed": 1}}, {"Worker": {"failed": 0}}, {"Worker": {}}]
    for failed in numbers:
        record(msjob(), {"replicaStatuses": {"Worker": {"failed": 1}}}, {"replicaStatuses": failed}, metrics)
    assert counted(metrics) == {"failed_pods_total": 2}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, {}, {}),
        ({}, {"restarts": 1, "restartsCountTowardsLimit": 1, "attempt": 1}, {"failure": 1}),
        ({"restarts": 1}, {"restarts": 2, "restartsCountTowardsLimit": 0, "attempt": 2}, {"disruption": 1}),
        (
            {"restarts": 2, "restartsCountTowardsLimit": 1},
            {"restarts": 5, "restartsCountTowardsLimit": 2},
            {"failure": 1, "disruption": 2},
        ),
        # A restart that turns out to be the fault of a node is taken off the limit; it was one all the same.
        ({"restarts": 1, "restartsCountTowardsLimit": 1}, {"restarts": 1, "restartsCountTowardsLimit": 0}, {}),
        ({"attempt": 1, "workerReplicas": 2}, {"attempt": 2, "workerReplicas": 4}, {"scale": 1}),
        # Suspended, and resumed with another number of Workers.
        ({"attempt": 1, "workerReplicas": 2}, {"attempt": 2}, {}),
        ({"attempt": 2}, {"attempt": 2, "workerReplicas": 4}, {}),
        # A number of Workers that changes before there is any.
        ({"workerReplicas": 2}, {"workerReplicas": 4}, {}),
        (
            {"attempt": 1, "workerReplicas": 2},
            {"attempt": 2, "workerReplicas": 4, "restarts": 1, "restartsCountTowardsLimit": 1},
            {"failure": 1},
        ),
    ],
)
def test_restarts(before: Json, after: Json, expected: dict[str, int]) -> None:
    """Restarts are told apart by what they were for."""
    assert restarts(before, after) == expected
