"""The operator of the simulation: the shell around `decide`, with caches that lag and passes that fail by halves.

Its caches have the properties of the real ones: its own writes are in them at once, all else arrives later, in order
for each kind, and nothing goes back in time. It waits for nothing but events, its timer and its retries.
"""

from collections import deque
from dataclasses import dataclass
from json import dumps
from typing import Final, Protocol

from msjob.api import ConditionType, Job, Reason, Role, meta
from msjob.workload.pods import restart_policy
from msjob_controller.policy import conditions
from msjob_controller.policy.decide import decide, stall
from msjob_controller.policy.decision import Decision
from msjob_controller.policy.observed import Observed
from msjob_controller.policy.reading import node_is_lost, observe
from msjob_controller.policy.stored import readable
from msjob_controller.status_patch import merge_patch, only_counters
from msjob_controller.trim import trim_node, trim_pod
from support.pods import at
from support.simulated.cluster import NAME, Change, Cluster, Json, Kind, ended, leaving, owner
from support.simulated.kubelets import Kubelets

ALL: Final = 1_000
PASSES: Final = 60
"""Passes at one moment after which the operator is taken to go round in circles."""
COALESCE_SECONDS: Final = 1.0
_BY_SHELL: Final = frozenset({Reason.QUOTA, Reason.NAME_TAKEN, Reason.CREATE_FAILED})


@dataclass(frozen=True)
class Fault:
    """What goes wrong in one pass.

    Attributes:
        status: `ok`, `lost` (not written), or `silent` (written, but the answer is lost).
        creates: how many of the children that are to be made are made.
        deletes: how many of those that are to go are told to.
        crash: the operator dies in the end; it starts again at once (`again`), or when somebody starts it (`stays`).
    """

    status: str = "ok"
    creates: int = ALL
    deletes: int = ALL
    crash: str = ""


class Laws(Protocol):
    """What the operator's acts are held to."""

    def decided(self, operator: "Operator", job: Job, status: Json, seen: Observed, decision: Decision) -> None:
        """A decision was made."""

    def writing(self, operator: "Operator", job: Job, before: Json, after: Json, seen: Observed) -> None:
        """A status is about to be stored."""

    def creating(self, operator: "Operator", job: Job, item: Json) -> None:
        """A pod is about to be created."""

    def deleting(self, operator: "Operator", job: Job, item: Json, *, force: bool) -> None:
        """A pod is about to be deleted."""

    def expiring(self, operator: "Operator", job: Job) -> None:
        """The job is about to be deleted."""


class RetryError(Exception):
    """The pass has failed and comes again.

    Attributes:
        timer: seconds until the next look in any case.
    """

    def __init__(self, timer: float | None = None) -> None:
        super().__init__()
        self.timer = timer


