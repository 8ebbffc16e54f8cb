"""Scheduler, nodes and kubelets of the simulation: what truly becomes of pods, and when the API server hears of it."""

import heapq
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from msjob.api import Job, LaunchMode, RestartScope, Role, meta
from support.pods import stamp
from support.simulated.cluster import Cluster, Json, Kind, condition, leaving, owner
from support.simulated.fates import Cause, Fate, Node

NODES: Final = ("node-0", "node-1", "node-2")
GRACE: Final = 30
NOT_READY: Final = 45
"""Seconds of silence after which a node is called not ready."""
TAINTED: Final = 300
"""Seconds after that at which its pods are told to go."""
FOLLOWERS: Final = (1, 143, 137)
PATIENCE: Final = 60
"""Seconds for which processes look for a Scheduler that is lost, where it is replaced alone."""
CRASH_LOOP: Final = (10, 20, 40, 80, 160, 300)


class Kubelets:
    """Everything that makes pods move.

    Args:
        cluster: whose pods they are.
        pace: seconds for each step of a pod: to be placed, to start, to be ready, to stop.
        sidecar: pods have a container besides `mindspore`, which runs on.

    Attributes:
        fates: of all pods there ever were, by uid.
        broken: index of Workers that cannot start.
        mood: exit code of processes, which end some seconds after their start; None: they run on.
    """

    def __init__(self, cluster: Cluster, pace: float = 0.5, *, sidecar: bool = False) -> None:
        self.cluster = cluster
        self.pace = pace
        self.sidecar = sidecar
        self.fates: dict[str, Fate] = {}
        self.nodes = {name: Node(name) for name in NODES}
        self.broken: int | None = None
        self.mood: int | None = None
        self._agenda: list[tuple[float, int, Callable[[], object]]] = []
        self._entries = 0
        for name in NODES:
            cluster.put(Kind.NODE, _node(name, "True"))

    # What the API server is asked for.

    def create(self, body: Json) -> Json:
        """A pod is created."""
        item = self.cluster.put(Kind.POD, {"spec": {}, "status": {"phase": "Pending"}, **body})
        metadata, labels = item["metadata"], item["metadata"]["labels"]
        role = Role.parse(labels[meta.LABEL_REPLICA_TYPE])
        assert role is not None
        index, attempt = int(labels[meta.LABEL_REPLICA_INDEX]), int(labels[meta.LABEL_RESTART_ATTEMPT])
        fate = Fate(metadata["uid"], metadata["name"], role, index, attempt, owner(item))
        self.fates[fate.uid] = fate
        self.later(self.pace, lambda: self._place(fate))
        return item

    def delete(self, name: str, by: str, *, force: bool = False) -> None:
        """Somebody asks for the deletion of a pod."""
        item = self.cluster.objects[Kind.POD][name]
        fate = self.fates[item["metadata"]["uid"]]
        self.cluster.note(f"{by} deletes {name} of attempt {fate.attempt}{' by force' if force else ''}")
        if fate.asked is None:
            fate.asked, fate.asked_by = self.cluster.time, by
        if force or not item["spec"].get("nodeName") or item["status"]["phase"] in ("Failed", "Succeeded"):
            self._remove(fate)
        elif not leaving(item):
            self.cluster.mark_deleted(Kind.POD, item, GRACE)
            self.later(self.pace, lambda: self._at_node(fate.node, lambda: self._stop(fate)))

    # What befalls pods.

    def alive(self, *, running: bool | None = None) -> list[Fate]:
        """Pods that are there, in order of their names.

        Args:
            running: only those whose process runs, or does not.
        """
        found = [self.fates[item["metadata"]["uid"]] for item in self.cluster.objects[Kind.POD].values()]
        found = [fate for fate in found if running is None or fate.runs is running]
        return sorted(found, key=lambda fate: fate.name)

    def exit(self, fate: Fate, code: int, cause: Cause, follow: float | None = None) -> None:
        """A process ends.

        Args:
            fate: of its pod.
            code: exit code.
            cause: why.
            follow: seconds until other processes of the cluster notice and end as well; None: they take no notice.
        """
        if not fate.runs or fate.gone is not None:
            return
        self._end(fate, code, cause)
        ended = self.cluster.time
        self._at_node(fate.node, lambda: self._tell_end(fate, ended))
        if code and follow is not None:
            self._take_along(fate, follow)

    def put_out(self, fate: Fate, reason: str, *, marked: bool) -> None:
        """The kubelet, or the node on its way down, puts a pod out: it fails with a reason of its own.

        Args:
            fate: of the pod.
            reason: that the pod has from then on.
            marked: whether the condition DisruptionTarget says so, too.
        """
        item = self._item(fate)
        if item is None or fate.ended is not None or leaving(item) or self._silent(fate.node):
            return
        self.cluster.note(f"{fate.name} is put out: {reason}")
        self._end(fate, 137, Cause.PUT_OUT)
        status: Json = {"phase": "Failed", "reason": reason, "message": "Put out."}
        if marked:
            status |= {"conditions": [{"type": "DisruptionTarget", "status": "True"}]}
        self.cluster.put(Kind.POD, item, status=status)
        self._take_along(fate, 3)

    def preempt(self, fate: Fate) -> None:
        """The scheduler needs the place of a pod."""
        item = self._item(fate)
        if item is not None and not leaving(item):
            self._mark(item)
            self.delete(fate.name, "scheduler")

    def block(self, fate: Fate, reason: str) -> None:
        """Something keeps a pod that has not started from it."""
        item = self._item(fate)
        if item is None or fate.started is not None or fate.ended is not None or leaving(item):
            return
        fate.blocked = reason
        status = {
            "phase": "Pending",
            "containerStatuses": [{"name": "mindspore", "state": {"waiting": {"reason": reason, "message": "no"}}}],
        }
        self.cluster.put(Kind.POD, item, status=status)

    def unblock(self) -> None:
        """What kept pods from starting is over."""
        self.broken = None
        for fate in self.alive(running=False):
            if fate.blocked:
                fate.blocked = ""
                self.later(self.pace, partial(self._at_node, fate.node, partial(self._start, fate)))

    # Nodes.

    def silence(self, name: str, *, dead: bool, noticed: float = 20) -> None:
        """A node goes: its kubelet says nothing any more.

        Args:
            name: of the node.
            dead: what ran on it is dead; else it is only cut off.
            noticed: seconds after which the first process on another node notices.
        """
        node = self.nodes[name]
        if node.silent is not None:
            return
        self.cluster.note(f"{name} {'dies' if dead else 'is cut off'}")
        node.silent, node.dead, node.epoch = self.cluster.time, dead, node.epoch + 1
        epoch = node.epoch
        for fate in self.alive(running=True):
            if fate.node == name:
                if dead:
                    self._end(fate, 137, Cause.LOST)
                self._take_along(fate, noticed, unless_back=node)
        self.later(NOT_READY, lambda: self._not_ready(node, epoch))
        self.later(NOT_READY + TAINTED, lambda: self._taint(node, epoch))

    def back(self, name: str) -> None:
        """A node comes back: what was cut off tells what it did, what had died says so."""
        node = self.nodes[name]
        if node.silent is None:
            return
        self.cluster.note(f"{name} is back")
        dead, unsaid = node.dead, node.unsaid
        node.silent, node.dead, node.unsaid = None, False, []
        self.cluster.put(Kind.NODE, _node(name, "True"))
        for fate in self.alive():
            item = self._item(fate)
            if fate.node == name and item is not None:
                self._rejoin(fate, item, dead=dead)
        if not dead:
            for say in unsaid:
                say()

    def remove(self, name: str) -> None:
        """Somebody removes a silent node for good: its pods are collected."""
        node = self.nodes[name]
        if node.silent is not None and self.cluster.get(Kind.NODE, name) is not None:
            self.cluster.note(f"{name} is removed")
            self.cluster.drop(Kind.NODE, name)
            epoch = node.epoch
            self.later(40, lambda: self._collect(node, epoch))

    # Time.

    @property
    def next(self) -> float | None:
        """When something happens next by itself."""
        return self._agenda[0][0] if self._agenda else None

    def run_due(self) -> None:
        """Let happen what is due."""
        while self._agenda and self._agenda[0][0] <= self.cluster.time:
            heapq.heappop(self._agenda)[2]()

    def set_mood(self, code: int | None) -> None:
        """From now on processes end by themselves, with this exit code."""
        self.mood = code
        for fate in self.alive(running=True):
            self._end_soon(fate)

    # Steps of a pod.

    def later(self, seconds: float, what: Callable[[], object]) -> None:
        """Do something later."""
        self._entries += 1
        heapq.heappush(self._agenda, (self.cluster.time + seconds, self._entries, what))

    def _item(self, fate: Fate) -> Json | None:
        item = self.cluster.get(Kind.POD, fate.name)
        return item if item is not None and item["metadata"]["uid"] == fate.uid else None

    def _silent(self, name: str) -> bool:
        return name in self.nodes and self.nodes[name].silent is not None

    def _at_node(self, name: str, what: Callable[[], None]) -> None:
        if self._silent(name):
            self.nodes[name].unsaid.append(what)
        else:
            what()

    def _place(self, fate: Fate) -> None:
        item = self._item(fate)
        if item is None or fate.node or fate.ended is not None:
            return
        ready = [name for name in NODES if (node := self.cluster.get(Kind.NODE, name)) and _is_ready(node)]
        if not ready:
            listed = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}
            if condition(item, "PodScheduled") != listed:
                self.cluster.put(Kind.POD, item, status={"phase": "Pending", "conditions": [listed]})
            self.later(5, lambda: self._place(fate))
            return
        fate.node = ready[(fate.index + (fate.role is Role.SCHEDULER) + fate.attempt) % len(ready)]
        item = self.cluster.put(Kind.POD, item, spec={**item["spec"], "nodeName": fate.node})
        if condition(item, "PodScheduled"):
            self.cluster.put(Kind.POD, item, status={"phase": "Pending"})
        self.later(self.pace, lambda: self._at_node(fate.node, lambda: self._start(fate)))

    def _start(self, fate: Fate) -> None:
        item = self._item(fate)
        if item is None or fate.blocked or leaving(item) or fate.started is not None or fate.ended is not None:
            return
        if fate.role is Role.WORKER and fate.index == self.broken:
            self.block(fate, "ImagePullBackOff")
            return
        fate.started = self.cluster.time
        self._tell_running(fate, item, ready=False)
        self.later(self.pace, lambda: self._at_node(fate.node, lambda: self._get_ready(fate)))
        self._end_soon(fate)
        job = self._job(fate)
        if job is not None and job.launch_mode in (LaunchMode.DYNAMIC_CLUSTER, LaunchMode.MSRUN):
            self.later(_patience(job), lambda: self._give_up(fate))

    def _get_ready(self, fate: Fate) -> None:
        item = self._item(fate)
        if item is not None and fate.runs:
            self._tell_running(fate, item, ready=True)

    def _end_soon(self, fate: Fate) -> None:
        if self.mood is not None:
            code = self.mood
            self.later(4, lambda: self.exit(fate, code, Cause.ITSELF, 1))

    def _give_up(self, fate: Fate) -> None:
        """A process that waited in vain for its cluster to form ends."""
        job = self._job(fate)
        if job is None or not fate.runs:
            return
        wanted = sum(job.replicas(role) for role in job.roles)
        formed = {
            f.name for f in self.fates.values() if f.attempt == fate.attempt and f.owner == fate.owner and f.started
        }
        if len(formed) < wanted:
            self.exit(fate, 1, Cause.GAVE_UP)

    def _stop(self, fate: Fate) -> None:
        """The kubelet has heard that a pod is to go."""
        item = self._item(fate)
        if item is None:
            return
        # Python as PID 1 does not hear of it and is killed in the end; else it may save a checkpoint and end well.
        code, seconds = ((137, GRACE), (0, 2), (143, 1))[(fate.index + fate.attempt) % 3]
        if not fate.runs:
            self.later(self.pace, lambda: self._at_node(fate.node, lambda: self._say_goodbye(fate)))
            return
        follow = 3 if fate.asked_by != "operator" else None
        self.later(min(seconds, self.pace * seconds), lambda: self.exit(fate, code, Cause.TOLD, follow))

    def _tell_end(self, fate: Fate, ended: float) -> None:
        item = self._item(fate)
        if item is None:
            return
        self.cluster.note(f"{fate.name} of attempt {fate.attempt} ended with {fate.code} ({fate.cause})")
        if fate.code and item["spec"].get("restartPolicy") == "OnFailure" and not leaving(item):
            self._crash(fate, item, ended)
            return
        started = stamp(int(fate.started or 0))
        reason = "Completed" if not fate.code else "Error"
        state = {"exitCode": fate.code, "reason": reason, "startedAt": started, "finishedAt": stamp(int(ended))}
        phase = "Running" if self.sidecar and not leaving(item) else "Failed" if fate.code else "Succeeded"
        listed = [{"name": "mindspore", "state": {"terminated": state}}, *self._sidecar(running=phase == "Running")]
        closes = phase != "Running" and not leaving(item)
        told = {"phase": "Running" if closes else phase, "containerStatuses": listed, **_kept(item)}
        item = self.cluster.put(Kind.POD, item, status=told)
        if closes:
            self.later(self.pace, lambda: self._at_node(fate.node, lambda: self._close(fate, phase)))
        elif leaving(item):
            self.later(self.pace, lambda: self._at_node(fate.node, lambda: self._say_goodbye(fate)))

    def _close(self, fate: Fate, phase: str) -> None:
        """The kubelet has cleared up after a pod: it gets its last phase."""
        item = self._item(fate)
        if item is not None and not leaving(item):
            self.cluster.put(Kind.POD, item, status={**item["status"], "phase": phase})

    def _say_goodbye(self, fate: Fate) -> None:
        """The kubelet is done with a pod: it asks for its deletion once more, without grace, and the pod is gone."""
        item = self._item(fate)
        if item is not None:
            if leaving(item):
                self.cluster.mark_deleted(Kind.POD, item, 0)
            self.later(self.pace / 2, lambda: self._remove(fate))

    def _crash(self, fate: Fate, item: Json, ended: float) -> None:
        """The kubelet restarts the container, after a pause."""
        count = _restart_count(item)
        state = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}
        last = {"terminated": {"exitCode": fate.code, "finishedAt": stamp(int(ended))}}
        entry = {"name": "mindspore", "state": state, "lastState": last, "restartCount": count + 1}
        self.cluster.put(Kind.POD, item, status={"phase": "Running", "containerStatuses": [entry]})
        fate.ended = fate.code = fate.cause = fate.started = None
        pause = CRASH_LOOP[min(count, len(CRASH_LOOP) - 1)]
        self.later(pause, lambda: self._at_node(fate.node, lambda: self._start(fate)))

    def _tell_running(self, fate: Fate, item: Json, *, ready: bool) -> None:
        state = {"running": {"startedAt": stamp(int(fate.started or 0))}}
        entry = {"name": "mindspore", "state": state, "restartCount": _restart_count(item)}
        listed = [{"type": "Ready", "status": "True" if ready else "False"}]
        status = {
            "phase": "Running",
            "containerStatuses": [entry, *self._sidecar(running=True)],
            "conditions": listed,
        }
        self.cluster.put(Kind.POD, item, status=status)

    def _sidecar(self, *, running: bool) -> Iterator[Json]:
        if self.sidecar:
            yield {"name": "logs", "state": {"running": {}} if running else {"terminated": {"exitCode": 143}}}

    def _end(self, fate: Fate, code: int, cause: Cause) -> None:
        fate.ended, fate.code, fate.cause = self.cluster.time, code, cause

    def _remove(self, fate: Fate) -> None:
        if self._item(fate) is None:
            return
        if fate.runs and not self._silent(fate.node):
            self._end(fate, 137, Cause.TOLD)
            if fate.asked_by != "operator":
                self._take_along(fate, 3)
        fate.gone = self.cluster.time
        self.cluster.note(f"{fate.name} of attempt {fate.attempt} is gone")
        self.cluster.drop(Kind.POD, fate.name)

    # What a loss means to others.

    def _job(self, fate: Fate) -> Job | None:
        job = self.cluster.job
        return Job.parse(job) if job is not None and job["metadata"]["uid"] == fate.owner else None

    def _take_along(self, fate: Fate, seconds: float, unless_back: Node | None = None) -> None:
        """Other processes of the cluster notice that one is gone, each a little later than the one before."""
        job = self._job(fate)
        if job is None or job.launch_mode not in (LaunchMode.DYNAMIC_CLUSTER, LaunchMode.MSRUN):
            return
        alone = job.roles[fate.role].restart_scope is RestartScope.POD
        if job.spec.enable_dynamic_worker and fate.role is Role.WORKER:
            return
        # They wait a while for one that comes back alone.
        seconds = max(seconds, PATIENCE) if alone else seconds
        epoch = unless_back.epoch if unless_back is not None else 0
        others = [other for other in self.alive(running=True) if other.attempt == fate.attempt and other is not fate]
        for number, other in enumerate(reversed(others)):

            def fall(other: Fate = other, number: int = number) -> None:
                if alone and any(f.name == fate.name and f.runs for f in self.alive()):
                    return
                other.leader = fate.name
                if unless_back is None or (unless_back.silent is not None and unless_back.epoch == epoch):
                    self.exit(other, FOLLOWERS[number % len(FOLLOWERS)], Cause.FOLLOWED)

            self.later(seconds + (number * min(seconds, 5) if seconds else 0), fall)

    # Steps of a node.

    def _mark(self, item: Json, reason: str = "") -> Json:
        listed = [c for c in item["status"].get("conditions", []) if c["type"] != "DisruptionTarget"]
        listed.append({"type": "DisruptionTarget", "status": "True", "reason": reason})
        return self.cluster.put(Kind.POD, item, status={**item["status"], "conditions": listed})

    def _not_ready(self, node: Node, epoch: int) -> None:
        if node.silent is None or node.epoch != epoch or self.cluster.get(Kind.NODE, node.name) is None:
            return
        self.cluster.note(f"{node.name} is not ready")
        self.cluster.put(Kind.NODE, _node(node.name, "Unknown"))
        for fate in self.alive():
            item = self._item(fate)
            if fate.node == node.name and item is not None and condition(item, "Ready").get("status") == "True":
                listed = [{**c, "status": "False"} if c["type"] == "Ready" else c for c in item["status"]["conditions"]]
                self.cluster.put(Kind.POD, item, status={**item["status"], "conditions": listed})

    def _taint(self, node: Node, epoch: int) -> None:
        if node.silent is None or node.epoch != epoch:
            return
        for fate in self.alive():
            item = self._item(fate)
            if fate.node == node.name and item is not None and not leaving(item):
                self._mark(item, "DeletionByTaintManager")
                self.delete(fate.name, "taint")

    def _collect(self, node: Node, epoch: int) -> None:
        if node.silent is None or node.epoch != epoch or self.cluster.get(Kind.NODE, node.name) is not None:
            return
        for fate in self.alive():
            item = self._item(fate)
            if fate.node == node.name and item is not None:
                if item["status"]["phase"] not in ("Failed", "Succeeded"):
                    if fate.ended is None:
                        self._end(fate, 137, Cause.LOST)
                    item = self._mark(item)
                    self.cluster.put(Kind.POD, item, status={**item["status"], "phase": "Failed"})
                fate.asked_by = fate.asked_by or "collector"
                self._remove(fate)

    def _rejoin(self, fate: Fate, item: Json, *, dead: bool) -> None:
        """The kubelet of a node that is back looks after one of its pods."""
        if dead and leaving(item):
            self._remove(fate)
        elif dead and fate.cause is Cause.LOST:
            state = {"exitCode": 137, "reason": "ContainerStatusUnknown"}
            listed = [{"name": "mindspore", "state": {"terminated": state}}]
            status = {"phase": "Failed", "containerStatuses": listed, **_kept(item)}
            self.cluster.put(Kind.POD, item, status=status)
        elif dead and fate.started is None:
            self.later(self.pace, lambda: self._at_node(fate.node, lambda: self._start(fate)))
        elif fate.runs:
            self.later(self.pace, lambda: self._at_node(fate.node, lambda: self._get_ready(fate)))


def _node(name: str, ready: str) -> Json:
    return {"metadata": {"name": name}, "status": {"conditions": [{"type": "Ready", "status": ready}]}}


def _kept(item: Json) -> Json:
    """What a kubelet leaves of the conditions of a pod: who put it out has said so."""
    found = condition(item, "DisruptionTarget")
    return {"conditions": [found]} if found else {}


def _is_ready(node: Json) -> bool:
    return bool(condition(node, "Ready").get("status") == "True")


def _restart_count(item: Json) -> int:
    listed = item["status"].get("containerStatuses") or [{}]
    return int(listed[0].get("restartCount", 0))


def _patience(job: Job) -> float:
    """Seconds that processes wait for their cluster to form (MS_TOPO_TIMEOUT, `--cluster_time_out`)."""
    default = 600 if job.launch_mode is LaunchMode.MSRUN else 1800
    return job.run_policy.startup_deadline_seconds or default
