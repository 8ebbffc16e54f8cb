"""What the decisions see of pods and Services."""

from copy import deepcopy
from typing import Any

import pytest

from msjob.api import Role
from msjob_controller.policy.observed import Autoscaler, Outcome, Pod, Service, Trouble
from msjob_controller.policy.reading import node_is_lost, observe, read_autoscaler, read_pod, read_service
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
    ended = terminated(137, seconds=42, reason="OOMKilled", message=" out of memory\n", startedAt=stamp(7))
    item = pod_json(
        Role.PS,
        3,
        phase="Failed",
        states={"mindspore": ended, "logs": terminated(2)},
        message="Y",
        attempt=4,
        node="n1",
        conditions={"Ready": "False", "DisruptionTarget": "True"},
    )
    assert read(item) == Pod(
        "train-ps-3",
        Role.PS,
        3,
        F,
        uid="uid-train-ps-3",
        attempt=4,
        started=True,
        exit_code=137,
        exit_codes={"mindspore": 137, "logs": 2},
        started_at=at(7),
        finished_at=at(42),
        reason="OOMKilled",
        message="out of memory",
        reasons=frozenset({"OOMKilled"}),
        conditions={"Ready": "False", "DisruptionTarget": "True"},
        node="n1",
    )


@pytest.mark.parametrize(
    ("item", "reason", "message", "reasons"),
    [
        pytest.param(
            pod_json(phase="Failed", reason="Evicted", message="low on memory"),
            "Evicted",
            "low on memory",
            {"Evicted"},
            id="evicted",
        ),
        pytest.param(
            pod_json(
                phase="Failed",
                states={"mindspore": terminated(137, reason="Error")},
                reason="Evicted",
                message="low on memory",
            ),
            "Evicted",
            "low on memory",
            {"Evicted", "Error"},
            id="evicted, its container killed",
        ),
        pytest.param(
            pod_json(
                phase="Failed",
                states={"mindspore": terminated(143, reason="Error", message="step 7")},
                reason="Terminated",
                message="Pod was terminated in response to imminent node shutdown.",
            ),
            "Terminated",
            "step 7",
            {"Terminated", "Error"},
            id="the last words of the container come first",
        ),
        pytest.param(
            pod_json(phase="Failed", states={"mindspore": terminated(3, reason="Error", message="NaN")}),
            "Error",
            "NaN",
            {"Error"},
            id="a termination message",
        ),
        pytest.param(pod_json(phase="Failed"), "", "", set(), id="nothing is known"),
    ],
)
def test_why(item: dict[str, Any], reason: str, message: str, reasons: set[str]) -> None:
    """The reason of the pod comes before that of its container, a termination message before that of the pod."""
    found = read(item)
    assert (found.reason, found.message, set(found.reasons)) == (reason, message, reasons)


def test_no_time_without_an_end() -> None:
    """A pod that failed without an exit has no time and no code."""
    found = read(pod_json(phase="Failed", reason="Evicted"))
    assert (found.finished_at, found.exit_code, found.exit_codes, found.started) == (None, None, {}, False)


class TestInitContainers:
    """Containers that run before `mindspore`."""

    def test_one_that_failed(self) -> None:
        """An init container that fails is the one to blame, by its name, as long as `mindspore` has not ended."""
        found = read(pod_json(phase="Failed", inits={"ok": terminated(0), "fetch": terminated(4, seconds=9)}))
        assert (found.outcome, found.container, found.exit_code, found.finished_at) == (F, "fetch", 4, at(9))
        assert found.exit_codes == {"ok": 0, "fetch": 4}
        assert not found.started

    def test_one_that_is_done(self) -> None:
        """One that ended well tells nothing."""
        found = read(pod_json(phase="Pending", inits={"fetch": terminated(0)}, states={"mindspore": {"waiting": {}}}))
        assert (found.outcome, found.container, found.exit_code) == (P, "mindspore", None)

    def test_beside_mindspore(self) -> None:
        """Once `mindspore` has ended its own exit decides, also beside an init container that failed and went on."""
        states = {"mindspore": terminated(7)}
        found = read(pod_json(phase="Failed", inits={"sidecar": terminated(1)}, states=states))
        assert (found.container, found.exit_code) == ("mindspore", 7)


