"""Jobs as rendered, in the variants that matter: one snapshot a case, and beside it what is right about it."""

import pytest
from kubernetes_validate.utils import ValidationError
from syrupy.assertion import SnapshotAssertion

from support.jobs import Json, msjob, role, template
from support.rendering import FACTS, check_schema, objects, pods, service, variables

LONG = "a-very-long-name-for-a-job-that-fills-all-the-room0"
"""51 characters: with `-scheduler-0` it is as long as a name of a Service may be."""

MSRUN = template(
    command=["msrun"],
    container={
        "args": [
            "--worker_num=$(MS_WORKER_NUM)",
            "--local_worker_num=$(MS_LOCAL_WORKER)",
            "--master_addr=$(MS_SCHED_HOST)",
            "--master_port=$(MS_SCHED_PORT)",
            "--node_rank=$(MS_NODE_RANK)",
            "--join=True",
            "/train.py",
        ]
    },
)

SIDECARS = template(
    env=[
        {"name": "MS_SCHED_PORT", "value": "9000"},
        {"name": "MS_TFT_IP", "value": "$(MS_SCHED_HOST)"},
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "tracker", "key": "token"}}},
    ],
    labels={"team": "vision", "job-name": "mine"},
    annotations={"sidecar.example.com/inject": "false"},
    container={"volumeMounts": [{"name": "data", "mountPath": "/data"}]},
    containers=[{"name": "logs", "image": "example.com/logs:1", "env": [{"name": "LEVEL", "value": "info"}]}],
    init_containers=[{"name": "fetch", "image": "example.com/fetch:1"}],
    volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
    tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    node_selector={"pool": "training"},
    termination_grace_period_seconds=300,
)

RACKS = {
    "podAntiAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "podAffinityTerm": {"topologyKey": "example.com/rack"}}
        ]
    }
}

HOST_MSRUN: Json = {"spec": {**MSRUN["spec"], "hostNetwork": True}}

QUEUE = {
    "type": "Pods",
    "pods": {"metric": {"name": "queue_length"}, "target": {"type": "AverageValue", "averageValue": "30"}},
}

CASES: dict[str, Json] = {
    "no-scheduler": msjob(scheduler=None, worker=2),
    "worker-alone-on-failure": msjob(scheduler=None, worker=1, restart_policy="OnFailure"),
    "parameter-server": msjob(ps=1, worker=1),
    "sidecars": msjob(worker=role(1, SIDECARS)),
    "port": msjob(scheduler=role(1, template(ports=[{"name": "msjob-port", "containerPort": 8118}])), worker=1),
    "long-name": msjob(LONG, namespace="team-a", worker=1),
    "msrun": msjob(scheduler=None, worker=role(2, MSRUN), launch_mode="Msrun", proc_per_worker=8),
    "msrun-scheduler": msjob(worker=role(1, MSRUN), launch_mode="Msrun", proc_per_worker=8),
    "processes": msjob(worker=role(1, template(limits={"huawei.com/Ascend910": 8})), proc_per_worker="auto"),
    "none": msjob(worker=1, launch_mode="None"),
    "host-network": msjob(pod=template(host_network=True, affinity=RACKS)),
    "host-network-msrun": msjob(scheduler=None, worker=role(2, HOST_MSRUN), launch_mode="Msrun", proc_per_worker=8),
    "timeouts": msjob(
        scheduler=role(1, restart_scope="Pod"), worker=1, ps=1, run_policy={"startupDeadlineSeconds": 900}
    ),
    "elastic": msjob(elastic_policy={"minReplicas": 2, "maxReplicas": 8, "metrics": [QUEUE]}),
    "elastic-standalone": msjob(scheduler=None, worker=1, elastic_policy={"maxReplicas": 4}),
}


@pytest.mark.parametrize("case", CASES)
def test_as_rendered(case: str, snapshot: SnapshotAssertion) -> None:
    """Each variant is rendered as reviewed."""
    assert objects(CASES[case]) == snapshot


@pytest.mark.parametrize("case", CASES)
def test_objects_are_of_kubernetes(case: str) -> None:
    """Every object keeps the published schema of Kubernetes, which allows no unknown field."""
    for item in objects(CASES[case]):
        check_schema(item)


def test_schema_is_strict() -> None:
    """The check above refuses a field that Kubernetes does not know, and a value of the wrong type."""
    pod = pods(CASES["no-scheduler"])["worker-0"]

    for wrong in ({"restartPolicies": "Never"}, {"terminationGracePeriodSeconds": "10"}):
        with pytest.raises(ValidationError):
            check_schema(pod | {"spec": pod["spec"] | wrong})


def test_no_scheduler() -> None:
    """Without a Scheduler there are the Workers alone, and nothing of MindSpore's in their environment."""
    assert service(CASES["no-scheduler"]) is None
    assert {name: [*variables(pod)] for name, pod in pods(CASES["no-scheduler"]).items()} == {
        "worker-0": ["MSJOB_RESTART_ATTEMPT"],
        "worker-1": ["MSJOB_RESTART_ATTEMPT"],
    }


