"""An operator that is killed in the middle of its work on several jobs, and a successor that has to go on from there.

Each job of a test has a point of its own at which its operator dies: a request that is held at a `support.gate.Gate`.
The operator is killed once all jobs are at their points, which is what a crash looks like: at one moment, in the middle
of everything.
"""

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from support.gate import Call, Gate, Lost, Trap
from support.history import ATTEMPT, History
from support.jobs import Json
from support.live_jobs import Jobs
from support.operator import Operator, Operators
from support.testbed.waiting import wait_for

TRANSITIONS: Final = frozenset(
    {
        "MSJobCreated",
        "MSJobRunning",
        "MSJobRestarting",
        "MSJobSucceeded",
        "MSJobFailed",
        "MSJobSuspended",
        "MSJobResumed",
        "DeadlineExceeded",
        "StartupDeadlineExceeded",
        "BackoffLimitExceeded",
    }
)
"""Reasons of events that tell of a transition of a job."""

PATIENCE: Final = 30.0
"""Seconds to wait for what a successor does: it has to start first, on a machine that may have much else to do."""

_OF_THE_RUN: Final = frozenset({"Created", "Running", "Restarting", "Suspended", "Succeeded", "Failed"})
"""Types of the conditions that are states of a job."""


@dataclass(frozen=True)
class Point:
    """A point at which the operator of a job dies.

    Attributes:
        verb: of the request that it dies at; None if it dies while it waits for something.
        resource: of that request, such as `msjobs/status`.
        after: so many requests of the kind are carried out before.
        lost: whether that request never arrives, or is carried out and its answer lost.
        when: which requests are meant, of those about the job.
        world: what else is true of the job of that name when the operator dies.
    """

    verb: str | None = None
    resource: str = ""
    after: int = 0
    lost: Lost = "request"
    when: Callable[[Call], bool] = lambda _: True
    world: Callable[[Jobs, str], Any] = lambda _, __: True


Points = Mapping[str, Point]
"""The points of a test, each with the name of its job."""


def writes(**fields: Any) -> Callable[[Call], bool]:
    """Whether a request writes a status with these fields, each given as its value or as a predicate on it."""

    def judge(call: Call) -> bool:
        status = call.body.get("status") or {}
        return all(
            key in status and (want(status[key]) if callable(want) else status[key] == want)
            for key, want in fields.items()
        )

    return judge


def makes(kind: str) -> Callable[[Call], bool]:
    """Whether a request writes a status in which the condition of a type is True."""

    def true(conditions: list[Json]) -> bool:
        return any((item["type"], item["status"]) == (kind, "True") for item in conditions)

    return writes(conditions=true)


def is_about(call: Call, namespace: str, job: str) -> bool:
    """Whether a request is about a job or one of its children."""
    name = call.name or (call.body or {}).get("metadata", {}).get("name", "")
    child = rf"{re.escape(job)}(-(scheduler|ps|worker)-\d+)?"
    return call.namespace == namespace and re.fullmatch(child, name) is not None


class Line:
    """A line of operators behind a gate: one lives at a time, and outlives the test whose operator it followed.

    Args:
        operators: to start them with.
        gate: before the API server.
    """

    def __init__(self, operators: Operators, gate: Gate) -> None:
        self.gate = gate
        self._operators = operators
        self._last: Operator | None = None

    def start(self) -> Operator:
        """Start the next one, which need not be ready yet."""
        self._last = self._operators.start(server=self.gate.address)
        return self._last

    def living(self) -> Operator:
        """The one that lives, ready; a new one if there is none."""
        last = self._last
        return (last if last is not None and last.running else self.start()).wait_leading()


