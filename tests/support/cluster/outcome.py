"""What a training that went well has to show: how its processes ended, what they learned, and its final status."""

import re
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import pytest

from msjob.api import meta
from support.cluster.live import Live, exit_code, place_of
from support.cluster.report import Row
from support.testbed.waiting import wait_for

_STEP: Final = re.compile(
    r"\[(?:MS_WORKER )?rank (\d+) of (\d+)\] (?:epoch \S+ )?step (\d+)/(\d+) loss (\S+)"  # of both images
)
_FINISHED: Final = re.compile(r"\[rank (\d+) of \d+\] finished, loss (\S+)")

ALIKE: Final = 1e-4
"""How much a loss may differ from that of another number of Workers: sums of the same numbers in another order."""

KEPT: Final = {"cleanPodPolicy": "None"}
"""A run policy that leaves all pods, so that they end by themselves, and their exit codes can be read."""


@dataclass(slots=True)
class Process:
    """A process that trained, as its log tells.

    Attributes:
        index: Of its Worker.
        rank: Of the process.
        size: Of the group.
        losses: By step.
    """

    index: int
    rank: int
    size: int
    losses: dict[int, float] = field(default_factory=dict)


def processes(live: Live, job: str = "train") -> list[Process]:
    """The processes of a job that told of steps, by rank; two with one rank are two."""
    found: dict[tuple[int, int], Process] = {}
    for line in tuple(live.lines):
        match = _STEP.search(line.text)
        if match and line.pod.startswith(f"{job}-worker-"):
            rank, size, step = (int(text) for text in match.groups()[:3])
            process = found.setdefault((int(line.index or 0), rank), Process(int(line.index or 0), rank, size))
            assert process.size == size, f"rank {rank} is one of {process.size}, then of {size}"
            process.losses[step] = float(match[5])
    return sorted(found.values(), key=lambda process: (process.rank, process.index))


def assert_ends_well(
    live: Live, row: Row, pods: Mapping[str, int], job: str = "train", *, timeout: float = 240, resumed: bool = False
) -> None:
    """A job succeeds, all its processes end with 0, and its final status says so in full.

    Args:
        live: The namespace; the job has the run policy `KEPT`.
        row: Is told the seconds from the start to the end, as the status has them.
        pods: How many there are by role, such as `{"Scheduler": 1, "Worker": 2}`.
        job: Its name.
        timeout: Seconds that it may take.
        resumed: Whether it was suspended on its way, after it had been started.
    """
    assert live.wait_finished(job, timeout) == "Succeeded", live.status(job)
    wanted = {f"{role.lower()}-{index}": 0 for role, count in pods.items() for index in range(count)}
    # With the default success policy the job ends with Worker 0; the others and the Scheduler follow in seconds.
    wait_for(lambda: None not in codes(live, job).values(), 60, what=f"all pods of {job} to end", interval=0.2)
    assert codes(live, job) == wanted
    _assert_status(live, pods, job, attempt=int(resumed))
    status = live.status(job)
    row.measure(
        "start to end" if job == "train" else f"{job}, start to end",
        _seconds(status["completionTime"]) - _seconds(status["startTime"]),
    )


def codes(live: Live, job: str) -> dict[str, int | None]:
    """The exit codes of a job's pods by role and index, such as `worker-0`; None for those that have not ended."""
    pods = live.site.client.pods(live.namespace, f"{meta.LABEL_JOB_NAME}={job}")
    return {place_of(pod): exit_code(pod) for pod in pods}


def assert_one_model(
    live: Live, row: Row, steps: int, ranks: Mapping[int, list[int]], job: str = "train"
) -> list[float]:
    """All ranks are where they should be, and have trained one model by samples/training.

    Args:
        live: The namespace.
        row: Is told losses and ranks.
        steps: That each makes.
        ranks: By index of the Worker.
        job: Its name.

    Returns:
        The loss of each step.
    """
    found = processes(live, job)
    size = sum(map(len, ranks.values()))
    assert [process.rank for process in found] == list(range(size)), found
    assert {process.size for process in found} == {size}
    placed = defaultdict[int, list[int]](list)
    for process in found:
        placed[process.index].append(process.rank)
    assert placed == ranks
    for process in found:
        assert sorted(process.losses) == list(range(1, steps + 1)), process
        assert process.losses == found[0].losses
    # Each computes this with its own weights.
    ends = {int(match[1]): match[2] for line in live.lines if (match := _of(job, line.pod, line.text))}
    assert sorted(ends) == list(range(size))
    assert len(set(ends.values())) == 1, ends
    losses = [found[0].losses[step] for step in range(1, steps + 1)]
    assert_falls(losses)
    row.tell(f"loss {losses[0]:.3f} to {losses[-1]:.3f} in {steps} steps, the same on all of {size} ranks")
    return losses


def assert_falls(losses: list[float]) -> None:
    """A model learns: of its losses the last half is lower than the first."""
    half = len(losses) // 2
    assert sum(losses[-half:]) < sum(losses[:half]), losses


def assert_alike(losses: list[float], others: list[float]) -> None:
    """Two trainings went the same way."""
    assert losses == pytest.approx(others, abs=ALIKE)


def _of(job: str, pod: str, text: str) -> re.Match[str] | None:
    return _FINISHED.search(text) if pod.startswith(f"{job}-worker-") else None


def _assert_status(live: Live, pods: Mapping[str, int], job: str, attempt: int) -> None:
    stored = live.job(job)
    status = stored["status"]
    conditions = {item["type"]: (item["status"], item["reason"]) for item in status["conditions"]}
    assert status["conditions"][-1]["type"] == "Succeeded", status
    assert conditions["Created"] == ("True", "MSJobCreated")
    # An operator that was away meanwhile, as one may be that finds no API server in time, has not seen it run.
    assert conditions.get("Running", ("False", "MSJobSucceeded")) == ("False", "MSJobSucceeded")
    assert conditions["Succeeded"] == ("True", "MSJobSucceeded")
    assert not {"Failed", "Restarting"} & conditions.keys(), status
    assert conditions.get("Stalled", ("False",))[0] == "False"
    counted = {
        role: (found.get("active", 0), found.get("succeeded", 0), found.get("failed", 0))
        for role, found in status["replicaStatuses"].items()
    }
    assert counted == {role: (0, count, 0) for role, count in pods.items()}
    assert _seconds(status["completionTime"]) >= _seconds(status["startTime"])
    assert status["observedGeneration"] == stored["metadata"]["generation"]
    assert not {"restarts", "lastFailure"} & status.keys(), status
    assert status.get("attempt", 0) == attempt


def _seconds(stamp: str) -> float:
    return time.mktime(time.strptime(stamp, "%Y-%m-%dT%H:%M:%SZ"))
