"""A cluster in memory with one MSJob in it, and an operator that sees it late and acts by halves.

It plays API server, kubelet, garbage collector and user; what is decided comes from `decide` alone. The operator's view
has the properties of the real caches: its own writes are in it at once, all else arrives later and in order, and
nothing goes back in time.
"""

from collections import deque
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Final

from msjob.api import ConditionType, Job, Role
from msjob.api.status import MSJobStatus
from msjob_controller.policy import conditions
from msjob_controller.policy.decide import decide
from msjob_controller.policy.decision import Decision
from msjob_controller.policy.observed import Observed
from msjob_controller.policy.reading import observe
from support.pods import RUNNING, Json, at, pod_json, stamp, terminated

SERVICE: Final = "service"
LIFECYCLE: Final = {"Created", "Running", "Suspended", "Succeeded", "Failed"}


@dataclass
class Faults:
    """What goes wrong in one pass.

    Attributes:
        status: `ok`, `lost` (not written), or `silent` (written, but the answer is lost).
        creates: how many of the children that are to be made are made.
        deletes: how many of those that are to go are told to.
    """

    status: str = "ok"
    creates: int = 1_000
    deletes: int = 1_000


@dataclass
class Cluster:
    """The API server's objects, and what is true of the job's pods.

    Attributes:
        job: the MSJob.
        objects: pods by name, and the Service under `SERVICE`.
        now: seconds.
        version: the last resource version.
        exits: exit codes of pods of the present job that ended by themselves, by name.
        frozen: the status with which the present job ended.
    """

    job: Json
    objects: dict[str, Json] = field(default_factory=dict)
    now: int = 0
    version: int = 1
    exits: dict[str, list[int]] = field(default_factory=dict)
    frozen: Json | None = None
    events: deque[tuple[str, Json | None]] = field(default_factory=deque)

    def write(self, name: str, item: Json) -> Json:
        """Store an object and tell the watchers."""
        self.version += 1
        item["metadata"]["resourceVersion"] = self.version
        self.objects[name] = item
        self.events.append((name, deepcopy(item)))
        return item

    def drop(self, name: str) -> None:
        """Remove an object and tell the watchers."""
        self.version += 1
        gone = self.objects.pop(name)
        gone["metadata"]["resourceVersion"] = self.version
        self.events.append((name, {**deepcopy(gone), "gone": True}))

    def delete(self, name: str) -> None:
        """Ask for the deletion of an object: a pod is told to stop, a Service may go at once."""
        item = self.objects[name]
        if name == SERVICE and self.version % 2:
            self.drop(name)
        elif "deletionTimestamp" not in item["metadata"]:
            item["metadata"] |= {"deletionTimestamp": stamp(self.now + 10), "deletionGracePeriodSeconds": 10}
            self.write(name, item)

    def store_job(self) -> None:
        """Give the job a new version and tell the watchers."""
        self.version += 1
        self.job["metadata"]["resourceVersion"] = self.version
        self.events.append(("", deepcopy(self.job)))

    def change_spec(self) -> None:
        """The user has changed the spec."""
        self.job["metadata"]["generation"] += 1
        self.store_job()

    def replace_job(self, uid: str) -> None:
        """Delete the job and make another of its name; its children stay until they are collected."""
        self.job["metadata"] |= {"uid": uid, "generation": 1}
        self.job["status"] = {}
        self.exits, self.frozen = {}, None
        self.store_job()

    def owned(self) -> list[str]:
        """Names of the present job's children, in order."""
        return sorted(name for name, item in self.objects.items() if owner(item) == self.job["metadata"]["uid"])

    def pods(self) -> list[str]:
        """Names of the present job's pods, in order."""
        return [name for name in self.owned() if name != SERVICE]

    def start(self, name: str) -> None:
        """The kubelet starts a pod."""
        item = self.objects[name]
        item["status"] = {"phase": "Running", "containerStatuses": [{"name": "mindspore", "state": RUNNING}]}
        self.write(name, item)

    def end(self, name: str, code: int) -> None:
        """The training process of a pod ends."""
        item = self.objects[name]
        ended = {"name": "mindspore", "state": terminated(code, self.now)}
        item["status"] = {"phase": "Failed" if code else "Succeeded", "containerStatuses": [ended]}
        if "deletionTimestamp" not in item["metadata"]:
            self.exits.setdefault(name, []).append(code)
        self.write(name, item)


