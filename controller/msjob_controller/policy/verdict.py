"""What to do about a failure: the user's rules first, then what disruptions are for, then the policy of the role."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from msjob.api import FailureAction, FailureRule, Job, Reason, RestartPolicy, Role, meta
from msjob_controller.policy import messages
from msjob_controller.policy.attempt import Attempt
from msjob_controller.policy.failure import Failure
from msjob_controller.policy.observed import Outcome, PodKey

RETRYABLE: Final = range(128, 256)
"""Exit codes that `ExitCode` restarts: those of processes that ended by a signal (Kubeflow's rule)."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do about a failure.

    Attributes:
        action: FailJob, Restart or RestartIgnoringLimit.
        why: which rule says so, for people.
        reason: of the condition, if the job fails.
        follows: the failure is the consequence of one that `lastFailure` tells of, which stays to blame.
    """

    action: FailureAction
    why: str = ""
    reason: Reason = Reason.FAILED
    follows: bool = False


def ignored(job: Job, attempt: Attempt) -> frozenset[PodKey]:
    """Failed pods that a rule of `failurePolicy` says to ignore."""
    policy = job.run_policy.failure_policy
    if policy is None or all(rule.action is not FailureAction.IGNORE_POD for rule in policy.rules):
        return frozenset()
    # Pods of a large job fail alike, and each rule may have hundreds of codes.
    known: dict[object, bool] = {}
    found = []
    for key, pod in attempt.pods.items():
        if pod.outcome is Outcome.FAILED:
            alike = (key[0], *sorted(pod.exit_codes.items()), None, *sorted(pod.conditions.items()), pod.reasons)
            if alike not in known:
                rule = _rule(job, key[0], pod.exit_codes, pod.conditions, pod.reasons)
                known[alike] = rule is not None and rule[1].action is FailureAction.IGNORE_POD
            if known[alike]:
                found.append(key)
    return frozenset(found)


def judge(job: Job, failure: Failure, counted: int) -> Verdict:
    """Decide about a failure.

    Args:
        job: the job.
        failure: of the pod to blame.
        counted: restarts so far that count towards `backoffLimit`.
    """
    action, why = _action(job, failure)
    limit = job.run_policy.backoff_limit
    if action is FailureAction.RESTART and limit is not None and counted >= limit:
        return Verdict(FailureAction.FAIL_JOB, messages.LIMIT.format(limit=limit), Reason.BACKOFF_LIMIT)
    return Verdict(action, why)


def _action(job: Job, failure: Failure) -> tuple[FailureAction, str]:
    rule = _rule(job, failure.judged, failure.exit_codes, failure.conditions, failure.reasons)
    if rule is not None and rule[1].action is not FailureAction.IGNORE_POD:
        return rule[1].action, messages.RULE.format(number=rule[0], action=rule[1].action.value)
    if not failure.taken and (rule is not None or _by_design(job, failure)):
        return FailureAction.FAIL_JOB, messages.NONE_LEFT
    if failure.disrupted:
        return FailureAction.RESTART_IGNORING_LIMIT, messages.DISRUPTION
    return _by_policy(job.roles[failure.judged].restart_policy, failure.judged_code)


def _by_design(job: Job, failure: Failure) -> bool:
    """A Worker of a job whose Workers may fail is blamed only once all have failed."""
    return bool(job.spec.enable_dynamic_worker) and failure.judged is Role.WORKER


def _by_policy(policy: RestartPolicy, code: int | None) -> tuple[FailureAction, str]:
    match policy:
        case RestartPolicy.ALWAYS | RestartPolicy.ON_FAILURE:
            return FailureAction.RESTART, messages.POLICY.format(policy=policy.value)
        case RestartPolicy.EXIT_CODE:
            # Without an exit code the pod failed outside its process, which is worth another try (kubeflow: 0xbeef).
            retry = code is None or code in RETRYABLE
            return FailureAction.RESTART if retry else FailureAction.FAIL_JOB, messages.POLICY.format(
                policy=policy.value
            )
    return FailureAction.FAIL_JOB, messages.POLICY.format(policy=policy.value)


def _rule(
    job: Job, role: Role, exit_codes: Mapping[str, int], conditions: Mapping[str, str], reasons: frozenset[str]
) -> tuple[int, FailureRule] | None:
    """The first rule that has nothing against a failure, and its number from 1."""
    policy = job.run_policy.failure_policy
    for number, rule in enumerate(policy.rules if policy is not None else (), start=1):
        codes = rule.on_exit_codes
        if rule.replica_types is not None and role not in map(Role.parse, rule.replica_types):
            continue
        if codes is not None and not _code_matches(
            codes.operator, codes.values, exit_codes.get(codes.container_name or meta.CONTAINER)
        ):
            continue
        if rule.on_pod_conditions is not None and not any(
            conditions.get(wanted.type) == (wanted.status or "True") for wanted in rule.on_pod_conditions
        ):
            continue
        if rule.on_pod_reasons is not None and reasons.isdisjoint(rule.on_pod_reasons):
            continue
        return number, rule
    return None


def _code_matches(operator: str, values: Sequence[int], code: int | None) -> bool:
    """Whether a rule is about an exit code; 0 is no failure, and neither is a container that has not ended."""
    return bool(code) and (code in values) == (operator == "In")
