"""A job as workload and controller read it: keys normalised, defaults applied, nothing changed."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given

from msjob.api import (
    CleanPodPolicy,
    InvalidJobError,
    Job,
    LaunchMode,
    RestartPolicy,
    Role,
    SuccessPolicy,
    managed,
)
from support.jobs import UID, Json, jobs, msjob, role, template
from support.properties import few


def test_identity() -> None:
    """Name, namespace, uid and generation are the object's."""
    job = Job.parse(msjob("train", namespace="team-a", uid=UID, generation=3))

    assert (job.name, job.namespace, job.uid, job.generation) == ("train", "team-a", UID, 3)


def test_identity_of_a_job_from_a_file() -> None:
    """A job that no API server has seen is in `default` and has neither uid nor generation."""
    job = Job.parse(msjob(namespace=None))

    assert (job.namespace, job.uid, job.generation) == ("default", "", 0)


def test_defaults() -> None:
    """What the user leaves out has the defaults of the operator that this one is compatible with."""
    job = Job.parse(msjob(worker=role(None)))

    assert job.roles[Role.WORKER].replicas == 1
    assert job.roles[Role.WORKER].restart_policy is RestartPolicy.NEVER
    assert job.clean_pod_policy is CleanPodPolicy.RUNNING
    assert job.success_policy is SuccessPolicy.DEFAULT
    assert job.launch_mode is LaunchMode.DYNAMIC_CLUSTER
    assert job.port == 2222
    assert job.processes_per_worker == 1
    assert not job.suspended


@pytest.mark.parametrize(
    ("fields", "name", "expected"),
    [
        ({"run_policy": {"cleanPodPolicy": ""}}, "clean_pod_policy", CleanPodPolicy.RUNNING),
        ({"run_policy": {"cleanPodPolicy": "All"}}, "clean_pod_policy", CleanPodPolicy.ALL),
        ({"run_policy": {"cleanPodPolicy": "None"}}, "clean_pod_policy", CleanPodPolicy.NONE),
        ({"success_policy": ""}, "success_policy", SuccessPolicy.DEFAULT),
        ({"success_policy": "AllWorkers"}, "success_policy", SuccessPolicy.ALL_WORKERS),
        ({"suspend": True}, "suspended", True),
        ({"suspend": False}, "suspended", False),
        ({"proc_per_worker": 8}, "processes_per_worker", 8),
    ],
)
def test_fields(fields: dict[str, Any], name: str, expected: object) -> None:
    """A field that is set counts; an empty policy is one left out."""
    assert getattr(Job.parse(msjob(**fields)), name) == expected


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (msjob(), True),
        (msjob(managed_by="mindspore.gitee.com/ms-operator"), True),
        (msjob(managed_by="kueue.x-k8s.io/multikueue"), False),
        (msjob(run_policy={"managedBy": "kueue.x-k8s.io/multikueue"}), False),
        (msjob(run_policy={"managedBy": "mindspore.gitee.com/ms-operator"}), True),
        ({"spec": None}, True),
        ({"spec": {"runPolicy": "broken", "managedBy": "kueue.x-k8s.io/multikueue"}}, False),
    ],
)
def test_managed(job: Json, expected: object) -> None:
    """Whose job it is can be told before anything else is judged, and of a job that cannot be read."""
    assert managed(job) is expected


@pytest.mark.parametrize(
    ("fields", "mode", "host"),
    [
        ({}, LaunchMode.DYNAMIC_CLUSTER, Role.SCHEDULER),
        ({"scheduler": None}, LaunchMode.STANDALONE, None),
        ({"scheduler": None, "launch_mode": "Standalone"}, LaunchMode.STANDALONE, None),
        ({"launch_mode": "Msrun"}, LaunchMode.MSRUN, Role.SCHEDULER),
        ({"scheduler": None, "launch_mode": "Msrun"}, LaunchMode.MSRUN, Role.WORKER),
        ({"launch_mode": "None"}, LaunchMode.NONE, Role.SCHEDULER),
        ({"scheduler": None, "launch_mode": "None"}, LaunchMode.NONE, None),
    ],
)
def test_launch_mode(fields: dict[str, Any], mode: LaunchMode, host: Role | None) -> None:
    """The mode follows from the roles unless it is set; the host is whoever runs the MindSpore Scheduler."""
    job = Job.parse(msjob("train", **fields))

    assert job.launch_mode is mode
    assert job.host_role is host
    assert job.service_name == (None if host is None else f"train-{host.slug}-0")


