"""`make cluster-up` and `make cluster-down`: a cluster to work with, which leaves nothing, however it ends."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.cluster import standing
from support.cluster.images import wanted
from support.cluster.places import PAUSE
from support.cluster.traces import Traces
from support.programs import ROOT, clean_environment, run_program
from support.testbed.binaries import find_binaries
from support.testbed.kubectl import Kubectl
from support.testbed.waiting import wait_for

pytestmark = pytest.mark.timeout(300)

SECONDS_TO_GO = 30
"""Until the kernel has ended all, on a busy machine."""


@pytest.fixture(scope="module", autouse=True)
def _alone() -> None:
    """There is no such cluster yet: it would be the user's, and is not ended here."""
    assert not standing.kubeconfig().exists(), "a cluster is up: make cluster-down first"


@pytest.fixture
def traces() -> Iterator[Traces]:
    """What the machine was like before; whatever a test left running is ended."""
    yield Traces()
    make("cluster-down")


@pytest.fixture
def kubectl(tmp_path: Path) -> Kubectl:
    """Of a user of this machine."""
    return Kubectl(find_binaries().kubectl, standing.kubeconfig(), tmp_path / "cache")


def make(target: str) -> subprocess.CompletedProcess[str]:
    """Run a target of the Makefile."""
    return run_program("make", "--no-print-directory", target, timeout=240)


def test_up_and_down(traces: Traces, kubectl: Kubectl) -> None:
    """It is reached from the machine, runs pods, and goes with all that it made; a second one is refused."""
    up = make("cluster-up")
    assert up.returncode == 0, up.stderr
    assert up.stdout == f"export KUBECONFIG={standing.kubeconfig()}\n"
    traces.note()

    (node,) = kubectl.json("get", "nodes")["items"]
    assert {"type": "Ready", "status": "True"}.items() <= node["status"]["conditions"][-1].items()
    kubectl.run("run", "one", f"--image={PAUSE}", "--image-pull-policy=Never")
    kubectl.run("run", "two", f"--image={wanted(['operator'])['operator'].ref}", "--restart=Never", "--", "--help")
    kubectl.run("wait", "pod/one", "--for=condition=Ready", "--timeout=60s", timeout=70)
    kubectl.run("wait", "pod/two", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=60s", timeout=70)
    assert "--leader-elect" in kubectl.run("logs", "two")

    again = make("cluster-up")
    assert again.returncode != 0
    assert f"the cluster runs already: export KUBECONFIG={standing.kubeconfig()}" in again.stderr

    assert traces.left(), "nothing was found of a cluster that runs"
    down = make("cluster-down")
    assert down.returncode == 0, down.stderr
    assert "the cluster is gone" in down.stderr
    wait_for(lambda: not traces.left(), SECONDS_TO_GO, what=f"all to go: {traces.left()}")
    assert traces.changed() == []
    assert "there is no cluster" in make("cluster-down").stderr


@pytest.mark.parametrize("victim", ["the shell", "what runs in it"])
def test_killed(traces: Traces, kubectl: Kubectl, victim: str) -> None:
    """Whoever of it is killed: all else ends, nothing but its folder is left, and it can be started again."""
    assert make("cluster-up").returncode == 0
    kubectl.run("run", "one", f"--image={PAUSE}", "--image-pull-policy=Never")
    kubectl.run("wait", "pod/one", "--for=condition=Ready", "--timeout=60s", timeout=70)
    traces.note()
    shell = int((standing.kubeconfig().parent / "pid").read_text())

    os.kill(shell if victim == "the shell" else traces.server(), signal.SIGKILL)

    wait_for(lambda: not traces.left(), SECONDS_TO_GO, what=f"all to go: {traces.left()}")
    again = make("cluster-up")
    assert again.returncode == 0, again.stderr
    traces.note()
    assert make("cluster-down").returncode == 0
    wait_for(lambda: not traces.left(), SECONDS_TO_GO, what=f"all to go: {traces.left()}")
    assert traces.changed() == []


def test_interrupted(traces: Traces) -> None:
    """Ctrl-C while it starts leaves nothing."""
    process = subprocess.Popen(
        ["make", "--no-print-directory", "cluster-up"],  # noqa: S607 - make is where the system has it
        cwd=ROOT,
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    wait_for(traces.note, 60, what="the cluster to be starting", interval=0.02)
    time.sleep(1)  # anywhere in the start, which takes several
    os.killpg(process.pid, signal.SIGINT)

    assert process.wait(60) != 0
    wait_for(lambda: not traces.left(), SECONDS_TO_GO, what=f"all to go: {traces.left()}")
    assert traces.changed() == []