class TestStarted:
    """Whether the training process has ever run."""

    @pytest.mark.parametrize(
        ("item", "started"),
        [
            (pod_json(phase=None), False),
            (pod_json(phase="Pending", states={"mindspore": WAITING}), False),
            (pod_json(phase="Pending", inits={"fetch": RUNNING}, states={"mindspore": {"waiting": {}}}), False),
            (pod_json(states={"mindspore": RUNNING}), True),
            (pod_json(), True),
            (pod_json(phase="Failed", states={"mindspore": terminated(1)}), True),
            (pod_json(phase="Failed", reason="Evicted"), False),
        ],
    )
    def test_started(self, item: dict[str, Any], *, started: bool) -> None:
        """It has if it runs or has ended, and not if it only waited, or its pod ended without it."""
        assert read(item).started is started

    def test_between_two_tries_of_the_kubelet(self) -> None:
        """A container that waits to be started again has run before."""
        item = pod_json(states={"mindspore": {"waiting": {"reason": "CrashLoopBackOff"}}}, restart_policy="OnFailure")
        item["status"]["containerStatuses"][0] |= {"lastState": terminated(1), "restartCount": 3}
        found = read(item)
        assert (found.started, found.restart_count, found.kubelet_restarts) == (True, 3, True)


@pytest.mark.parametrize(
    ("item", "ready"),
    [
        (pod_json(), True),
        (pod_json(conditions={"Ready": "True"}), True),
        (pod_json(conditions={"Ready": "False"}), False),
        (pod_json(phase="Pending", conditions={"Ready": "True"}), False),
        (pod_json(phase="Succeeded", conditions={"Ready": "True"}), False),
        (pod_json(states={"mindspore": RUNNING}, deleted=(0, 30), conditions={"Ready": "True"}), True),
    ],
)
def test_ready(item: dict[str, Any], *, ready: bool) -> None:
    """A pod is ready while it runs and nothing says that it is not."""
    assert read(item).ready is ready


def test_a_process_that_runs_beside_a_sidecar_that_does_not() -> None:
    """The container decides: it runs, though the pod counts as pending until each of its containers has started."""
    item = pod_json(phase="Pending", states={"mindspore": RUNNING, "logs": WAITING})
    assert read(item).outcome is R


class TestAttempt:
    """The number of the attempt that a pod was made for."""

    @pytest.mark.parametrize(
        ("label", "number"), [(None, 0), ("0", 0), ("3", 3), ("007", 7), ("", 0), ("x", 0), ("-1", 0), ("²", 0)]
    )
    def test_label(self, label: str | None, number: int) -> None:
        """A pod without a number, or with what is none, is of attempt 0."""
        item = pod_json()
        if label is not None:
            item["metadata"]["labels"]["mindspore.gitee.com/restart-attempt"] = label
        assert read(item).attempt == number

    def test_what_fits_in_no_status(self) -> None:
        """A number that the operator cannot have written is none."""
        assert read(pod_json(attempt=10**30)).attempt == 0


class TestTrouble:
    """What keeps a pod from running."""

    @pytest.mark.parametrize(
        "reason",
        [
            "CrashLoopBackOff",
            "CreateContainerConfigError",
            "CreateContainerError",
            "ErrImageNeverPull",
            "ErrImagePull",
            "ImagePullBackOff",
            "InvalidImageName",
            "RunContainerError",
        ],
    )
    def test_a_container_that_cannot_start(self, reason: str) -> None:
        """Reasons for which a container waits that do not pass by themselves, with the kubelet's words."""
        state = {"waiting": {"reason": reason, "message": "why"}}
        assert read(pod_json(phase="Pending", states={"mindspore": state})).trouble == Trouble(
            reason, "why", "mindspore"
        )
        assert read(pod_json(phase="Pending", inits={"fetch": state})).trouble == Trouble(reason, "why", "fetch")

    @pytest.mark.parametrize("reason", ["ContainerCreating", "PodInitializing", None])
    def test_a_container_that_is_about_to_start(self, reason: str | None) -> None:
        """What every container goes through is no trouble."""
        states = {"mindspore": {"waiting": {} if reason is None else {"reason": reason}}}
        assert read(pod_json(phase="Pending", states=states)).trouble is None

    def test_no_place(self) -> None:
        """The scheduler finds no place, in its words; one that has not looked yet, or waits for a gate, has none."""
        item = pod_json(phase="Pending")
        item["status"]["conditions"] = [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}
        ]
        assert read(item).trouble == Trouble("Unschedulable", "0/3 nodes")
        item["status"]["conditions"][0]["reason"] = "SchedulingGated"
        assert read(item).trouble is None
        assert read(pod_json(phase="Pending", conditions={"PodScheduled": "True"})).trouble is None