@pytest.mark.parametrize(
    ("limits", "processes"),
    [
        ({"nvidia.com/gpu": 4}, 4),
        ({"nvidia.com/gpu": "4"}, 4),
        ({"amd.com/gpu": 2}, 2),
        ({"huawei.com/Ascend910": 8}, 8),
        ({"huawei.com/Ascend310P": 2, "cpu": 64}, 2),
        ({"huawei.com/npu": 16}, 16),
        ({"nvidia.com/gpu": 0}, 1),
        ({"cpu": 64, "memory": "8Gi"}, 1),
        ({"huawei.com/npu-core": 8}, 1),
        ({"nvidia.com/gpu": 1, "nvidia.com/gpumem": 3000, "nvidia.com/gpucores": 50}, 1),
        ({"huawei.com/Ascend310P-memory": 4096}, 1),
        ({"nvidia.com/gpu": "1k"}, 1),
        ({"nvidia.com/gpu": "9" * 5000}, 1),
    ],
)
def test_processes_by_accelerators(limits: Json, processes: int) -> None:
    """`auto` counts whole accelerators of the `mindspore` container, and not their memory, cores or slices."""
    job = Job.parse(msjob(worker=role(1, template(limits=limits)), proc_per_worker="auto"))

    assert job.processes_per_worker == processes


def test_processes_without_workers() -> None:
    """`auto` in a job without Workers is one process, as nothing says otherwise."""
    assert Job.parse(msjob(worker=None, proc_per_worker="auto")).processes_per_worker == 1


def test_port_is_the_hosts() -> None:
    """The port is the one that the template of the host names, whatever other ports there are."""
    ports = [{"name": "http", "containerPort": 80}, {"name": "msjob-port", "containerPort": 8118}]

    assert Job.parse(msjob(scheduler=role(1, template(ports=ports)))).port == 8118
    assert Job.parse(msjob(worker=role(1, template(ports=ports)))).port == 2222
    assert Job.parse(msjob(scheduler=None, worker=role(1, template(ports=ports)), launch_mode="Msrun")).port == 8118


@pytest.mark.parametrize(
    ("fields", "seconds"),
    [
        ({}, 1800),
        ({"launch_mode": "Msrun"}, 600),
        ({"scheduler": None, "launch_mode": "Msrun"}, 600),
        ({"run_policy": {"startupDeadlineSeconds": 90}}, 90),
        ({"run_policy": {"startupDeadlineSeconds": 90}, "launch_mode": "Msrun"}, 90),
        ({"run_policy": {"startupDeadlineSeconds": 90}, "worker": None}, 90),
    ],
)
def test_topology_timeout(fields: Json, seconds: int) -> None:
    """MindSpore waits as long as the start-up deadline says, else as it or msrun does by itself."""
    assert Job.parse(msjob(**fields)).topology_timeout == seconds


@pytest.mark.parametrize(
    ("entry", "seconds"),
    [
        ({"value": "300"}, 300),
        ({"value": "-1"}, 90),
        ({"value": "$(LIMIT)"}, 90),
        ({"value": ""}, 90),
        ({"value": "9" * 5000}, 90),
        ({"value": "\u0663\u0660\u0660"}, 90),
        ({"valueFrom": {"configMapKeyRef": {"name": "limits", "key": "topology"}}}, 90),
    ],
)
def test_topology_timeout_of_the_template(entry: Json, seconds: int) -> None:
    """A number that the Worker's template sets wins; a value that only the cluster knows says nothing here."""
    worker = role(1, template(env=[{"name": "MS_TOPO_TIMEOUT", **entry}]))

    assert Job.parse(msjob(worker=worker, run_policy={"startupDeadlineSeconds": 90})).topology_timeout == seconds


