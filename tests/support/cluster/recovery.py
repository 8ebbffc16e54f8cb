"""What a training has to show after a fault: who is blamed, how soon it was started again, and where it went on."""

import math
import re
from collections import defaultdict
from typing import Final

from support.cluster.live import Live, attempt_of, since
from support.cluster.places import NODE
from support.cluster.report import Row
from support.jobs import Json
from support.testbed.client import MSJOBS, PODS
from support.testbed.waiting import wait_for

_GOES_ON: Final = re.compile(r"goes on after step (\d+)")
_SAVED: Final = re.compile(r"saved a checkpoint after step (\d+)")

_ALIKE: Final = 1e-4
"""How much a loss that is computed again may differ: sums of several processes are not always added in one order."""

_LOSSES: Final = defaultdict[tuple[int, int], dict[int, float]](dict)
"""Which step had which loss in the trainings so far, by steps and Workers: all take the same data in one order."""


def measure_restart(live: Live, row: Row, fault: float, fallen: str, *, attempt: int = 1, count: int = 3) -> float:
    """Wait for the pods of the attempt that a fault brings about, and tell how long each part took.

    Args:
        live: The namespace.
        row: Where it is told.
        fault: When the fault was made, on the monotonic clock.
        fallen: The pod that ended by it, such as `worker-1`.
        attempt: The new attempt.
        count: Pods of it.

    Returns:
        Seconds from the moment when nothing of the old attempt was left to the last new pod. Before that no pod of
        these names can be made, and how long it takes is up to the grace that the old pods have.
    """
    report = live.reported(fallen, attempt - 1)
    row.measure("fault to the kubelet's report", report - fault)
    row.measure("report to the decision", decided(live, report, attempt) - report)
    total = live.new_pods_after(report, attempt, count)
    gone = old_pods_gone(live, attempt - 1, report + total)
    row.measure("report to the new pods", total)
    row.measure("old pods gone to the new pods", report + total - gone)
    return report + total - gone


def measure_first_step(live: Live, row: Row, moment: float, what: str = "fault", *, attempt: int = 1) -> None:
    """Wait until the new attempt trains, and tell how long that took from a moment on, such as that of the fault."""
    wait_for(lambda: live.steps(attempt), 180, what=f"a step of attempt {attempt}", interval=0.1)
    row.measure(f"{what} to the next step", since(moment))


def assert_blamed(live: Live, pod: str, name: str = "train", **expected: object) -> Json:
    """`status.lastFailure` names a pod such as `worker-1`, by name, role and index, and what else is expected of it.

    Returns:
        The failure.
    """
    found = live.status(name)["lastFailure"]
    role, _, index = pod.rpartition("-")
    told = (found["pod"], found["role"].lower(), found["index"])
    assert told == (f"{name}-{pod}", role, int(index)), f"{found} blames {told}"
    assert {key: found.get(key) for key in expected} == expected, found
    return dict(found)


def assert_restarts(live: Live, restarts: int, counted: int, name: str = "train") -> None:
    """`status` counts so many restarts, and so many of them towards `backoffLimit`."""
    status = live.status(name)
    found = status.get("restarts", 0), status.get("restartsCountTowardsLimit", 0)
    assert found == (restarts, counted), status


def assert_lost(live: Live) -> None:
    """The job was restarted once, which does not count, for a pod that was lost with its node."""
    assert_restarts(live, 1, 0)
    failure = live.status()["lastFailure"]
    told = {key: failure.get(key) for key in ("reason", "node", "attempt", "countsTowardsLimit", "exitCode")}
    assert told == {
        "reason": "NodeLost",
        "node": NODE,
        "attempt": 0,
        "countsTowardsLimit": False,
        "exitCode": None,
    }


def assert_went_on(live: Live, row: Row, *, steps: int, workers: int = 2, attempt: int = 1) -> int:
    """An attempt went on from a checkpoint, as if nothing had happened.

    All its Workers name one step to go on after, which a checkpoint was saved after before, and make all steps from
    there to the last. A step that an earlier attempt had made already has the same loss again, on all ranks: weights
    and optimizer are those of the checkpoint. Trainings of the same size that met other faults had the same losses.

    Args:
        live: The namespace, whose job has ended.
        row: Where it is told.
        steps: Of the training.
        workers: Processes.
        attempt: The attempt.

    Returns:
        The step that it went on after.
    """
    told = {int(match[1]) for text in live.texts("goes on after step", attempt) if (match := _GOES_ON.search(text))}
    assert len(told) == 1, f"Workers of attempt {attempt} go on after steps {told or 'that none tells'}"
    (start,) = told
    saved = {
        int(match[1])
        for earlier in range(attempt)
        for text in live.texts("saved a checkpoint", earlier)
        if (match := _SAVED.search(text))
    }
    # The last words of a pod that goes may be lost: a checkpoint may be newer than those told of, never older.
    assert start >= max(saved), f"goes on after step {start}; checkpoints were saved after {saved}"
    for rank in range(workers):
        made = [step.step for step in live.steps(attempt, rank)]
        assert made == list(range(start + 1, steps + 1)), f"rank {rank} of attempt {attempt} made steps {made}"
    losses = defaultdict[int, set[float]](set)
    for step in live.steps():
        losses[step.step].add(step.loss)
    for number, loss in _LOSSES[steps, workers].items():
        losses[number].add(loss)
    differ = {number: found for number, found in losses.items() if max(found) - min(found) > _ALIKE}
    assert not differ, f"losses of one step differ: {differ}"
    assert all(math.isfinite(loss) for found in losses.values() for loss in found)
    _LOSSES[steps, workers].update((number, max(found)) for number, found in losses.items())
    again = len({step.step for step in live.steps() if step.attempt < attempt and step.step > start})
    row.tell(f"went on after step {start}, made {again} steps again with the same losses")
    return start


def describe_ends(live: Live, attempt: int = 0) -> str:
    """What pods of an attempt ended with, for the report."""
    codes = {pod: code for (of, pod), code in sorted(live.codes().items()) if of == attempt}
    return ", ".join(f"{pod} {code}" for pod, code in codes.items())


def decided(live: Live, after: float, attempt: int) -> float:
    """When the status with a new attempt was heard of."""

    def decided() -> float:
        found = live.recorder.first(MSJOBS, lambda seen: seen.object.get("status", {}).get("attempt", 0) >= attempt)
        return found.at if found else 0

    return max(after, wait_for(decided, 60, what=f"attempt {attempt}", interval=0.1))


def old_pods_gone(live: Live, attempt: int, until: float) -> float:
    """When the last pod of an attempt had gone, of those that went before a time."""
    gone = [
        seen.at
        for seen in tuple(live.recorder.seen)
        if seen.resource == PODS and seen.type == "DELETED" and attempt_of(seen.object) == attempt and seen.at <= until
    ]
    assert gone, f"no pod of attempt {attempt} was deleted before the next attempt"
    return max(gone)
