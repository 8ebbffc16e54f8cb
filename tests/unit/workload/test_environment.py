"""The environment of the `mindspore` container: what MindSpore forms its cluster from, in each launch mode."""

import ipaddress

import pytest

from msjob.workload.tokens import Facts
from support.jobs import Json, msjob, role, template
from support.rendering import FACTS, pods, variables

ATTEMPT = {"MSJOB_RESTART_ATTEMPT": "0"}


def environments(job: Json, facts: Facts = FACTS) -> dict[str, Json]:
    """The environment of each pod, by `<role>-<index>`."""
    return {name: variables(pod) for name, pod in pods(job, facts).items()}


def test_dynamic_cluster() -> None:
    """With a Scheduler, Worker i is rank i and dials the cluster IP; the Scheduler binds its own pod IP."""
    common = {"MS_SCHED_PORT": "2222", "MS_WORKER_NUM": "2", "MS_SERVER_NUM": "0", **ATTEMPT}
    dial = {"MS_ROLE": "MS_WORKER", "MS_SCHED_HOST": "10.96.0.7", "MS_WORKER_IP": "<status.podIP>"}

    found = environments(msjob())

    assert found == {
        "scheduler-0": {**common, "MS_ROLE": "MS_SCHED", "MS_SCHED_HOST": "<status.podIP>"},
        "worker-0": {**common, **dial, "MS_NODE_ID": "0"},
        "worker-1": {**common, **dial, "MS_NODE_ID": "1"},
    }


def test_parameter_server() -> None:
    """With PS no id is a number, because PS 0 and Worker 0 would collide: each node has the name of its pod."""
    common = {
        "MS_SCHED_PORT": "2222",
        "MS_WORKER_NUM": "1",
        "MS_SERVER_NUM": "2",
        **ATTEMPT,
    }
    node = {"MS_SCHED_HOST": "10.96.0.7", "MS_NODE_ID": "<metadata.name>", "MS_WORKER_IP": "<status.podIP>"}

    found = environments(msjob(ps=2, worker=1))

    assert found == {
        "scheduler-0": {**common, "MS_ROLE": "MS_SCHED", "MS_SCHED_HOST": "<status.podIP>"},
        "ps-0": {**common, **node, "MS_ROLE": "MS_PSERVER"},
        "ps-1": {**common, **node, "MS_ROLE": "MS_PSERVER"},
        "worker-0": {**common, **node, "MS_ROLE": "MS_WORKER"},
    }


def test_ps_without_replicas_is_no_ps() -> None:
    """A PS role of 0 replicas leaves ranks as in a job without PS."""
    found = environments(msjob(ps=0))

    assert found["worker-1"]["MS_NODE_ID"] == "1"
    assert found["worker-1"]["MS_SERVER_NUM"] == "0"


def test_several_processes_in_a_pod() -> None:
    """MS_WORKER_NUM counts processes; the id of a process is left to msrun, which numbers them by the node's rank."""
    found = environments(msjob(proc_per_worker=8))

    assert found["scheduler-0"]["MS_WORKER_NUM"] == "16"
    assert found["worker-1"] == {
        "MS_ROLE": "MS_WORKER",
        "MS_SCHED_HOST": "10.96.0.7",
        "MS_SCHED_PORT": "2222",
        "MS_WORKER_NUM": "16",
        "MS_SERVER_NUM": "0",
        "MS_LOCAL_WORKER": "8",
        "MS_NODE_RANK": "1",
        "MS_WORKER_IP": "<status.podIP>",
        **ATTEMPT,
    }


def test_processes_by_accelerators() -> None:
    """`auto` starts a process for each accelerator of the container."""
    worker = role(2, template(limits={"nvidia.com/gpu": 4, "memory": "8Gi"}))

    found = environments(msjob(worker=worker, proc_per_worker="auto"))

    assert found["worker-0"]["MS_LOCAL_WORKER"] == "4"
    assert found["worker-0"]["MS_WORKER_NUM"] == "8"


def test_one_accelerator_is_one_process() -> None:
    """`auto` on pods with one accelerator gives the environment of a job with one process per pod."""
    worker = role(2, template(limits={"huawei.com/Ascend910": "1"}))

    assert environments(msjob(worker=worker, proc_per_worker="auto")) == environments(msjob())


def test_msrun_without_scheduler() -> None:
    """Worker 0 hosts the MindSpore Scheduler: it is given its own pod IP, and the others the Service in front of it."""
    common = {
        "MS_ROLE": "MS_WORKER",
        "MS_SCHED_PORT": "2222",
        "MS_WORKER_NUM": "4",
        "MS_SERVER_NUM": "0",
        "MS_LOCAL_WORKER": "2",
        "MS_WORKER_IP": "<status.podIP>",
        **ATTEMPT,
    }

    found = environments(msjob(scheduler=None, launch_mode="Msrun", proc_per_worker=2))

    assert found == {
        "worker-0": {**common, "MS_SCHED_HOST": "<status.podIP>", "MS_NODE_RANK": "0"},
        "worker-1": {**common, "MS_SCHED_HOST": "10.96.0.7", "MS_NODE_RANK": "1"},
    }


