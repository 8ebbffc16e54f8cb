"""What is done about a failure: rules first, then what disruptions are for, then restartPolicy."""

from typing import Any

import pytest

from msjob.api import FailureAction, Job, Reason, Role
from msjob_controller.policy import failure
from msjob_controller.policy.observed import Pod
from msjob_controller.policy.verdict import Verdict, ignored, judge
from support.decisions import attempt_of, job
from support.jobs import role
from support.pods import at, keys, leaving, of, pod, put_out

S, P, W = Role.SCHEDULER, Role.PS, Role.WORKER
FAIL, RESTART = FailureAction.FAIL_JOB, FailureAction.RESTART
UNCOUNTED, IGNORE = FailureAction.RESTART_IGNORING_LIMIT, FailureAction.IGNORE_POD
RAN: dict[str, Any] = {"readyAttempt": 0}
IGNORE_3: dict[str, Any] = {"action": "IgnorePod", "onExitCodes": {"operator": "In", "values": [3]}}
"""A rule: pods that exit with 3 are done without."""


def verdict(one: Job, *pods: Pod, counted: int = 0, lost: tuple[str, ...] = (), ran: bool = False) -> Verdict:
    """The verdict on the first failure of a job with these pods."""
    seen = of(*pods, lost=lost)
    attempt = attempt_of(one, seen, RAN if ran else {})
    without = failure.tolerated(attempt, ignored(one, attempt), dynamic=bool(one.spec.enable_dynamic_worker))
    return judge(one, failure.find(one, attempt, without, seen.lost_nodes, set())[0], counted)


def ruled(*rules: dict[str, Any], **fields: Any) -> Job:
    """A job with a failure policy."""
    policy = fields.pop("run_policy", {})
    return job(run_policy={**policy, "failurePolicy": {"rules": list(rules)}}, **fields)


class TestRestartPolicy:
    """What the policy of the role says."""

    @pytest.mark.parametrize("code", [1, 127, 128, 137, 255])
    def test_never(self, code: int) -> None:
        """A failure is final, also if nobody said anything."""
        for policy in (None, "Never"):
            assert verdict(job(restart_policy=policy), pod(W, 0, "F", code=code)) == Verdict(
                FAIL, "restartPolicy Never"
            )

    @pytest.mark.parametrize("code", [1, 127, 128, 137, 255])
    @pytest.mark.parametrize("policy", ["OnFailure", "Always"])
    def test_always(self, policy: str, code: int) -> None:
        """Every failure is restarted."""
        assert verdict(job(restart_policy=policy), pod(W, 0, "F", code=code)) == Verdict(
            RESTART, f"restartPolicy {policy}"
        )

    @pytest.mark.parametrize(
        ("code", "action"),
        [
            (1, FAIL),
            (2, FAIL),
            (126, FAIL),
            (127, FAIL),
            (128, RESTART),
            (137, RESTART),
            (139, RESTART),
            (143, RESTART),
            (255, RESTART),
            (256, FAIL),
            (-1, FAIL),
        ],
    )
    def test_exit_code(self, code: int, action: FailureAction) -> None:
        """1 to 127 are final, 128 to 255 are tried again; what is neither is no signal."""
        assert verdict(job(restart_policy="ExitCode"), pod(W, 0, "F", code=code)).action is action

    def test_exit_code_unknown(self) -> None:
        """A pod that failed outside its process is tried again."""
        assert verdict(job(restart_policy="ExitCode"), put_out(W, 0, "UnexpectedAdmissionError")).action is RESTART

    def test_exit_code_of_an_init_container(self) -> None:
        """It counts like that of the process, which it kept from running."""
        one = job(restart_policy="ExitCode")
        for code, action in ((3, FAIL), (137, RESTART)):
            blamed = pod(W, 0, "F", code=code, container="fetch", exit_codes={"fetch": code})
            assert verdict(one, blamed).action is action

    def test_of_the_role_to_blame(self) -> None:
        """Each role has its own, and that of the pod to blame decides, not those of its followers."""
        one = job(scheduler=role(restart_policy="OnFailure"), worker=role(2, restart_policy="Never"))
        assert verdict(one, pod(S, 0, "F", seconds=1), pod(W, 0, "F", seconds=9)).action is RESTART
        assert verdict(one, pod(S, 0, "F", seconds=9), pod(W, 0, "F", seconds=1)).action is FAIL


