"""Whether the right pod is blamed, and whether what follows is what the job asks for."""

from typing import NamedTuple

from msjob.api import Job, Role
from support.simulated import facts
from support.simulated.cluster import NAME, Json, Kind, condition, ended, is_true, leaving
from support.simulated.facts import Key
from support.simulated.fates import Cause, Fate
from support.simulated.kubelets import FOLLOWERS, Kubelets
from support.simulated.operator import Operator

AFTERMATH = 190
"""Seconds after the failure of a pod that is replaced alone in which others may fall because of it."""


class View(NamedTuple):
    """What the operator can see of the present attempt.

    Attributes:
        job: the job.
        spec: as written.
        keys: its pods.
        done: those that have succeeded, as far as the status knows.
        ran: all of them have run.
        items: those that are there by role and index.
        fates: what truly befell them.
        missing: pods that are gone although all pods ran.
        lost: pods on lost nodes of which nothing is known.
        ignored: failed pods that the job goes on without.
        exhausted: all that matter are among those.
    """

    job: Job
    spec: Json
    keys: list[Key]
    done: set[Key]
    ran: bool
    items: dict[Key, Json]
    fates: dict[Key, Fate]
    missing: set[Key]
    lost: set[Key]
    ignored: set[Key]
    exhausted: bool


def view(operator: Operator, kubelets: Kubelets, job: Job, status: Json) -> View:
    """What the operator can see."""
    attempt, spec = status.get("attempt") or 0, operator.cache[Kind.JOB][NAME]["spec"]
    keys = facts.wanted(job, status)
    names = {job.pod_name(*key): key for key in keys}
    mine = {item["metadata"]["name"]: item for item in operator.mine(Kind.POD, job.uid)}
    items = {key: mine[n] for n, key in names.items() if n in mine and facts.attempt_of(mine[n]) == attempt}
    fates = {key: kubelets.fates[item["metadata"]["uid"]] for key, item in items.items()}
    done = facts.completed(status)
    failed = {key: item for key, item in items.items() if facts.shows_failure(item, fates[key])}
    missing = (
        {key for key in keys if key not in items and key not in done | facts.left_out(status)}
        if status.get("readyAttempt") == attempt
        else set()
    )
    ignored = facts.without(job, spec, status, failed, items)
    matter = [key for key in keys if key[0] is Role.WORKER] or keys
    lost = {
        key for key, item in items.items() if _on_lost_node(operator, item) and not facts.shows_end(item, fates[key])
    }
    exhausted = bool(matter) and all(key in ignored for key in matter)
    ran = status.get("readyAttempt") == attempt
    return View(job, spec, keys, done, ran, items, fates, missing, lost, ignored, exhausted)


def check(operator: Operator, kubelets: Kubelets, job: Job, before: Json, after: Json) -> None:
    """Judge a status that is about to be stored: whom it blames, and what it makes of that."""
    seen = view(operator, kubelets, job, before)
    _check_running(seen, before, after)
    restarts = (after.get("restarts") or 0) - (before.get("restarts") or 0)
    counted = (after.get("restartsCountTowardsLimit") or 0) - (before.get("restartsCountTowardsLimit") or 0)
    over = ended({"status": after})
    if over and is_true({"status": after}, "Succeeded"):
        _check_success(seen, before, after)
        return
    reason = condition({"status": after}, "Failed").get("reason") if over else None
    if reason in ("DeadlineExceeded", "StartupDeadlineExceeded"):
        _check_deadline(operator, job, before, after, str(reason))
        return
    kubelet = any(item["spec"]["restartPolicy"] != "Never" for item in seen.items.values())
    if kubelet and (restarts or reason == "BackoffLimitExceeded"):
        return
    if counted < 0:
        _check_late_loss(operator, kubelets, job, after)
    elif over or restarts:
        if not over:
            _check_in_time(operator, job, after)
        scope_job = (after.get("attempt") or 0) > (before.get("attempt") or 0)
        if over or scope_job:
            if not over and after.get("lastFailure") == before.get("lastFailure"):
                _check_follows(seen, before, counted)
                return
            record = after["lastFailure"]
            key = (Role(record["role"]), record["index"])
            count = before.get("restartsCountTowardsLimit") or 0
            if over:
                # Pods that stand for themselves are judged one after the other; the last one ends the job.
                count += counted
            _check_blame(seen, key, record)
            _check_no_aftermath(seen, key, before)
            _check_action(seen, key, record, count, _outcome(after, counted))
        else:
            _check_replacements(seen, before, after, counted)


