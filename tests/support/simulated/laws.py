"""What holds at each decision and each write, whatever the operator has seen."""

from dataclasses import dataclass, field
from math import floor
from typing import Any

from msjob.api import Job
from msjob.api.status import MSJobStatus
from msjob_controller.policy.decision import Decision
from msjob_controller.policy.observed import Observed
from msjob_controller.policy.stored import readable
from support.simulated import blame, facts
from support.simulated.cluster import NAME, Cluster, Json, Kind, condition, ended, is_true, leaving
from support.simulated.fates import Cause
from support.simulated.kubelets import Kubelets
from support.simulated.operator import Operator

LIFECYCLE = {"Created", "Running", "Restarting", "Suspended", "Succeeded", "Failed"}
ENDS = {"Succeeded", "Failed"}


@dataclass
class Ledger:
    """What has been charged to one job.

    Attributes:
        attempts: that a failure has ended.
        pods: uids of pods that were replaced alone.
    """

    attempts: set[int] = field(default_factory=set)
    pods: set[str] = field(default_factory=set)


class Laws:
    """Judges what the operator decides and does.

    Args:
        cluster: where it acts.
        kubelets: which know what truly befell the pods.
    """

    def __init__(self, cluster: Cluster, kubelets: Kubelets) -> None:
        self.cluster, self.kubelets = cluster, kubelets
        self._ledgers: dict[str, Ledger] = {}

    def decided(self, operator: Operator, job: Job, status: Json, seen: Observed, decision: Decision) -> None:
        """A decision that may be carried out at any time, by halves or not at all."""
        made, over = decision.create_pods, ended({"status": status})
        assert decision.requeue_after is None or decision.requeue_after >= 0, "a timer in the past"
        assert len(set(made)) == len(made), "a pod is asked for twice"
        assert not set(made) & set(seen.pods), "a pod is asked for that is there"
        assert not (made and decision.create_service), "pods are asked for before the Service"
        assert set(made) <= set(facts.wanted(job, decision.status)), "a pod is asked for that nobody wants"
        assert not any(seen.pods[key].deleting for key in decision.delete_pods), "a pod is deleted twice"
        if made and job.host_role is not None:
            assert seen.service is not None, "pods are asked for without a Service"
            assert seen.service.cluster_ip, "pods are asked for without its address"
            assert not seen.service.deleting, "pods are asked for with an address that goes"
        if over or job.suspended:
            assert not made, "pods are asked for that are not to be"
            assert not decision.create_service, "a Service is asked for that is not to be"
            assert not decision.create_autoscaler, "an autoscaler is asked for that is not to be"
        if over:
            assert (decision.status, decision.events) == (status, ()), "the end is not final"
        elif not (job.suspended or ended({"status": decision.status})):
            assert not decision.delete_service, "the Service is deleted while it is needed"
            assert not decision.delete_autoscaler, "the autoscaler is deleted while it is needed"
        if (decision.status.get("attempt") or 0) > (status.get("attempt") or 0):
            told = {*decision.delete_pods, *decision.force_delete_pods}
            left = [p.name for key, p in seen.pods.items() if not (p.deleting or p.closing) and key not in told]
            assert not left, f"another attempt begins and {left} are not told to go"
        for key in decision.force_delete_pods:
            self._check_force(operator, job, operator.cache[Kind.POD][seen.pods[key].name])

    def creating(self, operator: Operator, job: Job, item: Json) -> None:
        """A pod is about to be created."""
        known = operator.cache[Kind.JOB][NAME]
        status, name = readable(known.get("status")), item["metadata"]["name"]
        attempt = facts.attempt_of(item)
        role, index = next(key for key in facts.wanted(job, {}) if job.pod_name(*key) == name)
        assert not ended(known), f"{name} is created after the end"
        assert not job.suspended, f"{name} is created while the job is suspended"
        others = {facts.attempt_of(pod) for pod in self.cluster.owned(Kind.POD, job.uid)}
        assert others <= {attempt}, f"{name} of attempt {attempt} is created beside pods of attempts {others}"
        found = readable(operator.known.get("status"))
        due = facts.begins(found.get("nextRestartTime"), operator.now, facts.LONGEST)
        assert due is None or operator.now >= due, f"{name} is created before its time"
        for entry in found.get("replacements") or []:
            due = facts.begins(entry["time"], operator.now, facts.LONGEST)
            assert entry["pod"] != name or due is None or operator.now >= due, f"{name} is replaced before its time"
        if (status.get("attempt") or 0) != attempt:
            return
        assert (role, index) not in facts.left_out(status), f"{name} has failed for good and is created again"
        if facts.alone(job, role):
            return
        assert (role, index) not in facts.completed(status), f"{name} has succeeded and is created again"
        ran = [fate for fate in self.kubelets.fates.values() if (fate.name, fate.attempt) == (name, attempt)]
        if status.get("readyAttempt") == attempt:
            assert not any(fate.started is not None and fate.owner == job.uid for fate in ran), (
                f"a second {name} of attempt {attempt} is created"
            )

    def deleting(self, operator: Operator, job: Job, item: Json, *, force: bool) -> None:
        """A pod is about to be deleted."""
        known = operator.cache[Kind.JOB][NAME]
        status, name = known.get("status") or {}, item["metadata"]["name"]
        attempt = status.get("attempt") or 0
        if force:
            self._check_force(operator, job, item)
            return
        seen = operator.cache[Kind.POD][name]
        since = facts.seconds(facts.main(seen).get("terminated", {}).get("finishedAt"))
        early = facts.closes(seen) and since is not None and since <= operator.now < since + facts.CLOSING
        assert not early, f"{name} is deleted while its kubelet clears up after it"
        if facts.attempt_of(item) < attempt or (job.suspended and not ended(known)):
            return
        if ended(known):
            policy = job.clean_pod_policy or "Running"
            over = policy == "Running" and facts.is_over(operator.cache[Kind.POD][name])
            assert policy != "None", f"{name} is deleted after the end"
            done, settled = facts.seconds(known["status"].get("completionTime")), operator.now - facts.SETTLING
            fresh = is_true(known, "Succeeded") and done is not None and settled < done <= operator.now
            assert not (fresh and facts.shows_run(seen) and not facts.is_over(seen)), f"{name} has no time to end"
            assert not over, f"{name} is over and is deleted"
            return
        replaced = {entry["uid"] for entry in status.get("replacements") or []}
        if item["metadata"]["uid"] not in replaced:
            wanted = {job.pod_name(*key) for key in facts.wanted(job, status)}
            assert name not in wanted, f"{name} is deleted although it is needed"

    def expiring(self, operator: Operator, job: Job) -> None:
        """The job is about to be deleted."""
        known = operator.cache[Kind.JOB][NAME]
        assert ended(known), "a job that has not ended is deleted"
        assert not job.suspended, "a suspended job is deleted"
        done, ttl = facts.seconds(known["status"]["completionTime"]), job.run_policy.ttl_seconds_after_finished
        assert ttl is not None, "a job is deleted that is to stay"
        assert done is not None, "a job is deleted although nobody knows when it ended"
        assert ttl == 0 or operator.now >= done + ttl, "the job is deleted before its time"

    def writing(self, operator: Operator, job: Job, before: Json, after: Json, seen: Observed) -> None:
        """A status is about to be stored."""
        assert not ended({"status": before}), "the status of a finished job is written"
        check_status(after)
        self._check_numbers(operator, job, before, after)
        self._check_times(operator, before, after)
        self._check_completed(job, before, after)
        del seen
        blame.check(operator, self.kubelets, job, before, after)

    def _check_force(self, operator: Operator, job: Job, item: Json) -> None:
        name, limit = item["metadata"]["name"], job.run_policy.force_delete_after_seconds
        node = operator.cache[Kind.NODE].get(item["spec"].get("nodeName", ""))
        assert limit is not None, f"{name} is removed by force, which nobody asked for"
        assert leaving(item), f"{name} is removed by force and was never asked to go"
        assert node is None or not is_true(node, "Ready"), f"{name} is removed by force from a node that answers"
        gone_by = facts.seconds(item["metadata"]["deletionTimestamp"])
        assert gone_by is not None
        asked = gone_by - item["metadata"]["deletionGracePeriodSeconds"]
        assert operator.now >= max(gone_by, asked + limit), f"{name} is removed by force before its time"

    def _check_numbers(self, operator: Operator, job: Job, before: Json, after: Json) -> None:
        ledger = self._ledgers.setdefault(job.uid, Ledger())
        restarts, counted = _grown("restarts", before, after), _grown("restartsCountTowardsLimit", before, after)
        attempts, limit = _grown("attempt", before, after), job.run_policy.backoff_limit
        assert attempts in (0, 1), "attempts are left out, or come again"
        assert restarts >= 0, "restarts are forgotten"
        assert "lastFailure" in after or "lastFailure" not in before, "the last failure is forgotten"
        if counted < 0:
            then, now = before.get("lastFailure") or {}, after.get("lastFailure") or {}
            assert (counted, restarts, attempts) == (-1, 0, 0), "counted restarts are forgotten"
            assert then.get("countsTowardsLimit"), "a restart is taken off the count that was not on it"
            assert not now.get("countsTowardsLimit"), "a restart may be taken off the count twice"
            assert then.get("attempt") == now.get("attempt")
            return
        assert counted <= restarts, "a restart counts twice"
        if counted and limit is not None:
            assert after["restartsCountTowardsLimit"] <= limit, "restarts beyond the limit"
        kubelet = [item for item in operator.mine(Kind.POD, job.uid) if item["spec"]["restartPolicy"] != "Never"]
        replaced = {entry["uid"] for entry in after.get("replacements") or []}
        new = replaced - {entry["uid"] for entry in before.get("replacements") or []}
        if kubelet:
            own = max(0, _grown("kubeletRestarts", before, after))
            most = own + attempts + (restarts if ended({"status": after}) else len(new))
            assert own <= counted <= restarts <= most, "restarts by the kubelet are not counted"
            return
        if attempts and restarts:
            assert restarts == 1, "a failure is charged more than once"
            attempt = before.get("attempt") or 0
            assert attempt not in ledger.attempts, f"attempt {attempt} is charged twice"
            ledger.attempts.add(attempt)
            due = facts.pause(after["restarts"])
            wanted = facts.seconds(after.get("nextRestartTime"))
            assert wanted == (floor(operator.now + due) if due else None), "the pause is not what it should be"
            assert is_true({"status": after}, "Restarting"), "a restart that does not show"
        elif restarts and not ended({"status": after}):
            assert restarts == len(new), "restarts are no replacements"
            assert not new & ledger.pods, "a pod is charged twice"
            ledger.pods |= new
            base = before.get("restarts") or 0
            allowed = set()
            for number in range(base + 1, base + restarts + 1):
                for role in job.roles:
                    allowed.add(floor(operator.now + facts.pause(-(-number // max(1, job.replicas(role))))))
            times = {facts.seconds(entry["time"]) for entry in after["replacements"] if entry["uid"] in new}
            assert times <= allowed, "the pause is not what it should be"
        elif attempts:
            scaled = before.get("workerReplicas") != after.get("workerReplicas")
            suspended = _under_way(before) or is_true({"status": after}, "Suspended")
            assert scaled or suspended, "another attempt for no reason"

    def _check_times(self, operator: Operator, before: Json, after: Json) -> None:
        was = is_true({"status": before}, "Suspended") or (
            # Pods that end well before they go end the job, too.
            _under_way(before) and not _under_way(after) and not ended({"status": after})
        )
        runs = not is_true({"status": after}, "Suspended")
        start = facts.seconds(after.get("startTime"))
        if runs and ("startTime" not in before or was) and start is not None:
            assert start == floor(operator.now), "the clock does not start with the job"
        elif runs and not was:
            kept = facts.begins(before.get("startTime"), operator.now)
            assert kept is None or start == kept, "the clock of the job is set back"
        if runs and not was and before.get("readyAttempt") is not None:
            assert after.get("readyAttempt") is not None, "it is forgotten that all pods ran"
        if ended({"status": after}):
            assert facts.seconds(after["completionTime"]) == floor(operator.now)

    def _check_completed(self, job: Job, before: Json, after: Json) -> None:
        attempt = after.get("attempt") or 0
        if attempt == (before.get("attempt") or 0) and not is_true({"status": after}, "Suspended"):
            forgotten = facts.completed(before) & set(facts.wanted(job, after)) - facts.completed(after)
            assert not forgotten, f"it is forgotten that {forgotten} succeeded"
        done = {
            fate.name
            for fate in self.kubelets.fates.values()
            if fate.owner == job.uid and fate.attempt == attempt and (fate.code, fate.cause) == (0, Cause.ITSELF)
        }
        names = {job.pod_name(*key) for key in facts.completed(after)}
        assert names <= done, f"{names - done} did not succeed"
        failed = {
            fate.name
            for fate in self.kubelets.fates.values()
            if fate.owner == job.uid and fate.attempt == attempt and fate.code
        }
        names = {job.pod_name(*key) for key in facts.left_out(after)}
        assert names <= failed, f"{names - failed} did not fail"


def check_status(status: Json) -> None:
    """What holds of every status: it fits the API, has at most one end, and its last condition is its state."""
    MSJobStatus.model_validate(status)
    listed: list[dict[str, Any]] = status["conditions"]
    kinds = [item["type"] for item in listed]
    true = {item["type"] for item in listed if item["status"] == "True"}
    assert len(set(kinds)) == len(kinds), "a condition is there twice"
    assert not true >= ENDS, "two ends"
    assert not {"Running", "Restarting"} <= set(kinds), "it runs and restarts"
    assert not {"Running", "Suspended"} <= true, "it runs and is suspended"
    assert listed[-1]["type"] in true & LIFECYCLE, "the last condition is not where the job stands"
    for item in listed:
        assert item["reason"], f"{item['type']} has no reason"
        assert item["message"], f"{item['type']} has no message"
    if true & ENDS:
        assert listed[-1]["type"] in ENDS, "a finished job shows another state"
        assert "completionTime" in status, "an end without a time"
        assert not true & {"Running", "Restarting", "Suspended", "Stalled", "PodsReady"}, "more than the end is true"
        assert not {"nextRestartTime", "replacements"} & set(status), "a finished job is to restart"
    else:
        assert "completionTime" not in status, "a time without an end"


def _under_way(status: Json) -> bool:
    """Whether a suspension is under way."""
    found = condition({"status": status}, "Suspended")
    return (found.get("status"), found.get("reason")) == ("False", "MSJobSuspending")


def _grown(field: str, before: Json, after: Json) -> int:
    return (after.get(field) or 0) - (before.get(field) or 0)
