"""Jobs that cannot be run: what no door before the operator refused."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from support.jobs import Json, msjob, template
from support.live_jobs import Jobs
from support.testbed.client import Client
from support.testbed.errors import InvalidError

pytestmark = pytest.mark.usefixtures("operator")

CRDS = "apiextensions.k8s.io/v1/customresourcedefinitions"
CRD = "msjobs.mindspore.gitee.com"


@contextmanager
def older_crd(admin: Client) -> Iterator[None]:
    """Have a CRD without rules, as one that was installed before the rules were made."""
    crd = admin.get(CRDS, CRD)
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    loose = {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
        "properties": {"status": schema["properties"]["status"]},
    }
    _set_schema(admin, loose)
    try:
        yield
    finally:
        _set_schema(admin, schema)


def _set_schema(admin: Client, schema: Json) -> None:
    change: Any = [{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema", "value": schema}]
    admin.patch(CRDS, CRD, change, kind="json")


def _create_once_accepted(jobs: Jobs, job: Json) -> None:
    """Create a job as soon as the API server goes by the loose schema."""

    def accepted() -> bool:
        try:
            jobs.create(job)
        except InvalidError:
            return False
        return True

    jobs.client.wait_for(accepted, what="the loose schema")


def test_stored_violator(jobs: Jobs) -> None:
    """Jobs that broke the rules before there were rules fail with all their faults told, and hold nobody up."""
    two_schedulers = msjob("two", scheduler=2, namespace=jobs.namespace)
    no_container = msjob("nameless", namespace=jobs.namespace)
    no_container["spec"]["msReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]["name"] = "main"
    nonsense = msjob("nonsense", namespace=jobs.namespace)
    nonsense["spec"]["msReplicaSpecs"]["Worker"] = {"replicas": 2, "template": 7}
    with older_crd(jobs.client):
        for job in (two_schedulers, no_container, nonsense):
            _create_once_accepted(jobs, job)

    for name, words in (("two", "one Scheduler"), ("nameless", "container named mindspore"), ("nonsense", "template")):
        failed = jobs.wait_state("Failed", name)
        assert failed["reason"] == "MSJobFailedValidation"
        assert words in failed["message"]
        assert jobs.pods(name) == {}
        event = jobs.wait_event("MSJobFailedValidation", name)
        assert event["type"] == "Warning"
        assert words in event["message"]
        assert "completionTime" in jobs.status(name)
    jobs.create(name="good")
    jobs.run(3, "good")
    assert jobs.services() == ["good-scheduler-0"]


def test_template_that_no_pod_can_have(jobs: Jobs) -> None:
    """What only the API server can tell of a pod fails the job with the API server's words; no pod is left to run."""
    mount = {"volumeMounts": [{"name": "nowhere", "mountPath": "/data"}]}
    job = jobs.create(worker={"replicas": 2, "template": template(container=mount)})

    failed = jobs.wait_state("Failed")
    assert failed["reason"] == "MSJobFailedValidation"
    assert "train-worker-" in failed["message"]
    assert 'volumeMounts[0].name: Not found: "nowhere"' in failed["message"]
    event = jobs.wait_event("MSJobFailedValidation")
    assert "nowhere" in event["message"]
    assert event["involvedObject"]["uid"] == job["metadata"]["uid"]
    jobs.client.wait_for(lambda: jobs.pods() == {}, what="the Scheduler, which was taken, to go")
    jobs.client.wait_for(lambda: jobs.services() == [], what="the Service to go")

    jobs.create(name="good")
    jobs.run(3, "good")
    assert jobs.pods() == {}
