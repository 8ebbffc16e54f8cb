"""The table of rights in docs/reference/cli.md: what each command asks of the API server, by its audit log."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from support.audit import requests
from support.cli import text
from support.cli_page import section
from support.jobs import msjob as job_of
from support.live_jobs import Jobs
from support.msjob_program import MsjobProgram
from support.testbed.controlplane import ControlPlane
from support.testbed.logs import LogServer

pytestmark = pytest.mark.usefixtures("operator")


class Watched:
    """`msjob` for a user, and what it asked of the API server."""

    def __init__(self, control_plane: ControlPlane, program: MsjobProgram, namespace: str) -> None:
        self._control_plane = control_plane
        self._program = program
        self._namespace = namespace

    def __call__(self, *arguments: str) -> set[str]:
        """Run it to a good end, and give what it asked: such as `get msjobs`."""
        seen = len(self._requests())
        outcome = self._program(*arguments)
        assert outcome.code == 0, outcome.err
        return set(self._requests()[seen:])

    def follow(self, *arguments: str, shown: str, end: Callable[[], None] | None) -> set[str]:
        """Run it until something is shown, do what ends it (Ctrl-C if nothing does), and give what it asked."""
        seen = len(self._requests())
        with self._program.start(*arguments) as program:
            program.wait_shown(shown)
            (end or program.interrupt)()
            program.ended()
        return set(self._requests()[seen:])

    def _requests(self) -> list[str]:
        user = f"system:serviceaccount:{self._namespace}:user-edit"
        return [f"{request.verb} {request.resource}" for request in requests(self._control_plane, user)]


def told(command: str) -> set[str]:
    """The rights that the page tells of a command, such as `get msjobs`."""
    table = section("In a cluster").partition("| command | rights |")[2]
    rows = dict(re.findall(r"^\| (`.*?) \| (`.*?) \|$", table, re.MULTILINE))
    (row,) = [rights for names, rights in rows.items() if f"`{command}`" in names]
    return set(re.findall(r"`(\w+ [\w/]+)`", row))


@pytest.fixture
def watched(control_plane: ControlPlane, msjob: MsjobProgram, jobs: Jobs, tmp_path: Path) -> Watched:
    """`msjob` for a user who may edit, beside a file with a job."""
    (tmp_path / "job.yaml").write_text(text(job_of("train", namespace=None, scheduler=None, worker=1)))
    return Watched(control_plane, msjob, jobs.namespace)


def test_of_one_request_after_the_other(watched: Watched, jobs: Jobs, logs: LogServer) -> None:
    """Commands that ask and end ask for what the page says, and for nothing else."""
    assert watched("submit", "-f", "job.yaml") == told("submit")
    jobs.run(1)
    logs.write("train-worker-0", "hello")
    assert watched("get") | watched("get", "train") | watched("get", "-o", "json") == told("get")
    assert watched("why", "train") == told("why")
    assert watched("logs", "train") == told("logs")


def test_of_changes(watched: Watched, jobs: Jobs) -> None:
    """Likewise those that change a job."""
    jobs.create(scheduler=None, worker=1)
    jobs.run(1)
    assert watched("suspend", "train") == told("suspend")
    jobs.wait_state("Suspended")
    assert watched("resume", "train") == told("resume")
    jobs.run(1)
    assert watched("restart", "train") == told("restart")
    assert watched("scale", "train", "--replicas=2") == told("scale")
    assert watched("delete", "train") == told("delete")


def test_of_watches(watched: Watched, jobs: Jobs, logs: LogServer) -> None:
    """Likewise those that follow a job."""

    def finish() -> None:
        logs.end("train-worker-0")
        jobs.finish("worker-0")

    jobs.create(scheduler=None, worker=1)
    jobs.run(1)
    logs.write("train-worker-0", "hello")
    assert watched.follow("logs", "train", "-f", shown="hello", end=finish) == told("logs -f")
    jobs.wait_state("Succeeded")
    assert watched("submit", "-f", "job.yaml", "--replace") == told("submit --replace")
    jobs.run(1)
    assert watched.follow("wait", "train", shown="Running", end=finish) == told("wait")
    assert watched("delete", "train", "--wait") == told("delete --wait")


def test_of_a_submission_that_is_waited_for(watched: Watched, jobs: Jobs) -> None:
    """Likewise `submit --wait`."""

    def live() -> None:
        jobs.run(1)
        jobs.finish("worker-0")

    assert watched.follow("submit", "--wait", "-f", "job.yaml", shown="Created", end=live) == told("submit --wait")


def test_of_a_list_that_goes_on(watched: Watched, jobs: Jobs) -> None:
    """Likewise `get -w`."""
    jobs.create(scheduler=None, worker=1)
    jobs.wait_state("Created")

    assert watched.follow("get", "train", "-w", shown="^train", end=None) == told("get -w")
