"""The node: kubelet, kube-proxy and CoreDNS beside containerd."""

import contextlib
import json
import subprocess
from pathlib import Path
from typing import Any, Final

from support.cluster.containerd import Containerd
from support.cluster.places import ADDRESS, BRIDGE, DOMAIN, NODE, POD_RANGE, control_group
from support.testbed.binaries import NodePrograms
from support.testbed.controlplane import ControlPlane
from support.testbed.errors import HarnessError
from support.testbed.flags import SERVICE_RANGE
from support.testbed.processes import Program

KUBELET: Final = f"system:node:{NODE}"
KUBE_PROXY: Final = "system:kube-proxy"
COREDNS: Final = "system:coredns"
POLICIES: Final = "system:kube-network-policies"

_SECONDS_TO_READY: Final = 60.0


class Node:
    """The node of a cluster.

    Args:
        control_plane: A control plane that runs, with the users above.
        programs: What a node runs.
        containerd: Its containerd, not started.
    """

    def __init__(self, control_plane: ControlPlane, programs: NodePrograms, containerd: Containerd) -> None:
        self._control_plane = control_plane
        self._found = programs
        self.containerd = containerd
        self._folder = control_plane.folder / "node"
        self._running = dict[str, Program]()

    @property
    def pod_logs(self) -> Path:
        """The folder of what containers print."""
        return self._control_plane.logs / "pods"

    def start(self) -> None:
        """Start all of it and wait until pods can run.

        Raises:
            HarnessError: A program ends, or the node does not get ready.
        """
        self.containerd.prepare()
        self._write_files()
        self.start_kubelet()
        self._start("kube-proxy", [self._found.kube_proxy, f"--config={self._folder / 'kube-proxy.json'}"])
        self._start("coredns", [self._found.coredns, "-conf", self._folder / "Corefile"])
        self.wait_ready()

    def start_kubelet(self) -> None:
        """Start the kubelet; the node need not be ready yet."""
        self._start(
            "kubelet",
            [
                self._found.kubelet,
                f"--config={self._folder / 'kubelet.json'}",
                f"--kubeconfig={self._control_plane.kubeconfig_of(KUBELET)}",
                f"--hostname-override={NODE}",
                f"--node-ip={ADDRESS}",
                f"--root-dir={self._folder / 'kubelet'}",
                f"--cert-dir={self._folder / 'pki'}",
            ],
        )

    def stop_kubelet(self, *, kill: bool = True) -> None:
        """Stop the kubelet; containers go on."""
        self._running["kubelet"].stop(kill=kill)

    def lose(self) -> None:
        """Let the node go for good, with all that runs on it, as a machine that loses its power."""
        self.stop_kubelet()
        self.containerd.remove_containers()

    def wait_ready(self) -> None:
        """Wait until the node is ready.

        Raises:
            HarnessError: The kubelet ended.
            WaitTimeoutError: It is not ready in time.
        """
        self._control_plane.admin.wait_until("v1/nodes", NODE, None, self._ready, timeout=_SECONDS_TO_READY)

    def close(self) -> None:
        """End all of it, and take its mounts away."""
        for program in reversed(self._running.values()):
            program.stop(kill=True)
        self.containerd.close()
        mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
        for point in sorted((point for point in mounts if point.startswith(f"{self._folder}/")), reverse=True):
            with contextlib.suppress(HarnessError):
                run("umount", "--lazy", point)

    # -- within ----------------------------------------------------------------------------------------------------

    def _ready(self, node: dict[str, Any]) -> bool:
        self._running["kubelet"].check()
        conditions = node.get("status", {}).get("conditions") or []
        tainted = {taint["key"] for taint in node["spec"].get("taints") or []}
        return not any(key.startswith("node.kubernetes.io/not-ready") for key in tainted) and any(
            condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions
        )

    def _start(self, name: str, command: list[str | Path]) -> None:
        self._running[name] = self._control_plane.programs.start(name, command)

    def _write_files(self) -> None:
        self.pod_logs.mkdir(exist_ok=True)
        (self._folder / "kubelet.json").write_text(json.dumps(self._kubelet_configuration(), indent=1))
        proxy = {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": "iptables",
            "clientConnection": {"kubeconfig": str(self._control_plane.kubeconfig_of(KUBE_PROXY))},
            "hostnameOverride": NODE,
            "clusterCIDR": POD_RANGE,
            # Limits of the machine: in a network namespace they cannot be set.
            "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
        }
        (self._folder / "kube-proxy.json").write_text(json.dumps(proxy, indent=1))
        kubeconfig = self._control_plane.kubeconfig_of(COREDNS)
        (self._folder / "Corefile").write_text(
            f".:53 {{\n  bind {ADDRESS}\n  errors\n  kubernetes {DOMAIN} {SERVICE_RANGE} {{\n"
            f"    kubeconfig {kubeconfig} testbed\n  }}\n}}\n"
        )

    def _kubelet_configuration(self) -> dict[str, Any]:
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "containerRuntimeEndpoint": f"unix://{self.containerd.socket}",
            "failCgroupV1": False,  # since 1.35 it is True
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": f"/{control_group()}",
            "cgroupsPerQOS": False,
            "enforceNodeAllocatable": [],
            "failSwapOn": False,
            "localStorageCapacityIsolation": False,
            "imageGCHighThresholdPercent": 100,
            "imageGCLowThresholdPercent": 99,
            "evictionHard": {
                "memory.available": "100Mi",
                "nodefs.available": "1%",
                "imagefs.available": "1%",
                "nodefs.inodesFree": "1%",
            },
            "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
            "authorization": {"mode": "AlwaysAllow"},
            "address": ADDRESS,
            "clusterDNS": [ADDRESS],
            "clusterDomain": DOMAIN,
            "resolvConf": "",
            "podLogsDir": str(self.pod_logs),
            "volumePluginDir": str(self._folder / "volume-plugins"),
            # Lost is told by when it renewed last: often, so that tests need not wait long.
            "nodeLeaseDurationSeconds": 8,
            "nodeStatusUpdateFrequency": "2s",
            "shutdownGracePeriod": "0s",
        }


def make_network() -> None:
    """Give this network namespace what a node has: a bridge with its address.

    Raises:
        HarnessError: It cannot be made.
    """
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", BRIDGE, "type", "bridge")
    run("ip", "address", "add", f"{ADDRESS}/16", "dev", BRIDGE)
    run("ip", "link", "set", BRIDGE, "up")
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")


def run(*command: str | Path) -> None:
    """Run a command.

    Raises:
        HarnessError: It failed.
    """
    done = subprocess.run(command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise HarnessError(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()}")
