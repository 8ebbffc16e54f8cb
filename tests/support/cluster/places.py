"""Names, addresses and folders of the cluster."""

import os
from pathlib import Path
from typing import Final

from support.testbed.builder import cache_root

NODE: Final = "node-1"
ADDRESS: Final = "10.88.0.1"
"""Of the node, on the bridge of the pods. All that pods ask listens here."""
POD_RANGE: Final = "10.88.0.0/16"
DOMAIN: Final = "cluster.local"
BRIDGE: Final = "cni0"

PAUSE: Final = "localhost/pause:1"
"""The image of the container that holds the namespaces of a pod."""

INSIDE: Final = "MSJOB_CLUSTER_WORK"
"""Set by ``tools/cluster.sh`` in the namespaces that it makes: a folder that it removes in the end."""


def control_group() -> str:
    """The name of the control group of all containers, in each hierarchy; ``tools/cluster.sh`` removes it."""
    return Path(os.environ[INSIDE]).name


def images_folder() -> Path:
    """The folder that keeps images which are not in a node yet."""
    return cache_root() / "cluster" / "images"


def store_folder() -> Path:
    """The folder that keeps the images of the node; ``MSJOB_CLUSTER_STORE`` names another one.

    Only one cluster at a time can use it.
    """
    own = os.environ.get("MSJOB_CLUSTER_STORE")
    return Path(own).absolute() if own else usual_store()


def usual_store() -> Path:
    """That folder where nothing else is said."""
    return cache_root() / "cluster" / "containerd"
