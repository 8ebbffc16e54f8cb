"""What MindSpore is told about its cluster in live pods: numbers, time limits, ports of hosts."""

import pytest

from support.jobs import role, template
from support.live_jobs import Jobs
from support.rendering import main_container, variables

pytestmark = pytest.mark.usefixtures("operator")

HOST = template(host_network=True)


def test_time_limits(jobs: Jobs) -> None:
    """``startupDeadlineSeconds`` is MindSpore's own limit, too; a template that has one keeps it."""
    own = role(1, template(env=[{"name": "MS_TOPO_TIMEOUT", "value": "77"}]))
    jobs.create(scheduler=role(1), ps=role(1), worker=own, run_policy={"startupDeadlineSeconds": 900})
    pods = jobs.wait_pods(3)
    limits = {name: variables(pod)["MS_TOPO_TIMEOUT"] for name, pod in pods.items()}
    assert limits == {"scheduler-0": "900", "ps-0": "900", "worker-0": "77"}
    assert "MS_TOPO_TIMEOUT" in jobs.wait_event("ReservedEnvOverridden")["message"]


def test_no_time_limits(jobs: Jobs) -> None:
    """Without such fields MindSpore has its own."""
    jobs.create(worker=1)
    for pod in jobs.wait_pods(2).values():
        assert not {"MS_TOPO_TIMEOUT", "MS_HEARTBEAT_RETRY_TIMEOUT"} & variables(pod).keys()


def test_scheduler_that_restarts_alone(jobs: Jobs) -> None:
    """Workers dial a Scheduler that comes back alone for longer than by default; the Scheduler itself does not."""
    jobs.create(scheduler=role(1, restart_policy="OnFailure", restart_scope="Pod"), worker=2)
    pods = jobs.wait_pods(3)
    timeouts = {name: variables(pod).get("MS_HEARTBEAT_RETRY_TIMEOUT") for name, pod in pods.items()}
    assert timeouts == {"scheduler-0": None, "worker-0": "120", "worker-1": "120"}


@pytest.mark.parametrize("mode", ["DynamicCluster", "Msrun"])
def test_several_processes(jobs: Jobs, mode: str) -> None:
    """``MS_WORKER_NUM`` counts processes; each pod knows its own number of them and which node it is."""
    jobs.create(worker=2, launch_mode=mode, proc_per_worker=8)
    pods = jobs.wait_pods(3)
    for index in (0, 1):
        env = variables(pods[f"worker-{index}"])
        assert (env["MS_WORKER_NUM"], env["MS_LOCAL_WORKER"], env["MS_NODE_RANK"]) == ("16", "8", str(index))
    assert "MS_LOCAL_WORKER" not in variables(pods["scheduler-0"])


def test_processes_by_devices(jobs: Jobs) -> None:
    """``procPerWorker: auto`` is the number of accelerators of the container."""
    jobs.create(worker=role(2, template(limits={"huawei.com/Ascend910": 4})), proc_per_worker="auto")
    env = variables(jobs.wait_pods(3)["worker-1"])
    assert (env["MS_WORKER_NUM"], env["MS_LOCAL_WORKER"]) == ("8", "4")


def test_ports_of_hosts(jobs: Jobs) -> None:
    """Two jobs in the network of their hosts have different ports, which the API server takes as ports of the host.

    So the scheduler never puts both on one node should the ports ever be equal.
    """
    ports = {}
    for name in ("a", "b"):
        jobs.create(name=name, scheduler=role(1, HOST), worker=role(1, HOST))
        pods = jobs.wait_pods(2, name)
        (port,) = main_container(pods["scheduler-0"])["ports"]
        assert port["hostPort"] == port["containerPort"]
        for pod in pods.values():
            assert variables(pod)["MS_SCHED_PORT"] == str(port["containerPort"])
        service = jobs.client.get("v1/services", f"{name}-scheduler-0", jobs.namespace)
        assert [item["port"] for item in service["spec"]["ports"]] == [port["containerPort"]]
        assert 17000 <= port["containerPort"] <= 29999
        ports[name] = port["containerPort"]
    assert ports["a"] != ports["b"]
    assert str(ports["a"]) in jobs.wait_event("HostNetwork", "a")["message"]


def test_own_port_on_the_host(jobs: Jobs) -> None:
    """A template that names its port keeps it."""
    pod = template(host_network=True, ports=[{"name": "msjob-port", "containerPort": 6000}])
    jobs.create(scheduler=role(1, pod), worker=role(1))
    pods = jobs.wait_pods(2)
    assert variables(pods["worker-0"])["MS_SCHED_PORT"] == "6000"
    assert main_container(pods["scheduler-0"])["ports"][0]["hostPort"] == 6000


def test_workers_on_hosts_of_their_own(jobs: Jobs) -> None:
    """Workers in the network of their hosts never share one: MindSpore numbers devices by host name."""
    jobs.create(scheduler=1, worker=role(2, HOST))
    pods = jobs.wait_pods(3)
    affinity = pods["worker-0"]["spec"]["affinity"]["podAntiAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["topologyKey"] == "kubernetes.io/hostname"
    selector = ",".join(f"{key}={value}" for key, value in term["labelSelector"]["matchLabels"].items())
    found = [pod["metadata"]["name"] for pod in jobs.client.pods(jobs.namespace, selector)]
    assert found == ["train-worker-0", "train-worker-1"]
    assert "affinity" not in pods["scheduler-0"]["spec"]
