"""What a training has to show that nothing is to disturb, and one that is begun anew because its user wants that."""

import math
import re
from collections.abc import Iterable
from typing import Final

from support.cluster.cluster import Cluster
from support.cluster.live import Live, attempt_of, place_of
from support.cluster.recovery import decided, old_pods_gone
from support.cluster.report import Row
from support.testbed.client import MSJOBS, PODS
from support.testbed.waiting import wait_for

PODS_OF_TWO: Final = ("scheduler-0", "worker-0", "worker-1")
"""Roles and indices of the pods of a job with a Scheduler and two Workers."""

_STEP: Final = re.compile(r"\] epoch \S+ step (\d+)/")


def uids(live: Live) -> dict[str, str]:
    """The uids of the pods that are there, by role and index."""
    return {pod: item["metadata"]["uid"] for pod, item in live.pods().items()}


def made(live: Live, attempt: int) -> dict[str, set[str]]:
    """The uids of all pods that were ever made for an attempt, by role and index."""
    found: dict[str, set[str]] = {}
    for item in tuple(live.recorder.seen):
        if item.resource == PODS and attempt_of(item.object) == attempt:
            found.setdefault(place_of(item.object), set()).add(item.uid)
    return found


def assert_made_once(live: Live, attempt: int, pods: Iterable[str] = PODS_OF_TWO) -> None:
    """Each of these pods was made once for an attempt, and no other.

    Args:
        live: The namespace.
        attempt: The attempt.
        pods: Roles and indices; those of a Scheduler and two Workers by default.
    """
    assert {pod: len(found) for pod, found in made(live, attempt).items()} == dict.fromkeys(pods, 1)


def measure_change(
    live: Live, row: Row, moment: float, what: str, *, attempt: int = 1, count: int = 3, timeout: float = 120
) -> float:
    """Wait for the pods of a new attempt that nobody's failure brings about, and tell how long each part took.

    Args:
        live: The namespace.
        row: Where it is told.
        moment: When it was asked for, or made possible, on the monotonic clock.
        what: That, in a word, for the report.
        attempt: The new attempt.
        count: Pods of it.
        timeout: Seconds to wait for them.

    Returns:
        Seconds from the moment when nothing of the old attempt was left, or from the given one if that is later, to the
        last new pod.
    """
    row.measure(f"{what} to the decision", decided(live, moment, attempt) - moment)
    # Who still could may have made them before.
    total = max(0.0, live.new_pods_after(moment, attempt, count, timeout))
    gone = max(moment, old_pods_gone(live, attempt - 1, moment + total))
    row.measure(f"{what} to the new pods", total)
    row.measure("old pods gone to the new pods", moment + total - gone)
    return moment + total - gone


def assert_undisturbed(live: Live, *, steps: int, workers: int = 2) -> None:
    """A job that has ended never was restarted, nor any pod or container of it, and blames nobody.

    All steps were made once, by all Workers, and no condition says that it was anything but running.

    Args:
        live: The namespace.
        steps: Of the training.
        workers: Processes.
    """
    status = live.status()
    told = {field: status[field] for field in ("attempt", "restarts", "lastFailure") if field in status}
    assert not told, f"something happened: {told}"
    pods = made(live, 0)
    assert {pod: len(found) for pod, found in pods.items()} == dict.fromkeys(pods, 1), pods
    assert len(pods) == workers + 1
    for item in tuple(live.recorder.seen):
        if item.resource == PODS:
            for container in item.object.get("status", {}).get("containerStatuses") or []:
                assert container["restartCount"] == 0, f"{item.name}: {container}"
        if item.resource == MSJOBS:
            conditions = item.object.get("status", {}).get("conditions") or []
            restarting = [found for found in conditions if found["type"] == "Restarting"]
            assert not restarting, restarting
    for rank in range(workers):
        found = [step.step for step in live.steps(0, rank)]
        assert found == list(range(1, steps + 1)), f"rank {rank} made steps {found}"
    assert all(math.isfinite(step.loss) for step in live.steps())


def last_step_on_node(cluster: Cluster, live: Live, pod: str, name: str = "train") -> int:
    """The last step that a pod such as `worker-0` has told of, as its node knows; no API server is asked."""
    logs = cluster.node.pod_logs.glob(f"{live.namespace}_{name}-{pod}_*/mindspore/*.log")
    return max((int(step) for log in logs for step in _STEP.findall(log.read_text(errors="replace"))), default=0)


def last_checkpoint(cluster: Cluster, live: Live, name: str = "train") -> int:
    """The step of the newest checkpoint of a job, as the volume on the node has it; 0 if there is none.

    Lines that a container prints while there is no containerd stay in a pipe; a checkpoint is there all the same.
    """
    folder = cluster.volume_folder(live.namespace) / name
    return max((int(path.stem.removeprefix("step-")) for path in folder.glob("step-*.ckpt")), default=0)


def wait_checkpoint(cluster: Cluster, live: Live, step: int, timeout: float = 120) -> int:
    """Wait until there is a checkpoint after a step, or after a later one, and give that step."""
    return wait_for(
        lambda: found if (found := last_checkpoint(cluster, live)) >= step else 0,
        timeout,
        what=f"a checkpoint after step {step}",
        interval=0.2,
    )
