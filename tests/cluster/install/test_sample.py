"""A sample as it is: applied, watched and trained to its end, by an operator that needs little for it."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from msjob_controller.renderer import IDLE_SECONDS
from support.cluster.installation import Installation, Memory
from support.cluster.live import Live, exit_code
from support.cluster.namespaces import restricted
from support.cluster.report import Row
from support.cluster.site import Site
from support.programs import ROOT
from support.testbed.waiting import wait_for

pytestmark = pytest.mark.core

SAMPLE = ROOT / "samples" / "train_cpu.yaml"
IMAGE = "registry.example/training:1"
"""The name that the sample has for an image of one's own."""

JOB = "train-cpu"
LIMIT = 128.0
"""MiB that the operator may have at rest."""


@dataclass
class Life:
    """What was seen of the sample.

    Attributes:
        live: Its namespace, with its pods.
        state: Of the job in the end.
        watched: What `kubectl get msjob -w` printed.
        took: Seconds from its creation to its end.
        rendered: When its last pod was there, on the monotonic clock.
        memory: What the operator had meanwhile.
    """

    live: Live
    state: str = ""
    watched: str = ""
    took: float = 0
    rendered: float = 0
    memory: list[Memory] = field(default_factory=list)


@pytest.fixture(scope="module")
def life(site: Site, installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    """The sample, from `kubectl apply` to its end."""
    with restricted(site.client) as namespace, Live(site, namespace) as live:
        life = Life(live)
        output = tmp_path_factory.mktemp("watch") / "output"
        watch = site.kubectl.start("--namespace", namespace, "get", "msjob", "--watch", output=output)
        try:
            start = time.monotonic()
            apply_sample(live)
            wait_for(lambda: len(live.pods()) == 3, 30, what="the pods of the sample")
            life.rendered = time.monotonic()
            life.state = wait_for(lambda: looked(life, installation), 400, what="the end of the sample", interval=1)
            life.took = time.monotonic() - start
            wait_for(lambda: life.state in output.read_text(), 10, what="kubectl to show the end")
        finally:
            watch.terminate()
            watch.wait()
            if site.cluster is not None:
                site.cluster.node.containerd.remove_image(IMAGE)
        life.watched = output.read_text()
        yield life


def apply_sample(live: Live) -> None:
    """Apply the file as it is, where the image can be given its name; else with the name of the image."""
    image, cluster = live.site.image("training"), live.site.cluster
    if cluster is not None:
        cluster.node.containerd.tag(image, IMAGE)
        live.kubectl("apply", "-f", SAMPLE)
    else:
        live.kubectl("apply", "-f", "-", stdin=SAMPLE.read_text().replace(IMAGE, image))


def looked(life: Life, installation: Installation) -> str:
    """Note the operator's memory; give how the job has ended, if it has."""
    life.memory.append(installation.memory())
    return life.live.ended(JOB)


@pytest.mark.row("install", "`kubectl apply -f samples/train_cpu.yaml`")
def test_train_cpu(life: Life, row: Row) -> None:
    """It trains in a Restricted namespace and succeeds; all processes end with 0, and both Workers learn the same."""
    assert life.state == "Succeeded"
    # The Scheduler ends by itself, after the Workers that the job's end goes by.
    wait_for(lambda: None not in codes(life.live).values(), 60, what="all pods to end")
    assert codes(life.live) == {"scheduler-0": 0, "worker-0": 0, "worker-1": 0}
    logs = [life.live.kubectl("logs", f"{JOB}-worker-{index}") for index in (0, 1)]
    losses = [[float(loss) for loss in re.findall(r"step \d+/\d+ loss (\S+)", log)] for log in logs]
    assert "[rank 0 of 2]" in logs[0]
    assert "[rank 1 of 2]" in logs[1]
    assert losses[0] == losses[1]
    assert losses[0][-1] < losses[0][0] / 10
    row.tell(f"Succeeded; loss {losses[0][0]:.2f} to {losses[0][-1]:.3f} in {len(losses[0])} lines of the log")
    row.measure("apply to Succeeded", life.took)


def codes(live: Live) -> dict[str, int | None]:
    """The exit codes of the pods."""
    return {name: exit_code(pod) for name, pod in live.pods().items()}


@pytest.mark.row("install", "`kubectl get msjob -w`")
def test_watch(life: Life, row: Row) -> None:
    """The column State goes through the job's life in its order, and through nothing else."""
    states = [line.split()[1] for line in life.watched.splitlines() if len(line.split()) == 3 and "STATE" not in line]
    seen = [state for place, state in enumerate(states) if states[place - 1 : place] != [state]]
    assert seen == ["Created", "Running", "Succeeded"], life.watched
    row.tell(" → ".join(seen))


@pytest.mark.row("install", "memory of the operator's container, from the kubelet")
def test_memory_at_rest(life: Life, installation: Installation, row: Row) -> None:
    """Once the process that renders has been stopped for having nothing to do, the operator has less than 128 MiB."""
    wait_for(lambda: time.monotonic() > life.rendered + IDLE_SECONDS + 2, IDLE_SECONDS + 5, what="rest")
    rest = installation.memory()
    row.tell(f"{rest} at rest, {max(life.memory)} at most while the sample was made and ran")
    assert 0 < rest.own < LIMIT