def test_msrun_with_scheduler() -> None:
    """With a Scheduler of its own no Worker is the host: msrun starts none where the address is not local."""
    found = environments(msjob(launch_mode="Msrun", proc_per_worker=2))

    assert found["scheduler-0"]["MS_ROLE"] == "MS_SCHED"
    assert found["scheduler-0"]["MS_SCHED_HOST"] == "<status.podIP>"
    assert [found[f"worker-{i}"]["MS_SCHED_HOST"] for i in (0, 1)] == ["10.96.0.7", "10.96.0.7"]
    assert [found[f"worker-{i}"]["MS_NODE_RANK"] for i in (0, 1)] == ["0", "1"]


def test_msrun_with_one_process_per_pod() -> None:
    """Under msrun the contract holds for one process per pod too: msrun wants its local number and the node's rank."""
    found = environments(msjob(scheduler=None, launch_mode="Msrun"))

    assert found["worker-1"]["MS_LOCAL_WORKER"] == "1"
    assert found["worker-1"]["MS_NODE_RANK"] == "1"
    assert "MS_NODE_ID" not in found["worker-1"]


@pytest.mark.parametrize("mode", [None, "Standalone"])
def test_standalone(mode: str | None) -> None:
    """Without a Scheduler each Worker is on its own: nothing of MindSpore's is injected."""
    job = msjob(scheduler=None) if mode is None else msjob(scheduler=None, launch_mode=mode)

    assert environments(job) == {"worker-0": ATTEMPT, "worker-1": ATTEMPT}


def test_none_injects_nothing() -> None:
    """Launch mode `None` leaves the container as the user wrote it, without an `env` field where there was none."""
    job = msjob(launch_mode="None")

    assert environments(job) == {"scheduler-0": {}, "worker-0": {}, "worker-1": {}}
    assert "env" not in pods(job)["worker-0"]["spec"]["containers"][0]


def test_processes_with_parameter_servers() -> None:
    """With PS the processes of a Worker are numbered by msrun all the same; only PS have an id from the operator."""
    found = environments(msjob(ps=1, proc_per_worker=2))

    assert found["worker-1"]["MS_NODE_RANK"] == "1"
    assert "MS_NODE_ID" not in found["worker-1"]
    assert found["ps-0"]["MS_NODE_ID"] == "<metadata.name>"
    assert not {"MS_LOCAL_WORKER", "MS_NODE_RANK"} & {*found["ps-0"], *found["scheduler-0"]}
    assert {(env["MS_WORKER_NUM"], env["MS_SERVER_NUM"]) for env in found.values()} == {("4", "1")}


def test_processes_by_accelerators_under_msrun() -> None:
    """`auto` counts for msrun as well: the world is what the Workers have together."""
    worker = role(3, template(limits={"huawei.com/Ascend910": 8}))

    found = environments(msjob(scheduler=None, worker=worker, launch_mode="Msrun", proc_per_worker="auto"))

    assert [env["MS_NODE_RANK"] for env in found.values()] == ["0", "1", "2"]
    assert {(env["MS_LOCAL_WORKER"], env["MS_WORKER_NUM"]) for env in found.values()} == {("8", "24")}


@pytest.mark.parametrize("mode", ["Standalone", "None"])
def test_processes_without_a_cluster(mode: str) -> None:
    """Where the operator forms no cluster it numbers no processes."""
    for env in environments(msjob(scheduler=None, launch_mode=mode, proc_per_worker=8)).values():
        assert not [name for name in env if name.startswith("MS_")]


@pytest.mark.parametrize(
    "fields", [{}, {"ps": 1}, {"launch_mode": "Msrun"}, {"scheduler": None, "launch_mode": "Msrun"}]
)
def test_start_up_deadline(fields: Json) -> None:
    """A start-up deadline is MindSpore's limit for forming the cluster, in each process of it."""
    limited = environments(msjob(run_policy={"startupDeadlineSeconds": 900}, **fields))
    plain = environments(msjob(**fields))

    assert limited == {name: {**env, "MS_TOPO_TIMEOUT": "900"} for name, env in plain.items()}
    assert all("MS_TOPO_TIMEOUT" not in env for env in plain.values())


def test_start_up_deadline_without_a_cluster() -> None:
    """Where the operator forms no cluster there is none to be limited."""
    policy = {"startupDeadlineSeconds": 900}

    assert environments(msjob(scheduler=None, run_policy=policy)) == environments(msjob(scheduler=None))
    assert environments(msjob(launch_mode="None", run_policy=policy)) == environments(msjob(launch_mode="None"))


def test_users_topology_timeout_wins() -> None:
    """MindSpore's limit as a template sets it is kept in that role, and the others have the deadline."""
    worker = role(1, template(env=[{"name": "MS_TOPO_TIMEOUT", "value": "60"}]))

    found = environments(msjob(worker=worker, run_policy={"startupDeadlineSeconds": 900}))

    assert (found["worker-0"]["MS_TOPO_TIMEOUT"], found["scheduler-0"]["MS_TOPO_TIMEOUT"]) == ("60", "900")


