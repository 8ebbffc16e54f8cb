"""The operator as a user installs it: an image by `make docker-build`, and `kubectl apply -f dist/`."""

import functools
from typing import Any

import pytest

from support.cluster.installation import CRD, CRDS, DEPLOYMENT, NAMESPACE, Installation
from support.cluster.report import Row
from support.cluster.site import Site
from support.testbed.waiting import wait_for

pytestmark = pytest.mark.core

OWN = ("spec", "status")
"""Of the fields at the top; Kubernetes has words of its own for what is in every object."""

EXPLAINED = ("", "spec", "spec.runPolicy", "spec.msReplicaSpecs", "status", "status.lastFailure")


@pytest.mark.row("install", "`kubectl apply -f dist/`")
def test_dist(site: Site, installation: Installation, row: Row) -> None:
    """The Deployment is available in its namespace, which enforces the Restricted profile, by pods that run."""
    labels = site.client.get("v1/namespaces", NAMESPACE)["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    pods = installation.pods()
    assert pods
    for pod in pods:
        (status,) = pod["status"]["containerStatuses"]
        assert status["ready"]
        assert status["restartCount"] == 0 or site.manifests is None  # somebody's own may have been there for long
        assert pod["spec"]["serviceAccountName"] == DEPLOYMENT
    row.tell(f"the Deployment is available in {NAMESPACE}, which is Restricted")


@pytest.mark.usefixtures("installation")
@pytest.mark.row("install", "`kubectl explain msjob.spec.runPolicy`")
def test_explain(site: Site, row: Row) -> None:
    """For each field kubectl shows its description, and those of all fields in it."""
    version = site.client.get(CRDS, CRD)["spec"]["versions"][0]
    count = 0
    for path in EXPLAINED:
        schema: dict[str, Any] = version["schema"]["openAPIV3Schema"]
        for name in filter(None, path.split(".")):
            schema = schema["properties"][name]
        fields: dict[str, Any] = schema.get("properties", {})
        wanted = [schema["description"], *(item["description"] for key, item in fields.items() if path or key in OWN)]
        said = wait_for(functools.partial(explained, site, path), 20, what=f"kubectl to explain {path}")
        assert [text for text in map(one_line, wanted) if text not in said] == []
        count += len(wanted)
    row.tell(f"{count} descriptions")


def explained(site: Site, path: str) -> str:
    """What kubectl says of a field, in one line; empty as long as it does not know the kind."""
    return one_line(site.kubectl.completed("explain", f"msjob.{path}".rstrip(".")).stdout)


def one_line(text: str) -> str:
    """A text as if it had not been wrapped."""
    return " ".join(text.split())