RULES = {"rules": [{"action": "Restart", "onPodReasons": ["Evicted"]}]}


@pytest.mark.parametrize(
    ("worker", "fields", "expected"),
    [
        (role(1, restart_policy="OnFailure"), {}, True),
        (role(1, restart_policy="Always"), {}, True),
        (role(1, restart_policy="Always", restart_scope="Pod"), {}, True),
        (role(None, restart_policy="Always"), {"run_policy": {"activeDeadlineSeconds": 60}}, True),
        (role(1, restart_policy="Never"), {}, False),
        (role(1, restart_policy="ExitCode"), {}, False),
        (role(1, restart_policy="Always", restart_scope="Job"), {}, False),
        (role(1, restart_policy="Always"), {"run_policy": {"backoffLimit": 0}}, False),
        (role(1, restart_policy="Always"), {"run_policy": {"backoffLimit": 3}}, False),
        (role(1, restart_policy="Always"), {"run_policy": {"failurePolicy": RULES}}, False),
        (role(2, restart_policy="Always"), {}, False),
        (role(0, restart_policy="Always"), {}, False),
        (role(1, restart_policy="Always"), {"launch_mode": "None"}, False),
        (role(1, restart_policy="Always"), {"launch_mode": "Msrun"}, False),
        (role(1, restart_policy="Always", restart_scope="Pod"), {"scheduler": 1}, False),
        (None, {"scheduler": 1}, False),
    ],
)
def test_kubelet_restarts(worker: Json | None, fields: Json, expected: object) -> None:
    """A lone Worker without a cluster is left to the kubelet, unless what only the operator can do is asked for."""
    assert Job.parse(msjob(**{"scheduler": None, "worker": worker, **fields})).kubelet_restarts is expected


@few
@given(job=jobs())
def test_roles_are_normalised(job: Json) -> None:
    """Whatever the spelling and order of the keys, roles come in one order, with the key as it was written."""
    parsed = Job.parse(job)

    assert [*parsed.roles] == [item for item in Role if item in parsed.roles]
    assert {spec.key for spec in parsed.roles.values()} == set(job["spec"]["msReplicaSpecs"])
    for spec in parsed.roles.values():
        assert spec.template == job["spec"]["msReplicaSpecs"][spec.key]["template"]
        assert spec.container["name"] == "mindspore"
        assert parsed.replicas(spec.role) == spec.replicas
        assert parsed.pod_name(spec.role, 7) == f"{parsed.name}-{spec.role.slug}-7"


@few
@given(job=jobs())
def test_parsing_changes_nothing(job: Json) -> None:
    """The object that is parsed stays as it was."""
    before = deepcopy(job)

    parsed = Job.parse(job)
    _ = (parsed.port, parsed.launch_mode, parsed.processes_per_worker, parsed.topology_timeout, parsed.kubelet_restarts)

    assert job == before


def test_role_that_is_not_there() -> None:
    """A role that the job does not have has no pods."""
    assert Job.parse(msjob()).replicas(Role.PS) == 0


def test_template_without_mindspore_container() -> None:
    """Reading a job that validation refuses for its containers does not fail."""
    assert Job.parse(msjob(worker=role(1, {"spec": None}))).roles[Role.WORKER].container == {}


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"msReplicaSpecs": {"Worker": {"replicas": "many"}}}, "spec.msReplicaSpecs.Worker.replicas"),
        ({"launchMode": "Warp"}, "spec.launchMode"),
        ({"runPolicy": {"backoffLimit": -1}}, "spec.runPolicy.backoffLimit"),
        ({"procPerWorker": 0}, "spec.procPerWorker"),
    ],
)
def test_unreadable(spec: Json, field: str) -> None:
    """A type that cannot be read is an error with the field as the user wrote it."""
    with pytest.raises(InvalidJobError) as caught:
        Job.parse({"metadata": {"name": "train"}, "spec": spec})

    assert all(problem.field.startswith(field) for problem in caught.value.problems)
    assert str(caught.value).startswith(field)
