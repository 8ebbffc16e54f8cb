"""What the decisions see of pods and Services."""

from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest

from msjob.api import Role
from msjob_controller.policy.observed import (
    Outcome,
    Pod,
    Service,
    format_time,
    observe,
    parse_time,
    read_pod,
    read_service,
)
from support.pods import RUNNING, at, pod_json, stamp, terminated

P, R, S, F = Outcome.PENDING, Outcome.RUNNING, Outcome.SUCCEEDED, Outcome.FAILED
WAITING: dict[str, Any] = {"waiting": {"reason": "ImagePullBackOff"}}


def read(item: dict[str, Any]) -> Pod:
    """Read a pod that is one of the job's, and check that the reading leaves it as it is."""
    before = deepcopy(item)
    found = read_pod(item)
    assert found is not None
    assert item == before
    return found


@pytest.mark.parametrize(
    ("item", "outcome"),
    [
        pytest.param(pod_json(phase=None), P, id="no kubelet has seen it"),
        pytest.param(pod_json(phase="Pending"), P, id="pending"),
        pytest.param(pod_json(phase="Pending", states={"mindspore": WAITING}), P, id="image missing"),
        pytest.param(pod_json(phase="Running", states={"mindspore": RUNNING}), R, id="running"),
        pytest.param(pod_json(phase="Running"), R, id="running, no container known"),
        pytest.param(pod_json(phase="Unknown"), P, id="nobody knows"),
        pytest.param(pod_json(phase="Succeeded", states={"mindspore": terminated(0)}), S, id="exit 0"),
        pytest.param(pod_json(phase="Failed", states={"mindspore": terminated(1)}), F, id="exit 1"),
        pytest.param(pod_json(phase="Failed", states={"mindspore": terminated(137)}), F, id="killed"),
        pytest.param(
            pod_json(phase="Running", states={"mindspore": terminated(0), "logs": RUNNING}), S, id="sidecar outlives 0"
        ),
        pytest.param(
            pod_json(phase="Running", states={"logs": RUNNING, "mindspore": terminated(1)}), F, id="sidecar outlives 1"
        ),
        pytest.param(
            pod_json(phase="Failed", states={"mindspore": terminated(0), "logs": terminated(1)}), S, id="sidecar fails"
        ),
        pytest.param(
            pod_json(phase="Running", states={"mindspore": RUNNING, "logs": terminated(1)}), R, id="sidecar falls early"
        ),
        pytest.param(pod_json(phase="Failed", reason="Evicted"), F, id="evicted without container statuses"),
        pytest.param(
            pod_json(phase="Failed", states={"mindspore": WAITING}, reason="UnexpectedAdmissionError"),
            F,
            id="not admitted",
        ),
        pytest.param(pod_json(phase="Failed", states={"mindspore": RUNNING}, reason="NodeLost"), F, id="node lost"),
        pytest.param(pod_json(phase="Succeeded"), S, id="phase alone"),
        # The kubelet restarts it.
        pytest.param(
            pod_json(phase="Running", states={"mindspore": terminated(1)}, restart_policy="OnFailure"),
            R,
            id="about to be restarted",
        ),
        pytest.param(
            pod_json(phase="Running", states={"mindspore": WAITING}, restart_policy="OnFailure"), R, id="backing off"
        ),
        pytest.param(
            pod_json(phase="Failed", states={"mindspore": terminated(1)}, restart_policy="OnFailure", reason="Evicted"),
            F,
            id="evicted, so restarted no more",
        ),
        pytest.param(
            pod_json(phase="Running", states={"mindspore": terminated(0), "logs": RUNNING}, restart_policy="OnFailure"),
            S,
            id="done under a policy that restarts",
        ),
    ],
)
def test_outcome(item: dict[str, Any], outcome: Outcome) -> None:
    """The exit of the `mindspore` container decides; without one the phase does."""
    assert read(item).outcome is outcome


@pytest.mark.parametrize("code", [0, 1, 137, 143])
def test_what_a_deletion_does_is_no_outcome(code: int) -> None:
    """A pod that ends because it was told to has neither failed nor succeeded, whatever it exits with."""
    states = {"mindspore": terminated(code, seconds=20)}
    phase = "Failed" if code else "Succeeded"
    told = read(pod_json(phase=phase, states=states, deleted=(20, 30)))
    assert (told.outcome, told.deleting, told.exit_code) == (P, True, code)
    on_its_own = read(pod_json(phase=phase, states=states, deleted=(21, 30)))
    assert (on_its_own.outcome, on_its_own.deleting) == (F if code else S, True)


@pytest.mark.parametrize("grace", [1, 10, 3600])
def test_the_grace_period_makes_no_difference(grace: int) -> None:
    """A deletion counts from when it was asked for; its timestamp is the end of the grace period."""
    before = pod_json(phase="Failed", states={"mindspore": terminated(1, seconds=99)}, deleted=(100, grace))
    after = pod_json(phase="Failed", states={"mindspore": terminated(1, seconds=101)}, deleted=(100, grace))
    assert (read(before).outcome, read(after).outcome) == (F, P)


@pytest.mark.parametrize("code", [0, 143])
def test_the_last_word_of_a_deletion(code: int) -> None:
    """Done with stopping a pod, the kubelet has it deleted at once: then the timestamp tells that moment alone."""
    states = {"mindspore": terminated(code, seconds=20)}
    phase = "Failed" if code else "Succeeded"
    assert read(pod_json(phase=phase, states=states, deleted=(22, 0))).outcome is P


