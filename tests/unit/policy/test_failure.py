"""Which pod is to blame when a job fails."""

from collections.abc import Collection
from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest

from msjob.api import Job, Role
from msjob_controller.policy import failure, verdict
from msjob_controller.policy.failure import Failure, exhausted, rejoins, takes_all_along, tolerated
from msjob_controller.policy.observed import Observed, Pod, Trouble
from support.decisions import attempt_of, job
from support.jobs import role
from support.pods import START, at, everywhere, keys, leaving, of, pod, put_out, standing

S, P, W = Role.SCHEDULER, Role.PS, Role.WORKER
RAN: dict[str, Any] = {"readyAttempt": 0}
STANDALONE: dict[str, Any] = {"scheduler": None, "restart_policy": "OnFailure"}


def failures(
    one: Job, seen: Observed, status: dict[str, Any] | None = None, replaced: Collection[str] = ()
) -> list[Failure]:
    """The failures as a decision finds them."""
    attempt = attempt_of(one, seen, status)
    without = tolerated(attempt, verdict.ignored(one, attempt), dynamic=bool(one.spec.enable_dynamic_worker))
    return failure.find(one, attempt, without, seen.lost_nodes, set(replaced))


def culprit(one: Job, seen: Observed, status: dict[str, Any] | None = None) -> tuple[str, str] | None:
    """Name of the pod to blame, and the reason that is told; None if nothing has failed."""
    found = failures(one, seen, status)
    return (found[0].pod.removeprefix("train-"), found[0].reason) if found else None


@pytest.mark.parametrize(
    ("fields", "letters"),
    [
        ({}, {}),
        ({}, {"Scheduler": "P", "Worker": "PP"}),
        ({}, {"Scheduler": "R", "Worker": "RR"}),
        ({}, {"Scheduler": "S", "Worker": "SR"}),
        ({"ps": 1}, {"Scheduler": "R", "PS": "R", "Worker": "R-"}),
    ],
)
def test_nothing_has_failed(fields: dict[str, Any], letters: dict[str, str]) -> None:
    """Pods that wait, run, have succeeded or were never made are no failures."""
    one = job(**fields)
    assert failures(one, standing(one, **letters)) == []


