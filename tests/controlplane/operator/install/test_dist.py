"""``dist/`` in a cluster of its own: applied in each way, again, compared, and removed."""

from collections.abc import Iterator

import pytest

from support.programs import ROOT
from support.testbed.client import Client
from support.testbed.controlplane import ControlPlane
from support.testbed.kubectl import Kubectl

DIST = ROOT / "dist"
NAMESPACE = "ms-operator-system"
DEPLOYMENT = "ms-operator-controller-manager"


@pytest.fixture(scope="module")
def fresh() -> Iterator[ControlPlane]:
    """A control plane in which nothing of the operator is."""
    with ControlPlane() as control_plane:
        yield control_plane


@pytest.mark.parametrize("way", [[], ["--server-side"]], ids=["plain", "server-side"])
def test_apply_and_delete(fresh: ControlPlane, way: list[str]) -> None:
    """It applies without a warning; applied again nothing changes; no drift is seen; and it goes without a rest.

    The pod that the real Deployment controller makes is one that the namespace's enforced Pod Security lets in.
    """
    kubectl, admin = fresh.kubectl(), fresh.admin
    first = kubectl.completed("apply", *way, "-f", DIST)
    assert (first.returncode, first.stderr) == (0, "")
    before = versions(kubectl)

    second = kubectl.completed("apply", *way, "-f", DIST)
    assert (second.returncode, second.stderr) == (0, "")
    assert versions(kubectl) == before
    diff = kubectl.completed("diff", *way, "-f", DIST)
    assert (diff.returncode, diff.stdout, diff.stderr) == (0, "", "")

    check_deployment(admin)
    kubectl.run("wait", "--for=condition=Established", "crd/msjobs.mindspore.gitee.com")
    sample = ROOT / "samples" / "ms_wide_deep_standalone.yaml"
    assert "created" in kubectl.run("apply", "--dry-run=server", "-f", sample)

    kubectl.run("delete", "-f", DIST, timeout=60)
    left = kubectl.run("get", "crd,ns,clusterrole,clusterrolebinding", "-o", "name")
    assert [line for line in left.splitlines() if "ms-operator" in line or "mindspore" in line] == []


def versions(kubectl: Kubectl) -> dict[str, str]:
    """Generation of each object of ``dist/``, which changes when its spec does, and its resource version."""
    found = kubectl.json("get", "-f", DIST)["items"]
    # A Deployment, a namespace and a CRD also have a status, which controllers write when they like.
    changing = ("Deployment", "Namespace", "CustomResourceDefinition")
    return {
        f"{item['kind']} {item['metadata']['name']}": item["metadata"][
            "generation" if item["kind"] in changing and "generation" in item["metadata"] else "resourceVersion"
        ]
        for item in found
        if item["kind"] != "Namespace"
    }


def check_deployment(admin: Client) -> None:
    """Check that the Deployment has its pod: nothing in it is refused."""

    def pods() -> list[str]:
        found = admin.pods(NAMESPACE)
        return [pod["spec"]["serviceAccountName"] for pod in found if pod["metadata"]["name"].startswith(DEPLOYMENT)]

    assert admin.wait_for(pods, 20, what="the pod of the Deployment") == [DEPLOYMENT]
    deployment = admin.get("apps/v1/deployments", DEPLOYMENT, NAMESPACE)
    failures = [item for item in deployment["status"].get("conditions", []) if item["type"] == "ReplicaFailure"]
    assert failures == []
