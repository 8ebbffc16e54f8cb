"""The operator in the cluster, installed as a user does."""

import json
import subprocess
from pathlib import Path
from typing import Any, Final, NamedTuple

from support.cluster.site import DIST, Site, not_here
from support.programs import ROOT
from support.testbed.client import Object
from support.testbed.waiting import wait_for

NAMESPACE: Final = "ms-operator-system"
DEPLOYMENT: Final = "ms-operator-controller-manager"
ACCOUNT: Final = f"system:serviceaccount:{NAMESPACE}:{DEPLOYMENT}"
"""The user that the operator is to the API server."""

CRDS: Final = "apiextensions.k8s.io/v1/customresourcedefinitions"
CRD: Final = "msjobs.mindspore.gitee.com"

CONTROLLER: Final = "app.kubernetes.io/component=controller"
"""The label of its pods."""

_SECONDS_TO_AVAILABLE: Final = 120.0


class Memory(NamedTuple):
    """What a container has, in MiB.

    Attributes:
        own: Memory that only its end gives back.
        working_set: With pages of files that were used more than once, which the kernel takes away at need.
    """

    own: float
    working_set: float

    def __str__(self) -> str:
        """Give it in words."""
        return f"{self.own:.0f} MiB (working set {self.working_set:.0f} MiB)"


class Installation:
    """The operator of `dist/`.

    Args:
        site: The cluster.
    """

    def __init__(self, site: Site) -> None:
        self._site = site

    @property
    def manifests(self) -> Path:
        """The folder that installs it; whoever asks for it on a cluster where it is somebody's own cannot have it."""
        if self._site.manifests is None:
            not_here("the operator was there before the tests, and is left alone")
        return self._site.manifests

    def apply(self) -> None:
        """Apply `dist/` as it is; on somebody else's cluster, with the image that was named."""
        self._site.kubectl.run("apply", "-f", self.manifests, timeout=120)

    def remove(self) -> None:
        """Remove all of it, as `make undeploy` does."""
        self._site.kubectl.run("delete", "--ignore-not-found", "-f", self.manifests, timeout=300)

    def wait_available(self, timeout: float = _SECONDS_TO_AVAILABLE) -> Object:
        """Wait until the Deployment is available, and give it."""
        return self._site.client.wait_until(
            "apps/v1/deployments", DEPLOYMENT, NAMESPACE, _available, timeout, what="the operator to be available"
        )

    def pods(self) -> list[Object]:
        """The operator's pods that are not being deleted."""
        found = self._site.client.pods(NAMESPACE, CONTROLLER)
        return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]

    def scale(self, replicas: int) -> None:
        """Ask for so many replicas of the operator; they need not be available yet."""
        if self._site.manifests is None:
            not_here("the operator was there before the tests, and is left alone")
        deployment = f"deployment/{DEPLOYMENT}"
        self._site.kubectl.run("scale", f"--namespace={NAMESPACE}", deployment, f"--replicas={replicas}")

    def stop(self) -> None:
        """Let there be no operator, and wait until its last pod is gone."""
        self.scale(0)
        wait_for(
            lambda: not self._site.client.pods(NAMESPACE, CONTROLLER), 60, what="the operator to be gone", interval=0.2
        )

    def leader(self) -> str:
        """Who leads: the name of a pod, and after `_` what tells one run of its program from the next; or empty."""
        lease = self._site.client.get("coordination.k8s.io/v1/leases", "ms-operator-leader", NAMESPACE)
        return str(lease["spec"].get("holderIdentity") or "")

    def memory(self) -> Memory:
        """The memory of the operator's container, as its kubelet says; of several, that of the one that has most."""
        return max(map(self._memory, self.pods()))

    def make(self, target: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a target of the Makefile against the cluster, as a user would."""
        kubectl = f"{self._site.kubectl.program} --kubeconfig={self._site.kubeconfig}"
        given = [f"{name}={value}" for name, value in {"KUBECTL": kubectl, **variables}.items()]
        return subprocess.run(
            ["make", "--no-print-directory", target, *given],  # noqa: S607 - make is where the system has it
            check=False,
            cwd=ROOT,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=300,
        )

    def _memory(self, pod: Object) -> Memory:
        # Asked for so, the kubelet measures anew and leaves file systems out.
        path = f"/api/v1/nodes/{pod['spec']['nodeName']}/proxy/stats/summary?only_cpu_and_memory=true"
        summary = json.loads(self._site.client.request("GET", path))
        uid = pod["metadata"]["uid"]
        (found,) = [item["containers"] for item in summary["pods"] if item["podRef"]["uid"] == uid]
        used = [container["memory"] for container in found]
        return Memory(*(sum(int(item[name]) for item in used) / 2**20 for name in ("rssBytes", "workingSetBytes")))


def _available(deployment: dict[str, Any]) -> bool:
    status = deployment.get("status", {})
    wanted = deployment["spec"]["replicas"]
    return bool(
        status.get("observedGeneration") == deployment["metadata"]["generation"]
        and status.get("updatedReplicas") == wanted
        and status.get("availableReplicas") == wanted
        and status.get("replicas") == wanted
    )


def image_of_dist(folder: Path = DIST) -> str:
    """The image that the Deployment in `dist/` names."""
    for line in (folder / "0003-operator.yaml").read_text().splitlines():
        if line.strip().startswith("image: "):
            return line.split(": ", 1)[1].strip()
    raise ValueError(f"{folder} names no image")