class TestCulprit:
    """The pod that ended first, and how ties are broken."""

    @pytest.mark.parametrize(
        ("first", "others"),
        [
            pytest.param(
                pod(W, 1, "F", code=137, seconds=10),
                [pod(S, 0, "F", code=1, seconds=43), pod(W, 0, "F", code=143, seconds=70)],
                id="a killed Worker, the Scheduler follows before the other Worker (R7)",
            ),
            pytest.param(
                pod(W, 1, "F", code=143, seconds=10), [pod(W, 0, "F", code=1, seconds=44)], id="the code tells nothing"
            ),
            pytest.param(
                pod(W, 1, "F", code=1, seconds=10), [pod(W, 0, "F", code=5, seconds=11)], id="nor does the second's"
            ),
            pytest.param(
                pod(S, 0, "F", code=137, seconds=10),
                [pod(W, 0, "F", code=1, seconds=32), pod(W, 1, "F", code=1, seconds=65)],
                id="a killed Scheduler (R18)",
            ),
            pytest.param(
                pod(W, 1, "F", seconds=10), [pod(S, 0, "F", seconds=10)], id="a tie is no Scheduler's, which falls too"
            ),
            pytest.param(pod(P, 0, "F", seconds=10), [pod(S, 0, "F", seconds=10)], id="a tie of PS and Scheduler"),
            pytest.param(pod(W, 1, "F", seconds=10), [pod(P, 0, "F", seconds=10)], id="a tie of Worker and PS"),
            pytest.param(
                pod(W, 0, "F", seconds=10), [pod(W, 1, "F", seconds=10)], id="a tie of Workers: the lowest index"
            ),
            *(
                pytest.param(
                    pod(W, 1, "F", code=code, seconds=10),
                    [pod(W, 0, "F", code=follower, seconds=10), pod(S, 0, "F", code=1, seconds=10)],
                    id=f"a tie: {code} is no follower, {follower} may be",
                )
                for code in (2, 3, 127, 128, 134, 139, 255)
                for follower in (1, 137, 143)
            ),
            pytest.param(
                pod(S, 0, "F", code=3, seconds=10),
                [pod(W, 0, "F", code=1, seconds=10)],
                id="a tie: no follower, though a Scheduler",
            ),
            pytest.param(
                pod(W, 1, "F", code=137, reason="OOMKilled", seconds=10),
                [pod(W, 0, "F", code=137, reason="Error", seconds=10)],
                id="a tie: out of memory follows nobody",
            ),
            pytest.param(
                put_out(W, 1),
                [pod(W, 0, "F", seconds=10), pod(S, 0, "F", seconds=9)],
                id="evicted without a trace of its container",
            ),
            pytest.param(
                pod(W, 1, "F", code=137, reason="Evicted", seconds=10),
                [pod(W, 0, "F", code=1, seconds=10)],
                id="a tie: put out by its node follows nobody",
            ),
        ],
    )
    def test_first(self, first: Pod, others: list[Pod]) -> None:
        """The pod that ended first is to blame, in whatever order the pods are looked at, whatever they exited with."""
        one = job(ps=1)
        for pods in permutations([first, *others]):
            (found, *rest) = failures(one, of(*pods))
            assert (found.pod, found.uid) == (first.name, first.uid)
            assert len(rest) == len(others)

    def test_whole_seconds(self) -> None:
        """Times of containers have whole seconds: a second is the least that tells two pods apart."""
        one = job()
        seen = of(pod(W, 0, "F", code=1, seconds=11), pod(W, 1, "F", code=1, seconds=10))
        assert culprit(one, seen) == ("worker-1", "")

    def test_pods_that_are_none_of_the_attempt(self) -> None:
        """Pods beyond the replicas, of a role that is gone, or of an earlier attempt fail nothing."""
        one = job(worker=1)
        assert failures(one, of(pod(W, 0), pod(W, 1, "F"), pod(P, 0, "F"))) == []
        assert failures(one, of(pod(W, 0, "F"), pod(S, 0, "F")), {"attempt": 1}) == []

    def test_a_sidecar_is_not_to_blame(self) -> None:
        """A pod whose mindspore container succeeded has not failed."""
        one = job()
        assert failures(one, of(pod(W, 0, "S", exit_codes={"mindspore": 0, "logs": 1}))) == []

    def test_an_init_container(self) -> None:
        """One that failed is named as the container to blame."""
        (found,) = failures(job(), of(pod(W, 0, "F", code=4, container="fetch", exit_codes={"fetch": 4})))
        assert (found.container, found.exit_code, found.judged_code) == ("fetch", 4, 4)

    def test_what_is_known_of_it(self) -> None:
        """Everything that a person or a rule may ask about is taken from the pod."""
        blamed = pod(
            W, 1, "F", code=3, seconds=42, reason="Error", message="NaN", conditions={"Ready": "False"}, node="n7"
        )
        (found,) = failures(job(), of(pod(W, 0), blamed))
        assert found == Failure(
            "train-worker-1",
            W,
            1,
            uid="uid-train-worker-1",
            container="mindspore",
            exit_code=3,
            reason="Error",
            message="NaN",
            time=at(42),
            node="n7",
            exit_codes={"mindspore": 3},
            conditions={"Ready": "False"},
            reasons=frozenset({"Error"}),
            judged=W,
            judged_code=3,
        )


