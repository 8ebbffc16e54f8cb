"""`msjob suspend`, `resume`, `restart`, `scale` and `delete`."""

from pathlib import Path

import pytest

from support.cli import text
from support.jobs import msjob as job_of
from support.jobs import role
from support.live_jobs import Jobs
from support.msjob_program import MsjobProgram
from support.testbed.client import MSJOBS, PODS
from support.testbed.waiting import wait_for

pytestmark = pytest.mark.usefixtures("operator")
FULL = "msjob.mindspore.gitee.com"


@pytest.fixture
def running(jobs: Jobs) -> Jobs:
    """A job of two Workers that runs."""
    jobs.create(worker=role(2, restart_policy="OnFailure"), scheduler=1, run_policy={"backoffLimit": 0})
    jobs.run(3)
    return jobs


def test_suspend_and_resume(msjob: MsjobProgram, running: Jobs) -> None:
    """The pods go and come again; doing it twice is no error."""
    for _ in range(2):
        outcome = msjob("suspend", "train")
        assert (outcome.code, outcome.out, outcome.err) == (0, f"{FULL}/train suspended\n", "")
    running.wait_state("Suspended")

    for _ in range(2):
        outcome = msjob("resume", "train")
        assert (outcome.code, outcome.out, outcome.err) == (0, f"{FULL}/train resumed\n", "")
    running.run(3)


def test_restart(msjob: MsjobProgram, running: Jobs) -> None:
    """All pods are made anew in one restart, which does not count: `backoffLimit` is 0 here."""
    outcome = msjob("restart", "train")

    assert (outcome.code, outcome.out, outcome.err) == (0, f"{FULL}/train restarted\n", "")
    running.wait_attempt(1, 3)
    running.run(3)
    status = running.status()
    assert (status["restarts"], status.get("restartsCountTowardsLimit", 0)) == (1, 0)


def test_scale(msjob: MsjobProgram, running: Jobs) -> None:
    """The job goes on with the number of Workers that was asked for."""
    outcome = msjob("scale", "train", "--replicas", "3")

    assert (outcome.code, outcome.out, outcome.err) == (0, f"{FULL}/train scaled\n", "")
    running.wait_attempt(1, 4)


def test_scale_finds_the_role_however_it_is_spelled(msjob: MsjobProgram, jobs: Jobs) -> None:
    """A job whose key is `worker`, which `kubectl scale` does not find, is scaled too."""
    job = job_of(scheduler=None, worker=1)
    roles = job["spec"]["msReplicaSpecs"]
    roles["worker"] = roles.pop("Worker")
    jobs.create(job)

    assert msjob("scale", "train", "--replicas", "2").code == 0
    assert jobs.get()["spec"]["msReplicaSpecs"]["worker"]["replicas"] == 2
    assert "Worker" not in jobs.get()["spec"]["msReplicaSpecs"]


def test_a_number_that_the_job_may_not_have(msjob: MsjobProgram, jobs: Jobs) -> None:
    """The rule that the API server names is told, with exit code 1, and nothing changes."""
    jobs.create(scheduler=None, worker=2, elastic_policy={"minReplicas": 1, "maxReplicas": 4})

    outcome = msjob("scale", "train", "--replicas", "100001")

    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("error: ")
    assert len(outcome.err.splitlines()) == 1
    assert jobs.get()["spec"]["msReplicaSpecs"]["Worker"]["replicas"] == 2


@pytest.mark.parametrize("command", [["suspend"], ["resume"], ["restart"], ["scale", "--replicas=2"]], ids=" ".join)
def test_a_job_that_has_ended_is_left_alone(msjob: MsjobProgram, jobs: Jobs, command: list[str]) -> None:
    """It is refused with exit code 3 and what to do instead."""
    jobs.create(scheduler=None, worker=1)
    jobs.run(1)
    jobs.finish("worker-0")
    jobs.wait_state("Succeeded")

    outcome = msjob(*command, "train")

    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.err.startswith("error: MSJob train has succeeded")
    assert "msjob submit --replace" in outcome.err