class TestDisruptions:
    """Pods that were taken away."""

    @pytest.mark.parametrize("policy", [None, "Never", "OnFailure", "Always", "ExitCode"])
    @pytest.mark.parametrize(
        "blamed",
        [
            put_out(W, 0, "Evicted"),
            put_out(W, 0, "Preempting"),
            pod(W, 0, "F", code=1, reason="Terminated"),
            pod(W, 0, "F", code=137, conditions={"DisruptionTarget": "True"}),
            leaving(W, 0),
            leaving(W, 0, conditions={"DisruptionTarget": "True"}),
        ],
    )
    def test_restart_without_counting(self, policy: str | None, blamed: Pod) -> None:
        """They restart the job under every policy, and no limit stops that."""
        one = job(restart_policy=policy, run_policy={"backoffLimit": 0})
        assert verdict(one, blamed, counted=5) == Verdict(UNCOUNTED, "a disruption does not count")

    def test_missing_and_lost(self) -> None:
        """So do pods that are gone, and pods whose node is."""
        one = job()
        assert verdict(one, pod(S), pod(W, 0), ran=True).action is UNCOUNTED
        assert verdict(one, pod(S), pod(W, 0), pod(W, 1, "F"), lost=("node-worker-0",)).action is UNCOUNTED

    def test_an_undisrupted_pod(self) -> None:
        """A condition that is not True says nothing."""
        assert verdict(job(), pod(W, 0, "F", conditions={"DisruptionTarget": "False"})).action is FAIL


class TestLimit:
    """`backoffLimit`."""

    @pytest.mark.parametrize(
        ("limit", "counted", "action"),
        [
            (None, 10**6, RESTART),
            (0, 0, FAIL),
            (1, 0, RESTART),
            (1, 1, FAIL),
            (3, 2, RESTART),
            (3, 3, FAIL),
            (3, 4, FAIL),
        ],
    )
    def test_counted(self, limit: int | None, counted: int, action: FailureAction) -> None:
        """So many restarts there may be and no more; 0 is none, and unset is any number."""
        policy = {} if limit is None else {"backoffLimit": limit}
        found = verdict(job(restart_policy="OnFailure", run_policy=policy), pod(W, 0, "F"), counted=counted)
        assert found.action is action
        if action is FAIL:
            assert found == Verdict(FAIL, f"backoffLimit {limit} is used up", Reason.BACKOFF_LIMIT)

    def test_of_a_failure_that_is_final_anyway(self) -> None:
        """The limit is no reason where no restart was asked for."""
        one = job(run_policy={"backoffLimit": 0})
        assert verdict(one, pod(W, 0, "F")).reason is Reason.FAILED

    @pytest.mark.parametrize(("action", "result"), [("Restart", FAIL), ("RestartIgnoringLimit", UNCOUNTED)])
    def test_of_rules(self, action: str, result: FailureAction) -> None:
        """A rule that restarts is held by the limit, unless it says not to be."""
        one = ruled({"action": action, "onPodReasons": ["Evicted"]}, run_policy={"backoffLimit": 0})
        assert verdict(one, put_out(W, 0)).action is result