def _check_running(seen: View, before: Json, after: Json) -> None:
    """A job begins to run once all its pods do."""
    done = facts.completed(before) | facts.completed(after)
    keys = [key for key in facts.wanted(seen.job, after) if key not in done and key not in seen.ignored]
    if is_true({"status": after}, "Running") and not is_true({"status": before}, "Running"):
        still = [key for key in keys if key not in seen.items or not facts.shows_run(seen.items[key])]
        assert not still, f"it is said to run while {still} do not"
    if after.get("readyAttempt") not in (None, before.get("readyAttempt")):
        # An attempt that is given up in the same moment has the size it was made with.
        keys = [key for key in seen.keys if key not in done and key not in seen.ignored]
        never = [key for key in keys if key not in seen.fates or seen.fates[key].started is None]
        # The kubelet's own restarts begin anew.
        never = [key for key in never if seen.items.get(key, {}).get("spec", {}).get("restartPolicy") != "OnFailure"]
        assert not never, f"all pods are said to have run, and {never} have not"


def _outcome(after: Json, counted: int) -> str:
    if ended({"status": after}):
        return str(condition({"status": after}, "Failed")["reason"])
    return "Restart" if counted else "RestartIgnoringLimit"


def _check_success(seen: View, before: Json, after: Json) -> None:
    done = facts.completed(before) | {k for k, item in seen.items.items() if facts.shows_success(item, seen.fates[k])}
    keys = facts.wanted(seen.job, after)
    assert facts.has_succeeded(seen.job, keys, done, seen.ignored), "a job that is not done has succeeded"


def _check_deadline(operator: Operator, job: Job, before: Json, after: Json, reason: str) -> None:
    policy, startup = job.run_policy, reason == "StartupDeadlineExceeded"
    limit = policy.startup_deadline_seconds if startup else policy.active_deadline_seconds
    start = facts.seconds(after["startTime"])
    assert limit is not None, f"{reason} without a deadline"
    assert start is not None
    assert operator.now >= start + limit, f"{reason} before its time"
    assert not startup or before.get("readyAttempt") is None, "a job that ran has not started in time"


def _check_follows(seen: View, before: Json, counted: int) -> None:
    """Judge a restart of the job that is put down to a pod that was replaced alone shortly before."""
    last, since = before["lastFailure"], facts.seconds(before["lastFailure"]["time"])
    assert since is not None
    assert counted == 0, "a failure counts twice"
    assert last["attempt"] == (before.get("attempt") or 0), "a pod of an earlier attempt is still blamed"
    assert facts.alone(seen.job, Role(last["role"])), "a pod is blamed twice that took all others along"
    codes = {
        fate.code
        for key, fate in seen.fates.items()
        if facts.shows_failure(seen.items[key], fate) and 0 <= int(fate.ended or 0) - since <= AFTERMATH
    }
    assert codes & set(FOLLOWERS), "no pod has followed the one that is still blamed"


def _check_no_aftermath(seen: View, key: Key, before: Json) -> None:
    """A pod that followed one that was replaced alone is not charged beside it."""
    last, fate = before.get("lastFailure") or {}, seen.fates.get(key)
    if fate is None or fate.cause is not Cause.FOLLOWED or fate.leader != last.get("pod"):
        return
    same = last["attempt"] == (before.get("attempt") or 0) and seen.job.launch_mode != "Standalone"
    since = int(fate.ended or 0) - (facts.seconds(last["time"]) or 0)
    charged = same and facts.alone(seen.job, Role(last["role"])) and 0 <= since <= AFTERMATH
    assert not charged, f"{fate.name} is charged although it followed {fate.leader}, which is charged already"


