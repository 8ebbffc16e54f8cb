"""What is legal but worth telling the user."""

import re
from typing import Any

import pytest

from msjob.api import EventReason, Job
from msjob.workload.notices import Notice, notices
from support.jobs import Json, msjob, role, template


def told(job: Json) -> list[Notice]:
    """What is told about a job."""
    return notices(Job.parse(job))


@pytest.mark.parametrize("job", [msjob(), msjob(scheduler=None, worker=1), msjob(scheduler=None, launch_mode="Msrun")])
def test_plain_job_has_none(job: Json) -> None:
    """A job without surprises gives no warning."""
    assert told(job) == []


def test_reserved_variable() -> None:
    """A variable that the user sets in place of the operator's is named, with its role."""
    env = [{"name": "MS_ROLE", "value": "x"}, {"name": "MS_SCHED_PORT", "value": "1"}, {"name": "MINE", "value": "y"}]

    assert told(msjob(worker=role(2, template(env=env)))) == [
        Notice(
            EventReason.RESERVED_ENV,
            "Worker: the template sets MS_ROLE, MS_SCHED_PORT; its values are kept, the operator's are not injected",
            ("spec", "msReplicaSpecs", "Worker", "template", "spec", "containers", 0, "env"),
        )
    ]


def test_reserved_variable_that_is_not_injected() -> None:
    """Where the operator injects nothing there is nothing to tell."""
    env = [{"name": "MS_ROLE", "value": "x"}]

    assert told(msjob(scheduler=None, worker=role(1, template(env=env)))) == []
    assert told(msjob(launch_mode="None", worker=role(1, template(env=env)))) == []


def test_restart_policy_of_the_template() -> None:
    """A restart policy of the template that is replaced is told, one that agrees is not."""
    replaced = told(msjob(worker=role(2, template(restart_policy="Always"))))

    assert [item.reason for item in replaced] == [EventReason.TEMPLATE_RESTART_POLICY]
    assert "Always of the pod template is replaced by Never" in replaced[0].message
    assert told(msjob(worker=role(2, template(restart_policy="Never")))) == []


def test_shared_host_name() -> None:
    """A host name that several pods would share is told to be left out; a lone pod keeps it."""
    pod = template(hostname="trainer")

    assert [item.reason for item in told(msjob(worker=role(2, pod)))] == [EventReason.TEMPLATE_HOSTNAME]
    assert told(msjob(scheduler=None, worker=role(1, pod))) == []


@pytest.mark.parametrize(
    ("command", "reasons"),
    [
        (["msrun", "--worker_num=8", "train.py"], [EventReason.MSRUN_WITHOUT_JOIN]),
        (["sh", "-c", "msrun --worker_num=$MS_WORKER_NUM train.py"], [EventReason.MSRUN_WITHOUT_JOIN]),
        (["msrun", "--join=False", "train.py"], [EventReason.MSRUN_WITHOUT_JOIN]),
        (["msrun", "--join", "False", "train.py"], [EventReason.MSRUN_WITHOUT_JOIN]),
        (["msrun", "--join=True", "--join=False", "train.py"], [EventReason.MSRUN_WITHOUT_JOIN]),
        (["/usr/local/bin/msrun", "train.py"], [EventReason.MSRUN_WITHOUT_JOIN]),
        (["sh", "-c", "cd /code&&msrun train.py"], [EventReason.MSRUN_WITHOUT_JOIN]),
        (["msrun", "--join=True", "train.py"], []),
        (["msrun", "--join=true", "train.py"], []),
        (["msrun", "--join", "True", "train.py"], []),
        (["sh", "-c", "msrun --join='True' train.py"], []),
        (["python", "launch.py"], []),
        (["python", "launch_msrun.py"], []),
        (["python", "/opt/msrun/launch.py"], []),
        (["bash", "msrun.sh"], []),
    ],
)
@pytest.mark.parametrize("fields", [{"launch_mode": "Msrun"}, {"launch_mode": "Standalone"}])
def test_msrun_that_does_not_wait(command: list[str], reasons: list[EventReason], fields: Json) -> None:
    """Without --join=True msrun returns at once, so its exit 0 says nothing: the user is told where it can be seen."""
    found = told(msjob(scheduler=None, worker=role(2, template(command=command)), **fields))

    assert [item.reason for item in found] == reasons


def test_msrun_by_mode_and_place() -> None:
    """It is told in every mode in which the operator sets variables, at the field that holds the options."""
    pod = template(command=["msrun"], container={"args": ["train.py"]})
    path = ("spec", "msReplicaSpecs", "Worker", "template", "spec", "containers", 0)

    assert [item.path for item in told(msjob(worker=role(2, pod)))] == [(*path, "args")]
    assert [item.path for item in told(msjob(worker=role(2, template(command=["msrun", "train.py"]))))] == [
        (*path, "command")
    ]
    assert told(msjob(worker=role(2, pod), launch_mode="None")) == []


def test_workers_that_train_alone() -> None:
    """Several Workers without a Scheduler are told to be on their own, unless somebody says that this is meant."""
    (found,) = told(msjob(scheduler=None, worker=2))

    assert (found.reason, found.path) == (EventReason.TRAINS_ALONE, ("spec", "msReplicaSpecs", "Worker"))
    for meant in (
        msjob(scheduler=None, worker=2, launch_mode="Standalone"),
        msjob(scheduler=None, worker=2, launch_mode="None"),
        msjob(scheduler=None, worker=1),
        msjob(worker=2),
    ):
        assert told(meant) == []


def test_parameter_server() -> None:
    """Parameter servers are accepted and warned of: newer versions can train nonsense silently."""
    assert [item.reason for item in told(msjob(ps=1))] == [EventReason.PARAMETER_SERVER]


