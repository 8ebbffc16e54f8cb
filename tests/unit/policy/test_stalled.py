"""What keeps a job from going on, and for how long that is told."""

from collections.abc import Iterable
from typing import Any

import pytest

from msjob.api import ConditionType, Job, Reason, Role
from msjob_controller.policy import conditions
from msjob_controller.policy.conditions import MESSAGE_LIMIT
from msjob_controller.policy.decide import decide, stall
from msjob_controller.policy.observed import Autoscaler, Observed, Pod, Service, Trouble
from msjob_controller.policy.stalled import HOLD_SECONDS, REFRESH_SECONDS, TERMINATING_SECONDS, Cause, cause, update
from support.decisions import NOTHING, at_rest, attempt_of, begun, condition, job, reasons, running, state, whole_state
from support.pods import at, everywhere, leaving, of, pod, stamp, standing

S, W = Role.SCHEDULER, Role.WORKER
SHELL = (
    Reason.QUOTA,
    Reason.FORBIDDEN,
    Reason.ADMISSION,
    Reason.NAME_TAKEN,
    Reason.CREATE_FAILED,
    Reason.RENDER_FAILED,
)
"""Reasons that the shell gives because a child could not be made."""


def troubled(
    reason: str, message: str = "", container: str = "", letter: str = "P", index: int = 0, **more: Any
) -> Pod:
    """A Worker that something keeps from running."""
    return pod(W, index, letter, trouble=Trouble(reason, message, container), **more)


def found(one: Job, *pods: Pod, now: float = 100, attempt: int = 0, lost: Iterable[str] = ()) -> Cause | None:
    """What a job with these pods is stalled by."""
    seen = of(*pods, lost=lost)
    return cause(one, attempt_of(one, seen, {"attempt": attempt}), seen, at(now))


class TestCause:
    """The pod and the cause in words."""

    @pytest.mark.parametrize(
        ("trouble", "reason"),
        [
            ("ErrImagePull", "ImagePullBackOff"),
            ("ImagePullBackOff", "ImagePullBackOff"),
            ("ErrImageNeverPull", "ImagePullBackOff"),
            ("InvalidImageName", "ImagePullBackOff"),
            ("ImageInspectError", "ImagePullBackOff"),
            ("CreateContainerConfigError", "CreateContainerError"),
            ("CreateContainerError", "CreateContainerError"),
            ("RunContainerError", "CreateContainerError"),
            ("CrashLoopBackOff", "CrashLoopBackOff"),
        ],
    )
    def test_containers(self, trouble: str, reason: str) -> None:
        """What the kubelet says of a container, under one of few reasons, with its own word in the message."""
        assert found(job(), pod(S), troubled(trouble, "why", "mindspore")) == Cause(
            Reason(reason), f"pod train-worker-0: container mindspore: {trouble}: why"
        )

    def test_unschedulable(self) -> None:
        """What the scheduler says, in its words."""
        assert found(job(), troubled("Unschedulable", "0/3 nodes are available: 3 Insufficient cpu.")) == Cause(
            Reason.UNSCHEDULABLE, "pod train-worker-0: Unschedulable: 0/3 nodes are available: 3 Insufficient cpu."
        )

    def test_an_init_container(self) -> None:
        """It is named."""
        told = found(job(), troubled("ErrImagePull", "no", "fetch"))
        assert told == Cause(Reason.IMAGE_PULL, "pod train-worker-0: container fetch: ErrImagePull: no")

    def test_without_a_message(self) -> None:
        """A cause without words is told by its name."""
        assert found(job(), troubled("ErrImagePull", "", "mindspore")) == Cause(
            Reason.IMAGE_PULL, "pod train-worker-0: container mindspore: ErrImagePull"
        )

    def test_none(self) -> None:
        """A job whose pods wait for nothing special, run or have ended is not stalled."""
        assert found(job()) is None
        assert found(job(), pod(S), pod(W, 0, "P"), pod(W, 1, "S")) is None
        assert found(job(), troubled("ImagePullBackOff", container="logs", letter="S")) is None
        assert found(job(), troubled("ImagePullBackOff", container="logs", letter="F")) is None

    def test_a_sidecar_beside_a_process_that_runs(self) -> None:
        """It hinders nothing; a process that does not run is hindered by any container of its pod."""
        assert found(job(), troubled("CrashLoopBackOff", container="logs", letter="R")) is None
        assert found(job(), troubled("ImagePullBackOff", container="logs", letter="P")) is not None
        crashing = troubled("CrashLoopBackOff", container="mindspore", letter="R")
        assert (found(job(), crashing) or crashing).reason == "CrashLoopBackOff"

    def test_several_pods(self) -> None:
        """The first by role and index is named, the others are counted."""
        one = job(worker=4)
        pods = [troubled("Unschedulable", "no", index=index) for index in (3, 1, 2)]
        assert found(one, *pods) == Cause(
            Reason.UNSCHEDULABLE, "pod train-worker-1: Unschedulable: no (and 2 more pods)"
        )

    def test_several_causes(self) -> None:
        """The one that will not pass by itself comes first."""
        one = job(worker=5)
        pods = [
            troubled("Unschedulable", index=0),
            troubled("CrashLoopBackOff", container="mindspore", index=1),
            troubled("CreateContainerError", container="mindspore", index=2),
            troubled("ErrImagePull", container="mindspore", index=3),
            leaving(W, 4, asked=0),
        ]
        seen = []
        while pods:
            told = found(one, *pods)
            assert told is not None
            seen.append(told.reason.value)
            pods.pop()
        assert seen == [
            "PodStuckTerminating",
            "ImagePullBackOff",
            "CreateContainerError",
            "CrashLoopBackOff",
            "Unschedulable",
        ]

    def test_old_pods(self) -> None:
        """What an attempt that was given up waits for is nothing; that its pods do not go is."""
        one = job()
        assert found(one, troubled("ErrImagePull", container="mindspore"), attempt=1) is None
        told = found(one, leaving(W, 0, asked=0), attempt=1)
        assert told is not None
        assert told.reason is Reason.TERMINATING