@pytest.mark.parametrize("mode", ["DynamicCluster", "Msrun"])
def test_scheduler_that_is_restarted_alone(mode: str) -> None:
    """Workers and PS then dial for two minutes, longer than the Scheduler needs to come back; it has none to dial."""
    found = environments(msjob(scheduler=role(1, restart_scope="Pod"), ps=1, launch_mode=mode))

    names = ("worker-0", "worker-1", "ps-0")
    assert [found[name]["MS_HEARTBEAT_RETRY_TIMEOUT"] for name in names] == ["120"] * 3
    assert "MS_HEARTBEAT_RETRY_TIMEOUT" not in found["scheduler-0"]


@pytest.mark.parametrize(
    "job",
    [
        msjob(),
        msjob(scheduler=role(1, restart_scope="Job")),
        msjob(worker=role(2, restart_scope="Pod")),
        msjob(scheduler=role(1, restart_scope="Pod"), launch_mode="None"),
        msjob(scheduler=None),
    ],
)
def test_scheduler_that_takes_the_job_along(job: Json) -> None:
    """Everywhere else MindSpore's own patience is left: a lost Scheduler ends the attempt."""
    assert all("MS_HEARTBEAT_RETRY_TIMEOUT" not in env for env in environments(job).values())


def test_port_of_the_template() -> None:
    """All nodes are given the port that the Scheduler's template names `msjob-port`."""
    scheduler = role(1, template(ports=[{"name": "msjob-port", "containerPort": 8118}]))

    found = environments(msjob(scheduler=scheduler))

    assert {env["MS_SCHED_PORT"] for env in found.values()} == {"8118"}


def test_port_of_the_host_counts() -> None:
    """A port that a Worker's template names says nothing: the Scheduler is the one that listens."""
    worker = role(1, template(ports=[{"name": "msjob-port", "containerPort": 9000}]))

    found = environments(msjob(worker=worker))

    assert {env["MS_SCHED_PORT"] for env in found.values()} == {"2222"}


def test_attempt() -> None:
    """The number of the attempt is told to every pod."""
    found = environments(msjob(), Facts("10.96.0.7", "uid", attempt=3))

    assert {env["MSJOB_RESTART_ATTEMPT"] for env in found.values()} == {"3"}


def test_ipv6_literal_has_no_brackets() -> None:
    """MindSpore takes an IPv6 address as it is, without brackets."""
    found = environments(msjob(), Facts("fd00:10:96::7", "uid"))

    address = found["worker-0"]["MS_SCHED_HOST"]
    assert ipaddress.ip_address(address).version == 6


def test_never_a_name_for_the_scheduler_host() -> None:
    """MS_SCHED_HOST is an IP literal or the pod's own IP in every mode: MindSpore resolves no names."""
    for job in (msjob(), msjob(ps=1), msjob(launch_mode="Msrun"), msjob(scheduler=None, launch_mode="Msrun")):
        for env in environments(job).values():
            assert env["MS_SCHED_HOST"] in ("<status.podIP>", "10.96.0.7")


def test_recovery_and_heartbeat_are_left_alone() -> None:
    """The operator never sets what turns quick failures into hangs."""
    for job in (msjob(), msjob(ps=1), msjob(launch_mode="Msrun"), msjob(scheduler=None)):
        for env in environments(job).values():
            assert not {"MS_ENABLE_RECOVERY", "MS_DISABLE_HEARTBEAT", "MS_RECOVERY_PATH"} & set(env)


def test_users_variables_win() -> None:
    """A variable that the template sets keeps its value and stands there once; those of other roles are injected."""
    worker = role(1, template(env=[{"name": "MS_SCHED_PORT", "value": "9999"}, {"name": "MS_NODE_ID", "value": "7"}]))

    rendered = pods(msjob(worker=worker))

    names = [entry["name"] for entry in rendered["worker-0"]["spec"]["containers"][0]["env"]]
    assert variables(rendered["worker-0"])["MS_SCHED_PORT"] == "9999"
    assert variables(rendered["worker-0"])["MS_NODE_ID"] == "7"
    assert len(names) == len(set(names))
    assert variables(rendered["scheduler-0"])["MS_SCHED_PORT"] == "2222"


def test_users_variables_may_refer_to_injected_ones() -> None:
    """Injected variables come first, so that Kubernetes expands $(MS_SCHED_HOST) in the user's."""
    worker = role(1, template(env=[{"name": "MS_TFT_IP", "value": "$(MS_SCHED_HOST)"}]))

    names = [*variables(pods(msjob(worker=worker))["worker-0"])]

    assert names.index("MS_SCHED_HOST") < names.index("MS_TFT_IP")


def test_only_the_mindspore_container_is_given_variables() -> None:
    """Sidecars and init containers stay as they are."""
    extra = [{"name": "logs", "image": "example.com/logs:1"}]
    worker = role(1, template(containers=extra, init_containers=[{"name": "fetch", "image": "example.com/fetch:1"}]))

    spec = pods(msjob(worker=worker))["worker-0"]["spec"]

    assert spec["containers"][1:] == extra
    assert spec["initContainers"] == [{"name": "fetch", "image": "example.com/fetch:1"}]