class TestDisrupted:
    """Pods that the cluster or a person took away."""

    @pytest.mark.parametrize(
        "reason", ["Evicted", "NodeLost", "NodeShutdown", "Preempted", "Preempting", "Shutdown", "Terminated"]
    )
    def test_by_reason(self, reason: str) -> None:
        """Reasons that cluster components give, with an exit code of a container or without."""
        assert failures(job(), of(put_out(W, 0, reason)))[0].disrupted
        assert failures(job(), of(pod(W, 0, "F", code=137, reason=reason)))[0].disrupted

    @pytest.mark.parametrize("reason", ["Error", "OOMKilled", "UnexpectedAdmissionError", "DeadlineExceeded", ""])
    def test_by_no_other_reason(self, reason: str) -> None:
        """A pod with any other reason failed by itself."""
        assert not failures(job(), of(put_out(W, 0, reason)))[0].disrupted

    @pytest.mark.parametrize(("status", "disrupted"), [("True", True), ("False", False), ("Unknown", False)])
    def test_by_condition(self, status: str, *, disrupted: bool) -> None:
        """The condition DisruptionTarget says so, if it is True."""
        seen = of(pod(W, 0, "F", code=137, conditions={"DisruptionTarget": status}))
        assert failures(job(), seen)[0].disrupted is disrupted

    def test_deleted_while_it_ran(self) -> None:
        """A pod that somebody deletes counts from when that was asked for; what it exits with is only the answer."""
        one = job()
        seen = of(leaving(W, 0, "R", asked=20), pod(W, 1, "F", code=1, seconds=25), pod(S, 0, "F", seconds=24))
        assert culprit(one, seen) == ("worker-0", "Deleted")
        found = failures(one, seen)[0]
        assert (found.time, found.exit_code, found.container, found.disrupted) == (at(20), None, "", True)
        answered = of(leaving(W, 0, "P", asked=20, started=True, exit_code=143, exit_codes={"mindspore": 143}))
        assert (failures(one, answered)[0].exit_code, failures(one, answered)[0].exit_codes) == (None, {})

    def test_deleted_after_another_had_failed(self) -> None:
        """The one that failed before is to blame."""
        seen = of(leaving(W, 0, "R", asked=20), pod(W, 1, "F", seconds=19))
        assert culprit(job(), seen) == ("worker-1", "")

    def test_deleted_after_it_had_failed(self) -> None:
        """A pod that failed by itself before it was deleted failed by itself."""
        seen = of(leaving(W, 0, "F", asked=70, exit_code=3, finished_at=at(60)))
        assert failures(job(), seen)[0].disrupted is False
        assert failures(job(), seen)[0].exit_code == 3

    def test_deleted_after_it_had_succeeded(self) -> None:
        """A pod that has done its work may go."""
        assert failures(job(), of(leaving(W, 0, "S", asked=70))) == []
        status = {"replicaStatuses": {"Worker": {"completedIndexes": "0"}}}
        assert failures(job(), of(leaving(W, 0, "P", asked=70, started=True)), status) == []

    def test_deleted_before_it_had_started(self) -> None:
        """A pod that has never run is made again, and nobody need know."""
        assert failures(job(), of(leaving(W, 0, "P"), pod(W, 1))) == []

    def test_drained(self) -> None:
        """A pod that the cluster deletes, and says so, was evicted."""
        seen = of(leaving(W, 0, conditions={"DisruptionTarget": "True"}))
        assert culprit(job(), seen) == ("worker-0", "Evicted")


class TestMissing:
    """Pods that are not there."""

    def test_after_all_ran(self) -> None:
        """It was deleted: it comes before all others, which may have followed it, and before those of higher index."""
        one = job(worker=4)
        seen = of(pod(S), pod(W, 0, "F", seconds=1), pod(W, 1, "F", seconds=0))
        assert culprit(one, seen, RAN) == ("worker-2", "Deleted")
        found = failures(one, seen, RAN)[0]
        assert (found.uid, found.exit_code, found.time, found.disrupted) == ("", None, None, True)

    def test_the_scheduler(self) -> None:
        """Without its Scheduler a cluster falls, too."""
        assert culprit(job(), of(pod(W, 0), pod(W, 1)), RAN) == ("scheduler-0", "Deleted")

    @pytest.mark.parametrize("status", [{}, {"attempt": 1, "readyAttempt": 0}])
    def test_before_all_ran(self, status: dict[str, Any]) -> None:
        """It is made again, and nothing has failed: an attempt is not charged with what another one had."""
        number = status.get("attempt", 0)
        assert failures(job(), of(pod(S, attempt=number), pod(W, 1, attempt=number)), status) == []

    def test_after_its_success(self) -> None:
        """A pod that succeeded may be gone."""
        status = RAN | {"replicaStatuses": {"Worker": {"completedIndexes": "1"}}}
        assert failures(job(success_policy="AllWorkers"), of(pod(S), pod(W, 0)), status) == []

    @pytest.mark.parametrize(
        "fields", [STANDALONE, {"scheduler": role(restart_scope="Pod"), "worker": role(2, restart_scope="Pod")}]
    )
    def test_of_a_role_whose_pods_stand_alone(self, fields: dict[str, Any]) -> None:
        """It is made again alone, and so is one that is being deleted."""
        one = job(**fields)
        assert failures(one, of(pod(W, 0)), RAN) == []
        assert failures(one, of(pod(S), pod(W, 0), leaving(W, 1)), RAN) == []
        assert rejoins(one, W)

    def test_of_a_job_that_can_do_without(self) -> None:
        """With enableDynamicWorker a Worker joins later, the Scheduler does not."""
        one = job(enable_dynamic_worker=True)
        assert failures(one, of(pod(S), pod(W, 0)), RAN) == []
        assert failures(one, of(pod(S), pod(W, 0), leaving(W, 1)), RAN) == []
        assert culprit(one, of(pod(W, 0), pod(W, 1)), RAN) == ("scheduler-0", "Deleted")
        assert (rejoins(one, W), rejoins(one, S)) == (True, False)


