"""Long random lives of a job: whatever the cluster does, and however late and half the operator acts, some things hold.

The rules of `support.simulated` are checked at every decision; here the cluster moves, and at the end everything comes
to rest where it should.
"""

from typing import Any, Final

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from msjob.api import ConditionType, Job
from msjob_controller.policy import conditions
from support.jobs import msjob
from support.pods import stamp
from support.simulated import SERVICE, Cluster, Faults, Operator

SHAPES: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"success_policy": "AllWorkers", "run_policy": {"cleanPodPolicy": "None"}},
    {"enable_dynamic_worker": True, "worker": 3},
    {"ps": 1, "run_policy": {"cleanPodPolicy": "All"}},
    {"scheduler": None},
    {"scheduler": None, "worker": 1},
    {"scheduler": None, "launch_mode": "Msrun"},
    {"worker": None},
    {"suspend": True},
)
PHASES: Final = ("Pending", "Running", "Succeeded", "Failed")
PASSES_TO_REST: Final = 40
"""Passes and moves of the cluster within which everything has come to rest."""

numbers = st.integers(0, 7)
faults = st.builds(
    Faults,
    status=st.sampled_from(["ok", "ok", "ok", "lost", "silent"]),
    creates=st.sampled_from([1_000, 1_000, 0, 1, 2]),
    deletes=st.sampled_from([1_000, 1_000, 0, 1]),
)


