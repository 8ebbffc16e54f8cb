"""The HorizontalPodAutoscaler of an elastic job."""

from copy import deepcopy

import pytest
from hypothesis import given

from msjob.api import Job
from support.jobs import UID, Json, jobs, msjob
from support.properties import few
from support.rendering import check_schema, objects

CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}}


def autoscalers(job: Json) -> list[Json]:
    """The autoscalers of a job."""
    return [item for item in objects(job) if item["kind"] == "HorizontalPodAutoscaler"]


def test_scales_the_job() -> None:
    """It has the name of the job, belongs to it, and scales it through its scale subresource."""
    (found,) = autoscalers(msjob("train", namespace="team-a", elastic_policy={"minReplicas": 2, "maxReplicas": 4}))

    assert found["apiVersion"] == "autoscaling/v2"
    assert (found["metadata"]["name"], found["metadata"]["namespace"]) == ("train", "team-a")
    assert [owner["uid"] for owner in found["metadata"]["ownerReferences"]] == [UID]
    assert found["spec"] == {
        "scaleTargetRef": {"apiVersion": "mindspore.gitee.com/v1", "kind": "MSJob", "name": "train"},
        "minReplicas": 2,
        "maxReplicas": 4,
    }


def test_labels() -> None:
    """It is found by the labels of the operator, of the job and of the Workers, and is about none of them alone."""
    (found,) = autoscalers(msjob(elastic_policy={"maxReplicas": 4}))

    labels = found["metadata"]["labels"]
    assert labels["training.kubeflow.org/operator-name"] == "msjob-controller"
    assert labels["training.kubeflow.org/job-name"] == "train"
    assert labels["training.kubeflow.org/replica-type"] == "worker"
    assert not [key for key in labels if "index" in key or "attempt" in key]


def test_defaults() -> None:
    """It goes down to one Worker; metrics are left to Kubernetes, whose default may change."""
    for policy in ({"maxReplicas": 4}, {"maxReplicas": 4, "metrics": []}, {"maxReplicas": 4, "metrics": None}):
        (found,) = autoscalers(msjob(elastic_policy=policy))

        assert found["spec"]["minReplicas"] == 1
        assert "metrics" not in found["spec"]


def test_metrics_of_the_user() -> None:
    """Metrics are handed on as they are, and the job is left as it was."""
    job = msjob(elastic_policy={"maxReplicas": 4, "metrics": [CPU]})
    before = deepcopy(job)

    (found,) = autoscalers(job)

    assert found["spec"]["metrics"] == [CPU]
    assert job == before


def test_comes_last() -> None:
    """It is created after the pods, which it may act on at once."""
    assert [item["kind"] for item in objects(msjob(elastic_policy={"maxReplicas": 4}))] == [
        "Service",
        "Pod",
        "Pod",
        "Pod",
        "HorizontalPodAutoscaler",
    ]


@pytest.mark.parametrize("mode", ["Standalone", "Msrun", "None"])
def test_in_each_launch_mode(mode: str) -> None:
    """How processes find each other makes no difference."""
    assert len(autoscalers(msjob(scheduler=None, launch_mode=mode, elastic_policy={"maxReplicas": 4}))) == 1


@few
@given(job=jobs())
def test_elastic_jobs_alone(job: Json) -> None:
    """A job has one if it has a policy, else none; it keeps the schema of Kubernetes."""
    found = autoscalers(job)

    assert len(found) == (1 if "elasticPolicy" in job["spec"] else 0)
    for item in found:
        check_schema(item)
        assert item["spec"]["scaleTargetRef"]["name"] == Job.parse(job).name