class TestLostNodes:
    """Nodes that fall silent, which shows late."""

    def test_alone(self) -> None:
        """As long as nothing has failed nothing is done: the node may come back."""
        assert failures(job(), of(pod(S), pod(W, 0), pod(W, 1), lost=["node-worker-1"])) == []

    @pytest.mark.parametrize("letter", ["R", "P"])
    def test_with_survivors_that_ended(self, letter: str) -> None:
        """The pod on it that has not ended is to blame, though the others ended first."""
        seen = of(
            pod(S, 0, "F", seconds=34), pod(W, 0, "F", code=143, seconds=29), pod(W, 1, letter), lost=["node-worker-1"]
        )
        assert culprit(job(), seen) == ("worker-1", "NodeLost")
        found = failures(job(), seen)[0]
        assert (found.node, found.disrupted, found.exit_code, found.time) == ("node-worker-1", True, None, None)

    def test_ended_before(self) -> None:
        """A pod that ended before its node went is judged by its own end."""
        seen = of(pod(S), pod(W, 0, "F", seconds=29), pod(W, 1, "F", code=3, seconds=9), lost=["node-worker-1"])
        assert culprit(job(), seen) == ("worker-1", "")
        done = of(pod(S), pod(W, 0, "F", seconds=29), pod(W, 1, "S", seconds=9), lost=["node-worker-1"])
        assert culprit(job(), done) == ("worker-0", "")

    def test_put_out_by_the_cluster(self) -> None:
        """A pod that the cluster deletes because of its node was lost with it."""
        taken = leaving(W, 1, asked=300, conditions={"DisruptionTarget": "True"})
        assert culprit(job(), of(pod(S), pod(W, 0), taken, lost=["node-worker-1"])) == ("worker-1", "NodeLost")

    def test_several(self) -> None:
        """The first in the order of roles and indices stands for all."""
        seen = of(
            pod(S), pod(W, 0, "F"), pod(W, 1), pod(W, 2), lost=["node-worker-1", "node-worker-2", "node-scheduler-0"]
        )
        assert culprit(job(worker=3), seen) == ("worker-1", "NodeLost")

    def test_of_pods_that_stand_alone(self) -> None:
        """The failure of one is not the fault of another's node."""
        one = job(worker=3, **STANDALONE)
        seen = of(pod(W, 0, "F"), pod(W, 1), pod(W, 2), lost=["node-worker-1"], address=None)
        assert [found.pod for found in failures(one, seen)] == ["train-worker-0"]

    def test_of_an_earlier_attempt(self) -> None:
        """A pod that was given up is nobody's cause."""
        seen = of(pod(S, attempt=1), pod(W, 0, "F", attempt=1, seconds=9), pod(W, 1), lost=["node-worker-1"])
        assert culprit(job(), seen, {"attempt": 1}) == ("worker-0", "")


