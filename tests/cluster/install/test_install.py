"""The operator as a user installs it: an image by `make docker-build`, and `kubectl apply -f dist/`."""

import pytest

from support.cluster.installation import DEPLOYMENT, NAMESPACE, Installation
from support.cluster.report import Row
from support.cluster.site import Site

pytestmark = pytest.mark.core


@pytest.mark.row("install", "`kubectl apply -f dist/`")
def test_dist(site: Site, installation: Installation, row: Row) -> None:
    """The Deployment is available in its namespace, which enforces the Restricted profile."""
    labels = site.client.get("v1/namespaces", NAMESPACE)["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    (pod,) = installation.pods()
    status = pod["status"]["containerStatuses"][0]
    assert status["ready"]
    assert status["restartCount"] == 0
    row.tell(f"{DEPLOYMENT} is available")
