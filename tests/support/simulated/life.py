"""Random lives of a job, as a hypothesis state machine: whatever befalls it, the laws hold, and in the end it rests."""

from collections.abc import Callable
from json import dumps
from typing import Any, Final

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from support.simulated.cluster import Json, Kind, ended
from support.simulated.fates import Cause
from support.simulated.kubelets import NODES
from support.simulated.operator import Fault
from support.simulated.shapes import CODES, FAMILIES
from support.simulated.world import World

QUIET: Final = 2_000.0
"""Seconds for which a job without an end is watched."""
LINES: Final = 80
"""Lines of the log that are shown of a life that went wrong."""

LEFT: Final[list[Json]] = [
    {"restarts": "many"},
    {"startTime": 17, "replicaStatuses": {"Worker": {"active": "all"}}},
    {"lastFailure": "somebody", "observedGeneration": 1},
    {"replicaStatuses": [1], "kubeletRestarts": {}},
    {"completedIndexes": {"Worker": 5}, "replacements": "none"},
]
"""Statuses from before there was a schema: no field can be read, or one of them can."""
numbers = st.integers(0, 7)
durations = st.sampled_from([0.25, 1.0, 3.0, 10.0, 10.0, 30.0, 50.0, 120.0, 400.0, 2_000.0])
faults = st.builds(
    Fault,
    status=st.sampled_from(["ok", "ok", "lost", "silent"]),
    creates=st.sampled_from([1_000, 1_000, 0, 1, 2]),
    deletes=st.sampled_from([1_000, 1_000, 0, 1]),
    crash=st.sampled_from(["", "", "again", "stays"]),
)


