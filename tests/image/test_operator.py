"""The operator as `kubectl apply -f dist/` starts it: its Pod, made by the real controllers, run from the image."""

import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from msjob.operator import GRACE_PERIOD, PROBE_PORT
from support.image.container import Container, image_environment, image_user
from support.image.network import Network
from support.image.oci import Json, config
from support.image.podspec import container_of, environment_of, memory_of, mounts_of, user_of
from support.image.storage import BuiltImage
from support.live_jobs import Jobs
from support.testbed.client import Client
from support.testbed.controlplane import ControlPlane
from support.testbed.errors import ConflictError
from support.testbed.kubelet import Kubelet
from support.testbed.waiting import wait_for

NAMESPACE = "ms-operator-system"
DEPLOYMENTS = "apps/v1/deployments"
LEASES = "coordination.k8s.io/v1/leases"


@dataclass
class Started:
    """The operator's container.

    Attributes:
        pod: its Pod.
        container: the container.
        network: its network.
        seconds: from its start until it was ready.
    """

    pod: Json
    container: Container
    network: Network
    seconds: float

    def get(self, path: str) -> tuple[int, str]:
        """Ask one of the endpoints that probes ask."""
        return self.network.get(PROBE_PORT, path)


@pytest.fixture
def operator(control_plane: ControlPlane, image: BuiltImage, work: Path) -> Iterator[Started]:
    """The operator, ready."""
    client = control_plane.admin
    pod = wait_for(lambda: client.pods(NAMESPACE), 20, what="the Pod of the operator")[0]
    port = urlsplit(control_plane.server).port
    assert port is not None
    assert user_of(pod) == image_user(image.config)
    service = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(port)}
    with Network() as network:
        network.reach(port)
        spec = container_of(pod)
        wanted = config(
            image.rootfs,
            [*spec["command"], *spec["args"]],
            env=environment_of(pod, image_environment(image.config), service),
            user=user_of(pod),
            mounts=mounts_of(pod, work / "volumes", client),
            network=network.path,
            memory=memory_of(pod),
        )
        start = time.monotonic()
        with Container(work, wanted, "operator") as container:

            def ready() -> bool:
                assert container.running, container.text()
                return network.get(PROBE_PORT, "/readyz")[0] == 200

            wait_for(ready, 30, what="the operator to be ready", interval=0.02)
            yield Started(pod, container, network, time.monotonic() - start)


def test_it_runs_a_job(operator: Started, control_plane: ControlPlane, figures: dict[str, str]) -> None:
    """In its Pod as the Deployment has it, the operator gets ready, runs a job to its end and ends when told to.

    All of it with the Pod's own arguments, variables, volumes, ServiceAccount and memory limit.
    """
    client, container = control_plane.admin, operator.container
    figures["from start to ready"] = f"{operator.seconds:.1f} s"
    Kubelet(client, node="operator-node").set_pod(NAMESPACE, operator.pod["metadata"]["name"])
    client.wait_until(DEPLOYMENTS, "ms-operator-controller-manager", NAMESPACE, available, what="it to be available")
    assert operator.get("/healthz")[0] == 200

    namespace = control_plane.create_namespace("training")
    with Kubelet(client, node="node", namespace=namespace).play(run=False) as kubelet:
        jobs = Jobs(client, namespace, kubelet)
        start = time.monotonic()
        jobs.create(worker=3)
        for pod in jobs.wait_pods(4):
            try:
                jobs.set(pod)
            except ConflictError:  # on a machine under load: it was bound by a request whose answer was lost
                jobs.set(pod)
        jobs.wait_state("Running")
        figures["from a job to its 4 pods running"] = f"{time.monotonic() - start:.1f} s"
        jobs.finish("worker-0", "worker-1", "worker-2", "scheduler-0")
        jobs.wait_state("Succeeded")

    figures["most memory, of a limit of 512Mi"] = f"{container.peak_memory() / (1 << 20):.0f} Mi"
    assert container.peak_memory() < memory_of(operator.pod) * 0.9
    status = container.status()
    assert (status["CapEff"], status["NoNewPrivs"], status["Seccomp"]) == ("0" * 16, "1", "2")
    faults = [line for line in container.text().splitlines() if '"level": "error"' in line or not line.startswith("{")]
    assert faults == []

    start = time.monotonic()
    container.signal(signal.SIGTERM)
    assert container.wait(GRACE_PERIOD) == 0, container.text()
    figures["from SIGTERM to its end"] = f"{time.monotonic() - start:.1f} s"
    assert lease_holder(client) == ""


def available(deployment: Json) -> bool:
    """Whether a Deployment is available."""
    return bool(deployment.get("status", {}).get("availableReplicas") == 1)


def lease_holder(client: Client) -> str:
    """Who leads; nobody once the last leader has given up the Lease."""
    return str(client.get(LEASES, "ms-operator-leader", NAMESPACE)["spec"].get("holderIdentity") or "")