class TestRules:
    """`failurePolicy`: the first rule that has nothing against a failure decides."""

    @pytest.mark.parametrize("action", ["FailJob", "Restart", "RestartIgnoringLimit"])
    @pytest.mark.parametrize("policy", [None, "OnFailure"])
    def test_actions(self, action: str, policy: str | None) -> None:
        """A rule comes before restartPolicy of the role."""
        one = ruled({"action": action, "onExitCodes": {"operator": "In", "values": [3]}}, restart_policy=policy)
        assert verdict(one, pod(W, 0, "F", code=3)) == Verdict(
            FailureAction(action), f"rule 1 of failurePolicy says {action}"
        )
        assert verdict(one, pod(W, 0, "F", code=4)).action is (FAIL if policy is None else RESTART)

    def test_before_disruptions(self) -> None:
        """A rule comes before what is built in for disruptions, too."""
        one = ruled({"action": "FailJob", "onPodReasons": ["Evicted"]})
        assert verdict(one, put_out(W, 0, "Evicted")).action is FAIL
        assert verdict(one, put_out(W, 0, "Preempted")).action is UNCOUNTED

    def test_the_first_that_matches(self) -> None:
        """Later rules are not asked."""
        one = ruled(
            {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}},
            {"action": "Restart", "onExitCodes": {"operator": "In", "values": [3, 4]}},
            {"action": "RestartIgnoringLimit", "replicaTypes": ["Worker"]},
        )
        for code, action, number in ((3, FAIL, 1), (4, RESTART, 2), (5, UNCOUNTED, 3)):
            assert verdict(one, pod(W, 0, "F", code=code)) == Verdict(
                action, f"rule {number} of failurePolicy says {action}"
            )
        assert verdict(one, pod(S, 0, "F", code=5)) == Verdict(FAIL, "restartPolicy Never")

    @pytest.mark.parametrize(
        ("operator", "values", "code", "matches"),
        [
            ("In", [3, 4], 3, True),
            ("In", [3, 4], 4, True),
            ("In", [3, 4], 5, False),
            ("In", [255], 255, True),
            ("NotIn", [3, 4], 3, False),
            ("NotIn", [3, 4], 5, True),
            ("NotIn", [3, 4], 137, True),
            # Nothing that a rule about exit codes could look at.
            ("In", [3], None, False),
            ("NotIn", [3], None, False),
        ],
    )
    def test_exit_codes(self, operator: str, values: list[int], code: int | None, *, matches: bool) -> None:
        """In and NotIn look at the exit code of mindspore, if there is one."""
        one = ruled({"action": "Restart", "onExitCodes": {"operator": operator, "values": values}})
        blamed = put_out(W, 0, "") if code is None else pod(W, 0, "F", code=code)
        assert (verdict(one, blamed).action is RESTART) is matches

    @pytest.mark.parametrize(
        ("container", "operator", "codes", "matches"),
        [
            (None, "In", {"mindspore": 3, "logs": 5}, True),
            ("mindspore", "In", {"mindspore": 3}, True),
            ("logs", "In", {"mindspore": 3, "logs": 5}, False),
            ("logs", "In", {"mindspore": 5, "logs": 3}, True),
            ("logs", "In", {"mindspore": 3}, False),
            ("logs", "NotIn", {"mindspore": 3}, False),
            ("logs", "NotIn", {"mindspore": 3, "logs": 0}, False),
            ("logs", "NotIn", {"mindspore": 3, "logs": 5}, True),
            ("fetch", "In", {"fetch": 3}, True),
            (None, "In", {"fetch": 3}, False),
            (None, "NotIn", {"fetch": 4}, False),
        ],
    )
    def test_other_containers(
        self, container: str | None, operator: str, codes: dict[str, int], *, matches: bool
    ) -> None:
        """A rule may be about another container, also one that ran before; one that has not failed is not meant."""
        condition: dict[str, Any] = {"operator": operator, "values": [3]}
        if container is not None:
            condition["containerName"] = container
        one = ruled({"action": "Restart", "onExitCodes": condition})
        blamed = pod(W, 0, "F", code=next(iter(codes.values())), exit_codes=codes)
        assert (verdict(one, blamed).action is RESTART) is matches

    @pytest.mark.parametrize(
        ("wanted", "has", "matches"),
        [
            ([{"type": "A"}], {"A": "True"}, True),
            ([{"type": "A"}], {"A": "False"}, False),
            ([{"type": "A"}], {}, False),
            ([{"type": "A", "status": "True"}], {"A": "True"}, True),
            ([{"type": "A", "status": "False"}], {"A": "False"}, True),
            ([{"type": "A", "status": "Unknown"}], {"A": "Unknown"}, True),
            ([{"type": "A", "status": "Unknown"}], {}, False),
            ([{"type": "A"}, {"type": "B", "status": "False"}], {"B": "False"}, True),
            ([{"type": "A"}, {"type": "B"}], {"C": "True"}, False),
        ],
    )
    def test_pod_conditions(self, wanted: list[dict[str, str]], has: dict[str, str], *, matches: bool) -> None:
        """One of the conditions is enough; True unless another status is named."""
        one = ruled({"action": "Restart", "onPodConditions": wanted})
        assert (verdict(one, pod(W, 0, "F", conditions=has)).action is RESTART) is matches

    @pytest.mark.parametrize(
        ("wanted", "has", "matches"),
        [
            (["OOMKilled"], ["OOMKilled"], True),
            (["OOMKilled"], ["Error"], False),
            (["OOMKilled", "Error"], ["Error"], True),
            (["Error"], ["Evicted", "Error"], True),
            (["OOMKilled"], [], False),
        ],
    )
    def test_pod_reasons(self, wanted: list[str], has: list[str], *, matches: bool) -> None:
        """One of the reasons is enough, of pod or container."""
        one = ruled({"action": "FailJob", "onPodReasons": wanted}, restart_policy="OnFailure")
        assert (verdict(one, pod(W, 0, "F", reasons=frozenset(has))).action is FAIL) is matches

    @pytest.mark.parametrize(
        ("types", "blamed", "matches"),
        [
            (["Worker"], W, True),
            (["worker"], W, True),
            (["WORKER", "Scheduler"], W, True),
            (["Scheduler"], W, False),
            (["ps"], P, True),
            (["scheduler", "PS"], S, True),
            (["Chief"], W, False),
        ],
    )
    def test_roles(self, types: list[str], blamed: Role, *, matches: bool) -> None:
        """A rule may be about some roles only, in whatever case they are spelled."""
        one = ruled({"action": "Restart", "replicaTypes": types}, ps=1)
        assert (verdict(one, pod(blamed, 0, "F")).action is RESTART) is matches

    def test_all_that_a_rule_names(self) -> None:
        """A rule matches if each of its parts does."""
        one = ruled(
            {
                "action": "Restart",
                "onExitCodes": {"operator": "In", "values": [3]},
                "onPodReasons": ["Error"],
                "replicaTypes": ["Worker"],
            }
        )
        assert verdict(one, pod(W, 0, "F", code=3, reason="Error")).action is RESTART
        assert verdict(one, pod(W, 0, "F", code=4, reason="Error")).action is FAIL
        assert verdict(one, pod(W, 0, "F", code=3, reason="OOMKilled")).action is FAIL
        assert verdict(one, pod(S, 0, "F", code=3, reason="Error")).action is FAIL

    def test_a_pod_that_never_ran(self) -> None:
        """A job that gave up because a pod never ran can be told apart from one whose process failed."""
        one = ruled({"action": "Restart", "onPodReasons": ["NeverRan"]})
        waited = pod(W, 0, "F", code=1, seconds=1800, started_at=at(0))
        assert verdict(one, pod(S), waited, pod(W, 1, "P")).action is RESTART
        assert verdict(one, pod(S), pod(W, 0, "F", code=1), pod(W, 1, "P")).action is FAIL

    @pytest.mark.parametrize("reason", ["Deleted", "NodeLost", "Evicted"])
    def test_what_the_operator_names(self, reason: str) -> None:
        """Reasons that the operator itself gives can be matched, too; an exit code of such a pod is no code."""
        one = ruled(
            {"action": "Restart", "onExitCodes": {"operator": "NotIn", "values": [1]}},
            {"action": "FailJob", "onPodReasons": [reason]},
        )
        found = {
            "Deleted": verdict(one, leaving(W, 0, exit_code=143, exit_codes={"mindspore": 143})),
            "NodeLost": verdict(one, pod(W, 0), pod(W, 1, "F", code=1), lost=("node-worker-0",)),
            "Evicted": verdict(one, leaving(W, 0, conditions={"DisruptionTarget": "True"})),
        }
        assert {name for name, item in found.items() if item.action is FAIL} == {reason}