class Life(RuleBasedStateMachine):
    """One job, its cluster and its operator."""

    family = "clusters"

    @initialize(data=st.data(), well=st.integers(0, 3), pace=st.sampled_from([0.25, 0.5, 0.5, 8.0]))
    def begin(self, data: st.DataObject, well: int, pace: float) -> None:
        """The user makes the job; most often all goes well for a while."""
        job = data.draw(FAMILIES[self.family], label="job")
        sidecar = data.draw(st.integers(0, 5), label="sidecar") == 0
        self.mood: int = data.draw(st.sampled_from([0, 0, 1, 139]), label="mood")
        left = data.draw(st.sampled_from([None, None, None, None, *LEFT]), label="status")
        self.world = World(job, pace, sidecar=sidecar, status=left)
        self.world.operator.latency = data.draw(st.sampled_from([0.0, 0.0, 0.0, 1.5, 30.0]), label="latency")
        self.world.kubelets.broken = data.draw(st.sampled_from([None, None, None, None, 0, 1]), label="broken")
        self.run(10.0 * well)

    def tell(self, what: Callable[[], Any]) -> None:
        """Do something; should a law be broken, show what came before."""
        try:
            what()
        except BaseException as error:
            error.add_note("\n".join(self.world.cluster.log[-LINES:]))
            error.add_note(f"t={self.world.cluster.time:.2f} {dumps((self.world.cluster.job or {}).get('status'))}")
            raise

    def run(self, seconds: float) -> None:
        """Let time pass."""
        self.tell(lambda: self.world.run(seconds))

    @rule(seconds=durations)
    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.run(seconds)

    @rule(
        number=numbers,
        code=st.sampled_from(CODES),
        follow=st.sampled_from([None, 0.0, 0.25, 3.0, 25.0]),
        seconds=st.sampled_from([0.0, 3.0]),
        wrong=st.none() | st.none() | faults,
    )
    def fail(self, number: int, code: int, follow: float | None, seconds: float, wrong: Fault | None) -> None:
        """A process fails, and others may follow it; the operator may have no luck with it."""
        self.world.operator.faults.extend([wrong] if wrong is not None else [])
        kubelets = self.world.kubelets
        for fate in self.world.pick(number, kubelets.alive(running=True)):
            kubelets.exit(fate, code, Cause.ITSELF, follow)
        self.run(seconds)

    @rule(
        number=numbers,
        code=st.sampled_from(CODES),
        status=st.sampled_from(["ok", "ok", "silent"]),
        deletes=st.integers(0, 1),
        seconds=st.sampled_from([3.0, 400.0]),
    )
    def die(self, number: int, code: int, status: str, deletes: int, seconds: float) -> None:
        """A process fails, and the operator dies while it sees to that; another comes after a while."""
        kubelets, operator = self.world.kubelets, self.world.operator
        for fate in self.world.pick(number, kubelets.alive(running=True)):
            kubelets.exit(fate, code, Cause.ITSELF, 3)
            operator.faults.append(Fault(status=status, deletes=deletes, crash="stays"))
        self.run(seconds)
        if not operator.up:
            operator.restart()
        self.run(0.0)

    @rule(number=numbers, every=st.sampled_from([False, False, True]))
    def finish(self, number: int, every: bool) -> None:  # noqa: FBT001 - given by hypothesis
        """A process has done its work, or all have."""
        kubelets = self.world.kubelets
        running = kubelets.alive(running=True)
        for fate in running if every else self.world.pick(number, running):
            kubelets.exit(fate, 0, Cause.ITSELF)
            self.run(0.25)

    @rule(number=numbers, how=st.sampled_from(["Evicted", "Shutdown", "Terminated", "marked", "preempt"]))
    def put_out(self, number: int, how: str) -> None:
        """The cluster needs the place of a pod."""
        kubelets = self.world.kubelets
        for fate in self.world.pick(number, kubelets.alive()):
            if how == "preempt":
                kubelets.preempt(fate)
            else:
                kubelets.put_out(fate, "" if how == "marked" else how, marked=how == "marked")
        self.run(0.0)

    @rule(number=numbers, force=st.booleans(), every=st.sampled_from([False, False, False, True]))
    def delete(self, number: int, force: bool, every: bool) -> None:  # noqa: FBT001 - given by hypothesis
        """Somebody deletes a pod, or all of them."""
        kubelets = self.world.kubelets
        for fate in kubelets.alive() if every else self.world.pick(number, kubelets.alive()):
            kubelets.delete(fate.name, "someone", force=force)
        self.run(0.0)

    @rule(
        name=st.sampled_from(NODES),
        move=st.sampled_from(["die", "cut", "back", "back", "remove"]),
        seconds=durations,
        noticed=st.sampled_from([20.0, 60.0]),
    )
    def node(self, name: str, move: str, seconds: float, noticed: float) -> None:
        """A node goes, or comes back."""
        kubelets = self.world.kubelets
        match move:
            case "die" | "cut":
                kubelets.silence(name, dead=move == "die", noticed=noticed)
            case "back":
                kubelets.back(name)
            case _:
                kubelets.remove(name)
        self.run(seconds)

    @rule(number=numbers, reason=st.sampled_from(["ImagePullBackOff", "ErrImagePull", ""]))
    def block(self, number: int, reason: str) -> None:
        """Something keeps a pod from starting; or nothing does any more."""
        kubelets = self.world.kubelets
        if reason:
            for fate in self.world.pick(number, [f for f in kubelets.alive(running=False) if f.started is None]):
                kubelets.block(fate, reason)
        else:
            kubelets.unblock()
        self.run(0.0)

    @rule(seconds=st.sampled_from([-3_600.0, -20.0, -1.0, 1.0, 45.0, 3_600.0]))
    def jump(self, seconds: float) -> None:
        """Somebody sets the operator's clock."""
        self.world.jump(seconds)
        self.run(0.0)

    @rule(going=st.lists(faults, min_size=1, max_size=4))
    def go_wrong(self, going: list[Fault]) -> None:
        """The next passes of the operator fail in some way."""
        self.world.operator.faults.extend(going)

    @rule(move=st.sampled_from(["restart", "stop", "absence", "lag", "hear", "hear all"]), number=numbers)
    def operate(self, move: str, number: int) -> None:
        """Something befalls the operator, or its watches."""
        operator = self.world.operator
        match move:
            case "restart":
                operator.restart()
            case "stop":
                operator.stop()
            case "absence":
                operator.stop()
                self.run(400.0)
                operator.restart()
            case "lag":
                operator.lagging = True
            case "hear":
                for kind in list(Kind)[: 1 + number % 3]:
                    for _ in range(1 + number):
                        operator.hear(kind)
            case _:
                operator.lagging = False
                if not operator.up:
                    operator.restart()
        self.run(0.0)

    @rule(suspend=st.booleans(), workers=st.none() | st.integers(1, 4))
    def suspend(self, suspend: bool, workers: int | None) -> None:  # noqa: FBT001 - given by hypothesis
        """The user suspends the job or lets it run, and may scale it on that occasion."""
        self.world.change({"suspend": suspend}, workers)
        self.run(0.25)

    @rule(workers=st.integers(1, 4), number=st.none() | numbers)
    def scale(self, workers: int, number: int | None) -> None:
        """The user, or the autoscaler, changes the number of Workers, perhaps as one of them is done."""
        kubelets = self.world.kubelets
        if number is not None:
            for fate in self.world.pick(number, kubelets.alive(running=True)):
                kubelets.exit(fate, 0, Cause.ITSELF)
        self.world.change({}, workers)
        self.run(0.25)

    @rule(
        limit=st.sampled_from([None, 0, 1, 2, 10]),
        deadline=st.sampled_from([None, 30, 600]),
        ttl=st.sampled_from([None, 0, 5]),
    )
    def limit(self, limit: int | None, deadline: int | None, ttl: int | None) -> None:
        """The user changes limits."""
        self.world.change({"backoffLimit": limit, "activeDeadlineSeconds": deadline, "ttlSecondsAfterFinished": ttl})
        self.run(0.25)

    @rule(quota=st.booleans())
    def quota(self, quota: bool) -> None:  # noqa: FBT001 - given by hypothesis
        """The quota of the namespace is used up, or is not any more."""
        self.world.cluster.quota = quota

    @rule(move=st.sampled_from(["service", "autoscaler", "collect", "replace"]))
    def disturb(self, move: str) -> None:
        """Something befalls what is around the pods."""
        match move:
            case "service":
                self.world.take(Kind.SERVICE)
            case "autoscaler":
                self.world.take(Kind.AUTOSCALER)
            case "collect":
                self.world.collect()
            case _:
                self.world.delete_job()
                self.world.create_job()
        self.run(0.25)

    def teardown(self) -> None:
        """The cluster is kind, and time passes: every job comes to its end, and then to rest."""
        if not hasattr(self, "world"):
            return
        self.tell(self._come_to_rest)

    def _come_to_rest(self) -> None:
        world = self.world
        world.be_kind()
        world.run(60.0)
        if world.cluster.job is None:
            return
        if not ended(world.cluster.job):
            world.change({"suspend": None})
        world.kubelets.set_mood(self.mood)
        if self.mood == 0 or _is_limited(world.cluster.job):
            assert world.run_until(self._over), "a job that must end does not end"
        else:
            world.run_until(self._over, QUIET)
        world.run(120.0)
        assert world.operator.idle, "the operator does not come to rest"

    def _over(self) -> bool:
        job = self.world.cluster.job
        return job is None or ended(job)


def _is_limited(job: Json) -> bool:
    """Whether a job must end although its processes fail again and again."""
    policy = job["spec"].get("runPolicy") or {}
    rules = (policy.get("failurePolicy") or {}).get("rules") or []
    uncounted = any(rule["action"] == "RestartIgnoringLimit" for rule in rules)
    counted = policy.get("backoffLimit") is not None and not uncounted
    return policy.get("activeDeadlineSeconds") is not None or counted


def lives(family: str, examples: int, steps: int = 30) -> type[RuleBasedStateMachine]:
    """A state machine for jobs of a family.

    Args:
        family: name in `shapes.FAMILIES`.
        examples: lives in one run.
        steps: moves in a life.
    """
    machine = type(f"Life{family.capitalize()}", (Life,), {"family": family})
    machine.TestCase.settings = settings(  # type: ignore[attr-defined]
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        # The same lives each time, so that no change fails for what it has not done; `make soak` plays new ones.
        derandomize=True,
        # A life that goes wrong is shown as it was: shrinking takes minutes. `make soak` shrinks.
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
        report_multiple_bugs=False,
    )
    return machine
