"""Each way in which processes find each other, in a cluster."""

import json
from pathlib import Path

import pytest

from support.jobs import Json, msjob, role, template
from support.live_jobs import Jobs
from support.live_render import check_same, rendered
from support.rendering import main_container, variables

pytestmark = pytest.mark.usefixtures("operator")

MSRUN = template(command=["msrun", "--join=True", "/train.py"])


def test_dynamic_cluster(jobs: Jobs) -> None:
    """The launch mode may be named; several processes a Worker are counted and numbered by node."""
    jobs.create(launch_mode="DynamicCluster", proc_per_worker=4)

    pods = jobs.wait_pods(3)
    env = variables(pods["worker-1"])
    assert (env["MS_WORKER_NUM"], env["MS_LOCAL_WORKER"], env["MS_NODE_RANK"]) == ("8", "4", "1")
    assert "MS_NODE_ID" not in env


def test_msrun_with_scheduler(jobs: Jobs) -> None:
    """Under msrun a Scheduler stands behind the Service, and Workers are numbered by node."""
    jobs.create(launch_mode="Msrun", pod=MSRUN)

    pods = jobs.wait_pods(3)
    address = jobs.client.get("v1/services", "train-scheduler-0", jobs.namespace)["spec"]["clusterIP"]
    assert variables(pods["scheduler-0"])["MS_SCHED_HOST"] == "<status.podIP>"
    assert {variables(pods[f"worker-{index}"])["MS_SCHED_HOST"] for index in (0, 1)} == {address}
    assert [variables(pods[f"worker-{index}"])["MS_NODE_RANK"] for index in (0, 1)] == ["0", "1"]


def test_msrun_without_scheduler(jobs: Jobs) -> None:
    """Without a Scheduler Worker 0 is the host: its own address for itself, its Service's for the others."""
    jobs.create(launch_mode="Msrun", scheduler=None, worker=3, pod=MSRUN)

    pods = jobs.wait_pods(3)
    assert sorted(pods) == ["worker-0", "worker-1", "worker-2"]
    service = jobs.client.get("v1/services", "train-worker-0", jobs.namespace)
    hosts = [variables(pods[f"worker-{index}"])["MS_SCHED_HOST"] for index in range(3)]
    assert hosts == ["<status.podIP>", service["spec"]["clusterIP"], service["spec"]["clusterIP"]]
    assert service["spec"]["selector"].items() <= pods["worker-0"]["metadata"]["labels"].items()
    assert not service["spec"]["selector"].items() <= pods["worker-1"]["metadata"]["labels"].items()
    assert [port["containerPort"] for port in main_container(pods["worker-0"])["ports"]] == [2222]

    jobs.run(3)
    jobs.finish("worker-1", "worker-2", "worker-0")
    jobs.wait_state("Succeeded")


@pytest.mark.parametrize("mode", [None, "Standalone"])
def test_standalone(jobs: Jobs, mode: str | None) -> None:
    """Workers without a Scheduler are each on their own: no Service, and nothing of MindSpore's in the environment."""
    job = msjob(scheduler=None, worker=2)
    job["spec"].update({"launchMode": mode} if mode else {})
    jobs.create(job)

    pods = jobs.wait_pods(2)
    jobs.settle()
    assert jobs.services() == []
    assert [name for pod in pods.values() for name in variables(pod) if name.startswith("MS_")] == []


def test_none(jobs: Jobs) -> None:
    """In launch mode ``None`` the objects are there, Service too, and the environment is the user's alone."""
    jobs.create(launch_mode="None", pod=template(env=[{"name": "OWN", "value": "1"}]))

    pods = jobs.wait_pods(3)
    assert jobs.services() == ["train-scheduler-0"]
    assert [variables(pod) for pod in pods.values()] == [{"OWN": "1"}] * 3