class TestNeverRan:
    """A cluster that never formed: who gives up first is chance, and the cause is the one that never came."""

    @staticmethod
    def gave_up(index: int, after: float, code: int = 1) -> Pod:
        """A Worker that ran for so many seconds and exited."""
        return pod(W, index, "F", code=code, finished_at=START + timedelta(seconds=after))

    @pytest.mark.parametrize(
        ("fields", "timeout"),
        [
            ({}, 1800),
            ({"scheduler": None, "launch_mode": "Msrun"}, 600),
            ({"run_policy": {"startupDeadlineSeconds": 90}}, 90),
        ],
    )
    def test_after_the_topology_timeout(self, fields: dict[str, Any], timeout: int) -> None:
        """From the second of the timeout on the pod that never ran is blamed, before it the one that exited."""
        one = job(**fields)
        waits = pod(W, 1, "P", node="", trouble=Trouble("Unschedulable", "0/3 nodes"))
        assert culprit(one, of(pod(S), self.gave_up(0, timeout - 1), waits)) == ("worker-0", "")
        found = failures(one, of(pod(S), self.gave_up(0, timeout), waits))[0]
        assert (found.pod, found.reason, found.message) == (
            "train-worker-1",
            "NeverRan",
            "Unschedulable: 0/3 nodes",
        )
        assert (found.exit_code, found.node, found.time) == (None, "", at(timeout))

    def test_judged_by_the_one_that_exited(self) -> None:
        """The policy and the exit code that decide are those of the pod that gave up."""
        one = job(scheduler=role(restart_policy="ExitCode"), worker=role(2, restart_policy="Never"))
        gave_up = pod(S, 0, "F", code=143, finished_at=at(1800))
        found = failures(one, of(gave_up, pod(W, 0), pod(W, 1, "P")))[0]
        assert (found.role, found.judged, found.judged_code, found.exit_codes) == (W, S, 143, {"mindspore": 143})

    def test_a_pod_that_is_not_there(self) -> None:
        """One that could not even be made never ran."""
        assert culprit(job(), of(pod(S), self.gave_up(0, 1800))) == ("worker-1", "NeverRan")

    def test_all_ran_once(self) -> None:
        """A process that exits when all run or have run gave up for a reason of its own."""
        assert culprit(job(), of(pod(S), self.gave_up(0, 1800), pod(W, 1))) == ("worker-0", "")
        assert culprit(job(), of(pod(S), self.gave_up(0, 1800), pod(W, 1, "P")), RAN) == ("worker-0", "")
        ended = of(pod(S, 0, "S"), self.gave_up(0, 1800), pod(W, 1, "S"))
        assert culprit(job(), ended) == ("worker-0", "")

    def test_an_evicted_pod_did_not_give_up(self) -> None:
        """What was taken away did not wait for anyone."""
        evicted = pod(W, 0, "F", code=137, reason="Evicted", finished_at=at(1800))
        assert culprit(job(), of(pod(S), evicted, pod(W, 1, "P"))) == ("worker-0", "Evicted")

    @pytest.mark.parametrize("missing", [{"started_at": None}, {"finished_at": None}])
    def test_without_times(self, missing: dict[str, Any]) -> None:
        """If it is not known how long the pod ran, it is taken at its word."""
        gave_up = pod(W, 0, "F", **({"finished_at": at(1800)} | missing))
        assert culprit(job(), of(pod(S), gave_up, pod(W, 1, "P"))) == ("worker-0", "")

    @pytest.mark.parametrize("scope", [None, "Pod", "Job"])
    def test_pods_that_form_no_cluster(self, scope: str | None) -> None:
        """A Standalone Worker waits for nobody: it fails by itself, however long it ran."""
        one = job(scheduler=None, worker=role(2, restart_policy="OnFailure", restart_scope=scope))
        found = failures(one, of(self.gave_up(0, 4000), pod(W, 1, "P"), address=None))
        assert [(item.pod, item.uid, item.exit_code) for item in found] == [("train-worker-0", "uid-train-worker-0", 1)]

    def test_a_scheduler_that_is_restarted_alone(self) -> None:
        """A pod that is made again alone is the one that failed, whomever it waited for."""
        one = job(scheduler=role(restart_policy="OnFailure", restart_scope="Pod"))
        gave_up = pod(S, 0, "F", finished_at=at(1800))
        assert culprit(one, of(gave_up, pod(W, 0), pod(W, 1, "P"))) == ("scheduler-0", "")


