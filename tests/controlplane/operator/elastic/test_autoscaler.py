"""``elasticPolicy``: the HorizontalPodAutoscaler of a job, and what the real controller of autoscalers does with it."""

from typing import Any

import pytest

from support.jobs import Json
from support.live_jobs import Jobs
from support.rendering import variables

pytestmark = pytest.mark.usefixtures("operator")

AUTOSCALERS = "autoscaling/v2/horizontalpodautoscalers"
CPU: Json = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}},
}


def autoscalers(jobs: Jobs) -> list[Json]:
    """The autoscalers of the namespace."""
    return jobs.client.list(AUTOSCALERS, jobs.namespace)


def wait_autoscaler(jobs: Jobs) -> Json:
    """Wait for the autoscaler of the job."""
    return jobs.client.wait_until(AUTOSCALERS, "train", jobs.namespace, bool)


def conditions(autoscaler: Json) -> dict[str, Any]:
    """The conditions of an autoscaler by type."""
    return {item["type"]: item for item in autoscaler.get("status", {}).get("conditions") or []}


def test_object(jobs: Jobs) -> None:
    """It has the name of the job, belongs to it, and says what the policy says."""
    policy = {"minReplicas": 2, "maxReplicas": 5, "metrics": [CPU]}
    job = jobs.create(worker=2, elastic_policy=policy)
    jobs.run(3)

    found = wait_autoscaler(jobs)
    assert found["spec"] == {
        "scaleTargetRef": {"apiVersion": "mindspore.gitee.com/v1", "kind": "MSJob", "name": "train"},
        "minReplicas": 2,
        "maxReplicas": 5,
        "metrics": [CPU],
    }
    (owner,) = found["metadata"]["ownerReferences"]
    assert (owner["uid"], owner["controller"]) == (job["metadata"]["uid"], True)
    assert found["metadata"]["labels"]["training.kubeflow.org/job-name"] == "train"
    assert jobs.wait_event("SuccessfulCreateAutoscaler")["type"] == "Normal"


def test_defaults(jobs: Jobs) -> None:
    """At least one Worker, and the API server's own metric: 80 % of the requested CPU."""
    jobs.create(worker=1, elastic_policy={"maxReplicas": 3})
    jobs.run(2)

    spec = wait_autoscaler(jobs)["spec"]
    assert (spec["minReplicas"], spec["maxReplicas"]) == (1, 3)
    (metric,) = spec["metrics"]
    assert metric["resource"]["target"] == {"type": "Utilization", "averageUtilization": 80}


def test_real_controller_finds_the_workers(jobs: Jobs) -> None:
    """kube-controller-manager's autoscaler reads the scale of the job: it could change it, had it metrics."""
    jobs.create(worker=2, elastic_policy={"minReplicas": 1, "maxReplicas": 5})
    jobs.run(3)
    found = jobs.client.wait_until(
        AUTOSCALERS, "train", jobs.namespace, lambda item: "AbleToScale" in conditions(item), 15
    )
    able = conditions(found)["AbleToScale"]
    assert (able["status"], able["reason"]) == ("True", "SucceededGetScale")
    assert found["status"]["currentReplicas"] == 2


def test_real_controller_changes_the_workers(jobs: Jobs) -> None:
    """A job with more Workers than the policy allows is taken back by the real autoscaler: one uncounted restart."""
    jobs.create(worker=3, elastic_policy={"minReplicas": 1, "maxReplicas": 3})
    jobs.run(4)
    wait_autoscaler(jobs)
    jobs.client.patch(AUTOSCALERS, "train", {"spec": {"maxReplicas": 2}}, jobs.namespace)

    pods = jobs.wait_attempt(1, 3, timeout=20)
    assert {variables(pod)["MS_WORKER_NUM"] for pod in pods.values()} == {"2"}
    assert jobs.get()["spec"]["msReplicaSpecs"]["Worker"]["replicas"] == 2
    jobs.run(3)
    assert jobs.status().get("restarts", 0) == 0


def test_gone_while_suspended(jobs: Jobs) -> None:
    """A suspended job has no autoscaler; resumed, it has one again."""
    jobs.create(worker=1, elastic_policy={"maxReplicas": 3})
    jobs.run(2)
    old = wait_autoscaler(jobs)
    jobs.suspend()
    jobs.wait_state("Suspended")
    jobs.client.wait_for(lambda: autoscalers(jobs) == [], what="the autoscaler to go")
    assert jobs.wait_event("SuccessfulDeleteAutoscaler")["type"] == "Normal"

    jobs.suspend(suspend=False)
    jobs.run(2)
    assert wait_autoscaler(jobs)["metadata"]["uid"] != old["metadata"]["uid"]


@pytest.mark.parametrize("policy", ["None", "Running", "All"])
@pytest.mark.parametrize("code", [0, 1])
def test_gone_at_the_end(jobs: Jobs, policy: str, code: int) -> None:
    """Whatever is left of a job that has ended, its autoscaler is not."""
    jobs.create(worker=1, elastic_policy={"maxReplicas": 3}, run_policy={"cleanPodPolicy": policy})
    jobs.run(2)
    wait_autoscaler(jobs)
    jobs.finish("worker-0", code=code)
    jobs.wait_state("Failed" if code else "Succeeded")
    jobs.client.wait_for(lambda: autoscalers(jobs) == [], what="the autoscaler to go")


def test_deleted_by_hand(jobs: Jobs) -> None:
    """An autoscaler that somebody deletes is made again."""
    jobs.create(worker=1, elastic_policy={"maxReplicas": 3})
    jobs.run(2)
    old = wait_autoscaler(jobs)
    jobs.client.delete(AUTOSCALERS, "train", jobs.namespace)
    jobs.client.wait_until(
        AUTOSCALERS, "train", jobs.namespace, lambda item: item["metadata"]["uid"] != old["metadata"]["uid"]
    )


def test_name_taken(jobs: Jobs) -> None:
    """An autoscaler of that name that is not the job's stays as it is, and the job says so and runs."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "other"}
    stranger = {"metadata": {"name": "train"}, "spec": {"scaleTargetRef": target, "maxReplicas": 1}}
    jobs.client.create(AUTOSCALERS, stranger, jobs.namespace)
    jobs.create(worker=1, elastic_policy={"maxReplicas": 3})
    jobs.run(2)
    event = jobs.wait_event("FailedCreateAutoscaler")
    assert "does not belong to this job" in event["message"]
    (left,) = autoscalers(jobs)
    assert left["spec"]["scaleTargetRef"] == target
    assert jobs.wait_stalled()["reason"] == "NameTaken"
    assert jobs.state() == "Running"


def test_jobs_without_a_policy_have_none(jobs: Jobs) -> None:
    """No autoscaler is made for a job that asks for none."""
    jobs.create(worker=1)
    jobs.run(2)
    jobs.settle()
    assert autoscalers(jobs) == []
