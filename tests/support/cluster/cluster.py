"""The cluster: a control plane, kube-scheduler and a node."""

import json
import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from support.cluster.containerd import Containerd
from support.cluster.images import Image
from support.cluster.node import COREDNS, KUBE_PROXY, KUBELET, POLICIES, Node, make_network
from support.cluster.places import ADDRESS, INSIDE, control_group, store_folder
from support.cluster.witnesses import ask, last
from support.testbed.binaries import find_node_programs
from support.testbed.client import Object
from support.testbed.controlplane import ControlPlane
from support.testbed.errors import HarnessError
from support.testbed.progress import Progress, to_stderr

SCHEDULER: Final = "system:kube-scheduler"

_CONTROLLER_MANAGER: Final = ("--node-monitor-grace-period=12s",)
"""Of a cluster that is to see soon that a node is lost: the kubelet renews its lease every 2 s."""

_AGAIN: Final = 'while :; do "$@"; sleep 1; done'
"""kube-scheduler ends when it has missed that a pod was replaced by one of its name, as while the API server is away
("Scheduler cache is corrupted"). Elsewhere the kubelet of the control plane starts it again."""

_API_SERVER: Final = (
    "--kubelet-preferred-address-types=InternalIP",  # its name is known to nobody
    "--default-not-ready-toleration-seconds=10",
    "--default-unreachable-toleration-seconds=10",
)
"""Pods are told to leave a lost node after 10 s, and not after 5 min."""


class Cluster:
    """A cluster of one node, in namespaces that ``tools/cluster.sh`` has made.

    Args:
        audit: Write an audit log.
        progress: Is told what takes long.

    Attributes:
        control_plane: Its control plane, which can be stopped and started.
        node: Its node, likewise.
    """

    control_plane: ControlPlane
    node: Node

    def __init__(self, *, audit: bool = False, progress: Progress = to_stderr) -> None:
        if INSIDE not in os.environ:
            raise HarnessError("a cluster needs namespaces of its own.\nWhat to do: run this with tools/cluster.sh.")
        self._audit = audit
        self._progress = progress

    def start(self) -> Self:
        """Start it and wait until pods can run.

        Raises:
            HarnessError: A program is missing, ends, or is not ready in time.
        """
        start = time.monotonic()
        binaries, programs = find_node_programs(self._progress)
        make_network()
        make_control_group()
        self.control_plane = ControlPlane(
            binaries=binaries,
            audit=self._audit,
            address=ADDRESS,
            users=(SCHEDULER, KUBELET, KUBE_PROXY, COREDNS, POLICIES),
            apiserver_flags=_API_SERVER,
            controller_manager_flags=_CONTROLLER_MANAGER,
        )
        self.control_plane.start()
        config = self.control_plane.folder / "scheduler.json"
        config.write_text(_scheduler_configuration(self.control_plane.kubeconfig_of(SCHEDULER)))
        scheduler: list[str | Path] = [programs.kube_scheduler, f"--config={config}", "--secure-port=0"]
        self.control_plane.programs.start("kube-scheduler", ["sh", "-c", _AGAIN, "sh", *scheduler])
        containerd = Containerd(self.control_plane.programs, store_folder())
        self.node = Node(self.control_plane, programs, containerd)
        self.node.start()
        self._progress(f"the cluster is ready after {time.monotonic() - start:.0f} s")
        return self

    def stop(self) -> None:
        """End all of it."""
        if hasattr(self, "node"):
            self.node.close()
        if hasattr(self, "control_plane"):
            self.control_plane.stop()

    def keep_logs(self, folder: Path) -> Path:
        """Copy what every component and container printed to a folder that stays."""
        shutil.rmtree(folder, ignore_errors=True)
        return self.control_plane.keep_logs(folder)

    def witnesses(self) -> list[tuple[str, str]]:
        """What helps to see why a test failed, by title: jobs, pods, and the last that the operator said."""
        logs = sorted(
            self.node.pod_logs.glob("ms-operator-system_*/manager/*.log"), key=lambda log: log.stat().st_mtime
        )
        said = [(f"the operator, {log.parent.parent.name}", last(log.read_text())) for log in logs[-2:]]
        return ask(self.control_plane.kubectl()) + said

    def volume(self, name: str, claim: str) -> Object:
        """A volume of the node for a claim, in a namespace of the volume's name; it goes with the cluster.

        Args:
            name: Of the volume and of the namespace.
            claim: The claim that alone may have it.
        """
        folder = self.volume_folder(name)
        folder.mkdir(parents=True)
        # The user of an image may write to it: fsGroup does nothing to such a volume.
        folder.chmod(0o777)
        return {
            "metadata": {"name": name},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce", "ReadWriteMany"],
                "storageClassName": "",
                "claimRef": {"namespace": name, "name": claim},
                "hostPath": {"path": str(folder)},
            },
        }

    def volume_folder(self, name: str) -> Path:
        """The folder of a volume on the node."""
        return self.control_plane.folder / "volumes" / name

    def load(self, images: Iterable[Image]) -> None:
        """Load images that the node does not have yet; what it has of other contents of theirs, it forgets.

        Args:
            images: Those that have been built.

        Raises:
            HarnessError: One is neither in the node nor in the cache.
        """
        containerd = self.node.containerd
        for image in images:
            there = containerd.images()
            if not image.imported or image.ref not in there:
                if not image.archive.exists():
                    raise HarnessError(f"there is no image {image.ref}.\nWhat to do: make cluster-images")
                start = time.monotonic()
                self._progress(f"loading {image.ref}: {image.archive.stat().st_size / 1e6:.0f} MB")
                containerd.load(image.archive)
                self._progress(f"loaded it in {time.monotonic() - start:.0f} s")
            image.taken()
            repository = image.ref.rpartition(":")[0]
            for old in there - {image.ref}:
                if old.rpartition(":")[0] == repository:
                    containerd.remove_image(old)

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def make_control_group() -> None:
    """Make the control group of all containers, in each hierarchy there is."""
    root = Path("/sys/fs/cgroup")
    hierarchies = (
        [root] if (root / "cgroup.controllers").exists() else [item for item in root.iterdir() if item.is_dir()]
    )
    for hierarchy in hierarchies:
        (hierarchy / control_group()).mkdir(exist_ok=True)


def _scheduler_configuration(kubeconfig: Path) -> str:
    return json.dumps(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(kubeconfig)},
            "leaderElection": {"leaderElect": False},
        }
    )
