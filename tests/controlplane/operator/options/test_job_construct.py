"""``--job-construct``: a site's own construct in live objects and in ``msjob render`` alike."""

import json
import secrets
from collections.abc import Callable
from pathlib import Path

import pytest

from msjob_controller.operator import RETRIES_TO_WARN
from support.jobs import Json
from support.live_jobs import Jobs
from support.live_render import check_same, live, rendered
from support.operator import NAMESPACE, Operators
from support.programs import ROOT
from support.site_constructs import BROKEN
from support.testbed.client import Client
from support.testbed.controlplane import ControlPlane
from support.testbed.waiting import wait_for

SITE = "support.site_constructs:SiteWorkload"
MOODY = "support.site_constructs:MoodyWorkload"
PATH = {"PYTHONPATH": str(ROOT / "tests")}


@pytest.fixture
def make_account(admin: Client, operators: Operators) -> Callable[..., str]:  # noqa: ARG001 - dist/ is installed by it
    """Makes a ServiceAccount that has the operator's rights and more; the operator's own keeps what it has."""
    rbac = "rbac.authorization.k8s.io"

    def make(rules: list[Json]) -> str:
        name = f"site-{secrets.token_hex(3)}"
        admin.create("v1/serviceaccounts", {"metadata": {"name": name}}, NAMESPACE)
        admin.create(f"{rbac}/v1/clusterroles", {"metadata": {"name": name}, "rules": rules})
        for role in ("ms-operator-manager-role", name):
            binding = {
                "metadata": {"name": f"{name}-{role}"},
                "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": role},
                "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}],
            }
            admin.create(f"{rbac}/v1/clusterrolebindings", binding)
        return name

    return make


def test_site_construct(
    own_operators: Operators, make_account: Callable[..., str], jobs: Jobs, tmp_path: Path, control_plane: ControlPlane
) -> None:
    """Its labels, sidecar, toleration and ConfigMap are in the cluster, as ``msjob render`` prints them for it."""
    account = make_account([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}])
    own_operators.start("--job-construct", SITE, "--namespace", jobs.namespace, env=PATH, account=account)
    job = jobs.create(worker=2)
    pods = jobs.wait_pods(3)

    file = tmp_path / "job.json"
    kept = {key: job[key] for key in ("apiVersion", "kind", "spec")}
    file.write_text(json.dumps({**kept, "metadata": {"name": "train", "namespace": jobs.namespace}}))
    elsewhere = control_plane.create_namespace(f"{jobs.namespace}-b")
    check_same(jobs, "train", rendered(file, jobs, "train", "--job-construct", SITE, env=PATH), elsewhere)
    address = jobs.client.get("v1/services", "train-scheduler-0", jobs.namespace)["spec"]["clusterIP"]
    for pod in pods.values():
        assert pod["metadata"]["labels"]["example.com/site"] == "west"
        assert [container["name"] for container in pod["spec"]["containers"]] == ["mindspore", "site-logs"]
    assert live(jobs, "train")["ConfigMap train-site"]["data"] == {"scheduler": address}

    jobs.run(3)
    jobs.finish("worker-0", sidecars="run")
    jobs.wait_state("Succeeded")
    jobs.delete()
    jobs.client.wait_gone("v1/configmaps", "train-site", jobs.namespace, 20)
    jobs.client.delete("v1/namespaces", elsewhere)


def test_right_that_the_site_forgot(own_operators: Operators, make_account: Callable[..., str], jobs: Jobs) -> None:
    """Without the right to make its ConfigMap the job says what is missing and has no pods; the log comes to warn."""
    account = make_account([])
    operator = own_operators.start("--job-construct", SITE, "--namespace", jobs.namespace, env=PATH, account=account)
    jobs.create()

    event = jobs.wait_event("FailedCreatePod")
    assert 'cannot create resource "configmaps"' in event["message"]
    assert "train-site" in event["message"]
    stalled = jobs.wait_stalled()
    assert stalled["reason"] == "Forbidden"
    assert "configmaps" in stalled["message"]
    assert jobs.pods() == {}
    wait_for(lambda: len(operator.log("job.retry")) > RETRIES_TO_WARN, 20, what="some retries")
    levels = [entry["level"] for entry in operator.log("job.retry")]
    assert levels == ["info"] * (RETRIES_TO_WARN - 1) + ["warning"] * (len(levels) - RETRIES_TO_WARN + 1)


def test_construct_that_raises(own_operators: Operators, jobs: Jobs) -> None:
    """A job whose construct raises is Stalled, with what it said in condition and event; all others run."""
    own_operators.start("--job-construct", MOODY, "--namespace", jobs.namespace, env=PATH)
    name = f"a-{BROKEN}-one"
    jobs.create(name=name)
    jobs.create(name="good")

    stalled = jobs.wait_stalled(name)
    assert stalled["reason"] == "MSJobRenderFailed"
    assert "RuntimeError: the site's inventory knows no such pool" in stalled["message"]
    assert jobs.state(name) == "Created"
    event = jobs.wait_event("MSJobRenderFailed", name)
    assert event["type"] == "Warning"
    assert "knows no such pool" in event["message"]
    jobs.run(3, "good")
    assert jobs.pods(name) == {}

    jobs.suspend(name)
    jobs.wait_state("Suspended", name)
    assert jobs.true(name) == ["Created", "Suspended"]


def test_construct_that_is_nowhere(own_operators: Operators, jobs: Jobs) -> None:
    """A construct that cannot be imported ends the operator as wrong usage, before any job is touched."""
    operator = own_operators.start("--job-construct", "no.such:Thing", "--namespace", jobs.namespace)
    before = jobs.create()

    assert operator.wait_ended() == 2
    (failed,) = operator.log("operator.failed")
    assert "--job-construct no.such:Thing: ModuleNotFoundError" in failed["error"]
    assert jobs.get() == before
