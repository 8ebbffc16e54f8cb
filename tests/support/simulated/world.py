"""A whole small world: a job, its cluster, its operator, and the time that passes for all of them."""

from collections.abc import Callable
from functools import partial
from typing import Final

from support.simulated.cluster import NAME, Cluster, Json, Kind, ended, owner
from support.simulated.fates import Fate
from support.simulated.kubelets import NODES, Kubelets
from support.simulated.laws import Laws
from support.simulated.operator import Operator
from support.simulated.rest import Rest

WATCHED: Final = 1.0
"""Seconds after which the operator notices a jump of its clock."""
ENDLESS: Final = 20_000.0
"""Seconds after which a job that must end has ended."""


class World:
    """Everything there is.

    Args:
        job: as the user writes it.
        pace: see `Kubelets`.
        sidecar: likewise.
        status: what an older system left on the job.
    """

    def __init__(self, job: Json, pace: float = 0.5, *, sidecar: bool = False, status: Json | None = None) -> None:
        self.cluster = Cluster()
        self.kubelets = Kubelets(self.cluster, pace, sidecar=sidecar)
        self.operator = Operator(self.cluster, self.kubelets, Laws(self.cluster, self.kubelets))
        self._spec = job
        self._jumped = -10.0
        self._allocating: set[str] = set()
        self.create_job(status)

    def run(self, seconds: float) -> None:
        """Let time pass. Everybody acts when it is their turn, and the laws are looked after all the while."""
        end = self.cluster.time + seconds
        # What happens at this moment happens before anybody looks.
        self.kubelets.run_due()
        self.settle()
        while True:
            moments = [when for when in (self.kubelets.next, self.operator.next) if when is not None and when <= end]
            if not moments:
                break
            self.cluster.time = max(self.cluster.time, min(moments))
            self.kubelets.run_due()
            self.settle()
        # A timer that nobody waits for is found here.
        self.cluster.time = end
        self.settle()

    def run_until(self, done: Callable[[], bool], seconds: float = ENDLESS) -> bool:
        """Let time pass until something is so, at most for so long."""
        end = self.cluster.time + seconds
        while not done() and self.cluster.time < end:
            moments = [when for when in (self.kubelets.next, self.operator.next) if when is not None]
            self.run(max(0.0, min(moments, default=end) - self.cluster.time) if moments else end - self.cluster.time)
        return done()

    def settle(self) -> None:
        """The operator does what there is to do at this moment."""
        self.operator.settle()
        for service in self.cluster.objects[Kind.SERVICE].values():
            uid = service["metadata"]["uid"]
            if not service["spec"].get("clusterIP") and uid not in self._allocating:
                self._allocating.add(uid)
                self.kubelets.later(self.kubelets.pace / 2, partial(self._allocate, uid))
        self.check()

    def check(self) -> None:
        """What holds when the operator is up to date."""
        job = self.cluster.job
        current = self.cluster.time > self._jumped + WATCHED
        if job is not None and self.operator.idle and current and not self.cluster.quota:
            Rest(self.operator, self.kubelets, job).check()

    # The user.

    def create_job(self, status: Json | None = None) -> None:
        """Create the job, or another of its name."""
        uid = self.cluster.new_uid()
        metadata = {"name": NAME, "namespace": "default", "uid": uid, "generation": 1}
        left = {} if status is None else {"status": status}
        self.cluster.put(Kind.JOB, {**self._spec, **left, "metadata": metadata})

    def delete_job(self) -> None:
        """Delete the job; the garbage collector follows."""
        if self.cluster.job is not None:
            self.cluster.note("the job is deleted")
            self.cluster.drop(Kind.JOB, NAME)

    def change(self, policy: Json, workers: int | None = None) -> None:
        """Change the run policy, and the number of Workers.

        Args:
            policy: fields of `runPolicy`; None removes one.
            workers: a job that has ended refuses another number.
        """
        job = self.cluster.job
        if job is None:
            return
        old = job["spec"]
        merged = {key: value for key, value in {**(old.get("runPolicy") or {}), **policy}.items() if value is not None}
        roles = old["msReplicaSpecs"]
        if workers is not None and "Worker" in roles and not ended(job):
            roles = {**roles, "Worker": {**roles["Worker"], "replicas": workers}}
        spec = {**old, "runPolicy": merged, "msReplicaSpecs": roles}
        if spec != old:
            self.cluster.note(f"the user changes {policy} {workers or ''}")
            generation = job["metadata"]["generation"] + 1
            self.cluster.put(Kind.JOB, job, spec=spec, metadata={**job["metadata"], "generation": generation})

    def take(self, kind: Kind) -> None:
        """Somebody deletes the Service or the autoscaler."""
        for name in list(self.cluster.objects[kind]):
            self.cluster.drop(kind, name)

    # The rest of the cluster.

    def collect(self) -> None:
        """The garbage collector removes what belongs to jobs that are gone."""
        uid = self.cluster.job["metadata"]["uid"] if self.cluster.job is not None else ""
        for kind in (Kind.SERVICE, Kind.AUTOSCALER):
            for item in list(self.cluster.objects[kind].values()):
                if owner(item) != uid:
                    self.cluster.drop(kind, item["metadata"]["name"])
        for item in list(self.cluster.objects[Kind.POD].values()):
            if owner(item) != uid:
                self.kubelets.delete(item["metadata"]["name"], "collector")

    def jump(self, seconds: float) -> None:
        """Somebody sets the operator's clock."""
        self.cluster.note(f"the operator's clock jumps by {seconds} s")
        self.operator.skew += seconds
        self._jumped = self.cluster.time
        self.kubelets.later(WATCHED, self.operator.wake)

    def pick(self, number: int, fates: list[Fate]) -> list[Fate]:
        """One of some pods, if there are any."""
        return [fates[number % len(fates)]] if fates else []

    # The end.

    def be_kind(self) -> None:
        """All that was wrong is over, and the operator can do what it wants."""
        self.collect()
        for name in NODES:
            self.kubelets.back(name)
        self.kubelets.unblock()
        self.cluster.quota = False
        self.operator.faults.clear()
        self.operator.lagging, self.operator.latency = False, 0.0
        if not self.operator.up:
            self.operator.restart()

    def _allocate(self, uid: str) -> None:
        for service in list(self.cluster.objects[Kind.SERVICE].values()):
            if service["metadata"]["uid"] == uid:
                self.cluster.put(Kind.SERVICE, service, spec={"clusterIP": "10.96.0.7"})