def test_a_suspended_job_is_not_restarted(msjob: MsjobProgram, jobs: Jobs) -> None:
    """It has no pods; what to do instead is told."""
    jobs.create(scheduler=None, worker=1, run_policy={"suspend": True})
    jobs.wait_state("Suspended")

    outcome = msjob("restart", "train")

    assert (outcome.code, outcome.out) == (3, "")
    assert "msjob resume train" in outcome.err


@pytest.mark.parametrize(
    ("command", "done"),
    [("suspend", "suspended"), ("resume", "resumed"), ("restart", "restarted"), ("delete", "deleted")],
)
def test_one_that_is_missing_keeps_nothing_from_the_others(
    msjob: MsjobProgram, jobs: Jobs, command: str, done: str
) -> None:
    """Of several jobs those that are there are done, the missing one is told, and the exit code is 3."""
    for name in ("a", "c"):
        jobs.create(name=name, scheduler=None, worker=1)
        jobs.run(1, name)

    outcome = msjob(command, "a", "b", "c")

    assert (outcome.code, outcome.out) == (3, f"{FULL}/a {done}\n{FULL}/c {done}\n")
    assert len(outcome.err.splitlines()) == 1
    assert "MSJob b " in outcome.err


def test_delete(msjob: MsjobProgram, running: Jobs) -> None:
    """With `--wait` job and pods are gone when it ends."""
    outcome = msjob("delete", "msj/train", "--wait", "--timeout", "30s")

    assert (outcome.code, outcome.out, outcome.err) == (0, f"{FULL}/train deleted\n", "")
    assert running.client.list(MSJOBS, running.namespace) == []
    assert running.pods() == {}
    assert running.services() == []


def test_delete_without_wait_does_not_wait(msjob: MsjobProgram, running: Jobs) -> None:
    """The job is told to go, also while a pod does not go."""
    running.kubelet.pause()

    assert msjob("delete", "train").code == 0

    wait_for(lambda: running.client.list(MSJOBS, running.namespace) == [], 20)


def test_delete_waits_no_longer_than_it_may(msjob: MsjobProgram, running: Jobs) -> None:
    """A pod that does not go is waited for until `--timeout`: exit code 124."""
    running.kubelet.pause()

    outcome = msjob("delete", "train", "--wait", "--timeout", "1")

    assert (outcome.code, outcome.out) == (124, "")
    assert outcome.err.startswith("error: MSJob train")


def test_delete_by_files(msjob: MsjobProgram, jobs: Jobs, tmp_path: Path) -> None:
    """Jobs in files are deleted although they are not valid; a file that names none keeps all from being deleted."""
    for name in ("a", "b"):
        jobs.create(name=name, scheduler=None, worker=1)
    bad = job_of("a", namespace=None, scheduler=None, worker=-1)
    nameless = job_of("a", namespace=None, scheduler=None, worker=1)
    nameless["metadata"] = {"generateName": "a-"}
    (tmp_path / "jobs.yaml").write_text(text(bad, job_of("b", namespace=jobs.namespace, scheduler=None, worker=1)))
    (tmp_path / "nameless.yaml").write_text(text(nameless))

    refused = msjob("delete", "-f", "jobs.yaml", "-f", "nameless.yaml", "-f", "missing.yaml")
    assert (refused.code, refused.out) == (2, "")
    assert [line.split(" ")[0] for line in refused.err.splitlines()] == [
        "nameless.yaml:4:1:",
        "missing.yaml:",
        "error:",
    ]

    outcome = msjob("delete", "-f", "jobs.yaml")
    assert (outcome.code, outcome.out) == (0, f"{FULL}/a deleted\n{FULL}/b deleted\n")
    wait_for(lambda: jobs.client.list(MSJOBS, jobs.namespace) == [], 20)
    wait_for(lambda: jobs.client.list(PODS, jobs.namespace) == [], 20)
