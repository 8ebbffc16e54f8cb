"""What rows have in common that stop a part of the cluster."""

from collections.abc import Iterator

import pytest

from support.cluster.cluster import Cluster
from support.cluster.installation import Installation
from support.cluster.live import Live
from support.cluster.neighbour import Neighbour
from support.cluster.outage import Outage


@pytest.fixture
def outage(cluster: Cluster, installation: Installation, live: Live) -> Iterator[Outage]:
    """Parts of the cluster that can be stopped; after the test all of it runs again, before the namespace goes."""
    assert live.namespace
    found = Outage(cluster, installation)
    try:
        yield found
    finally:
        found.mend()


@pytest.fixture
def neighbour(outage: Outage, cluster: Cluster) -> Iterator[Neighbour]:
    """Another node that is well, so that the cluster gives up the one that is not; it goes before all is mended."""
    assert outage is not None
    with Neighbour(cluster.control_plane.admin) as found:
        yield found
