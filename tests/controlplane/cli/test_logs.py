"""`msjob logs`: what the pods of a job write, each line with its pod before it."""

import re
import time

import pytest

from support.jobs import role, template
from support.live_jobs import Jobs
from support.msjob_program import BIN, MsjobProgram
from support.terminals import Terminal
from support.testbed.logs import LogServer

pytestmark = pytest.mark.usefixtures("operator")


def test_merged_and_aligned(msjob: MsjobProgram, jobs: Jobs, logs: LogServer) -> None:
    """Lines of all pods come by time; labels are as wide as the widest one, so that texts stand below each other."""
    jobs.create()
    jobs.run(3)
    now = time.time()
    logs.write("train-scheduler-0", "scheduler is up", at=now)
    logs.write("train-worker-0", "epoch 1", "epoch 2", at=now + 1)
    logs.write("train-worker-1", "epoch 1 \u2714", at=now + 2)

    outcome = msjob("logs", "train")

    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.lines == [
        "[scheduler-0] scheduler is up",
        "[worker-0]    epoch 1",
        "[worker-0]    epoch 2",
        "[worker-1]    epoch 1 \u2714",
    ]


def test_what_is_asked_for(msjob: MsjobProgram, jobs: Jobs, logs: LogServer) -> None:
    """Roles, indices, the last lines, the last seconds, times, and lines alone."""
    jobs.create()
    jobs.run(3)
    now = time.time()
    for pod in ("train-scheduler-0", "train-worker-0", "train-worker-1"):
        logs.write(pod, "old", at=now - 1000)
        logs.write(pod, "new", at=now - 5)

    def shown(*arguments: str) -> list[str]:
        return msjob("logs", "train", *arguments).lines

    assert shown("--role", "worker", "--index", "1", "--no-prefix") == ["old", "new"]
    assert shown("--role", "scheduler", "--tail", "1") == ["[scheduler-0] new"]
    assert sorted(shown("--role", "Worker", "--since", "1m")) == ["[worker-0] new", "[worker-1] new"]
    (line,) = shown("--role", "scheduler", "--tail=1", "--timestamps", "--no-prefix")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z new", line)


def test_containers(msjob: MsjobProgram, jobs: Jobs, logs: LogServer) -> None:
    """One container, or all of them with their names."""
    sidecar = {"name": "sidecar", "image": "example.com/sidecar"}
    jobs.create(scheduler=None, worker=role(1, template(containers=[sidecar])))
    jobs.run(1)
    now = time.time()
    logs.write("train-worker-0", "training", at=now)
    logs.write("train-worker-0", "watching", container="sidecar", at=now + 1)

    assert msjob("logs", "train").lines == ["[worker-0] training"]
    assert msjob("logs", "train", "-c", "sidecar").lines == ["[worker-0] watching"]
    assert msjob("logs", "train", "--all-containers").lines == [
        "[worker-0 mindspore] training",
        "[worker-0 sidecar]   watching",
    ]


@pytest.mark.parametrize("arguments", [["--role", "ps"], ["--index", "7"], ["-c", "nope"]], ids=" ".join)
def test_what_the_job_does_not_have(msjob: MsjobProgram, jobs: Jobs, logs: LogServer, arguments: list[str]) -> None:
    """It is told in a line that says what there is, with exit code 3."""
    jobs.create()
    jobs.run(3)
    assert logs.port

    outcome = msjob("logs", "train", *arguments)

    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.err.startswith("error: MSJob train has no ")


def test_follow_over_a_restart(msjob: MsjobProgram, jobs: Jobs, logs: LogServer) -> None:
    """Lines come as they are written; the pods of the next attempt join; it ends with the job."""
    jobs.create(worker=role(1, restart_policy="OnFailure"), run_policy={"cleanPodPolicy": "None"})
    jobs.run(2)
    with msjob.start("logs", "train", "-f", "--role", "worker") as program:
        logs.write("train-worker-0", "first try")
        program.wait_shown(r"^\[worker-0\] first try$")
        logs.end("train-worker-0")
        jobs.finish("worker-0", code=3)
        jobs.wait_attempt(1, 2)
        jobs.run(2)
        logs.write("train-worker-0", "second try")
        program.wait_shown(r"^\[worker-0\] second try$")
        logs.end("train-worker-0")
        jobs.finish("worker-0")
        outcome = program.ended()

    assert (outcome.code, outcome.err) == (0, "attempt 1\n")
    assert outcome.lines == ["[worker-0] first try", "[worker-0] second try"]


def test_nothing_written_yet(msjob: MsjobProgram, jobs: Jobs) -> None:
    """A job whose pods have not started has no lines, which is no error and is told."""
    jobs.create(scheduler=None, worker=1)
    jobs.wait_pods(1)

    outcome = msjob("logs", "train")

    assert (outcome.code, outcome.out, outcome.err) == (0, "", "no lines of MSJob train: see `msjob why train`\n")


def test_ctrl_c(msjob: MsjobProgram, jobs: Jobs, logs: LogServer) -> None:
    """Ctrl-C ends it at once and without a word."""
    jobs.create(scheduler=None, worker=1)
    jobs.run(1)
    with msjob.start("logs", "train", "-f") as program:
        logs.write("train-worker-0", "hello")
        program.wait_shown("hello")
        program.interrupt()
        outcome = program.ended(timeout=5)

    assert (outcome.code, outcome.err.strip()) == (130, "")


def test_colours_on_a_terminal(msjob: MsjobProgram, jobs: Jobs, logs: LogServer) -> None:
    """On a terminal each rank has its colour, and what the processes print themselves is left as it is."""
    jobs.create(scheduler=None, worker=2)
    jobs.run(2)
    now = time.time()
    logs.write("train-worker-0", "\x1b[31mred\x1b[0m", at=now)
    logs.write("train-worker-1", "plain", at=now + 1)

    def shown(**more: str) -> str:
        environment = {**msjob.environment(), "TERM": "xterm", **more}
        with Terminal(BIN / "msjob", "logs", "train", env=environment, cwd=msjob.folder) as terminal:
            terminal.wait("plain")
            return terminal.raw

    assert "\x1b[36m[worker-0]\x1b[0m \x1b[31mred\x1b[0m" in shown()
    assert "\x1b[32m[worker-1]\x1b[0m plain" in shown()
    assert "[worker-1] plain" in shown(NO_COLOR="1")