def test_roles_in_lower_case(jobs: Jobs) -> None:
    """Roles may be spelled in any case; their pods, labels and counts are the same."""
    job = msjob(scheduler=None, worker=None)
    job["spec"]["msReplicaSpecs"] = {"scheduler": role(1), "ps": role(1), "WORKER": role(2)}
    jobs.create(job)

    jobs.run(4)
    assert sorted(jobs.pods()) == ["ps-0", "scheduler-0", "worker-0", "worker-1"]
    jobs.client.wait_for(
        lambda: jobs.counts() == {"Scheduler": (1, 0, 0), "PS": (1, 0, 0), "Worker": (2, 0, 0)}, what="the counts"
    )
    jobs.finish("worker-0")
    jobs.wait_state("Succeeded")


def test_role_without_replicas(jobs: Jobs) -> None:
    """Replicas are 1 when not given, in the stored job too, and 0 replicas are no pods."""
    jobs.create(worker=role(None), ps=role(0))

    pods = jobs.wait_pods(2)
    assert sorted(pods) == ["scheduler-0", "worker-0"]
    assert jobs.get()["spec"]["msReplicaSpecs"]["Worker"]["replicas"] == 1


def rich_job() -> Json:
    """A job with much of what users put into templates."""
    pod = template(
        env=[{"name": "MS_NODE_ID", "value": "mine"}, {"name": "ADDRESS", "value": "$(MS_SCHED_HOST)"}],
        ports=[{"name": "msjob-port", "containerPort": 7777}, {"name": "web", "containerPort": 80}],
        limits={"cpu": "500m", "memory": "1Gi"},
        labels={"team": "x", "job-name": "not-mine"},
        annotations={"example.com/note": 'quotes " and \\ and $(X) and ü and @msjob0.index@'},
        container={"volumeMounts": [{"name": "data", "mountPath": "/data"}]},
        volumes=[{"name": "data", "emptyDir": {"sizeLimit": "1Gi"}}],
        containers=[{"name": "logs", "image": "example.com/logs:1", "env": [{"name": "A", "value": "b"}]}],
        init_containers=[{"name": "fetch", "image": "example.com/fetch:1"}],
        tolerations=[{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
        node_selector={"pool": "gpu"},
        termination_grace_period_seconds=45,
        security_context={"runAsNonRoot": True, "fsGroup": 2000},
        affinity={
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 1,
                        "podAffinityTerm": {
                            "labelSelector": {"matchLabels": {"team": "x"}},
                            "topologyKey": "kubernetes.io/hostname",
                        },
                    }
                ]
            }
        },
    )
    return msjob("rich", scheduler=1, ps=1, worker=2, pod=pod)


def test_rich_template(jobs: Jobs, tmp_path: Path, elsewhere: str) -> None:
    """All of a user's template is in the live pods as ``msjob render`` prints it; overridden variables are told."""
    job = jobs.create(rich_job())
    file = tmp_path / "rich.json"
    file.write_text(
        json.dumps(
            {key: job[key] for key in ("apiVersion", "kind", "spec")}
            | {"metadata": {"name": "rich", "namespace": jobs.namespace}}
        )
    )

    pods = jobs.wait_pods(4, "rich")
    check_same(jobs, "rich", rendered(file, jobs, "rich"), elsewhere)
    worker = pods["worker-0"]
    assert variables(worker)["MS_NODE_ID"] == "mine"
    assert variables(worker)["MS_SCHED_PORT"] == "7777"
    assert worker["metadata"]["labels"]["team"] == "x"
    assert (
        worker["metadata"]["annotations"]
        == rich_job()["spec"]["msReplicaSpecs"]["Worker"]["template"]["metadata"]["annotations"]
    )
    service = jobs.client.get("v1/services", "rich-scheduler-0", jobs.namespace)
    assert [port["port"] for port in service["spec"]["ports"]] == [7777]
    assert "MS_NODE_ID" in jobs.wait_event("ReservedEnvOverridden", "rich")["message"]