class Operator:
    """Decides and acts on one job.

    Args:
        cluster: where it acts.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.restart()

    def restart(self) -> None:
        """Start with what a list gives."""
        self.cluster.events.clear()
        self._job = deepcopy(self.cluster.job)
        self._objects = deepcopy(self.cluster.objects)
        self._observed = self.cluster.version

    def hear(self) -> bool:
        """Take in the next event, if there is one."""
        if not self.cluster.events:
            return False
        name, item = self.cluster.events.popleft()
        version = item["metadata"]["resourceVersion"] if item else 0
        self._observed = max(self._observed, version)
        if item is None:
            return True
        if name == "":
            if version > self._job["metadata"]["resourceVersion"]:
                self._job = item
        elif item.get("gone"):
            known = self._objects.get(name)
            if known is not None and known["metadata"]["resourceVersion"] <= version:
                del self._objects[name]
        else:
            self._learn(name, item)
        return True

    def step(self, faults: Faults) -> Decision:
        """One pass over the job."""
        uid = self._job["metadata"]["uid"]
        job = Job.parse(self._job)
        status = self._job.get("status") or {}
        mine = {name: item for name, item in self._objects.items() if owner(item) == uid}
        service = mine.pop(SERVICE, None)
        seen = observe(mine.values(), [] if service is None else [service])
        decision = self._decide(job, status, seen)
        written = self._write_status(decision, faults)
        made = self._create(job, decision, faults)
        if written and made:
            self._delete(job, decision, faults)
        return decision

    def _decide(self, job: Job, status: Json, seen: Observed) -> Decision:
        before = deepcopy((status, seen))
        decision = decide(job, status, seen, at(self.cluster.now))
        assert (status, seen) == before, "the decision changed what it was given"
        assert decide(job, status, seen, at(self.cluster.now)) == decision, "the decision is no function"
        self._check(job, status, seen, decision)
        return decision

    def _check(self, job: Job, status: Json, seen: Observed, decision: Decision) -> None:
        made = decision.create_pods
        assert len(set(made)) == len(made), "a pod is asked for twice"
        assert not set(made) & set(seen.pods), "a pod is asked for that is there"
        assert all(index < job.replicas(role) for role, index in made), "a pod is asked for that nobody wants"
        assert not (made and decision.create_service), "pods are asked for before the Service"
        if made and job.host_role is not None:
            assert seen.service is not None, "pods are asked for without a Service"
            assert seen.service.cluster_ip, "pods are asked for without its address"
            assert not seen.service.deleting, "pods are asked for with an address that goes"
        assert not any(seen.pods[key].deleting for key in decision.delete_pods), "a pod is deleted twice"
        known_end = conditions.finished(status.get("conditions") or [])
        if "startTime" in status and not conditions.is_true(status["conditions"], ConditionType.SUSPENDED):
            left = job.suspended and "Suspended" in {item["type"] for item in decision.status["conditions"]}
            assert left or decision.status["startTime"] == status["startTime"], "the clock is set back"
        if known_end or job.suspended:
            assert not made, "pods are asked for that are not to be"
            assert not decision.create_service, "a Service is asked for that is not to be"
        if known_end:
            assert (decision.status, decision.events) == (status, ()), "the end is not final"
        elif not (job.suspended or conditions.finished(decision.status["conditions"])):
            wanted = [key for key in decision.delete_pods if key[1] < job.replicas(key[0])]
            assert not wanted, "pods are deleted that are wanted"
            assert not decision.delete_service, "the Service is deleted while it is needed"
        if conditions.is_true(decision.status["conditions"], ConditionType.SUSPENDED):
            # A job that was resumed and suspended again before its resumption was written has pods all the same: its
            # numbers tell so until they are gone. It cannot become Suspended while there are any.
            known = conditions.is_true(status.get("conditions") or [], ConditionType.SUSPENDED)
            assert known or not seen.pods, "a job with pods becomes Suspended"
            active = {item["active"] for item in decision.status["replicaStatuses"].values()}
            assert seen.pods or active <= {0}, "a suspended job without pods is active"
        check_status(decision.status)

    def _write_status(self, decision: Decision, faults: Faults) -> bool:
        real = self.cluster.job
        if decision.status == (self._job.get("status") or {}):
            return True
        if faults.status == "lost" or self._job["metadata"]["resourceVersion"] != real["metadata"]["resourceVersion"]:
            return False
        if self.cluster.frozen is not None:
            raise AssertionError("the status of a finished job is written")
        real["status"] = deepcopy(decision.status)
        self.cluster.store_job()
        if conditions.finished(decision.status["conditions"]):
            self.cluster.frozen = deepcopy(decision.status)
        if faults.status == "silent":
            return False
        self._job = deepcopy(real)
        return True

    def _create(self, job: Job, decision: Decision, faults: Faults) -> bool:
        wanted: list[tuple[str, Json]] = []
        if decision.create_service:
            wanted.append((SERVICE, {"metadata": {"name": job.service_name}, "spec": {}}))
        for role, index in decision.create_pods:
            item = pod_json(Role(role), index, phase="Pending")
            wanted.append((item["metadata"]["name"], item))
        good = True
        for name, item in wanted[: faults.creates]:
            found = self.cluster.objects.get(name)
            if found is None:
                item["metadata"]["ownerReferences"] = [{"uid": job.uid}]
                found = self.cluster.write(name, item)
            if owner(found) == job.uid:
                self._learn(name, deepcopy(found))
            else:
                good = False
        return good and len(wanted) <= faults.creates

    def _delete(self, job: Job, decision: Decision, faults: Faults) -> None:
        names = [job.pod_name(*key) for key in decision.delete_pods]
        if decision.delete_service:
            names.append(SERVICE)
        for name in names[: faults.deletes]:
            found = self.cluster.objects.get(name)
            if found is not None and owner(found) == job.uid:
                self.cluster.delete(name)
            if (left := self.cluster.objects.get(name)) is not None:
                self._learn(name, deepcopy(left))
            else:
                self._objects.pop(name, None)

    def _learn(self, name: str, item: Json) -> None:
        known = self._objects.get(name)
        if known is None or known["metadata"]["resourceVersion"] < item["metadata"]["resourceVersion"]:
            self._objects[name] = item


def owner(item: Json) -> str:
    """Uid of the job that owns a child."""
    return str(item["metadata"]["ownerReferences"][0]["uid"])


def check_status(status: Json) -> None:
    """What holds of every status: it fits the API, has at most one end, and its last condition is its state."""
    MSJobStatus.model_validate(status)
    listed = status["conditions"]
    true = {item["type"] for item in listed if item["status"] == "True"} & LIFECYCLE
    assert len({item["type"] for item in listed}) == len(listed), "a condition is there twice"
    assert len(true & {"Succeeded", "Failed"}) <= 1, "two ends"
    assert listed[-1]["type"] in true, "the last condition is not where the job stands"
    if true & {"Succeeded", "Failed"}:
        assert "completionTime" in status, "an end without a time"
        assert not true & {"Running", "Suspended"}, "a finished job runs or is suspended"
