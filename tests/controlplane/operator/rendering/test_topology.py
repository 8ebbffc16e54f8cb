"""Where a job's pods live and how many they are: the network of a node, and the autoscaler, in a cluster."""

import json
from pathlib import Path

import pytest

from support.jobs import Json, msjob, role, template
from support.live_jobs import Jobs
from support.live_render import check_same, live, rendered
from support.rendering import main_container, variables

pytestmark = pytest.mark.usefixtures("operator")

HOST = template(host_network=True)


def create(jobs: Jobs, job: Json, folder: Path) -> Path:
    """Create a job.

    Returns:
        A file with the job as it was before an API server saw it.
    """
    job["metadata"]["namespace"] = jobs.namespace
    file = folder / "job.json"
    file.write_text(json.dumps(job))
    jobs.create(job)
    return file


@pytest.mark.parametrize(
    ("job", "host"),
    [
        (msjob(pod=HOST), "scheduler-0"),
        (msjob(scheduler=None, pod=HOST, launch_mode="Msrun", proc_per_worker=8), "worker-0"),
    ],
    ids=["scheduler", "msrun"],
)
def test_host_network(jobs: Jobs, tmp_path: Path, elsewhere: str, job: Json, host: str) -> None:
    """Service, environment and the port that kube-scheduler counts agree; Workers are kept apart; the user is told."""
    file = create(jobs, job, tmp_path)

    pods = jobs.wait_pods(len(rendered(file, jobs, "train")) - 1)
    check_same(jobs, "train", rendered(file, jobs, "train"), elsewhere)
    (port,) = main_container(pods[host])["ports"]
    assert port["hostPort"] == port["containerPort"]
    assert 17000 <= port["hostPort"] <= 29999
    assert {variables(pod)["MS_SCHED_PORT"] for pod in pods.values()} == {str(port["hostPort"])}
    apart = [pod["metadata"]["name"] for pod in pods.values() if "affinity" in pod["spec"]]
    assert apart == ["train-worker-0", "train-worker-1"]
    assert jobs.wait_event("HostNetwork")["type"] == "Warning"


def test_host_port_that_cannot_be(jobs: Jobs) -> None:
    """A template that maps a port on the network of the node is refused by the API server, in words the job repeats."""
    ports = [{"name": "msjob-port", "containerPort": 8118, "hostPort": 8119}]
    jobs.create(scheduler=role(1, template(host_network=True, ports=ports)))

    jobs.wait_state("Failed")
    condition = jobs.conditions()["Failed"]
    assert condition["reason"] == "MSJobFailedValidation"
    assert "hostPort" in condition["message"]


def test_autoscaler(jobs: Jobs, tmp_path: Path, elsewhere: str) -> None:
    """The autoscaler of an elastic job is what ``msjob render`` prints, with the metrics that Kubernetes puts in."""
    file = create(jobs, msjob(elastic_policy={"maxReplicas": 4}), tmp_path)

    jobs.wait_pods(3)
    jobs.client.wait_for(lambda: "HorizontalPodAutoscaler train" in live(jobs, "train"), what="the autoscaler")
    check_same(jobs, "train", rendered(file, jobs, "train"), elsewhere)
    spec = live(jobs, "train")["HorizontalPodAutoscaler train"]["spec"]
    assert spec["metrics"][0]["resource"]["name"] == "cpu"
