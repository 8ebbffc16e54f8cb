"""What holds whenever the operator knows all there is to know and waits for nothing but its timer."""

from msjob.api import Job, Role
from support.simulated import facts
from support.simulated.cluster import Json, Kind, condition, ended, is_true, leaving
from support.simulated.facts import Key
from support.simulated.fates import Fate
from support.simulated.kubelets import Kubelets
from support.simulated.operator import Operator

SLACK = 1.0
"""Seconds by which a timer may be late."""
HANGS = 30
HOLDS = 300
REASONS = {"ErrImagePull": "ImagePullBackOff"}
"""Reasons that a job tells in place of those of its pods."""


class Rest:
    """The job and its children as they are, and as they should be.

    Args:
        operator: it is idle.
        kubelets: which know what truly befell the pods.
        job: as it is stored.
    """

    def __init__(self, operator: Operator, kubelets: Kubelets, job: Json) -> None:
        self.operator, self.kubelets, self.item = operator, kubelets, job
        self.job: Job = operator.parse(job)
        self.spec, self.status, self.now = job["spec"], job.get("status") or {}, operator.now
        self.attempt = self.status.get("attempt") or 0
        self.pods = {item["metadata"]["name"]: item for item in operator.cluster.owned(Kind.POD, self.job.uid)}
        self.service = next(iter(operator.cluster.owned(Kind.SERVICE, self.job.uid)), None)
        self.autoscaler = next(iter(operator.cluster.owned(Kind.AUTOSCALER, self.job.uid)), None)
        self.keys = facts.wanted(self.job, self.status)
        mine = {self.job.pod_name(*key): key for key in self.keys}
        self.present: dict[Key, Json] = {
            key: self.pods[name]
            for name, key in mine.items()
            if name in self.pods and facts.attempt_of(self.pods[name]) == self.attempt
        }

    def check(self) -> None:
        """Check all of it."""
        assert self.status.get("conditions"), "a job that nobody has looked at"
        if ended(self.item):
            self._check_end()
            return
        assert self.status["observedGeneration"] == self.job.generation, "the status is about another spec"
        self._check_forced()
        self._check_stuck()
        old = [n for n, pod in self.pods.items() if facts.attempt_of(pod) != self.attempt and not self._goes(pod)]
        assert not old, f"{old} of an earlier attempt stay"
        self._check_not_done()
        if self.job.suspended:
            self._check_suspended()
            return
        assert not is_true(self.item, "Suspended"), "a job is suspended that is not to be"
        self._check_deadlines()
        self._check_failures()
        self._check_pods()
        self._check_conditions()
        if not self.operator.holding:
            self._check_counts()

    def fate(self, item: Json) -> Fate:
        """What truly befell a pod."""
        return self.kubelets.fates[item["metadata"]["uid"]]

    def late(self, since: str | None, seconds: float | None) -> bool:
        """Whether a timer should have gone off."""
        start = facts.seconds(since)
        return start is not None and seconds is not None and self.now > start + seconds + SLACK

    def _goes(self, item: Json) -> bool:
        """Whether a pod is being deleted, or will be once its kubelet has had the time to clear up after it."""
        ended = self.fate(item).ended
        early = ended is not None and self.operator.cluster.time <= ended + facts.CLOSING + 2 * SLACK
        return leaving(item) or (facts.closes(item) and early)

    def _check_end(self) -> None:
        policy = self.job.clean_pod_policy or "Running"
        ttl = self.job.run_policy.ttl_seconds_after_finished
        assert self.job.suspended or not self.late(self.status["completionTime"], ttl), "the job outlives its TTL"
        assert self.autoscaler is None, "a finished job is scaled"
        for name, pod in self.pods.items():
            stays = policy == "None" or (policy == "Running" and facts.is_over(pod))
            stays = stays and facts.attempt_of(pod) >= self.attempt
            assert stays or self._goes(pod) or self._settles(pod), f"{name} stays after the end"
        self._check_forced()
        host = self.job.host_role
        if self.service is not None and host is not None:
            behind = self.pods.get(self.job.pod_name(host, 0))
            over = behind is not None and facts.is_over(behind)
            stays = policy == "None" or (policy == "Running" and over) or (behind is not None and self._settles(behind))
            assert stays, "the Service stays after the end"

    def _settles(self, pod: Json) -> bool:
        """Whether a pod still runs of a job that has just succeeded."""
        runs = facts.shows_run(pod) and not facts.is_over(pod) and facts.attempt_of(pod) >= self.attempt
        succeeded = is_true(self.item, "Succeeded")
        return runs and succeeded and not self.late(self.status["completionTime"], facts.SETTLING)

    def _check_forced(self) -> None:
        limit = self.job.run_policy.force_delete_after_seconds
        for name, pod in self.pods.items():
            # With clocks that differ a deletion may be overdue at once; the operator looks again a second after it.
            fresh = self.operator.cluster.time <= (self.fate(pod).asked or 0) + SLACK
            if limit is not None and leaving(pod) and self._lost(pod) and self._grace(pod) and not fresh:
                due = max(self._gone_by(pod), self._gone_by(pod) - self._grace(pod) + limit)
                assert self.now <= due + SLACK, f"{name} hangs longer than forceDeleteAfterSeconds"

    def _check_stuck(self) -> None:
        stuck = False
        for pod in self.pods.values():
            if leaving(pod) and self.operator.cluster.time > (self.fate(pod).asked or 0) + SLACK:
                stuck |= self.now > self._gone_by(pod) + (0 if self._lost(pod) else HANGS) + SLACK
        stalled = is_true(self.item, "Stalled")
        reason = condition(self.item, "Stalled").get("reason")
        if stuck and not is_true(self.item, "Suspended"):
            assert (stalled, reason) == (True, "PodStuckTerminating"), "nobody says that a pod hangs"
        elif stalled and reason == "PodStuckTerminating":
            hangs = [pod for pod in self.pods.values() if leaving(pod) and self.now >= self._gone_by(pod)]
            assert hangs, "a pod is said to hang that is gone"

    def _check_suspended(self) -> None:
        assert all(self._goes(pod) for pod in self.pods.values()), "a suspended job keeps pods"
        assert self.service is None, "a suspended job keeps its Service"
        assert self.autoscaler is None, "a suspended job is scaled"
        if not self.pods:
            assert is_true(self.item, "Suspended"), "a job without pods is not suspended"
            active = {count["active"] for count in self.status["replicaStatuses"].values()}
            assert active <= {0} or self.operator.holding, "a suspended job is active"
            gone = {"startTime", "readyAttempt", "nextRestartTime", "replacements"} & set(self.status)
            assert not gone, f"a suspended job has {gone}"
            # Those that it knew: others may have come and gone while it did not look.
            mine = [f for f in self.kubelets.fates.values() if f.owner == self.job.uid and f.asked_by == "operator"]
            assert all(fate.attempt < self.attempt for fate in mine), "the next pods would be of the same attempt"

    def _check_deadlines(self) -> None:
        policy, start = self.job.run_policy, self.status.get("startTime")
        assert start is not None, "a job without a start"
        assert not self.late(start, policy.active_deadline_seconds), "activeDeadlineSeconds has passed"
        if self.status.get("readyAttempt") is None:
            assert not self.late(start, policy.startup_deadline_seconds), "startupDeadlineSeconds has passed"

    def _check_not_done(self) -> None:
        goes_on = not facts.has_succeeded(self.job, self.keys, self._done(), self._ignored())
        assert goes_on, "a job that is done goes on"

    def _done(self) -> set[Key]:
        shown = {key for key, item in self.present.items() if facts.shows_success(item, self.fate(item))}
        return shown | facts.completed(self.status)

    def _ignored(self) -> set[Key]:
        failed = {key: item for key, item in self.present.items() if facts.shows_failure(item, self.fate(item))}
        return facts.without(self.job, self.spec, self.status, failed, self.present)

    def _check_failures(self) -> None:
        ignored = self._ignored()
        replaced = {entry["uid"] for entry in self.status.get("replacements") or []}
        matter = [key for key in self.keys if key[0] == "Worker"] or self.keys
        assert not all(key in ignored for key in matter), "nothing is left that could succeed, and the job goes on"
        for key, item in self.present.items():
            fate = self.fate(item)
            failed = facts.shows_failure(item, fate) and key not in ignored
            assert not failed or item["metadata"]["uid"] in replaced, f"{fate.name} failed and nothing is done about it"
            if leaving(item) and fate.asked_by != "operator" and not facts.alone(self.job, key[0]):
                shown = facts.shows_run(item) and not facts.shows_end(item, fate)
                assert not shown, f"{fate.name} was deleted and the job is not restarted"
        last = self.status.get("lastFailure") or {}
        scope = self.job.roles[Role(last["role"])].restart_scope if last else ""
        if last.get("countsTowardsLimit") and last.get("attempt") == self.attempt - 1 and scope == "Job":
            late = [
                name
                for name, pod in self.pods.items()
                if facts.attempt_of(pod) == last["attempt"]
                and self._lost(pod)
                and not facts.shows_end(pod, self.fate(pod))
            ]
            assert not late, f"{late} were lost with their node, and the restart counts"

    def _check_pods(self) -> None:
        if facts.coordinated(self.job):
            assert self.status.get("workerReplicas") == self.job.replicas(Role.WORKER), "it is not scaled"
        surplus = [
            name for name, pod in self.pods.items() if not self._goes(pod) and pod not in list(self.present.values())
        ]
        assert not surplus, f"{surplus} are not needed"
        due = facts.seconds(self.status.get("nextRestartTime"))
        host = self.job.host_role is not None
        ready = not host or (self.service is not None and bool(self.service["spec"].get("clusterIP")))
        assert not host or self.service is not None, "a job without its Service"
        waits = any(facts.attempt_of(pod) != self.attempt for pod in self.pods.values())
        if not ready or waits or (due is not None and self.now <= due + SLACK):
            return
        assert due is None, "a restart is late"
        later = {
            entry["pod"]
            for entry in self.status.get("replacements") or []
            if self.now <= (facts.seconds(entry["time"]) or 0) + SLACK
        }
        done = facts.completed(self.status) | self._ignored()
        missing = {
            self.job.pod_name(*key)
            for key in self.keys
            if key not in self.present and key not in done and self.job.pod_name(*key) not in later
        }
        assert not missing, f"{missing} are missing"
        if self.job.spec.elastic_policy is not None and not later:
            assert self.autoscaler is not None, "an elastic job is not scaled"

    def _check_conditions(self) -> None:
        ignored, done = self._ignored(), self._done()
        keys = [key for key in self.keys if key not in ignored]
        runs = [
            key
            for key in keys
            if key in self.present and facts.shows_run(self.present[key]) and not leaving(self.present[key])
        ]
        if runs and all(key in runs or key in done for key in keys):
            assert is_true(self.item, "Running"), "all pods run, and the job does not"
            assert self.status.get("readyAttempt") == self.attempt, "all pods have run, and nobody notes it"
        ready = [
            key
            for key in keys
            if key in done or (key in runs and condition(self.present[key], "Ready").get("status", "True") == "True")
        ]
        assert is_true(self.item, "PodsReady") == (len(ready) == len(keys)), "PodsReady is not true"
        self._check_stalled()

    def _check_stalled(self) -> None:
        causes = {"PodStuckTerminating"} if any(map(leaving, self.pods.values())) else set()
        for item in self.present.values():
            waiting = facts.main(item).get("waiting", {}).get("reason")
            if not leaving(item):
                causes |= {REASONS.get(waiting, waiting)} if waiting else set()
                unplaced = condition(item, "PodScheduled").get("reason") == "Unschedulable"
                causes |= {"Unschedulable"} if unplaced else set()
        unaddressed = (
            self.service is not None and not leaving(self.service) and not self.service["spec"].get("clusterIP")
        )
        if self.job.host_role is not None and unaddressed and len(self.present) < len(self.keys):
            causes |= {"ServiceNotReady"}
        stalled = condition(self.item, "Stalled")
        if stalled.get("status") == "True":
            since = [stalled["lastUpdateTime"]]
            since += [
                text for pod in self.present.values() if (text := facts.main(pod).get("running", {}).get("startedAt"))
            ]
            held = stalled["reason"] == "CrashLoopBackOff" and not all(self.late(text, HOLDS) for text in since)
            shell = stalled["reason"] in ("QuotaExceeded", "NameTaken") and len(self.present) < len(self.keys)
            assert stalled["reason"] in causes or held or shell, f"it is said to be stalled: {stalled['reason']}"
        else:
            assert causes <= {"PodStuckTerminating"}, f"nobody says {causes}"

    def _check_counts(self) -> None:
        own = sum(
            (item["status"].get("containerStatuses") or [{}])[0].get("restartCount", 0)
            for item in self.present.values()
            if item["spec"]["restartPolicy"] != "Never"
        )
        assert (self.status.get("kubeletRestarts") or 0) == own, "restarts by the kubelet are not counted"
        for role in self.job.roles:
            count = self.status["replicaStatuses"][role.value]
            mine = [pod for pod in self.pods.values() if self.fate(pod).role is role]
            # Of a pod that goes it is hard to say what it came to.
            going = sum(key[0] is role and leaving(pod) for key, pod in self.present.items())
            failed = [
                key
                for key, pod in self.present.items()
                if facts.shows_failure(pod, self.fate(pod)) and not leaving(pod)
            ]
            assert count["active"] == sum(map(facts.shows_run, mine)), f"active {role} are not as many"
            more = count["failed"] - sum(key[0] is role for key in failed)
            assert 0 <= more <= going, f"failed {role} are not as many"
            done = {key for key in facts.completed(self.status) if key[0] is role}
            assert count["succeeded"] == len(done), f"succeeded {role} are not as many"

    def _lost(self, pod: Json) -> bool:
        node = self.operator.cluster.get(Kind.NODE, pod["spec"].get("nodeName") or "")
        return bool(pod["spec"].get("nodeName")) and (node is None or not is_true(node, "Ready"))

    def _gone_by(self, pod: Json) -> float:
        return facts.seconds(pod["metadata"]["deletionTimestamp"]) or 0.0

    def _grace(self, pod: Json) -> float:
        return float(pod["metadata"]["deletionGracePeriodSeconds"])