class Deaths:
    """Deaths of operators over the jobs of a test.

    Args:
        line: of operators, of which one lives when this is made.
        jobs: of the namespace of the test.
        history: of that namespace.
    """

    def __init__(self, line: Line, jobs: Jobs, history: History) -> None:
        self.jobs = jobs
        self.history = history
        self._line = line
        self._traps: list[Trap] = []
        line.living()

    @contextlib.contextmanager
    def at(self, points: Points, *, meanwhile: Callable[[], Any] = lambda: None, late: bool = False) -> Iterator[None]:
        """Let the operator die once each job is at its point, to which what is done within `with` leads.

        Args:
            points: where, by the names of the jobs.
            meanwhile: what happens before its successor starts.
            late: what is held may still arrive, see `deliver`.
        """
        operator = self._line.living()
        traps = {name: self._hold(name, point) for name, point in points.items() if point.verb is not None}
        yield
        for name, point in points.items():
            if name in traps:
                traps[name].wait(PATIENCE, about=name)
            self.wait(partial(point.world, self.jobs, name), f"what is to be true of {name} when the operator dies")
        operator.kill()
        for trap in traps.values():
            trap.seal() if late else trap.drop()
        meanwhile()
        self._line.start()

    def deliver(self) -> None:
        """Let what is still held arrive, long after its sender died."""
        for trap in self._traps:
            trap.release()

    def close(self) -> None:
        """Let nothing be held any more, nor arrive."""
        for trap in self._traps:
            trap.drop()

    def wait(self, true: Callable[[], Any], what: str) -> None:
        """Wait patiently until something is true."""
        wait_for(true, PATIENCE, what=what)

    def reach(self, name: str, state: str) -> Json:
        """Wait patiently until a job is in a state, and give its last condition."""
        return self.jobs.wait_state(state, name, PATIENCE)

    def left(self, name: str, *pods: str) -> None:
        """Wait patiently until nothing is left of a job but these pods."""

        def gone() -> bool:
            return sorted(self.jobs.pods(name)) == sorted(pods) and f"{name}-scheduler-0" not in self.jobs.services()

        self.wait(gone, f"what is left of {name} to be {pods or 'nothing'}")

    def run(self, name: str, attempt: int, count: int = 3) -> None:
        """Wait for all pods of an attempt, with none of another, let them run, and wait until the job does."""

        def there() -> bool:
            pods = self.jobs.pods(name).values()
            numbers = [int(pod["metadata"]["labels"][ATTEMPT]) for pod in pods]
            return numbers == [attempt] * count and not any("deletionTimestamp" in pod["metadata"] for pod in pods)

        self.wait(there, f"the pods of attempt {attempt} of {name}")
        self.jobs.run(count, name, PATIENCE)

    def lifecycle(self, name: str) -> list[str]:
        """Types of the conditions of a job that are states of it and True, in their order."""
        return [kind for kind in self.jobs.true(name) if kind in _OF_THE_RUN]

    def judge(
        self,
        name: str,
        transitions: Mapping[str, int],
        *,
        pods: int,
        attempts: int = 0,
        restarts: int = 0,
        counted: int = 0,
        replaced: int = 0,
    ) -> None:
        """Assert that a job came the way that it would have come without a death.

        - `attempt`, `restarts` and `restartsCountTowardsLimit` grew one at a time, to the numbers given;
        - no pod that had started was made again within its attempt, and none beside pods of an earlier attempt;
        - an event of a transition may be lost, but none is told twice.

        Args:
            name: of the job.
            transitions: how often each transition happened, by the reason of its event; others did not.
            pods: how many it has had in all.
            attempts: number of the last attempt.
            restarts: all restarts.
            counted: those that count.
            replaced: pods that were to be made again within their attempt.
        """
        self.history.settle(name)
        grown = {key: self.history.values(name, key) for key in ("attempt", "restarts", "restartsCountTowardsLimit")}
        wanted = zip(grown, (attempts, restarts, counted), strict=True)
        assert grown == {key: list(range(last + 1)) for key, last in wanted}, name
        assert len(self.history.twins(name)) == replaced, (name, self.history.twins(name))
        assert self.history.beside_old(name) == [], name
        assert len(self.history.of(name)) == pods, (name, self.history.of(name))
        told: Counter[str] = Counter()
        for event in self.jobs.client.events(self.jobs.namespace, about=name):
            if event["reason"] in TRANSITIONS:
                told[event["reason"]] += event["count"]
        assert {reason: count for reason, count in told.items() if count > transitions.get(reason, 0)} == {}, name

    def _hold(self, name: str, point: Point) -> Trap:
        trap = self._line.gate.hold(
            str(point.verb),
            point.resource,
            after=point.after,
            lost=point.lost,
            when=lambda call: is_about(call, self.jobs.namespace, name) and point.when(call),
        )
        self._traps.append(trap)
        return trap