class Life(RuleBasedStateMachine):
    """One job, its cluster and its operator."""

    @initialize(shape=st.sampled_from(SHAPES), good=st.integers(0, 3))
    def create(self, shape: dict[str, Any], good: int) -> None:
        """The user makes the job and the operator starts; all goes well for a while."""
        job = msjob(uid="first", generation=1, **shape)
        job["metadata"]["resourceVersion"] = 1
        self.cluster = Cluster(job)
        self.operator = Operator(self.cluster)
        self.jobs = 1
        for _ in range(good):
            self.decide(kubelet=True)

    def pods(self, number: int, *phases: str) -> list[str]:
        """One of the job's pods in one of these phases, if there is one."""
        found = [name for name in self.cluster.pods() if self.cluster.objects[name]["status"]["phase"] in phases]
        return found[number % len(found) :][:1] if found else []

    @rule(kubelet=st.booleans())
    def decide(self, kubelet: bool) -> None:  # noqa: FBT001 - given by hypothesis
        """The operator makes a pass, up to date; the kubelet may be quick and start what it finds."""
        self.hear_all()
        self.operator.step(Faults())
        if kubelet:
            self.start()

    @rule(faults=faults, events=st.integers(0, 4))
    def decide_badly(self, faults: Faults, events: int) -> None:
        """The operator makes a pass, not up to date, and something goes wrong."""
        for _ in range(events):
            self.operator.hear()
        self.operator.step(faults)

    @rule(seconds=st.integers(0, 30), restart=st.booleans())
    def wait(self, seconds: int, restart: bool) -> None:  # noqa: FBT001 - given by hypothesis
        """Time passes, the operator may have restarted, and the Service gets its address."""
        self.cluster.now += seconds
        self.allocate()
        if restart:
            self.operator.restart()

    @rule(number=numbers, code=st.sampled_from([0, 0, 1, 137, 143]))
    def end(self, number: int, code: int) -> None:
        """A pod ends."""
        self.start()
        for name in self.pods(number, "Running"):
            self.cluster.end(name, code)

    @rule(number=numbers, move=st.sampled_from(["start", "evict", "delete", "delete", "vanish"]))
    def move(self, number: int, move: str) -> None:
        """Something befalls a pod."""
        match move:
            case "start":
                for name in self.pods(number, "Pending"):
                    self.cluster.start(name)
            case "evict":
                for name in self.pods(number, "Pending", "Running"):
                    # Nothing is known of its container.
                    self.cluster.end(name, 137)
                    del self.cluster.objects[name]["status"]["containerStatuses"]
                    self.cluster.write(name, self.cluster.objects[name])
            case "delete":
                for name in self.pods(number, *PHASES):
                    self.cluster.delete(name)
            case "vanish":
                for name in self.pods(number, *PHASES):
                    self.cluster.drop(name)

    @rule(number=numbers, code=st.sampled_from([0, 137, 143]))
    def go(self, number: int, code: int) -> None:
        """A pod that was deleted ends and is gone."""
        if leaving := self.leaving():
            self.leave(leaving[number % len(leaving)], code)

    @rule(suspend=st.booleans(), workers=st.integers(1, 4))
    def change(self, suspend: bool, workers: int) -> None:  # noqa: FBT001 - given by hypothesis
        """The user suspends the job or lets it run, and changes it on that occasion."""
        spec = self.cluster.job["spec"]
        policy, roles = spec.setdefault("runPolicy", {}), spec["msReplicaSpecs"]
        if bool(policy.get("suspend")) is not suspend:
            policy["suspend"] = suspend
            if "Worker" in roles:
                roles["Worker"]["replicas"] = workers
            self.cluster.change_spec()

    @rule(move=st.sampled_from(["collect", "replace", "service"]))
    def disturb(self, move: str) -> None:
        """Something befalls all of it."""
        match move:
            case "collect":
                self.collect()
            case "replace":
                self.jobs += 1
                self.cluster.replace_job(f"uid-{self.jobs}")
            case "service" if SERVICE in self.cluster.objects:
                self.cluster.delete(SERVICE)

    def allocate(self) -> None:
        """The API server gives the Service its address."""
        service = self.cluster.objects.get(SERVICE)
        if service is not None and not service["spec"]:
            service["spec"]["clusterIP"] = f"10.0.0.{self.cluster.version % 250}"
            self.cluster.write(SERVICE, service)

    def start(self) -> None:
        """The Service gets its address, and all pods start."""
        self.allocate()
        for name in self.cluster.pods():
            if self.cluster.objects[name]["status"]["phase"] == "Pending":
                self.cluster.start(name)

    def collect(self) -> None:
        """The garbage collector removes what belongs to jobs that are gone."""
        for name in set(self.cluster.objects) - set(self.cluster.owned()):
            self.cluster.drop(name)

    def hear_all(self) -> None:
        """The operator is up to date."""
        while self.operator.hear():
            pass

    def see(self) -> None:
        """The operator is up to date and makes a pass that changes nothing but the status."""
        self.hear_all()
        self.operator.step(Faults(creates=0, deletes=0))

    def leaving(self) -> list[str]:
        """Pods, and the Service, that have been told to go."""
        return [name for name in self.cluster.owned() if "deletionTimestamp" in self.cluster.objects[name]["metadata"]]

    def leave(self, name: str, code: int) -> None:
        """A pod ends, if it has not, and is gone; so is a Service."""
        if name != SERVICE and self.cluster.objects[name]["status"]["phase"] in ("Pending", "Running"):
            self.cluster.end(name, code)
            if code:
                # The operator may see the end before the pod is gone, or only that it is.
                self.see()
                # The kubelet has the last word: it asks for the deletion once more, without grace.
                self.cluster.now += 1
                leaving = self.cluster.objects[name]
                leaving["metadata"] |= {"deletionTimestamp": stamp(self.cluster.now), "deletionGracePeriodSeconds": 0}
                self.cluster.write(name, leaving)
                self.see()
        self.cluster.drop(name)

    @property
    def conditions(self) -> list[dict[str, Any]]:
        """Conditions as stored."""
        return self.cluster.job.get("status", {}).get("conditions") or []

    @invariant()
    def the_end_is_final(self) -> None:
        """Once the job has ended its status stays as it is."""
        if hasattr(self, "cluster") and self.cluster.frozen is not None:
            assert self.cluster.job["status"] == self.cluster.frozen

    @invariant()
    def the_end_is_true(self) -> None:
        """A job that has ended has a pod that ended like this by itself, not because it was told to."""
        if not hasattr(self, "cluster"):
            return
        codes = [code for found in self.cluster.exits.values() for code in found]
        if conditions.is_true(self.conditions, ConditionType.SUCCEEDED):
            assert 0 in codes
        if conditions.is_true(self.conditions, ConditionType.FAILED):
            assert any(codes)

    def teardown(self) -> None:
        """Let everything come to rest: the cluster does what is asked of it, and the operator hears of all."""
        if not hasattr(self, "cluster"):
            return
        self.collect()
        self.hear_all()
        for _ in range(2):
            self.operator.step(Faults())
        for _ in range(PASSES_TO_REST):
            self.hear_all()
            self.allocate()
            for name in self.leaving():
                self.leave(name, 137)
            self.hear_all()
            before = self.cluster.version
            decision = self.operator.step(Faults())
            if self.cluster.version == before:
                break
        else:
            raise AssertionError("the job does not come to rest")
        assert decision.events == ()
        self.the_end_is_final()
        self.the_end_is_true()
        self.at_rest()

    def at_rest(self) -> None:
        """What is there is what should be."""
        job = Job.parse(self.cluster.job)
        status = self.cluster.job["status"]
        assert status["observedGeneration"] <= job.generation
        phases = {name: self.cluster.objects[name]["status"]["phase"] for name in self.cluster.pods()}
        service = SERVICE in self.cluster.owned()
        if conditions.finished(self.conditions):
            policy = job.clean_pod_policy.value
            if policy == "All":
                assert (phases, service) == ({}, False)
            elif policy != "None":
                assert set(phases.values()) <= {"Succeeded", "Failed"}
            return
        assert status["observedGeneration"] == job.generation
        if job.suspended:
            assert (phases, service) == ({}, False)
            assert self.conditions[-1]["type"] == "Suspended"
            return
        wanted = {job.pod_name(role, index) for role in job.roles for index in range(job.replicas(role))}
        assert set(phases) == wanted
        assert service == (job.host_role is not None)
        counted = sum(item["active"] for item in status["replicaStatuses"].values())
        assert counted == sum(phase == "Running" for phase in phases.values())


Life.TestCase.settings = settings(
    max_examples=100,
    stateful_step_count=40,
    deadline=None,
    # A life that goes wrong is shown as it was: shrinking takes minutes. Add Phase.shrink to look into one.
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    report_multiple_bugs=False,
)
TestLife = Life.TestCase