class TestTerminating:
    """Pods that do not go."""

    @pytest.mark.parametrize(
        ("now", "lost", "stuck"),
        [
            (50, False, False),
            (50 + TERMINATING_SECONDS - 1, False, False),
            (50 + TERMINATING_SECONDS, False, True),
            (49, True, False),
            (50, True, True),
        ],
    )
    def test_when(self, now: float, *, lost: bool, stuck: bool) -> None:
        """On a lost node once its grace is over, else a little later: kubelets are late when a node is busy."""
        nodes = ["node-worker-0"] if lost else []
        assert (found(job(), leaving(W, 0, asked=20, grace=30), now=now, lost=nodes) is not None) is stuck

    def test_words(self) -> None:
        """The message names pod and node, and what a person can do."""
        hangs = found(job(), leaving(W, 0, asked=0))
        assert hangs is not None
        assert hangs.message == (
            "pod train-worker-0: it is being deleted and does not go; see its node node-worker-0 and its finalizers"
        )
        nowhere = found(job(), leaving(W, 0, asked=0, node=""))
        assert nowhere is not None
        assert "node (none)" in nowhere.message
        lost = found(job(), leaving(W, 0, asked=0), lost=["node-worker-0"])
        assert lost is not None
        assert lost.message.startswith(
            "pod train-worker-0: it is being deleted on node node-worker-0, which is lost; "
            "set runPolicy.forceDeleteAfterSeconds"
        )
        forced = job(run_policy={"forceDeleteAfterSeconds": 90})
        told = found(forced, leaving(W, 0, asked=0), lost=["node-worker-0"])
        assert told is not None
        assert told.message.endswith("which is lost; it is removed by force 90 s after its deletion")

    def test_of_which_nobody_knows_when(self) -> None:
        """A pod whose time to go is not known is not late."""
        assert found(job(), pod(W, 0, deleting=True), now=10**9) is None

    def test_told_on_time(self) -> None:
        """The job asks to be looked at when a pod becomes stuck, though nothing happens."""
        one = job()
        status = running(one) | {"attempt": 1}
        seen = of(leaving(W, 0, asked=20, grace=30))
        waits = decide(one, status, seen, at(30))
        assert ("Stalled=True" in whole_state(waits), waits.requeue_after) == (False, 50)
        told = decide(one, waits.status, seen, at(80))
        assert condition(told, "Stalled")["reason"] == "PodStuckTerminating"
        assert reasons(told) == ["PodStuckTerminating"]

    def test_while_suspended(self) -> None:
        """A pod that keeps a job from being suspended is told of; the suspension ends that."""
        one = job(suspend=True)
        stuck = decide(one, running(job()), of(leaving(W, 0, asked=20)), at(200))
        assert condition(stuck, "Stalled")["reason"] == "PodStuckTerminating"
        assert state(stuck)[-1] == "Running=True"
        gone = decide(one, stuck.status, NOTHING, at(300))
        assert condition(gone, "Stalled")["status"] == "False"
        assert state(gone)[-1] == "Suspended=True"


