"""Faults that somebody could have made in the policies, each to be put into a copy of the code to see who notices."""

from dataclasses import dataclass
from typing import Final

FOLDER: Final = "controller/msjob_controller/policy"
"""Where the files of `MUTATIONS` are."""


@dataclass(frozen=True)
class Mutation:
    """One fault.

    Attributes:
        file: in `FOLDER`.
        what: the fault in words.
        old: the text that is there, once.
        new: what takes its place.
    """

    file: str
    what: str
    old: str
    new: str


MUTATIONS: Final = (
    Mutation(
        "attempt.py",
        "pods of a later attempt count as old",
        "of_it = {key: pod for key, pod in observed.pods.items() if pod.attempt == number}",
        "of_it = {key: pod for key, pod in observed.pods.items() if pod.attempt <= number}",
    ),
    Mutation(
        "attempt.py",
        "what has succeeded is forgotten once its pod is gone",
        'completed=frozenset(done | (_stored(own, "completedIndexes") & chosen))',
        "completed=frozenset(done)",
    ),
    Mutation(
        "attempt.py",
        "all pods have run, in whatever attempt that was",
        'ran=status.get("readyAttempt") == number',
        'ran=status.get("readyAttempt") is not None',
    ),
    Mutation(
        "attempt.py",
        "an attempt is judged by the size that is wanted now",
        "return min(made_with, meta.MAX_REPLICAS)",
        "return job.replicas(role)",
    ),
    Mutation(
        "backoff.py",
        "the first restart waits, too",
        "0 if restart <= 1 else",
        "FIRST_SECONDS if restart <= 1 else",
    ),
    Mutation("backoff.py", "pauses grow twice as fast", "min(restart - 2, 10)", "min(restart - 1, 10)"),
    Mutation(
        "cleanup.py",
        "cleanPodPolicy Running keeps what runs",
        "policy is CleanPodPolicy.RUNNING and not _over(pod)",
        "policy is CleanPodPolicy.RUNNING and _over(pod)",
    ),
    Mutation(
        "cleanup.py",
        "a pod whose sidecar runs on counts as over",
        "return pod.outcome.ended and not pod.lingering",
        "return pod.outcome.ended",
    ),
    Mutation(
        "cleanup.py",
        "pods of attempts that were given up stay",
        "in given_up | (going - settling)",
        "in going - settling",
    ),
    Mutation(
        "cleanup.py",
        "the autoscaler stays",
        "return observed.autoscaler is not None and not observed.autoscaler.deleting",
        "return False",
    ),
    Mutation(
        "conditions.py",
        "Running and Restarting stand side by side",
        "replaced = {kind, _REPLACES.get(kind)}",
        "replaced = {kind}",
    ),
    Mutation(
        "conditions.py",
        "the state does not move to the end",
        "return [item for item in conditions if not any(item is kept for kept in last)] + last",
        "return list(conditions)",
    ),
    Mutation(
        "counts.py",
        "pods that are gone count as running",
        "return Outcome.RUNNING in outcomes and all(o in (Outcome.RUNNING, Outcome.SUCCEEDED) for o in outcomes)",
        "return Outcome.RUNNING in outcomes",
    ),
    Mutation(
        "counts.py",
        "pods that go count as ready",
        "attempt.pods[key].ready and not attempt.pods[key].deleting",
        "attempt.pods[key].started",
    ),
    Mutation(
        "counts.py",
        "failed pods of all roles are added up",
        "failed = sum(key[0] is role and pod.outcome is Outcome.FAILED",
        "failed = sum(pod.outcome is Outcome.FAILED",
    ),
    Mutation(
        "deadline.py",
        "the start-up deadline goes on after the start",
        'if status.get("readyAttempt") is not None:',
        'if status.get("readyAttempt") == -1:',
    ),
    Mutation(
        "deadline.py",
        "the active deadline is no timer",
        "return [_active(job, status, now), _startup(job, status, now)]",
        "return [_startup(job, status, now)]",
    ),
    Mutation(
        "decide.py",
        "a job that is to be suspended is not",
        "if job.suspended and why is None:",
        "if job.suspended and why is None and observed.pods:",
    ),
    Mutation(
        "decide.py",
        "the clock starts anew at each look",
        'current.setdefault("startTime", format_time(now))',
        'current["startTime"] = format_time(now)',
    ),
    Mutation(
        "decide.py",
        "nothing is looked at again after a restart has begun",
        "events += _exit_events(at.job, failures[0]) + told\n"
        "    return Decision(status, delete_pods=keys(at.observed.pods.values()), events=events, requeue_after=0)",
        "events += _exit_events(at.job, failures[0]) + told\n"
        "    return Decision(status, delete_pods=keys(at.attempt.old), events=events, requeue_after=0)",
    ),
    Mutation(
        "decide.py",
        "a restart comes before a deadline that has passed",
        "if expired is not None:",
        "if expired is not None and judged is None:",
    ),
    Mutation(
        "decide.py",
        "the latest timer counts",
        "return min((wait for wait in waits if wait is not None), default=None)",
        "return max((wait for wait in waits if wait is not None), default=None)",
    ),
    Mutation(
        "ending.py",
        "Running stays True after the end",
        "_OPEN = (ConditionType.RUNNING, ConditionType.SUSPENDED,",
        "_OPEN = (ConditionType.SUSPENDED,",
    ),
    Mutation(
        "ending.py",
        "Restarting stays after the end",
        'conditions.drop(status.get("conditions") or [], ConditionType.RESTARTING)',
        'list(status.get("conditions") or [])',
    ),
    Mutation(
        "expiry.py",
        "a suspended job is deleted, too",
        "if job.suspended:",
        "if job.suspended and not status:",
    ),
    Mutation(
        "expiry.py",
        "the TTL counts from the start",
        'parse_time(status.get("completionTime"))',
        'parse_time(status.get("startTime"))',
    ),
    Mutation(
        "failure.py",
        "the pod that ended last is blamed",
        "found.sort(key=_first)",
        "found.sort(key=_first, reverse=True)",
    ),
    Mutation(
        "failure.py",
        "in the same second followers come first",
        "return (failure.time or _EARLIEST, _is_follower(failure), _ORDER[failure.role], failure.index)",
        "return (failure.time or _EARLIEST, not _is_follower(failure), _ORDER[failure.role], failure.index)",
    ),
    Mutation(
        "failure.py",
        "lost nodes are blamed for nothing",
        "if pod.node in lost and not pod.outcome.ended and key not in without",
        "if pod.node in lost and pod.outcome.ended and key not in without",
    ),
    Mutation(
        "failure.py",
        "pods that somebody deleted are no loss until they are gone",
        "elif pod.deleting and pod.started and pod.key not in attempt.completed",
        "elif not pod.deleting and pod.started and pod.outcome.ended and pod.key not in attempt.completed",
    ),
    Mutation(
        "failure.py",
        "missing pods are made again in an attempt that ran",
        "    if attempt.ran:\n        for role, index in attempt.missing():",
        "    if not attempt.wanted:\n        for role, index in attempt.missing():",
    ),
    Mutation(
        "failure.py",
        "a pod that is being replaced is charged again",
        "if (failure.role, failure.index) not in without and failure.uid not in replaced",
        "if (failure.role, failure.index) not in without",
    ),
    Mutation(
        "failure.py",
        "evicted pods count",
        "yield _of(pod, disrupted=_put_out(pod) or bool(pod.reasons & DISRUPTIONS))",
        "yield _of(pod, disrupted=_put_out(pod))",
    ),
    Mutation(
        "failure.py",
        "a job whose Workers may all have failed goes on",
        "return bool(matter) and all(key in without for key in matter)",
        "return not matter",
    ),
    Mutation(
        "failure.py",
        "who gave up waiting is blamed, and not who never came",
        "if (pod.finished_at - pod.started_at).total_seconds() < job.topology_timeout:",
        "if (pod.finished_at - pod.started_at).total_seconds() <= job.topology_timeout + 3:",
    ),
    Mutation("closing.py", "a pod is waited for without an end", " < timedelta(seconds=CLOSING_SECONDS)", ""),
    Mutation("closing.py", "a clock that is ahead is waited for", "timedelta(0) <= now", "now"),
    Mutation(
        "closing.py", "a pod is deleted while its kubelet clears up", "timedelta(0) <= now", "timedelta(9) <= now"
    ),
    Mutation(
        "forced.py",
        "pods are removed by force from nodes that answer",
        "if pod.node not in observed.lost_nodes or",
        "if not pod.node or",
    ),
    Mutation(
        "forced.py",
        "the grace of a pod is not waited for",
        "max(pod.gone_by, pod.asked_to_go + timedelta(seconds=limit))",
        "(pod.asked_to_go + timedelta(seconds=limit))",
    ),
    Mutation("forced.py", "nobody waits for the moment", "later.append(", "later.count("),
    Mutation(
        "indexes.py",
        "the last of a run is left out",
        "min(int(run[2] or run[1]) + 1, meta.MAX_REPLICAS)",
        "min(int(run[2] or run[1]), meta.MAX_REPLICAS)",
    ),
    Mutation(
        "proceed.py",
        "old pods are not waited for",
        "if attempt.old or pause is not None:",
        "if pause is not None:",
    ),
    Mutation(
        "proceed.py",
        "a pause is not waited for",
        "if attempt.old or pause is not None:",
        "if attempt.old:",
    ),
    Mutation(
        "proceed.py",
        "pods are made while the Service has no address",
        "if job.host_role is not None and service is not None and (service.deleting or not service.cluster_ip):",
        "if job.host_role is not None and service is not None and service.deleting:",
    ),
    Mutation(
        "proceed.py",
        "pods that are not needed stay",
        "delete_pods=keys(attempt.old) + keys(attempt.surplus) + replacing.delete",
        "delete_pods=keys(attempt.old) + replacing.delete",
    ),
    Mutation(
        "proceed.py",
        "a pod that is replaced does not wait",
        "create_pods=tuple(key for key in missing if key not in replacing.held)",
        "create_pods=missing",
    ),
    Mutation(
        "proceed.py",
        "no timer is set for a pause",
        "waits = (*deadline.timers(job, status, at.now), *replacing.waits, pause)",
        "waits = (*deadline.timers(job, status, at.now), *replacing.waits)",
    ),
    Mutation(
        "reading.py",
        "what a pod does because it is told to counts",
        "return grace > 0 and finished_at is not None and finished_at < asked_to_go",
        "return True",
    ),
    Mutation(
        "reading.py",
        "a node that is silent is not lost",
        'return ready.get("status", "True") != "True" or',
        'return ready.get("status", "True") == "False" or',
    ),
    Mutation(
        "reading.py",
        "exit 0 of a container is no success while another one runs",
        "    if code == 0:\n        return Outcome.SUCCEEDED",
        "    if code == 0:\n        return Outcome(phase)",
    ),
    Mutation(
        "restart.py",
        "disruptions count",
        "counts = judged.action is FailureAction.RESTART\n",
        "counts = judged.action is not FailureAction.FAIL_JOB\n",
    ),
    Mutation(
        "restart.py",
        "a failure begins no new attempt",
        '"attempt": attempt.number + 1, "replicaStatuses": numbers}',
        '"attempt": attempt.number, "replicaStatuses": numbers}',
    ),
    Mutation(
        "restart.py",
        "successes of the last attempt count in the next",
        "if key not in OF_THE_ATTEMPT}",
        "}",
    ),
    Mutation(
        "restart.py",
        "a node that is lost late is no excuse",
        'if pod.attempt == last["attempt"] and pod.node in observed.lost_nodes and not pod.outcome.ended:',
        'if pod.attempt == last["attempt"] and pod.node in observed.lost_nodes and pod.outcome.ended:',
    ),
    Mutation(
        "restart.py",
        "a restart that is taken off the count is taken off again",
        '"countsTowardsLimit": False,\n',
        '"countsTowardsLimit": True,\n',
    ),
    Mutation(
        "restart.py",
        "a replacement is done before the pod is gone",
        'uids.get(entry["pod"], entry["uid"]) == entry["uid"]]',
        'uids.get(entry["pod"]) is None]',
    ),
    Mutation(
        "restart.py",
        "restarts by the kubelet are not counted",
        "if seen > known:",
        "if seen < known:",
    ),
    Mutation(
        "scale.py",
        "a new number of Workers is taken for that of the attempt",
        'if status.get("workerReplicas") is None or (without_pods and not _has_begun(status)):',
        "if True:",
    ),
    Mutation(
        "scale.py",
        "an attempt whose pods are gone takes another size",
        "(without_pods and not _has_begun(status))",
        "without_pods",
    ),
    Mutation(
        "scale.py",
        "a job is not scaled",
        'return coordinated(job) and status.get("workerReplicas") != job.replicas(Role.WORKER)',
        'return coordinated(job) and status.get("workerReplicas") is None',
    ),
    Mutation("settle.py", "pods of a job that succeeded are left for ever", "0 <= ago < SETTLE_SECONDS", "0 <= ago"),
    Mutation("settle.py", "an end that lies ahead is waited for", "0 <= ago < SETTLE", "ago < SETTLE"),
    Mutation("settle.py", "pods go the moment their job succeeds", "0 <= ago < SETTLE", "ago < 0 < SETTLE"),
    Mutation(
        "settle.py", "pods of a job that failed are waited for", "ConditionType.SUCCEEDED)", "ConditionType.CREATED)"
    ),
    Mutation("cleanup.py", "nobody comes back for pods that settle", "left if settling else None", "None"),
    Mutation(
        "skew.py",
        "times ahead of the clock are believed",
        "return when is not None and when > of + TOLERANCE",
        "return when is not None and when > of + 10_000 * TOLERANCE",
    ),
    Mutation(
        "stalled.py",
        "pods that hang on a lost node get more time",
        "slack = 0.0 if pod.node in observed.lost_nodes else TERMINATING_SECONDS",
        "slack = TERMINATING_SECONDS",
    ),
    Mutation(
        "stalled.py",
        "a stall that is over stays",
        "if not stalled or before is None:",
        "if True:",
    ),
    Mutation(
        "stored.py",
        "what cannot be read of a status is kept",
        "kept = {key: value for key, value in stored.items() if _fits({key: value})}",
        "kept = dict(stored)",
    ),
    Mutation(
        "success.py",
        "Worker 0 is enough under AllWorkers, too",
        "and job.success_policy is SuccessPolicy.DEFAULT",
        "and job.success_policy is not None",
    ),
    Mutation(
        "success.py",
        "one success is enough",
        "if matter and good == len(matter):",
        "if matter and good >= 1:",
    ),
    Mutation(
        "success.py",
        "a job without Workers never succeeds",
        "matter = [key for key in workers or attempt.wanted if key not in without]",
        "matter = [key for key in workers if key not in without]",
    ),
    Mutation(
        "suspend.py",
        "a job is suspended while it has pods",
        "if observed.pods or conditions.is_true(",
        "if conditions.is_true(",
    ),
    Mutation(
        "suspend.py",
        "the next pods are of the same attempt",
        'status["attempt"] = attempt.number + 1',
        'status["attempt"] = attempt.number',
    ),
    Mutation(
        "suspend.py",
        "the clock goes on from the first start",
        '_OF_THE_RUN = ("startTime", ',
        "_OF_THE_RUN = (",
    ),
    Mutation(
        "suspend.py",
        "it is not forgotten that all pods ran",
        '"workersReady", "readyAttempt", ',
        '"workersReady", ',
    ),
    Mutation(
        "times.py",
        "timers have twice the length",
        "end = since + timedelta(seconds=seconds)",
        "end = since + timedelta(seconds=2 * seconds)",
    ),
    Mutation(
        "times.py",
        "timers are late",
        "max((end - now).total_seconds(), 0.0)",
        "max((end - now).total_seconds() + 2, 0.0)",
    ),
    Mutation(
        "verdict.py",
        "one restart more than the limit",
        "limit is not None and counted >= limit",
        "limit is not None and counted > limit",
    ),
    Mutation("verdict.py", "exit code 128 and more is final", "range(128, 256)", "range(1, 128)"),
    Mutation(
        "verdict.py",
        "restartPolicy comes before what disruptions are for",
        "if failure.disrupted:",
        "if failure.disrupted and failure.judged_code is None:",
    ),
    Mutation(
        "verdict.py",
        "NotIn means In",
        '(code in values) == (operator == "In")',
        "(code in values)",
    ),
    Mutation(
        "verdict.py",
        "the last rule that matches decides",
        "for number, rule in enumerate(policy.rules if policy is not None else (), start=1):",
        "for number, rule in reversed([*enumerate(policy.rules if policy is not None else (), start=1)]):",
    ),
)