HOST = template(host_network=True)
APART = "each Worker is kept on a node of its own"
RACKS = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"team": "vision"}}, "topologyKey": "example.com/rack"}
        ]
    }
}


@pytest.mark.parametrize(
    ("job", "messages"),
    [
        (msjob("train", scheduler=role(1, HOST)), ["Scheduler: .* listens on port 19999 of its node"]),
        (msjob("train", worker=role(2, HOST)), [APART]),
        (msjob("train", pod=HOST), ["Scheduler: .* port 19999", f"Worker: .*{APART}"]),
        (
            msjob("train", scheduler=None, pod=HOST, launch_mode="Msrun"),
            ["Worker: .* port 19999", f"Worker: .*{APART}"],
        ),
        (
            msjob(worker=role(2, template(host_network=True, node_name="node-1")), launch_mode="None"),
            ["nodeName all Workers have one host"],
        ),
        (msjob(worker=role(2, template(host_network=True, affinity=RACKS))), [f"{APART}.* to those of the template"]),
        (msjob(worker=role(1, HOST)), []),
        (msjob(ps=None, scheduler=None, pod=HOST, launch_mode="Standalone"), []),
    ],
)
def test_host_network(job: Json, messages: list[str]) -> None:
    """What the network of a node means for a job is told: the port that is chosen, and where Workers cannot go."""
    found = told(job)

    assert {item.reason for item in found} <= {EventReason.HOST_NETWORK}
    assert len(found) == len(messages)
    for item, message in zip(found, messages, strict=True):
        assert re.search(message, item.message)


def test_host_network_as_the_user_has_it() -> None:
    """A port and a rule of the user's leave nothing to tell."""
    terms = [{"labelSelector": {}, "topologyKey": "kubernetes.io/hostname"}]
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    ports = [{"name": "msjob-port", "containerPort": 8118}]

    assert told(msjob(pod=template(host_network=True, affinity=apart, ports=ports))) == []


def test_process_that_cannot_rejoin() -> None:
    """A Worker or PS of a cluster that is restarted alone is warned of; the Scheduler may be."""
    alone = role(2, restart_scope="Pod", restart_policy="OnFailure")

    assert [(item.reason, item.path[-2:]) for item in told(msjob(worker=alone))] == [
        (EventReason.CANNOT_REJOIN, ("Worker", "restartScope"))
    ]
    assert EventReason.CANNOT_REJOIN in [item.reason for item in told(msjob(ps=alone, launch_mode="Msrun"))]
    assert told(msjob(scheduler=role(1, restart_scope="Pod", restart_policy="OnFailure"))) == []
    assert told(msjob(scheduler=None, worker=alone, launch_mode="Standalone")) == []
    assert told(msjob(worker=alone, launch_mode="None")) == []


@pytest.mark.parametrize("key", ["worker", "WORKER"])
def test_key_that_cannot_be_scaled(key: str) -> None:
    """The scale subresource knows one spelling of the role, so another is named with what to do instead."""
    job = msjob(worker=None)
    job["spec"]["msReplicaSpecs"][key] = role(2)

    assert told(job) == [
        Notice(
            EventReason.SCALE_UNAVAILABLE,
            f"{key}: kubectl scale and autoscalers find the Workers of a job only under the key Worker; change "
            "replicas in the job instead",
            ("spec", "msReplicaSpecs", key),
        )
    ]


def test_keys_of_other_roles() -> None:
    """Only Workers are scaled, so how other roles are spelled makes no difference."""
    job = msjob(scheduler=None)
    job["spec"]["msReplicaSpecs"]["scheduler"] = role(1)

    assert told(job) == []


def test_gang_scheduling() -> None:
    """A scheduling policy that nothing acts on is told."""
    found = told(msjob(run_policy={"schedulingPolicy": {"queue": "research"}}))

    assert [(item.reason, item.path) for item in found] == [
        (EventReason.GANG_UNAVAILABLE, ("spec", "runPolicy", "schedulingPolicy"))
    ]


def test_dynamic_workers_need_no_warning() -> None:
    """Workers that may fail are what the user asked for."""
    assert told(msjob(enable_dynamic_worker=True)) == []


@pytest.mark.parametrize(
    ("fields", "paths"),
    [
        pytest.param({"run_policy": {"backoffLimit": 3}}, ["backoffLimit"], id="a limit of nothing"),
        pytest.param({"run_policy": {"backoffLimit": 3}, "restart_policy": "OnFailure"}, [], id="a limit of restarts"),
        pytest.param(
            {"run_policy": {"backoffLimit": 3}, "worker": role(2, restart_policy="ExitCode")}, [], id="of one role"
        ),
        pytest.param({"scheduler": role(1, restart_scope="Pod")}, ["restartScope"], id="a scope of nothing"),
        pytest.param({"scheduler": role(1, restart_scope="Pod", restart_policy="OnFailure")}, [], id="a scope"),
        pytest.param({"scheduler": None}, [], id="the default scope of Standalone"),
        pytest.param(
            {
                "run_policy": {
                    "backoffLimit": 3,
                    "failurePolicy": {"rules": [{"action": "Restart", "replicaTypes": ["Worker"]}]},
                }
            },
            [],
            id="a rule restarts",
        ),
    ],
)
def test_retries_that_are_not_made(fields: dict[str, Any], paths: list[str]) -> None:
    """What is only for restarts is told where none can follow a failure."""
    found = [item for item in told(msjob(**fields)) if item.reason is EventReason.RETRIES_UNUSED]
    assert [item.path[-1] for item in found] == paths