class TestDecision:
    """A stall as part of a decision."""

    NO_IMAGE = of(pod(S), troubled("ImagePullBackOff", "not found", "mindspore"), pod(W, 1))

    def test_told_once(self) -> None:
        """A condition and one event; the state stays what it was, and a later look adds nothing."""
        one = job()
        told = decide(one, begun(one), self.NO_IMAGE, at(20))
        text = "pod train-worker-0: container mindspore: ImagePullBackOff: not found"
        assert condition(told, "Stalled") == {
            "type": "Stalled",
            "status": "True",
            "reason": "ImagePullBackOff",
            "message": text,
            "lastUpdateTime": stamp(20),
            "lastTransitionTime": stamp(20),
        }
        assert [(event.type, event.reason, event.message) for event in told.events] == [
            ("Warning", "ImagePullBackOff", text)
        ]
        assert state(told) == ["Created=True"]
        assert whole_state(told)[-1] == "Created=True"
        assert at_rest(decide(one, told.status, self.NO_IMAGE, at(25)))

    def test_over(self) -> None:
        """Once the pod runs the stall is resolved, without an event."""
        one = job()
        told = decide(one, begun(one), self.NO_IMAGE, at(20))
        over = decide(one, told.status, everywhere(one, "R"), at(40))
        assert (condition(over, "Stalled")["status"], condition(over, "Stalled")["reason"]) == ("False", "Resolved")
        assert reasons(over) == ["MSJobRunning"]
        assert at_rest(decide(one, over.status, everywhere(one, "R"), at(41)))

    def test_another_cause(self) -> None:
        """Another reason is told at once, with an event; the job has been stalled all the time."""
        one = job()
        told = decide(one, begun(one), of(troubled("Unschedulable", "0/3 nodes")), at(20))
        other = decide(one, told.status, self.NO_IMAGE, at(21))
        assert condition(other, "Stalled")["reason"] == "ImagePullBackOff"
        assert condition(other, "Stalled")["lastTransitionTime"] == stamp(20)
        assert reasons(other) == ["ImagePullBackOff"]

    def test_other_words(self) -> None:
        """A new message of the same reason waits a little, comes by itself, and is no event."""
        one = job()
        told = decide(one, begun(one), of(troubled("Unschedulable", "0/3 nodes")), at(20))
        seen = of(troubled("Unschedulable", "0/4 nodes"))
        early = decide(one, told.status, seen, at(25))
        assert "0/3" in condition(early, "Stalled")["message"]
        assert early.requeue_after == REFRESH_SECONDS - 5
        late = decide(one, early.status, seen, at(20 + REFRESH_SECONDS))
        assert "0/4" in condition(late, "Stalled")["message"]
        assert (condition(late, "Stalled")["lastUpdateTime"], reasons(late)) == (stamp(20 + REFRESH_SECONDS), [])
        assert decide(one, late.status, seen, at(21 + REFRESH_SECONDS)).requeue_after is None

    def test_words_without_a_time(self) -> None:
        """A message of which nobody knows how old it is is old."""
        listed = [{"type": "Stalled", "status": "True", "reason": "Unschedulable", "message": "old"}]
        told = decide(job(), {"conditions": listed}, of(troubled("Unschedulable", "new")), at(20))
        assert condition(told, "Stalled")["message"].endswith("new")

    def test_many_words(self) -> None:
        """A message that had to be cut is no new one at each look."""
        one = job()
        seen = of(troubled("Unschedulable", "x" * 9_999))
        told = decide(one, begun(one), seen, at(20))
        assert len(condition(told, "Stalled")["message"]) == MESSAGE_LIMIT
        again = decide(one, told.status, seen, at(500))
        assert (again.status, again.requeue_after) == (told.status, None)

    def test_a_restart_beside_it(self) -> None:
        """A failure is dealt with though another pod is stalled."""
        one = job(restart_policy="OnFailure")
        seen = of(pod(S), troubled("ErrImagePull", container="mindspore"), pod(W, 1, "F"))
        assert state(decide(one, begun(one), seen, at(20)))[-1] == "Restarting=True"