class TestIgnored:
    """Pods that a rule says to do without."""

    def test_which(self) -> None:
        """Failed pods whose first matching rule says so, and no others."""
        one = ruled({"action": "FailJob", "replicaTypes": ["Scheduler"]}, IGNORE_3, worker=4)
        seen = of(pod(S, 0, "F", code=3), pod(W, 0, "F", code=3), pod(W, 1, "F", code=4), pod(W, 2), pod(W, 3, "S"))
        assert ignored(one, attempt_of(one, seen)) == set(keys(W, 0))
        assert ignored(job(), attempt_of(job(), seen)) == frozenset()

    def test_others_fail_as_before(self) -> None:
        """A pod that no rule ignores is judged, whatever was ignored beside it."""
        one = ruled(IGNORE_3, worker=3)
        assert verdict(one, pod(W, 0, "F", code=3, seconds=1), pod(W, 1, "F", code=4), pod(W, 2)) == Verdict(
            FAIL, "restartPolicy Never"
        )

    def test_nothing_is_left(self) -> None:
        """Once every Worker is ignored the job has failed, under whatever policy."""
        one = ruled(IGNORE_3, restart_policy="OnFailure")
        assert verdict(one, pod(S), pod(W, 0, "F", code=3), pod(W, 1, "F", code=3)) == Verdict(
            FAIL, "no pod is left that the job could go on with"
        )

    @pytest.mark.parametrize(
        ("rule", "blamed"),
        [
            (
                {"onPodConditions": [{"type": "DisruptionTarget"}]},
                leaving(W, 0, conditions={"DisruptionTarget": "True"}),
            ),
            ({"onPodReasons": ["Deleted"]}, leaving(W, 0)),
            ({"replicaTypes": ["Worker"]}, leaving(W, 0)),
        ],
    )
    def test_pods_that_have_not_failed(self, rule: dict[str, Any], blamed: Pod) -> None:
        """A pod that is taken away soon shows nothing to remember it by: it restarts the job like any disruption."""
        one = ruled({"action": "IgnorePod", **rule})
        assert verdict(one, pod(S), blamed, pod(W, 1)).action is UNCOUNTED

    def test_pods_that_are_gone(self) -> None:
        """Nor does one that is gone fail the job."""
        one = ruled({"action": "IgnorePod", "replicaTypes": ["Worker"]})
        assert verdict(one, pod(S), pod(W, 0), ran=True).action is UNCOUNTED

    def test_pods_that_are_lost(self) -> None:
        """Nor does one on a lost node, when the Scheduler has failed."""
        one = ruled({"action": "IgnorePod", "replicaTypes": ["Worker"]})
        assert verdict(one, pod(S, 0, "F"), pod(W, 0), pod(W, 1), lost=("node-worker-0",)).action is UNCOUNTED