def test_deletion() -> None:
    """When the deletion was asked for, and by when the pod should be gone."""
    found = read(pod_json(deleted=(20, 30)))
    assert (found.deleting, found.asked_to_go, found.gone_by) == (True, at(20), at(50))
    stays = read(pod_json())
    assert (stays.deleting, stays.asked_to_go, stays.gone_by) == (False, None, None)


@pytest.mark.parametrize("grace", [64 * 10**9, 2**53, 2**63 - 1])
def test_a_grace_beyond_the_calendar(grace: int) -> None:
    """A pod whose template asks for thousands of years is being deleted all the same: nothing it does counts."""
    item = pod_json(phase="Failed", states={"mindspore": terminated(143)}, deleted=(20, 0))
    item["metadata"]["deletionGracePeriodSeconds"] = grace
    found = read(item)
    assert (found.deleting, found.outcome) == (True, Outcome.PENDING)


class TestNodes:
    """Whether what ran on a node must be taken for lost."""

    @staticmethod
    def node(ready: str | None = "True", *taints: str) -> dict[str, Any]:
        """A node with a condition Ready and taints."""
        conditions = [{"type": "DiskPressure", "status": "False"}]
        if ready is not None:
            conditions.append({"type": "Ready", "status": ready})
        return {"spec": {"taints": [{"key": key} for key in taints]}, "status": {"conditions": conditions}}

    def test_gone(self) -> None:
        """A node that is gone has taken its pods along."""
        assert node_is_lost(None)

    @pytest.mark.parametrize(("ready", "lost"), [("True", False), ("False", True), ("Unknown", True), (None, False)])
    def test_not_ready(self, ready: str | None, *, lost: bool) -> None:
        """One that is silent or says that it is not ready is lost; one that has not said anything is new."""
        assert node_is_lost(self.node(ready)) is lost

    @pytest.mark.parametrize(
        ("taint", "lost"),
        [
            ("node.kubernetes.io/unreachable", True),
            ("node.kubernetes.io/out-of-service", True),
            ("node.kubernetes.io/unschedulable", False),
            ("node.kubernetes.io/memory-pressure", False),
            ("nvidia.com/gpu", False),
        ],
    )
    def test_taints(self, taint: str, *, lost: bool) -> None:
        """The taints that say so, and no others: a cordoned node still runs what it has."""
        assert node_is_lost(self.node("True", "example.com/x", taint)) is lost

    @pytest.mark.parametrize("node", [{}, {"spec": None, "status": None}, {"status": {"conditions": None}}])
    def test_a_node_that_has_said_nothing_yet(self, node: dict[str, Any]) -> None:
        """A node just made is not lost."""
        assert not node_is_lost(node)


def test_autoscaler() -> None:
    """An autoscaler is there, or on its way out."""
    item: dict[str, Any] = {"metadata": {"name": "train"}}
    assert read_autoscaler(item) == Autoscaler("train")
    item["metadata"]["deletionTimestamp"] = stamp(0)
    assert read_autoscaler(item) == Autoscaler("train", deleting=True)
    assert observe([], [], [item]).autoscaler == Autoscaler("train", deleting=True)


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
        {"training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": "²"},
        {"training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": "9" * 63},
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
    assert (found.service, found.autoscaler, found.lost_nodes) == (None, None, frozenset())
    assert observe([], [], lost_nodes=["a", "b"]).lost_nodes == {"a", "b"}


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


@pytest.mark.parametrize(("reason", "given_up"), [("DeletionByTaintManager", True), ("EvictionByEvictionAPI", False)])
def test_why_a_pod_is_put_out(reason: str, *, given_up: bool) -> None:
    """A node that is given up is told apart from one that is drained."""
    item = pod_json()
    item["status"]["conditions"] = [{"type": "DisruptionTarget", "status": "True", "reason": reason}]
    assert read(item).given_up is given_up