class TestCrashLoop:
    """A container that the kubelet restarts again and again."""

    ONE = job(scheduler=None, worker=1, restart_policy="OnFailure")

    @staticmethod
    def seen(*, tries: int, since: float | None, waits: bool) -> Observed:
        """The Worker after so many tries, the last of which began then."""
        trouble = Trouble("CrashLoopBackOff", "back-off 5m0s", "mindspore") if waits else None
        started_at = None if since is None else at(since)
        return of(
            pod(W, 0, trouble=trouble, restart_count=tries, started_at=started_at, kubelet_restarts=True), address=None
        )

    def test_told_between_the_tries(self) -> None:
        """Each try runs for a moment: the job is stalled all the same, whenever somebody looks, and says so once."""
        status = running(self.ONE)
        events: list[str] = []
        for number in range(1, 12):
            second = number * 400
            for seen in (
                self.seen(tries=number, since=None, waits=True),
                self.seen(tries=number, since=second, waits=False),
            ):
                decision = decide(self.ONE, status, seen, at(second))
                status = decision.status
                events += reasons(decision)
                assert condition(status, "Stalled")["status"] == "True"
        assert events == ["CrashLoopBackOff"]

    def test_over(self) -> None:
        """It is over when a try has run for as long as the kubelet waits at most, and that comes by itself."""
        told = decide(self.ONE, running(self.ONE), self.seen(tries=3, since=None, waits=True), at(100)).status
        runs = self.seen(tries=3, since=120, waits=False)
        held = decide(self.ONE, told, runs, at(150))
        assert (condition(held, "Stalled")["status"], held.requeue_after) == ("True", HOLD_SECONDS - 30)
        over = decide(self.ONE, held.status, runs, at(120 + HOLD_SECONDS))
        assert condition(over, "Stalled")["status"] == "False"
        assert at_rest(decide(self.ONE, over.status, runs, at(999)))

    def test_of_a_pod_that_is_gone(self) -> None:
        """A new pod has not looped yet; what was told of the old one stands no longer than that."""
        told = decide(self.ONE, running(self.ONE), self.seen(tries=3, since=None, waits=True), at(100)).status
        fresh = of(pod(W, 0, kubelet_restarts=True), address=None)
        assert condition(decide(self.ONE, told, fresh, at(100 + HOLD_SECONDS)), "Stalled")["status"] == "False"


