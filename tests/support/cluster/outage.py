"""What of a cluster a test stops, and how all of it comes back, whatever happens meanwhile."""

import contextlib
from typing import Final

from support.cluster.cluster import Cluster
from support.cluster.installation import Installation
from support.cluster.places import NODE
from support.testbed.errors import UnreachableError
from support.testbed.waiting import wait_for

_NODES: Final = "v1/nodes"


class Outage:
    """Parts of the tests' own cluster that are away for a while.

    Args:
        cluster: The cluster.
        installation: The operator in it.
    """

    def __init__(self, cluster: Cluster, installation: Installation) -> None:
        self._cluster = cluster
        self._installation = installation
        self._apiserver = self._kubelet = self._containerd = True
        self._heard_nothing = False

    # -- the API server --------------------------------------------------------------------------------------------

    def stop_apiserver(self, *, kill: bool = False) -> None:
        """Stop the API server, as for an upgrade of a control plane that has but one; it takes its time (15 s).

        Args:
            kill: Let it crash, which is done at once.
        """
        self._apiserver, self._heard_nothing = False, True
        self._cluster.control_plane.stop_apiserver(kill=kill)

    def start_apiserver(self) -> None:
        """Start it again, at the address that it had, and wait until it is ready."""
        self._cluster.control_plane.start_apiserver()
        self._apiserver = True

    # -- the node --------------------------------------------------------------------------------------------------

    def stop_node(self) -> None:
        """Stop kubelet and containerd; containers go on."""
        self._kubelet = self._containerd = False
        self._cluster.node.stop_kubelet()
        self._cluster.node.containerd.stop()

    def lose_node(self) -> None:
        """Let the node go with all that runs on it, as a machine that loses its power."""
        self._kubelet = self._containerd = False
        self._cluster.node.lose()
        # It keeps in mind what it has been told to run.
        self._cluster.node.containerd.stop()

    def start_node(self) -> None:
        """Start containerd and kubelet again; the node need not be ready yet."""
        if not self._containerd:
            self._cluster.node.containerd.start()
            self._containerd = True
        if not self._kubelet:
            self._cluster.node.start_kubelet()
            self._kubelet = True

    def wait_not_ready(self, timeout: float = 60) -> None:
        """Wait until the cluster has noticed that the node does not answer any more."""
        wait_for(lambda: self._ready() != "True", timeout, what=f"{NODE} not to be ready", interval=0.2)

    # -- afterwards ------------------------------------------------------------------------------------------------

    def mend(self) -> None:
        """Bring back all of it: API server, node, and one replica of the operator that is available."""
        if not self._apiserver:
            self.start_apiserver()
        if self._heard_nothing:
            # By itself it may take half a minute to notice, and until then no new namespace can be used.
            self._cluster.control_plane.restart_controller_manager()
        self.start_node()
        self._cluster.node.wait_ready()
        kubectl = self._cluster.control_plane.kubectl()
        kubectl.run("uncordon", NODE)
        self._installation.scale(1)
        self._installation.wait_available(180)

    def _ready(self) -> str:
        with contextlib.suppress(UnreachableError):
            node = self._cluster.control_plane.admin.get(_NODES, NODE)
            for condition in node["status"].get("conditions") or []:
                if condition["type"] == "Ready":
                    return str(condition["status"])
        return "True"
