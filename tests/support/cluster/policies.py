"""NetworkPolicies that the node enforces: its network alone, a bridge, lets everything pass."""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from support.cluster.cluster import Cluster
from support.cluster.node import POLICIES, run
from support.cluster.places import NODE
from support.testbed.binaries import build_policies
from support.testbed.progress import Progress
from support.testbed.waiting import wait_for

_QUEUE: Final = "100"
_CHAIN: Final = "POD-POLICIES"
_SECONDS_TO_START: Final = 30.0


_EVALUATED: Final = re.compile(r'"Evaluating packet" srcPod="([^"]*)" dstPod="([^"]*)"')
_DROPPED: Final = re.compile(r'"Finished syncing packet" .*verdict="drop"')


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What was decided on connections.

    Attributes:
        log: What kube-network-policies printed.
    """

    log: Path

    def dropped(self) -> set[tuple[str, str]]:
        """From where to where nothing passed: namespace and name of two pods, `none` for what is no pod."""
        found = set()
        between = ("none", "none")
        for line in self.log.read_text(errors="replace").splitlines():  # one packet comes after the other
            if match := _EVALUATED.search(line):
                between = (match[1], match[2])
            elif _DROPPED.search(line):
                found.add(between)
        return found


@contextlib.contextmanager
def enforced(cluster: Cluster, progress: Progress) -> Iterator[Verdicts]:
    """Enforce NetworkPolicies among the pods of the node: kube-network-policies decides on each new connection.

    That program would fill its queue by nftables, for which kernels need CONFIG_NFT_QUEUE; a rule of iptables, as
    kube-proxy has them, does the same. What comes from the node itself passes, as it must.

    Args:
        cluster: The cluster.
        progress: Is told when the program has to be built.

    Raises:
        HarnessError: It cannot be built or started, or the kernel has no such queues.
    """
    programs = cluster.control_plane.programs
    kubeconfig = cluster.control_plane.kubeconfig_of(POLICIES)
    command: list[str | Path] = [build_policies(progress), f"--kubeconfig={kubeconfig}", f"--nfqueue-id={_QUEUE}"]
    program = programs.start("kube-network-policies", [*command, f"--hostname-override={NODE}", "--v=2"])

    def listens() -> bool:
        program.check()
        # Of this process's network namespace; a line for each queue that somebody reads, the number first.
        queues = Path("/proc/self/net/netfilter/nfnetlink_queue").read_text().splitlines()
        return _QUEUE in (line.split()[0] for line in queues)

    try:
        wait_for(listens, _SECONDS_TO_START, what="kube-network-policies to read its queue")
        run("iptables", "-N", _CHAIN)
        run("iptables", "-A", _CHAIN, "-m", "conntrack", "--ctstate", "ESTABLISHED,RELATED", "-j", "RETURN")
        run("iptables", "-A", _CHAIN, "-j", "NFQUEUE", "--queue-num", _QUEUE)
        run("iptables", "-I", "FORWARD", "-j", _CHAIN)
        try:
            yield Verdicts(program.log)
        finally:
            run("iptables", "-D", "FORWARD", "-j", _CHAIN)
            run("iptables", "-F", _CHAIN)
            run("iptables", "-X", _CHAIN)
    finally:
        program.stop()