class Operator:
    """Looks after the job.

    Args:
        cluster: where it acts.
        kubelets: which look after the pods.
        laws: that it is held to.

    Attributes:
        skew: seconds by which its clock is ahead.
        up: it runs.
        lagging: its watches tell nothing for now.
        latency: seconds after which its watches tell of a change.
        faults: of its next passes.
        due: when its timer goes off.
        known: the job as its present pass found it.
        retrying: its last pass failed.
    """

    def __init__(self, cluster: Cluster, kubelets: Kubelets, laws: Laws) -> None:
        self.cluster, self.kubelets, self.laws = cluster, kubelets, laws
        self.skew = 0.0
        self.up = True
        self.lagging = False
        self.latency = 0.0
        self.faults: deque[Fault] = deque()
        self._parsed: tuple[tuple[str, int], Job] | None = None
        self.restart()

    def restart(self) -> None:
        """Start with what a list gives."""
        self.up = True
        self.cache: dict[Kind, dict[str, Json]] = {kind: {} for kind in Kind}
        self._observed = dict.fromkeys(Kind, 0)
        for kind in Kind:
            self.cluster.watches[kind].clear()
            for item in self.cluster.objects[kind].values():
                self._learn(kind, item)
            self._observed[kind] = self.cluster.version
        self._woken = True
        self.due: float | None = None
        self._held: float | None = None
        self._failures = 0

    def stop(self) -> None:
        """Die."""
        self.up = False

    @property
    def now(self) -> float:
        """Seconds by its own clock."""
        return self.cluster.time + self.skew

    @property
    def retrying(self) -> bool:
        """Whether its last pass failed."""
        return self._failures > 0

    @property
    def idle(self) -> bool:
        """Whether it knows all there is to know and has nothing to do but to wait for its timer."""
        heard = not any(self.cluster.watches.values())
        early = self.due is None or self.due > self.cluster.time
        return self.up and heard and early and not (self.lagging or self._woken or self.retrying or self.faults)

    @property
    def holding(self) -> bool:
        """Whether it holds back a change of mere numbers."""
        return self._held is not None

    @property
    def next(self) -> float | None:
        """When it acts next if nothing happens."""
        if not self.up:
            return None
        told = [watch[0].time + self.latency for watch in self.cluster.watches.values() if watch and not self.lagging]
        return min([*told, *([] if self.due is None else [self.due])], default=None)

    def wake(self) -> None:
        """Make it look again."""
        self._woken = True

    def hear(self, kind: Kind) -> bool:
        """Take in the next event of a kind, if there is one."""
        if not self.cluster.watches[kind]:
            return False
        change = self.cluster.watches[kind].popleft()
        known = self.cache[kind].get(change.name)
        self._observed[kind] = max(self._observed[kind], change.version)
        older = known is not None and _version(known) < change.version
        if change.gone:
            if older:
                del self.cache[kind][change.name]
        elif known is None or older:
            self._put(kind, change.item)
        else:
            return True
        if kind is not Kind.NODE or self._is_news(known, change):
            self._woken = True
        return True

    def settle(self) -> None:
        """Hear what there is to hear and act until there is nothing to do at this moment."""
        for _ in range(PASSES):
            if not self.up:
                return
            if not self.lagging:
                for kind, watch in self.cluster.watches.items():
                    while watch and watch[0].time + self.latency <= self.cluster.time:
                        self.hear(kind)
            if self.due is not None and self.due <= self.cluster.time:
                self._woken = True
            if not self._woken:
                return
            self.look()
        raise AssertionError("the operator goes round in circles: it acts and acts, and time stands still")

    def look(self) -> None:
        """One pass."""
        self._woken, self.due = False, None
        job = self.cache[Kind.JOB].get(NAME)
        if job is None or leaving(job):
            self._failures = 0
            return
        fault = self.faults.popleft() if self.faults else Fault()
        try:
            again, wait = self._pass(job, fault)
        except RetryError as error:
            pause = min(60.0, 0.0625 * 2 ** min(self._failures, 20))
            self.due = self.cluster.time + (pause if error.timer is None else min(pause, error.timer))
            self._failures += 1
        else:
            self._failures = 0
            self._woken = self._woken or again
            self.due = None if wait is None else self.cluster.time + wait
        if fault.crash:
            self.cluster.note("the operator crashes")
            self.restart()
            self.up = fault.crash == "again"

    def mine(self, kind: Kind, uid: str) -> list[Json]:
        """Children of a job as the caches have them."""
        return [item for item in self.cache[kind].values() if owner(item) == uid]

    def parse(self, job: Json) -> Job:
        """The job, read once for each generation."""
        key = (job["metadata"]["uid"], job["metadata"]["generation"])
        if self._parsed is None or self._parsed[0] != key:
            self._parsed = (key, Job.parse(job))
        return self._parsed[1]

    def _pass(self, item: Json, fault: Fault) -> tuple[bool, float | None]:
        self.known = item
        job = self.parse(item)
        status = readable(item.get("status"))
        pods = self.mine(Kind.POD, job.uid)
        nodes = {name for pod in pods if (name := pod["spec"].get("nodeName"))}
        lost = {name for name in nodes if node_is_lost(self.cache[Kind.NODE].get(name))}
        seen = observe(pods, self.mine(Kind.SERVICE, job.uid), self.mine(Kind.AUTOSCALER, job.uid), lost)
        decision = self._decide(job, status, seen)
        ordered = _one_by_one(status, decision)
        wait = decision.requeue_after
        failed = False
        if not ordered and (left := self._hold(status, decision)):
            wait = left if wait is None else min(left, wait)
        else:
            self._held = None
            try:
                self._write(job, item, decision.status, seen, fault)
            except RetryError:
                if ordered:
                    raise
                failed = True
        deleted = not ordered or self._delete(job, decision, seen, fault)
        adopted, hindrance, created = self._create(job, decision, fault)
        if failed:
            raise RetryError
        if hindrance is not None:
            self._stall(job, decision, seen, hindrance)
        if not (deleted and created):
            raise RetryError(wait)
        made = bool(decision.create_service or decision.create_pods or decision.create_autoscaler)
        stalled = conditions.is_true(decision.status.get("conditions") or [], ConditionType.STALLED)
        elastic = job.spec.elastic_policy is not None and bool(decision.create_pods)
        return decision.create_service or adopted or (made and stalled) or elastic, wait

    def _decide(self, job: Job, status: Json, seen: Observed) -> Decision:
        before = dumps(status)
        decision = decide(job, status, seen, at(self.now))
        assert dumps(status) == before, "the decision changed the status that it was given"
        if self.cluster.version % 4 == 0:
            assert decide(job, status, seen, at(self.now)) == decision, "the decision is no function"
        self.laws.decided(self, job, status, seen, decision)
        return decision

    def _hold(self, status: Json, decision: Decision) -> float:
        """Seconds for which a change of mere numbers is held back."""
        patch = merge_patch(status, decision.status)
        if not patch or not only_counters(patch):
            return 0.0
        if self._held is None:
            self._held = self.cluster.time
        return max(0.0, self._held + COALESCE_SECONDS - self.cluster.time)

    def _write(self, job: Job, known: Json, status: Json, seen: Observed, fault: Fault = Fault()) -> None:
        real = self.cluster.job
        if status == (known.get("status") or {}):
            return
        if fault.status == "lost" or real is None or _version(real) != _version(known):
            raise RetryError
        self.laws.writing(self, job, readable(real.get("status")), status, seen)
        stored = self.cluster.put(Kind.JOB, real, status=status)
        if ended(stored):
            self.cluster.note(f"the job ends: {status['conditions'][-1]['message']}")
        if fault.status == "silent":
            raise RetryError
        self._learn(Kind.JOB, stored)

    def _create(self, job: Job, decision: Decision, fault: Fault) -> tuple[bool, Reason | None, bool]:
        """Make what is missing.

        Returns:
            Whether something turned out to be there, what hinders, and whether all went well.
        """
        wanted: list[tuple[Kind, Json]] = []
        if decision.create_service:
            assert job.service_name is not None
            wanted.append((Kind.SERVICE, {**self._meta(job, job.service_name), "spec": {}}))
        wanted += [(Kind.POD, self._pod(job, key, decision)) for key in decision.create_pods]
        if decision.create_autoscaler:
            wanted.append((Kind.AUTOSCALER, self._meta(job, job.name)))
        adopted = False
        for number, (kind, body) in enumerate(wanted):
            if number >= fault.creates:
                return adopted, None, False
            found = self.cluster.get(kind, body["metadata"]["name"])
            if found is not None and owner(found) != job.uid:
                return adopted, None if leaving(found) else Reason.NAME_TAKEN, False
            if found is not None:
                adopted = True
            elif kind is Kind.POD:
                if self.cluster.quota:
                    return adopted, Reason.QUOTA, False
                self.laws.creating(self, job, body)
                found = self.kubelets.create(body)
            else:
                found = self.cluster.put(kind, body)
            self._learn(kind, found)
        return adopted, None, True

    def _delete(self, job: Job, decision: Decision, seen: Observed, fault: Fault) -> bool:
        going: list[tuple[Kind, str, str, bool]] = [
            (Kind.POD, seen.pods[key].name, seen.pods[key].uid, force)
            for keys, force in ((decision.delete_pods, False), (decision.force_delete_pods, True))
            for key in keys
        ]
        if decision.delete_service and seen.service is not None:
            going.append((Kind.SERVICE, seen.service.name, "", False))
        if decision.delete_autoscaler and seen.autoscaler is not None:
            going.append((Kind.AUTOSCALER, seen.autoscaler.name, "", False))
        for kind, name, uid, force in going[: fault.deletes]:
            found = self.cluster.get(kind, name)
            if found is not None and owner(found) == job.uid and uid in ("", found["metadata"]["uid"]):
                if kind is Kind.POD:
                    self.laws.deleting(self, job, found, force=force)
                    self.kubelets.delete(name, "operator", force=force)
                else:
                    self.cluster.drop(kind, name)
            known, left = self.cache[kind].get(name), self.cluster.get(kind, name)
            if left is not None and known is not None and left["metadata"]["uid"] == known["metadata"]["uid"]:
                self._learn(kind, left)
            elif known is not None and uid in ("", known["metadata"]["uid"]):
                del self.cache[kind][name]
        if decision.delete_job:
            self._expire(job)
        return len(going) <= fault.deletes

    def _expire(self, job: Job) -> None:
        real, known = self.cluster.job, self.cache[Kind.JOB][NAME]
        if real is not None and real["metadata"]["uid"] == job.uid:
            if _version(real) != _version(known):
                raise RetryError
            self.laws.expiring(self, job)
            self.cluster.drop(Kind.JOB, NAME)

    def _stall(self, job: Job, decision: Decision, seen: Observed, reason: Reason) -> None:
        known = self.cache[Kind.JOB][NAME]
        before = conditions.find(decision.status.get("conditions") or [], ConditionType.STALLED) or {}
        if before.get("status") != "True" or before.get("reason") in _BY_SHELL:
            stalled = stall(decision.status, reason, "a pod cannot be created", at(self.now))
            self._write(job, known, stalled.status, seen)

    def _pod(self, job: Job, key: tuple[Role, int], decision: Decision) -> Json:
        role, index = key
        labels = {
            meta.LABEL_REPLICA_TYPE: role.slug,
            meta.LABEL_REPLICA_INDEX: str(index),
            meta.LABEL_RESTART_ATTEMPT: str(decision.status.get("attempt") or 0),
        }
        body = self._meta(job, job.pod_name(role, index))
        body["metadata"]["labels"] = labels
        return {**body, "spec": {"restartPolicy": restart_policy(job, job.roles[role])}}

    def _meta(self, job: Job, name: str) -> Json:
        owners = [{"kind": meta.KIND, "name": job.name, "uid": job.uid, "controller": True}]
        uid = self.cluster.new_uid()
        return {"metadata": {"name": name, "namespace": "default", "uid": uid, "ownerReferences": owners}}

    def _learn(self, kind: Kind, item: Json) -> None:
        """Take in the answer to a write of its own, unless the watch has been there already."""
        known = self.cache[kind].get(item["metadata"]["name"])
        if _version(item) > self._observed[kind] and (known is None or _version(known) < _version(item)):
            self._put(kind, item)

    def _put(self, kind: Kind, item: Json) -> None:
        trim = {Kind.POD: trim_pod, Kind.NODE: trim_node}.get(kind)
        self.cache[kind][item["metadata"]["name"]] = item if trim is None else trim(item)

    def _is_news(self, known: Json | None, change: Change) -> bool:
        return node_is_lost(known) != node_is_lost(None if change.gone else change.item)


def _version(item: Json) -> int:
    return int(item["metadata"]["resourceVersion"])


def _one_by_one(status: Json, decision: Decision) -> bool:
    goes = (
        decision.delete_pods,
        decision.force_delete_pods,
        decision.delete_service,
        decision.delete_autoscaler,
        decision.delete_job,
    )
    return any(goes) or (decision.status.get("attempt") or 0) != (status.get("attempt") or 0)