def _check_in_time(operator: Operator, job: Job, after: Json) -> None:
    limit, start = job.run_policy.active_deadline_seconds, facts.seconds(after["startTime"])
    assert start is not None
    assert limit is None or operator.now < start + limit, "it restarts after its deadline"


def _check_late_loss(operator: Operator, kubelets: Kubelets, job: Job, after: Json) -> None:
    record = after["lastFailure"]
    assert record["reason"] == "NodeLost"
    item = operator.cache[Kind.POD][record["pod"]]
    fate = kubelets.fates[item["metadata"]["uid"]]
    assert fate.attempt == record["attempt"], "a pod of another attempt is blamed"
    assert fate.owner == job.uid
    assert _on_lost_node(operator, item), "the node is not lost"


def _genuine(seen: View) -> dict[Key, Fate | None]:
    """Pods that fell, or were taken, by themselves, as far as can be seen."""
    found: dict[Key, Fate | None] = {}
    some_failed = False
    for key, item in seen.items.items():
        fate = seen.fates[key]
        if key in seen.ignored and not seen.exhausted:
            continue
        if facts.shows_failure(item, fate):
            some_failed = True
            if fate.cause in (Cause.ITSELF, Cause.PUT_OUT, Cause.LOST):
                found[key] = fate
        elif _was_taken(seen, key):
            found[key] = fate
    for key in seen.missing:
        if not facts.alone(seen.job, key[0]):
            found[key] = None
    if some_failed or found:
        found |= {key: seen.fates[key] for key in seen.lost if key not in found}
    return found


def _check_blame(seen: View, key: Key, record: Json) -> None:
    name = record["pod"]
    fate = seen.fates.get(key)
    assert name == seen.job.pod_name(*key)
    if record.get("reason") == "NeverRan":
        assert fate is None or fate.started is None, f"{name} is blamed because it never ran, and it did"
        return
    if facts.alone(seen.job, key[0]):
        return
    genuine = {other: culprit for other, culprit in _genuine(seen).items() if not _fell_later(culprit, fate)}
    # One that somebody deletes is blamed for that, whatever it exits with.
    exited = record.get("exitCode") is not None
    if exited and fate is not None and fate.cause is Cause.GAVE_UP and not seen.ran:
        never = [key for key in seen.keys if key not in seen.items or not _has_run(seen.items[key])]
        assert not set(never) - seen.done, f"{name} is blamed, which waited in vain for {never}"
    if key in genuine or not genuine:
        return
    assert fate is not None, f"{name} is blamed, which nothing has befallen"
    ties = [
        culprit
        for culprit in genuine.values()
        if culprit is not None and culprit.ended is not None and culprit.code in FOLLOWERS
    ]
    known = fate.ended is not None and any(int(c.ended or 0) == int(fate.ended) for c in ties)
    # Times have whole seconds: who fell first in the same second cannot be told from codes that followers have.
    blamed = {seen.job.pod_name(*culprit) for culprit in genuine}
    assert known, f"follower {name} is blamed although {sorted(blamed)} can be seen"


def _fell_later(culprit: Fate | None, fate: Fate | None) -> bool:
    """Whether a process that failed by itself did so only after another had ended, of which it cannot be the cause.

    Its node may have been cut off for a while, which nothing tells any more once it is back.
    """
    if culprit is None or fate is None or culprit is fate or culprit.ended is None or fate.ended is None:
        return False
    return culprit.cause is Cause.ITSELF and not culprit.asked_by and int(culprit.ended) > int(fate.ended)


def _check_action(seen: View, key: Key, record: Json, counted: int, outcome: str) -> None:
    """Judge what was made of a failure: Restart, RestartIgnoringLimit, or the reason why the job failed."""
    if record.get("reason") == "NeverRan":
        return
    wanted = expected(seen, key, record)
    limit = seen.job.run_policy.backoff_limit
    if wanted == "Restart" and limit is not None and counted >= limit:
        wanted = "BackoffLimitExceeded"
    if wanted == "FailJob":
        wanted = "MSJobFailed"
    assert outcome == wanted, f"{record['pod']} ({record.get('reason')}): {outcome} instead of {wanted}"