class TestTolerated:
    """Failed pods that the job goes on without."""

    def test_dynamic_workers(self) -> None:
        """Every failed Worker is one with enableDynamicWorker, no other role and nothing that runs."""
        one = job(enable_dynamic_worker=True, worker=3)
        seen = of(pod(S, 0, "F"), pod(W, 0, "F"), put_out(W, 1), pod(W, 2))
        assert tolerated(attempt_of(one, seen), frozenset(), dynamic=True) == set(keys(W, 0, 1))
        assert tolerated(attempt_of(one, seen), frozenset(), dynamic=False) == frozenset()
        assert culprit(one, seen) == ("scheduler-0", "")

    def test_nothing_is_left(self) -> None:
        """When every Worker has failed there is nothing to go on with: then the first one is to blame."""
        one = job(enable_dynamic_worker=True)
        seen = of(pod(S), pod(W, 0, "F", seconds=9), pod(W, 1, "F", seconds=8))
        assert culprit(one, seen) == ("worker-1", "")
        assert exhausted(attempt_of(one, seen), set(keys(W, 0, 1)))
        assert not exhausted(attempt_of(one, seen), set(keys(W, 0)))

    def test_nothing_is_left_of_a_job_without_workers(self) -> None:
        """There every pod counts; a job that wants no pods has nothing to lose."""
        one = job(worker=None, ps=1)
        attempt = attempt_of(one, of())
        assert not exhausted(attempt, {(S, 0)})
        assert exhausted(attempt, {(S, 0), (P, 0)})
        assert not exhausted(attempt_of(job(scheduler=None, worker=0), of()), frozenset())


class TestScope:
    """What a failure takes along."""

    def test_pods_that_stand_alone(self) -> None:
        """Failures of roles with scope Pod are each for itself, in the order in which they came."""
        one = job(worker=3, **STANDALONE)
        seen = of(pod(W, 0, "F", seconds=9), pod(W, 1), pod(W, 2, "F", seconds=8), address=None)
        found = failures(one, seen)
        assert [item.pod for item in found] == ["train-worker-2", "train-worker-0"]
        assert not takes_all_along(one, found)

    def test_one_of_a_cluster_takes_all_along(self) -> None:
        """One with scope Job among them concerns the whole job."""
        one = job(scheduler=role(restart_policy="OnFailure", restart_scope="Pod"))
        assert not takes_all_along(one, failures(one, of(pod(S, 0, "F"), pod(W, 0))))
        assert takes_all_along(one, failures(one, of(pod(S, 0, "F", seconds=1), pod(W, 0, "F", seconds=9))))

    def test_pods_that_are_being_replaced(self) -> None:
        """A pod whose replacement is under way has been dealt with; one that took its name has not."""
        one = job(**STANDALONE)
        seen = of(pod(W, 0, "F"), pod(W, 1), address=None)
        assert failures(one, seen, replaced=["uid-train-worker-0"]) == []
        assert failures(one, seen, replaced=["uid-of-the-one-before"]) != []


def test_any_pods_at_all() -> None:
    """In a job all of whose pods have failed alike the first Worker stands for all."""
    one = job(ps=2, worker=3)
    assert culprit(one, everywhere(one, "F")) == ("worker-0", "")


def test_pods_whose_node_was_given_up() -> None:
    """A pod that is deleted for its node's sake was lost minutes before: who has ended since may have followed it."""
    one = job(restart_policy="Never")
    for given_up, blamed in ((True, "train-worker-0"), (False, "train-worker-1")):
        gone = leaving(W, 0, asked=400, conditions={"DisruptionTarget": "True"}, given_up=given_up)
        seen = attempt_of(one, of(pod(S), gone, pod(W, 1, "F", code=1, seconds=100)))
        (first, *_) = failure.find(one, seen, set(), set(), set())
        assert first.pod == blamed


@pytest.mark.parametrize(
    ("given_up", "lost", "reason"),
    [(True, "node-1", "NodeLost"), (True, "node-2", "Evicted"), (False, "node-2", "Evicted")],
)
def test_what_is_said_of_pods_whose_node_was_given_up(*, given_up: bool, lost: str, reason: str) -> None:
    """Such a pod was lost with its node, as long as that is lost; rules about evicted pods are about it as well."""
    one = job(restart_policy="Never")
    gone = leaving(W, 0, asked=400, node="node-1", conditions={"DisruptionTarget": "True"}, given_up=given_up)
    seen = attempt_of(one, of(pod(S, node="node-3"), gone, pod(W, 1, node="node-3")))
    (found, *_) = failure.find(one, seen, set(), {lost}, set())
    assert (found.pod, found.reason) == ("train-worker-0", reason)
    assert found.reasons == {"Evicted", reason}
    said = "was lost with node node-1" if reason == "NodeLost" else "failed (Evicted)"
    assert failure.describe(found) == f"pod train-worker-0 {said}"
