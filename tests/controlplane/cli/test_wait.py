"""`msjob wait`: it ends when the job is as it is wanted, with an exit code that says how it ended."""

import re

import pytest

from support.jobs import role
from support.live_jobs import Jobs
from support.msjob_program import MsjobProgram, Started
from support.operator import Operator, Operators
from support.testbed.controlplane import ControlPlane

pytestmark = pytest.mark.usefixtures("operator")
FULL = "msjob.mindspore.gitee.com/train"


def shows_running(program: Started) -> None:
    """Wait until the program follows a job that runs."""
    program.wait_shown(r"Running +Workers 1/1")


def test_it_succeeds(msjob: MsjobProgram, jobs: Jobs) -> None:
    """Each change is a line on standard error, the result one on standard output, and the exit code is 0."""
    jobs.create(scheduler=None, worker=1)
    with msjob.start("wait", "train") as program:
        program.wait_shown(r"Created +Workers 0/1$")
        jobs.run(1)
        shows_running(program)
        jobs.finish("worker-0")
        outcome = program.ended()

    assert (outcome.code, outcome.out) == (0, f"{FULL} succeeded\n")
    assert [re.sub(r"^ *\d+s  ", "", line) for line in outcome.err.splitlines()][-2:] == [
        "Running     Workers 1/1",
        "Succeeded   Workers 1/1  successfully completed: its Worker succeeded.",
    ]


def test_it_fails(msjob: MsjobProgram, jobs: Jobs) -> None:
    """The result says why, and the exit code is 1, while the job is watched and when it has ended before."""
    jobs.create(scheduler=None, worker=1)
    with msjob.start("wait", "train", "--quiet") as program:
        jobs.run(1)
        jobs.finish("worker-0", code=3)
        outcome = program.ended()

    assert outcome.code == 1
    assert outcome.out.startswith(f"{FULL} has failed: pod train-worker-0 failed: container")
    assert outcome.err == ""
    assert msjob("wait", "train", "-q") == outcome


def test_it_restarts(msjob: MsjobProgram, jobs: Jobs) -> None:
    """A restart is told with its cause, and is no end."""
    jobs.create(worker=role(1, restart_policy="OnFailure"), run_policy={"backoffLimit": 3})
    with msjob.start("wait", "train") as program:
        jobs.run(2)
        shows_running(program)
        jobs.finish("worker-0", code=137)
        program.wait_shown(r"Restarting .*restarts 1  is restarting: pod train-worker-0 failed: .* 137")
        jobs.wait_attempt(1, 2)
        jobs.run(2)
        jobs.finish("worker-0")
        outcome = program.ended()

    assert (outcome.code, outcome.out) == (0, f"{FULL} succeeded\n")


def test_what_keeps_a_job_is_told(msjob: MsjobProgram, jobs: Jobs) -> None:
    """A job that is stalled says by what, and when that is over."""
    jobs.create(scheduler=None, worker=1)
    jobs.wait_pods(1)
    with msjob.start("wait", "train", "--for", "running") as program:
        jobs.kubelet.find_no_place(jobs.namespace, "train-worker-0", "0/3 nodes are available: 3 Insufficient cpu.")
        program.wait_shown(r"stalled: pod train-worker-0: Unschedulable: 0/3 nodes are available")
        jobs.kubelet.set_condition(jobs.namespace, "train-worker-0", "PodScheduled", "True", "")
        jobs.run(1)
        outcome = program.ended()

    assert (outcome.code, outcome.out) == (0, f"{FULL} running\n")
    assert "no longer stalled" in outcome.err


def test_for_suspended_and_running_and_deleted(msjob: MsjobProgram, jobs: Jobs) -> None:
    """Other states than the end can be waited for; a state that is there already is there at once."""
    jobs.create(scheduler=None, worker=1)
    jobs.run(1)
    assert msjob("wait", "train", "--for", "running", "-q").out == f"{FULL} running\n"

    jobs.suspend()
    assert msjob("wait", "train", "--for=suspended", "-q").out == f"{FULL} suspended\n"

    with msjob.start("wait", "train", "--for=deleted") as program:
        program.wait_shown("Suspended")
        jobs.delete()
        outcome = program.ended()
    assert (outcome.code, outcome.out) == (0, f"{FULL} deleted\n")
    assert msjob("wait", "train", "--for=deleted", "-q").code == 0


@pytest.mark.parametrize(("until", "code"), [("running", 1), ("succeeded", 1), ("suspended", 1), ("finished", 1)])
def test_what_cannot_come_any_more(msjob: MsjobProgram, jobs: Jobs, until: str, code: int) -> None:
    """A job that has failed is not waited for: exit code 1 at once, and a sentence."""
    jobs.create(scheduler=None, worker=1)
    jobs.run(1)
    jobs.finish("worker-0", code=3)
    jobs.wait_state("Failed")

    outcome = msjob("wait", "train", "--for", until, "--timeout", "30", "-q")

    assert outcome.code == code
    assert "failed" in (outcome.out if until == "finished" else outcome.err)


def test_time_is_up(msjob: MsjobProgram, jobs: Jobs) -> None:
    """Exit code 124, as of the program `timeout`, and what the job was like."""
    jobs.create(scheduler=None, worker=1)
    jobs.wait_state("Created")

    outcome = msjob("wait", "train", "--timeout", "0.5s")

    assert (outcome.code, outcome.out) == (124, "")
    assert "error: MSJob train has not finished within 0.5 s; it is Created" in outcome.err


def test_deleted_meanwhile(msjob: MsjobProgram, jobs: Jobs) -> None:
    """A job that is deleted while it is waited for is no success: exit code 3."""
    jobs.create(scheduler=None, worker=1)
    jobs.run(1)
    with msjob.start("wait", "train") as program:
        shows_running(program)
        jobs.delete()
        outcome = program.ended()

    assert (outcome.code, outcome.out) == (3, "")
    assert "error: MSJob train was deleted meanwhile" in outcome.err


def test_an_api_server_that_goes_away(
    msjob: MsjobProgram, operators: Operators, jobs: Jobs, control_plane: ControlPlane
) -> None:
    """Waiting outlives it: the job is followed to its end once it is back."""
    jobs.create(scheduler=None, worker=1)
    jobs.run(1)
    with msjob.start("wait", "train") as program:
        shows_running(program)
        control_plane.stop_apiserver(kill=True)
        operators.bring_back_apiserver()
        jobs.finish("worker-0")
        outcome = program.ended(40)

    assert (outcome.code, outcome.out) == (0, f"{FULL} succeeded\n"), outcome.err


def test_ctrl_c(msjob: MsjobProgram, jobs: Jobs) -> None:
    """Ctrl-C ends the wait at once and without a word; the job goes on."""
    jobs.create(scheduler=None, worker=1)
    jobs.run(1)
    with msjob.start("wait", "train") as program:
        shows_running(program)
        shown = len(program.err)
        program.interrupt()
        outcome = program.ended(timeout=5)

    assert (outcome.code, outcome.out) == (130, "")
    assert "".join(outcome.err.splitlines()[shown:]) == ""
    assert jobs.state() == "Running"


def test_no_such_job(msjob: MsjobProgram, operator: Operator) -> None:
    """A job that is not there is an error of one line, with exit code 3."""
    assert operator.running

    outcome = msjob("wait", "train", "--timeout", "30")

    assert (outcome.code, outcome.out) == (3, "")
    assert re.match(r"error: .*MSJob train .*namespace t-no-such-job-", outcome.err)
    assert len(outcome.err.splitlines()) == 1