def expected(seen: View, key: Key, record: Json) -> str:
    """What a job asks for when a pod has failed."""
    role, item = key[0], seen.items.get(key)
    code: int | None = None
    taken = True
    if item is None:
        assert record["reason"] == "Deleted", f"{record['pod']} is gone and is said to have failed"
        why, marks, disrupted = {"Deleted"}, {}, True
    elif facts.shows_failure(item, seen.fates[key]):
        code, taken = facts.main(item).get("terminated", {}).get("exitCode"), False
        why, marks = facts.reasons(item), facts.marks(item)
        disrupted = bool(why & facts.DISRUPTED) or marks.get("DisruptionTarget") == "True"
        assert record.get("exitCode") == code, f"{record['pod']} is blamed for another exit code"
    else:
        marks = facts.marks(item)
        lost = "NodeLost" if key in seen.lost and record["reason"] == "NodeLost" else None
        marked = "Evicted" if marks.get("DisruptionTarget") == "True" else "Deleted"
        assert record["reason"] == (lost or marked), f"{record['pod']} is said to be {record['reason']}"
        assert lost or leaving(item), f"{record['pod']} is blamed and nothing has befallen it"
        # Rules about evictions hold for a pod that its cluster deletes for its lost node, too.
        why = facts.reasons(item) | {record["reason"]} | ({marked} if leaving(item) else set())
        disrupted = True
    rule = facts.rule_for(seen.spec, role, code, why, marks)
    if rule is not None and rule != "IgnorePod":
        return rule
    if not taken and (rule is not None or (seen.job.spec.enable_dynamic_worker and role is Role.WORKER)):
        return "FailJob"
    return "RestartIgnoringLimit" if disrupted else facts.by_policy(seen.job, role, code)


def _check_replacements(seen: View, before: Json, after: Json, counted: int) -> None:
    """Judge pods that are replaced alone."""
    old = {entry["uid"] for entry in before.get("replacements") or []}
    new = [entry["uid"] for entry in after["replacements"] if entry["uid"] not in old]
    by_uid = {item["metadata"]["uid"]: key for key, item in seen.items.items()}
    total = 0
    for uid in new:
        key = by_uid[uid]
        item, fate = seen.items[key], seen.fates[key]
        assert seen.job.roles[key[0]].restart_scope == "Pod", f"{fate.name} is replaced alone, and cannot rejoin"
        assert facts.shows_failure(item, fate), f"{fate.name} is replaced and has not failed"
        record = {"pod": fate.name, "reason": "", "exitCode": facts.main(item).get("terminated", {}).get("exitCode")}
        action = expected(seen, key, record)
        assert action in ("Restart", "RestartIgnoringLimit"), f"{fate.name} is replaced instead of {action}"
        total += action == "Restart"
    assert counted == total, f"{counted} restarts are counted, and {total} should be"
    others = [fate for key, fate in seen.fates.items() if facts.shows_failure(seen.items[key], fate)]
    whole = [
        fate for fate in others if not facts.alone(seen.job, fate.role) and (fate.role, fate.index) not in seen.ignored
    ]
    assert not whole, f"{[fate.name for fate in whole]} failed and the job is not restarted"


def _was_taken(seen: View, key: Key) -> bool:
    """Whether somebody deletes a pod that has run and that the others cannot do without."""
    item, fate = seen.items[key], seen.fates[key]
    if not leaving(item) or fate.asked_by == "operator" or facts.shows_end(item, fate):
        return False
    return fate.started is not None and _has_run(item) and not facts.alone(seen.job, key[0])


def _has_run(item: Json) -> bool:
    """Whether a pod shows that its process runs or has run."""
    listed = item["status"].get("containerStatuses") or [{}]
    shown = facts.main(item).keys() & {"running", "terminated"} or "lastState" in listed[0]
    return bool(shown) or item["status"].get("phase") == "Running"


def _on_lost_node(operator: Operator, item: Json) -> bool:
    name = item["spec"].get("nodeName")
    if not name:
        return False
    node = operator.cache[Kind.NODE].get(name)
    return node is None or not is_true(node, "Ready")