class TestDynamicWorkers:
    """`enableDynamicWorker`."""

    @pytest.mark.parametrize("policy", [None, "OnFailure", "ExitCode"])
    def test_none_is_left(self, policy: str | None) -> None:
        """The job fails when no Worker is left that could succeed, under every policy."""
        one = job(enable_dynamic_worker=True, restart_policy=policy)
        assert verdict(one, pod(S), pod(W, 0, "F", code=137), put_out(W, 1)) == Verdict(
            FAIL, "no pod is left that the job could go on with"
        )

    def test_a_rule_comes_first(self) -> None:
        """Unless a rule restarts it then."""
        one = ruled({"action": "Restart", "replicaTypes": ["Worker"]}, enable_dynamic_worker=True)
        assert verdict(one, pod(S), pod(W, 0, "F"), pod(W, 1, "F")).action is RESTART

    def test_the_scheduler(self) -> None:
        """Its failure is judged by its policy."""
        assert verdict(job(enable_dynamic_worker=True), pod(S, 0, "F"), pod(W, 0)).action is FAIL
        one = job(enable_dynamic_worker=True, restart_policy="OnFailure")
        assert verdict(one, pod(S, 0, "F"), pod(W, 0, "F"), pod(W, 1)).action is RESTART

    def test_a_worker_that_was_lost(self) -> None:
        """A Worker on a lost node took the Scheduler along: it has not failed by itself, and Workers are left."""
        one = job(enable_dynamic_worker=True)
        assert verdict(one, pod(S, 0, "F"), pod(W, 0), pod(W, 1), lost=("node-worker-0",)).action is UNCOUNTED
