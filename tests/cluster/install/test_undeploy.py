"""`make deploy` over a running operator, and `make undeploy`, which leaves nothing; both after all other tests."""

import json
from collections.abc import Iterator

import pytest

from support.cluster.installation import CRD, CRDS, DEPLOYMENT, NAMESPACE, Installation
from support.cluster.live import Live
from support.cluster.report import Row
from support.cluster.site import Site, not_here
from support.cluster.trainings import training
from support.testbed.waiting import wait_for

pytestmark = [pytest.mark.core, pytest.mark.last]

OTHER_NAME = "registry.example/ml/ms-operator:of-make-deploy"
OURS = ("mindspore", "ms-operator", "msjob")
"""What the names of all that is installed have, or its kinds."""

SOON = {"terminationGracePeriodSeconds": 1}
ENDLESS = ["python", "-c", "import time; time.sleep(3600)"]


@pytest.fixture
def restored(installation: Installation) -> Iterator[Installation]:
    """The operator, for a test that changes the installation: in the end it is there again as it was."""
    assert installation.manifests
    yield installation
    installation.apply()
    installation.wait_available()


@pytest.mark.row("install", "`make deploy IMG=…` over a running operator")
def test_deploy(site: Site, restored: Installation, row: Row) -> None:
    """An image of another name takes the place of the one that runs, and the operator is available again."""
    if site.cluster is None:
        not_here("it takes a second name of the operator's image, which is given to it on the node")
    containerd = site.cluster.node.containerd
    (before,) = restored.pods()
    containerd.tag(site.image("operator"), OTHER_NAME)
    try:
        done = restored.make("deploy", IMG=OTHER_NAME)

        assert done.returncode == 0, done.stderr
        assert f"deployment.apps/{DEPLOYMENT} configured" in done.stdout
        assert f"{CRD} unchanged" in done.stdout
        restored.wait_available()
    finally:
        containerd.remove_image(OTHER_NAME)
    (after,) = restored.pods()
    assert [container["image"] for container in after["spec"]["containers"]] == [OTHER_NAME]
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    row.tell("the pod of the new image is available, the old one is gone; the CRD is unchanged")


@pytest.mark.row("install", "`make undeploy`, with a job that runs; `kubectl apply -f dist/` again")
def test_undeploy(site: Site, restored: Installation, live: Live, row: Row) -> None:
    """Nothing of it is left, nor of its jobs, in whatever kind the cluster knows; and it can be installed again."""
    run(live, "train")
    kinds = listable(site)
    before = remains(site, kinds, live.namespace)

    done = restored.make("undeploy")

    assert done.returncode == 0, done.stderr
    wait_for(lambda: not remains(site, kinds, live.namespace), 90, what="all to go", interval=1)
    assert not site.client.exists("v1/namespaces", NAMESPACE)
    assert not site.client.exists(CRDS, CRD)
    # What is gone had been seen: the search does not overlook it.
    kinds_before = {name.partition("/")[0].partition(".")[0] for name in before}
    assert kinds_before >= {
        *("customresourcedefinition", "namespace", "clusterrole", "clusterrolebinding", "role", "rolebinding"),
        *("serviceaccount", "deployment", "service", "lease", "msjob", "pod", "horizontalpodautoscaler"),
    }
    row.tell(f"{len(before)} objects of {len(kinds_before)} kinds are gone")

    restored.apply()
    restored.wait_available()
    run(live, "again")
    row.tell("installed again, it runs a job")


def run(live: Live, name: str) -> None:
    """Apply a job that has all kinds of children and does not end, and wait until it runs."""
    job = training(
        live.site.image("training"),
        name,
        command=ENDLESS,
        pod=SOON,
        scheduler_pod=SOON,
        elastic_policy={"maxReplicas": 3},
    )
    live.apply(job)
    live.wait_condition("Running", name)


def listable(site: Site) -> str:
    """All kinds that the cluster can list, as kubectl takes them; but events, which go when their time has come."""
    named = site.kubectl.run("api-resources", "--verbs=list", "--output=name").split()
    return ",".join(name for name in named if name.partition(".")[0] != "events")


def remains(site: Site, kinds: str, namespace: str) -> list[str]:
    """What there is of the operator in the whole cluster, and of its jobs in the namespace, as `kind/name`."""
    # A kind that has gone meanwhile is an error of kubectl's for the whole: it is left out.
    known = set(listable(site).split(","))
    asked = ",".join(kind for kind in kinds.split(",") if kind in known)
    done = site.kubectl.completed("get", asked, "--all-namespaces", "--ignore-not-found", "--output=json", timeout=60)
    if done.returncode:
        return [done.stderr]
    found = []
    for item in json.loads(done.stdout)["items"]:
        metadata = item["metadata"]
        group = item["apiVersion"].rpartition("/")[0]
        name = f"{item['kind'].lower()}{'.' if group else ''}{group}/{metadata['name']}"
        child = metadata.get("namespace") == namespace and any(
            owner["kind"] in ("MSJob", "Service") for owner in metadata.get("ownerReferences") or []
        )
        if any(ours in name for ours in OURS) or metadata.get("namespace") == NAMESPACE or child:
            found.append(name)
    return found
