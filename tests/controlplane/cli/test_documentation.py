"""The examples of docs/reference/cli.md that need a cluster, run in one, in the states that the page speaks of."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from msjob_cli.main import GROUPS
from support.cli import Outcome
from support.cli_page import JOB, examples
from support.live_jobs import Jobs
from support.msjob_program import MsjobProgram
from support.testbed.logs import LogServer

pytestmark = pytest.mark.usefixtures("operator")


@pytest.fixture
def job_file(tmp_path: Path) -> Path:
    """The job of the page."""
    path = tmp_path / "job.yaml"
    path.write_text(JOB)
    return path


@pytest.fixture
def running(jobs: Jobs) -> Jobs:
    """The job of the page, running."""
    jobs.create(yaml.safe_load(JOB))
    jobs.run(2)
    return jobs


def plain(text: str, namespace: str) -> str:
    """A text without what is of the moment: seconds, the widths that follow them, the namespace and its node."""
    named = text.replace(f"node-{namespace}", "node-1").replace(namespace, "default")
    return re.sub(r" +", " ", re.sub(r"\b\d+s\b", "0s", re.sub(r"just now|\d+ s ago", "just now", named)))


def tried(command: str, namespace: str, call: Callable[..., Outcome], *, messages: bool = False) -> None:
    """Run the examples of a command, and compare what they print with the page.

    Args:
        command: Its name.
        namespace: Of the test.
        call: Runs `msjob` with arguments.
        messages: The page shows standard error, too, above standard output.
    """
    told = examples(f"msjob {command}")
    assert told
    code = 0
    for line, printed in told:
        if line == "echo $?":
            assert printed == f"{code}\n"
            continue
        program, *arguments = shlex.split(line)
        assert program == "msjob"
        outcome = call(*arguments)
        code = outcome.code
        shown = outcome.err + outcome.out if messages else outcome.out
        assert plain(shown, namespace) == plain(printed, namespace)


def test_submit(msjob: MsjobProgram, jobs: Jobs, job_file: Path) -> None:
    """`msjob submit`, where there is no such job."""
    assert job_file.exists()
    tried("submit", jobs.namespace, msjob)
    jobs.run(2)


def test_wait(msjob: MsjobProgram, running: Jobs) -> None:
    """`msjob wait`, while a Worker fails."""

    def call(*arguments: str) -> Outcome:
        with msjob.start(*arguments) as program:
            program.wait_shown("Running")
            running.finish("worker-1", code=3)
            return program.ended()

    tried("wait", running.namespace, call, messages=True)


def test_why(msjob: MsjobProgram, running: Jobs) -> None:
    """`msjob why`, after a Worker failed."""
    running.finish("worker-1", code=3)
    running.wait_state("Failed")

    tried("why", running.namespace, msjob)


def test_logs(msjob: MsjobProgram, logs: LogServer, jobs: Jobs) -> None:
    """`msjob logs`, of two Workers."""
    jobs.create(yaml.safe_load(JOB))
    jobs.run(2)
    for index in range(2):
        logs.write(f"train-worker-{index}", "epoch 1")

    tried("logs", jobs.namespace, msjob)


def test_resume(msjob: MsjobProgram, running: Jobs) -> None:
    """`msjob resume`, of a job that is suspended."""
    running.suspend()
    running.wait_state("Suspended")

    tried("resume", running.namespace, msjob)


@pytest.mark.parametrize("command", ["get", "suspend", "restart", "scale", "delete"])
def test_of_a_job_that_runs(msjob: MsjobProgram, running: Jobs, command: str) -> None:
    """All others, of a job that runs."""
    tried(command, running.namespace, msjob)


def test_no_command_is_left_out() -> None:
    """Each command that works in a cluster has examples, which one of these tests runs."""
    here = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    here |= {"get", "suspend", "restart", "scale", "delete"}

    assert {name for name in GROUPS["In a cluster"] if examples(f"msjob {name}")} == set(GROUPS["In a cluster"])
    assert set(GROUPS["In a cluster"]) <= here
