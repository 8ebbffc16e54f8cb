"""What pods show and what the fields of a job ask for, told again without a line of the code under test."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from math import floor
from typing import Final

from msjob.api import Job, Role, meta
from support.pods import START
from support.simulated.cluster import Json, leaving
from support.simulated.fates import Fate

CLOSING: Final = 3
"""Seconds that a kubelet has to clear up after a pod before that is deleted whatever its phase."""
SETTLING: Final = 10
"""Seconds that pods have to end by themselves once their job has succeeded."""
LONGEST: Final = 360
AHEAD: Final = 2
"""Seconds by which a stored time may be ahead of the clock before it is mended."""
PAUSES: Final = (0, 10, 20, 40, 80, 160, 320, 360)
DISRUPTED: Final = frozenset(
    {"Evicted", "NodeLost", "NodeShutdown", "Preempted", "Preempting", "Shutdown", "Terminated"}
)
Key = tuple[Role, int]


def seconds(text: str | None) -> float | None:
    """A timestamp as seconds after the beginning; None for None."""
    return None if text is None else (datetime.fromisoformat(text) - START).total_seconds()


def begins(text: str | None, now: float, longest: float = 0.0) -> float | None:
    """A stored time as it counts: one that is too far ahead, since the clock was set back, is taken for now."""
    when = seconds(text)
    return when if when is None or when <= now + longest + AHEAD else floor(now)


def pause(restart: int) -> int:
    """Seconds that a restart waits."""
    return PAUSES[min(restart, len(PAUSES)) - 1]


def main(item: Json) -> Json:
    """State of the `mindspore` container."""
    for entry in item["status"].get("containerStatuses") or []:
        if entry["name"] == "mindspore":
            return dict(entry.get("state") or {})
    return {}


def attempt_of(item: Json) -> int:
    """Attempt that a pod was made for."""
    return int(item["metadata"]["labels"][meta.LABEL_RESTART_ATTEMPT])


def shows_run(item: Json) -> bool:
    """Whether a pod runs as far as the API server knows."""
    return bool(item["status"].get("phase") == "Running" and "terminated" not in main(item))


def shows_end(item: Json, fate: Fate) -> bool:
    """Whether a pod is known to have ended by itself, and not because it was told to."""
    ended = "terminated" in main(item) or item["status"].get("phase") in ("Failed", "Succeeded")
    if not ended or not leaving(item):
        return ended
    before = fate.ended is not None and fate.asked is not None and int(fate.ended) < int(fate.asked)
    known = "finishedAt" in main(item).get("terminated", {})
    return before and known and item["metadata"]["deletionGracePeriodSeconds"] > 0


def shows_success(item: Json, fate: Fate) -> bool:
    """Likewise, with exit code 0."""
    return shows_end(item, fate) and fate.code == 0


def shows_failure(item: Json, fate: Fate) -> bool:
    """Likewise, with another."""
    return shows_end(item, fate) and fate.code != 0


def is_over(item: Json) -> bool:
    """Whether nothing of a pod runs any more."""
    listed = item["status"].get("containerStatuses") or []
    ended = "terminated" in main(item) or item["status"].get("phase") in ("Failed", "Succeeded")
    return ended and not any("running" in (entry.get("state") or {}) for entry in listed)


def closes(item: Json) -> bool:
    """Whether a pod is over for good and nobody deletes it, and its phase does not say so yet."""
    over = is_over(item) and item["status"].get("phase") == "Running"
    return over and item["spec"].get("restartPolicy", "Never") == "Never" and not leaving(item)


def reasons(item: Json) -> set[str]:
    """Reasons that a failed pod has."""
    found = {item["status"].get("reason"), main(item).get("terminated", {}).get("reason")}
    return {reason for reason in found if reason}


def coordinated(job: Job) -> bool:
    """Whether another number of Workers means another cluster."""
    return job.launch_mode != "Standalone" and Role.WORKER in job.roles


def wanted(job: Job, status: Json) -> list[Key]:
    """Pods that make up the present attempt."""
    sizes = {role: job.replicas(role) for role in job.roles}
    if coordinated(job) and status.get("workerReplicas") is not None:
        sizes[Role.WORKER] = status["workerReplicas"]
    return [(role, index) for role, size in sizes.items() for index in range(size)]


def completed(status: Json) -> set[Key]:
    """Pods that have succeeded according to a status."""
    return _remembered(status, "completedIndexes")


def left_out(status: Json) -> set[Key]:
    """Pods that have failed and that the job goes on without, according to a status."""
    return _remembered(status, "ignoredIndexes")


def _remembered(status: Json, field: str) -> set[Key]:
    found = set()
    for name, count in (status.get("replicaStatuses") or {}).items():
        for part in filter(None, (count.get(field) or "").split(",")):
            first, _, last = part.partition("-")
            found |= {(Role(name), index) for index in range(int(first), int(last or first) + 1)}
    return found


def alone(job: Job, role: Role) -> bool:
    """Whether a pod of a role comes and goes without the others."""
    return job.roles[role].restart_scope == "Pod" or (bool(job.spec.enable_dynamic_worker) and role is Role.WORKER)


def rule_for(
    spec: Json,
    role: Role,
    code: int | None,
    why: Iterable[str],
    marks: Mapping[str, str],
    container: str = "mindspore",
) -> str | None:
    """What the failure policy of a job says about a failure; None if it says nothing."""
    policy = (spec.get("runPolicy") or {}).get("failurePolicy") or {"rules": []}
    for rule in policy["rules"]:
        codes, about = rule.get("onExitCodes"), rule.get("onPodConditions")
        if "replicaTypes" in rule and role.value.lower() not in {name.lower() for name in rule["replicaTypes"]}:
            continue
        if codes is not None:
            if not code or codes.get("containerName", "mindspore") != container:
                continue
            if (codes["operator"] == "In") != (code in codes["values"]):
                continue
        if about is not None and all(marks.get(mark["type"]) != mark.get("status", "True") for mark in about):
            continue
        if "onPodReasons" in rule and not set(rule["onPodReasons"]) & set(why):
            continue
        return str(rule["action"])
    return None


def rule_for_pod(spec: Json, role: Role, item: Json) -> str | None:
    """What the failure policy says about a pod that has failed."""
    code = main(item).get("terminated", {}).get("exitCode")
    return rule_for(spec, role, code, reasons(item), marks(item))


def marks(item: Json) -> dict[str, str]:
    """Conditions of a pod."""
    return {entry["type"]: entry["status"] for entry in item["status"].get("conditions") or []}


def without(job: Job, spec: Json, status: Json, failed: Mapping[Key, Json], there: Iterable[Key]) -> set[Key]:
    """Failed pods that the job goes on without: those that are there, and those that the status remembers."""
    dynamic = bool(job.spec.enable_dynamic_worker)
    lives = set(there) - set(failed)
    replaced = {entry["uid"] for entry in status.get("replacements") or []}
    failed = {key: item for key, item in failed.items() if item["metadata"]["uid"] not in replaced}
    return (left_out(status) & set(wanted(job, status)) - lives) | {
        key
        for key, item in failed.items()
        if (dynamic and key[0] is Role.WORKER) or rule_for_pod(spec, key[0], item) == "IgnorePod"
    }


def has_succeeded(job: Job, keys: Iterable[Key], done: set[Key], ignored: set[Key]) -> bool:
    """Whether the work of a job is done."""
    every = list(keys)
    workers = [key for key in every if key[0] is Role.WORKER]
    matter = [key for key in workers or every if key not in ignored]
    if matter and all(key in done for key in matter):
        return True
    first = not job.spec.enable_dynamic_worker and not job.spec.success_policy
    return bool(workers) and first and workers[0] in done


def by_policy(job: Job, role: Role, code: int | None) -> str:
    """What restartPolicy says about a failure."""
    policy = job.roles[role].restart_policy
    if policy in ("Always", "OnFailure"):
        return "Restart"
    if policy == "ExitCode":
        return "Restart" if code is None or code >= 128 else "FailJob"
    return "FailJob"