class TestOfTheShell:
    """Stalls that the shell sets because a child could not be made."""

    @pytest.mark.parametrize("reason", SHELL)
    @pytest.mark.parametrize(
        ("seen", "stands"),
        [
            pytest.param(NOTHING, True, id="no Service"),
            pytest.param(of(), True, id="no pods"),
            pytest.param(of(pod(S), pod(W, 0)), True, id="a pod is missing"),
            pytest.param(of(pod(S, 0, "P"), pod(W, 0, "P"), pod(W, 1, "P")), False, id="all are there"),
            pytest.param(of(pod(S), pod(W, 0), pod(W, 1)), False, id="all run"),
        ],
    )
    def test_as_long_as_something_is_missing(self, reason: Reason, seen: Observed, *, stands: bool) -> None:
        """It stands as long as there is something to be made, whether or not that was tried in this pass."""
        one = job()
        before = stall(begun(one), reason, "why", at(5)).status
        decision = decide(one, before, seen, at(6))
        assert (condition(decision, "Stalled")["status"] == "True") is stands
        assert condition(decision, "Stalled")["reason"] == (reason if stands else "Resolved")
        assert reason not in reasons(decision)

    def test_an_autoscaler(self) -> None:
        """A missing autoscaler is something to be made, too."""
        one = job(elastic_policy={"maxReplicas": 4})
        before = stall(running(one), Reason.FORBIDDEN, "why", at(15)).status
        seen = everywhere(one, "R")
        assert condition(decide(one, before, seen, at(16)), "Stalled")["status"] == "True"
        made = Observed(seen.pods, seen.service, Autoscaler("train"))
        assert condition(decide(one, before, made, at(16)), "Stalled")["status"] == "False"

    def test_what_pods_show_comes_first(self) -> None:
        """A pod that hangs is why there is no quota for the next one."""
        one = job()
        before = stall(running(one) | {"attempt": 1}, Reason.QUOTA, "exceeded", at(15)).status
        decision = decide(one, before, of(leaving(W, 0, asked=0)), at(500))
        assert condition(decision, "Stalled")["reason"] == "PodStuckTerminating"

    def test_completed_pods_are_not_missing(self) -> None:
        """A pod that has succeeded and is gone is not to be made."""
        one = job(success_policy="AllWorkers")
        before = running(one)
        before["replicaStatuses"]["Worker"]["completedIndexes"] = "1"
        before = stall(before, Reason.QUOTA, "why", at(15)).status
        assert condition(decide(one, before, of(pod(S), pod(W, 0)), at(16)), "Stalled")["status"] == "False"

    def test_the_end(self) -> None:
        """A job that has ended or is suspended is stalled no more."""
        one = job()
        before = stall(running(one), Reason.QUOTA, "why", at(15)).status
        for end, reason in (("S", "MSJobSucceeded"), ("F", "MSJobFailed")):
            told = condition(decide(one, before, everywhere(one, end), at(99)), "Stalled")
            assert (told["status"], told["reason"]) == ("False", reason)
        told = condition(decide(job(suspend=True), before, NOTHING, at(99)), "Stalled")
        assert (told["status"], told["reason"]) == ("False", "MSJobSuspended")


@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_nothing_to_resolve(status: str) -> None:
    """A stall that is not True is left as it is."""
    listed: list[dict[str, Any]] = [{"type": "Stalled", "status": status, "reason": "Resolved"}]
    assert update(listed, None, NOTHING, at(0), missing=False) == (listed, False)
    assert update([], None, NOTHING, at(0), missing=False) == ([], False)


def test_an_unknown_reason() -> None:
    """A stall with a reason of another version stands as long as something is missing."""
    listed = conditions.put([], ConditionType.STALLED, Reason.QUOTA, "why", at(0))
    listed[0]["reason"] = "SomethingElse"
    assert update(listed, None, NOTHING, at(1), missing=True) == (listed, False)
    assert update(listed, None, NOTHING, at(1), missing=False)[0][0]["status"] == "False"


def test_standing_pods_are_read_as_they_are() -> None:
    """A whole job whose pods wait for their containers is not stalled."""
    one = job()
    assert "Stalled=True" not in whole_state(decide(one, begun(one), standing(one, Scheduler="P", Worker="PP"), at(9)))


def test_service() -> None:
    """A Service without an address is named; the stall is over once it has one."""
    one = job()
    told = decide(one, begun(one), Observed({}, Service("train-scheduler-0")), at(10))
    assert condition(told, "Stalled")["reason"] == "ServiceNotReady"
    assert "train-scheduler-0 has no cluster IP" in condition(told, "Stalled")["message"]
    assert reasons(told) == ["ServiceNotReady"]
    after = decide(one, told.status, of(), at(11))
    assert (condition(after, "Stalled")["status"], bool(after.create_pods)) == ("False", True)
