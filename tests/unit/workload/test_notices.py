"""What is legal but worth telling the user."""

import pytest

from msjob.api import EventReason, Job
from msjob.workload.notices import Notice, notices
from support.jobs import Json, msjob, role, template


def told(job: Json) -> list[Notice]:
    """What is told about a job."""
    return notices(Job.parse(job))


@pytest.mark.parametrize("job", [msjob(), msjob(scheduler=None), msjob(scheduler=None, launch_mode="Msrun")])
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
        (["msrun", "--join=True", "train.py"], []),
        (["python", "launch.py"], []),
    ],
)
def test_msrun_that_does_not_wait(command: list[str], reasons: list[EventReason]) -> None:
    """Without --join msrun returns at once, so its exit 0 says nothing: the user is told where it can be seen."""
    found = told(msjob(scheduler=None, worker=role(2, template(command=command)), launch_mode="Msrun"))

    assert [item.reason for item in found] == reasons


def test_parameter_server() -> None:
    """Parameter servers are accepted and warned of: newer versions can train nonsense silently."""
    assert [item.reason for item in told(msjob(ps=1))] == [EventReason.PARAMETER_SERVER]