def test_worker_alone() -> None:
    """The one Worker of a job without a cluster is left to the kubelet."""
    assert pods(CASES["worker-alone-on-failure"])["worker-0"]["spec"]["restartPolicy"] == "OnFailure"


def test_parameter_server() -> None:
    """The Scheduler waits for both roles, and ids are names of pods."""
    env = variables(pods(CASES["parameter-server"])["ps-0"])

    assert (env["MS_WORKER_NUM"], env["MS_SERVER_NUM"]) == ("1", "1")
    assert env["MS_NODE_ID"] == "<metadata.name>"


def test_sidecars() -> None:
    """What the user wrote is kept, and of two values of a variable the user's."""
    pod = pods(CASES["sidecars"])["worker-0"]

    assert variables(pod)["MS_SCHED_PORT"] == "9000"
    assert [item["name"] for item in pod["spec"]["containers"]] == ["mindspore", "logs"]
    assert pod["metadata"]["labels"]["team"] == "vision"
    assert pod["metadata"]["labels"]["job-name"] == "train"
    assert pod["spec"]["terminationGracePeriodSeconds"] == 300


def test_port() -> None:
    """A port of the template is the Service's and everybody's."""
    found = service(CASES["port"])

    assert found is not None
    assert found["spec"]["ports"][0]["port"] == 8118
    assert {variables(pod)["MS_SCHED_PORT"] for pod in pods(CASES["port"]).values()} == {"8118"}


def test_long_name() -> None:
    """The longest name still gives names and labels of at most 63 characters, in the job's namespace."""
    for item in objects(CASES["long-name"]):
        assert len(item["metadata"]["name"]) <= 63
        assert item["metadata"]["namespace"] == "team-a"
    assert len(LONG) + len("-scheduler-0") == 63


def test_msrun() -> None:
    """Worker 0 hosts the MindSpore Scheduler behind a Service of its own name."""
    found = service(CASES["msrun"])
    rendered = pods(CASES["msrun"])

    assert found is not None
    assert found["metadata"]["name"] == "train-worker-0"
    assert variables(rendered["worker-0"])["MS_SCHED_HOST"] == "<status.podIP>"
    assert variables(rendered["worker-1"])["MS_SCHED_HOST"] == FACTS.scheduler_ip
    assert variables(rendered["worker-1"])["MS_WORKER_NUM"] == "16"


def test_msrun_scheduler() -> None:
    """With a Scheduler every Worker dials it."""
    assert variables(pods(CASES["msrun-scheduler"])["worker-0"])["MS_SCHED_HOST"] == FACTS.scheduler_ip


def test_processes() -> None:
    """A process for each accelerator of the container."""
    assert variables(pods(CASES["processes"])["worker-0"])["MS_LOCAL_WORKER"] == "8"


def test_none() -> None:
    """The objects are there, and no variable is."""
    assert service(CASES["none"]) is not None
    assert [variables(pod) for pod in pods(CASES["none"]).values()] == [{}, {}]


def test_host_network() -> None:
    """All know a port that only this job has; Workers are on nodes of their own, and stay off the racks they did."""
    rendered = pods(CASES["host-network"])
    found = service(CASES["host-network"])

    assert found is not None
    assert {variables(pod)["MS_SCHED_PORT"] for pod in rendered.values()} == {"19999"}
    assert found["spec"]["ports"][0]["targetPort"] == 19999
    assert len(rendered["worker-0"]["spec"]["affinity"]["podAntiAffinity"]) == 2
    assert len(rendered["scheduler-0"]["spec"]["affinity"]["podAntiAffinity"]) == 1


def test_host_network_msrun() -> None:
    """Worker 0 declares the port, and Worker 1 has none to declare."""
    rendered = pods(CASES["host-network-msrun"])

    assert rendered["worker-0"]["spec"]["containers"][0]["ports"][0]["containerPort"] == 19999
    assert "ports" not in rendered["worker-1"]["spec"]["containers"][0]


def test_timeouts() -> None:
    """The start-up deadline is everybody's; patience with the Scheduler is that of the others."""
    names = ("MS_TOPO_TIMEOUT", "MS_HEARTBEAT_RETRY_TIMEOUT")
    found = {role: [variables(pod).get(name) for name in names] for role, pod in pods(CASES["timeouts"]).items()}

    assert found == {"scheduler-0": ["900", None], "ps-0": ["900", "120"], "worker-0": ["900", "120"]}


@pytest.mark.parametrize(("case", "bounds"), [("elastic", (2, 8)), ("elastic-standalone", (1, 4))])
def test_elastic(case: str, bounds: tuple[int, int]) -> None:
    """The autoscaler comes last and has the bounds of the policy."""
    spec = objects(CASES[case])[-1]["spec"]

    assert (spec["minReplicas"], spec["maxReplicas"]) == bounds
    assert spec["scaleTargetRef"]["kind"] == "MSJob"
