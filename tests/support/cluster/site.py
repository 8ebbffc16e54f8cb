"""The cluster that tests run on, whoever's it is: how it is asked, and what images it has."""

from dataclasses import dataclass
from pathlib import Path

from support.cluster.cluster import Cluster
from support.testbed.client import Client
from support.testbed.kubectl import Kubectl


@dataclass(frozen=True, slots=True)
class Site:
    """A cluster.

    Attributes:
        client: A client of an administrator.
        kubectl: kubectl of the same one.
        images: Names of images that nodes have or can pull: `operator`, `training`, and `training-ps` where there is
            one.
        cluster: The cluster, where it is the tests' own, so that its parts can be stopped and its processes killed;
            None for somebody else's.
    """

    client: Client
    kubectl: Kubectl
    images: dict[str, str]
    cluster: Cluster | None = None

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig of the administrator."""
        return self.kubectl.kubeconfig
