"""A status that an older schema let in: what can be read of it is kept, the rest is as if it had never been there."""

from typing import Any

import pytest

from msjob_controller.policy.stored import readable

CREATED = {"type": "Created", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z"}
GO = {
    "conditions": [CREATED],
    "replicaStatuses": {"Worker": {"active": 2, "labelSelector": {"matchLabels": {"job-name": "train"}}}},
    "startTime": "2026-01-02T03:04:05Z",
    "lastReconcileTime": "2026-01-02T03:04:05Z",
}


@pytest.mark.parametrize(
    ("stored", "kept"),
    [
        pytest.param(None, {}, id="none"),
        pytest.param("Running", {}, id="text"),
        pytest.param(["Running"], {}, id="a list"),
        pytest.param({}, {}, id="empty"),
        pytest.param(GO, GO, id="of the Go operator"),
        pytest.param({**GO, "attempt": "second"}, GO, id="a number of text"),
        pytest.param({**GO, "restarts": True}, GO, id="a number that is a truth value"),
        pytest.param({**GO, "completionTime": 7}, GO, id="a time that is a number"),
        pytest.param({**GO, "nextRestartTime": "soon"}, GO, id="a time of words"),
        pytest.param({"conditions": "Created"}, {}, id="conditions of text"),
        pytest.param(
            {"conditions": [None, CREATED, "x", {"status": "True"}]}, {"conditions": [CREATED]}, id="one good"
        ),
        pytest.param({"replicaStatuses": {"Worker": "two"}, "attempt": 1}, {"attempt": 1}, id="counts of text"),
        pytest.param(
            {"conditions": None, "replicaStatuses": None}, {"conditions": None, "replicaStatuses": None}, id="null"
        ),
        pytest.param({"invented": {"a": 1}}, {"invented": {"a": 1}}, id="a field that nobody knows"),
    ],
)
def test_readable(stored: object, kept: dict[str, Any]) -> None:
    """Fields and conditions of a wrong type are left out, one by one; all else is as it was."""
    assert readable(stored) == kept