def test_a_deleted_pod_that_runs_or_waits() -> None:
    """Until it ends, a pod that is being deleted runs; one that fails without a time was made to."""
    assert read(pod_json(states={"mindspore": RUNNING}, deleted=(0, 30))).outcome is R
    assert read(pod_json(phase="Failed", deleted=(0, 30))).outcome is P


def test_sidecars() -> None:
    """A pod lingers while another container runs after `mindspore` has ended, and only then."""
    assert read(pod_json(states={"mindspore": terminated(0), "logs": RUNNING})).lingering
    assert read(pod_json(states={"mindspore": terminated(1), "logs": RUNNING})).lingering
    assert not read(pod_json(states={"mindspore": terminated(0)})).lingering
    assert not read(pod_json(states={"mindspore": terminated(0), "logs": terminated(0)})).lingering
    assert not read(pod_json(states={"mindspore": RUNNING, "logs": RUNNING})).lingering


def test_details() -> None:
    """Exit code and time are those of the container; so are reason and message, unless the pod has a reason."""
    ended = terminated(137, seconds=42, reason="OOMKilled", message=" out of memory\n")
    item = pod_json(Role.PS, 3, phase="Failed", states={"mindspore": ended}, message="Y")
    assert read(item) == Pod(
        "train-ps-3", Role.PS, 3, F, exit_code=137, finished_at=at(42), cause="OOMKilled: out of memory"
    )
    why: dict[str, Any] = {"reason": "Evicted", "message": "The node was low on resource: memory."}
    killed: dict[str, Any] = {"mindspore": terminated(137, reason="Error")}
    assert (
        read(pod_json(phase="Failed", states=killed, **why)).cause == "Evicted: The node was low on resource: memory."
    )
    evicted = pod_json(phase="Failed", **why)
    assert read(evicted).cause == "Evicted: The node was low on resource: memory."
    assert read(evicted).finished_at is None
    assert read(pod_json(phase="Failed")).cause == ""


def test_labels() -> None:
    """Labels say which pod it is: the operator's, else the older ones of the Go operator."""
    item = pod_json(Role.WORKER, 2)
    item["metadata"]["labels"] = {"replica-type": "worker", "replica-index": "2"}
    assert (read(item).role, read(item).index) == (Role.WORKER, 2)
    item["metadata"]["labels"] = {"replica-type": "ps", "training.kubeflow.org/replica-type": "scheduler"} | {
        "replica-index": "0"
    }
    assert read(item).role is Role.SCHEDULER


@pytest.mark.parametrize(
    "labels",
    [
        None,
        {},
        {"training.kubeflow.org/replica-type": "worker"},
        {"training.kubeflow.org/replica-index": "1"},
        {"training.kubeflow.org/replica-type": "chief", "training.kubeflow.org/replica-index": "1"},
        {"training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": "x"},
        {"training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": "-1"},
        {"training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": "1.5"},
    ],
)
def test_pods_that_cannot_be_placed(labels: dict[str, str] | None) -> None:
    """A pod whose labels do not say which one it is, is none of the job's."""
    item = pod_json()
    item["metadata"]["labels"] = labels
    assert read_pod(item) is None
    assert observe([item], []).pods == {}


def test_observe() -> None:
    """Pods are found by role and index, whatever the order."""
    found = observe([pod_json(Role.WORKER, 1), pod_json(Role.SCHEDULER, 0)], [])
    assert {key: item.name for key, item in found.pods.items()} == {
        (Role.WORKER, 1): "train-worker-1",
        (Role.SCHEDULER, 0): "train-scheduler-0",
    }
    assert found.service is None


@pytest.mark.parametrize(
    ("spec", "address"),
    [
        ({"clusterIP": "10.0.0.1"}, "10.0.0.1"),
        ({"clusterIP": "fd00::1"}, "fd00::1"),
        ({"clusterIP": "None"}, ""),
        ({"clusterIP": ""}, ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_service(spec: dict[str, Any] | None, address: str) -> None:
    """A Service has an address once the API server has allocated one; a headless one never has."""
    item = {"metadata": {"name": "train-scheduler-0"}, "spec": spec}
    assert read_service(item) == Service("train-scheduler-0", address)
    assert observe([], [item]).service == Service("train-scheduler-0", address)


def test_service_on_its_way_out() -> None:
    """A Service with a deletion timestamp says so."""
    item = {"metadata": {"name": "a", "deletionTimestamp": stamp(0)}, "spec": {"clusterIP": "10.0.0.1"}}
    assert read_service(item).deleting


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2026-01-02T03:04:05.678901Z", datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)),
        ("2026-01-02T05:04:05+02:00", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("yesterday", None),
        ("", None),
        (None, None),
    ],
)
def test_times(text: str | None, when: datetime | None) -> None:
    """Kubernetes' timestamps are read in UTC; what is none is no time."""
    assert parse_time(text) == when


def test_times_are_written_in_whole_seconds() -> None:
    """The API server stores whole seconds: to write more would differ from what is read back."""
    when = datetime(2026, 1, 2, 3, 4, 5, 999999, tzinfo=UTC)
    assert format_time(when) == "2026-01-02T03:04:05Z"
    assert parse_time(format_time(when)) == when.replace(microsecond=0)
