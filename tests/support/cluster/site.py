"""The cluster that tests run on, whoever's it is: how it is asked, and what images it has."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

import pytest

from support.cluster import images
from support.cluster.cluster import Cluster
from support.programs import ROOT
from support.testbed.client import Client
from support.testbed.kubectl import Kubectl

NOT_HERE: Final = "not possible here"
"""The outcome of a row that somebody else's cluster does not let the tests try."""

DIST: Final = ROOT / "dist"


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
        manifests: The folder that installs the operator; None where it is somebody else's, and is left alone.
    """

    client: Client
    kubectl: Kubectl
    images: dict[str, str]
    cluster: Cluster | None = None
    manifests: Path | None = DIST

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig of the administrator."""
        return self.kubectl.kubeconfig

    def image(self, name: str) -> str:
        """The name of an image. On the tests' own cluster the node takes it in now, if it is none of the core's.

        A row that needs one which somebody else's cluster has not is not possible there.
        """
        if name not in self.images:
            if self.cluster is None:
                not_here(f"no image was given for {name}")
            found = images.wanted([name])[name]
            self.cluster.load([found])
            self.images[name] = found.ref
        return self.images[name]


def not_here(why: str) -> NoReturn:
    """End a test whose row is not possible on this cluster, which the report tells; never on the tests' own."""
    pytest.skip(f"{NOT_HERE}: {why}")
