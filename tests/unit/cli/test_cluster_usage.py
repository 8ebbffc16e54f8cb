"""What is wrong about a call that needs a cluster is told before one is asked: exit code 2, and what to do."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

import msjob_client
from msjob_cli.cluster import each, exit_code
from msjob_cli.exits import ExitCode
from msjob_cli.waiting import wait_for
from msjob_client import (
    ClusterUnreachableError,
    InvalidJobError,
    JobNotFoundError,
    JobWaitTimeoutError,
    MSJob,
    MSJobClient,
    MSJobError,
)
from support.cli import msjob_call, text
from support.jobs import msjob


@pytest.fixture(autouse=True)
def no_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing says how to reach a cluster; the working folder has a good job."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    (tmp_path / "job.yaml").write_text(text(msjob()))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("submit", "Missing option '-f'"),
        ("submit job.yaml", "Missing option '-f'"),
        ("submit -f job.yaml other.yaml", "each file needs an -f of its own"),
        ("submit -f job.yaml --timeout 5", "--timeout goes with --wait"),
        ("submit -f job.yaml --dry-run --wait", "--dry-run creates nothing"),
        ("get train -A", "NAME goes with neither -A nor -l"),
        ("get train -l a=b", "NAME goes with neither -A nor -l"),
        ("get -A -n team", "-A and -n exclude each other"),
        ("get -w a b", "-w follows one job or all"),
        ("get -o toml", "'toml' is not one of"),
        ("get -n Team", "'Team' is no namespace name"),
        ("get --kubeconfig missing", "'missing' does not exist"),
        ("wait", "Missing argument 'NAME'"),
        ("wait a b", "Got unexpected extra argument"),
        ("wait a --for ever", "'ever' is not one of"),
        ("wait a --timeout -1", "'-1' is no length of time"),
        ("wait Train", "'Train' is no name of a job"),
        ("wait msjob/", "'' is no name of a job"),
        ("wait pod/train", "expected the name of an MSJob"),
        ("why", "Missing argument 'NAME'"),
        ("logs a -c b --all-containers", "-c and --all-containers exclude each other"),
        ("logs a --role master", "'master' is not one of"),
        ("logs a --tail -1", "-1 is not in the range"),
        ("suspend", "Missing argument 'NAME...'"),
        ("resume", "Missing argument 'NAME...'"),
        ("restart", "Missing argument 'NAME...'"),
        ("scale train", "Missing option '--replicas'"),
        ("scale train --replicas -1", "-1 is not in the range"),
        ("delete", "name the jobs as NAME..., or files that hold them as -f FILE"),
        ("delete a -f job.yaml", "name the jobs as NAME..., or files that hold them as -f FILE"),
        ("delete a --timeout 5", "--timeout goes with --wait"),
    ],
)
def test_wrong_usage(line: str, words: str) -> None:
    """A sentence on standard error, and nothing else happens."""
    outcome = msjob_call(*line.split())

    assert (outcome.code, outcome.out) == (2, "")
    assert words in " ".join(outcome.err.split())


@pytest.mark.parametrize(
    "line",
    [
        "submit -f job.yaml",
        "get",
        "wait msjob.mindspore.gitee.com/train",
        "why MSJ/train",
        "logs msjobs/train",
        "suspend a b",
        "resume a",
        "restart a",
        "scale a --replicas 0",
        "delete a",
        "delete -f job.yaml",
    ],
)
def test_without_a_cluster(line: str) -> None:
    """What is right is tried, and fails in one line where there is no cluster; a name may have its kind before it."""
    outcome = msjob_call(*line.split())

    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.err.startswith("error: no way to reach a cluster: ")
    assert len(outcome.err.splitlines()) == 1


@pytest.mark.parametrize("name", [name for name in msjob_client.__all__ if name.endswith("Error")])
def test_every_error_has_its_exit_code(name: str) -> None:
    """Time that is up and content that is refused have codes of their own; all else could not be done."""
    kind = getattr(msjob_client, name)
    error = kind.__new__(kind)

    expected = {"JobWaitTimeoutError": ExitCode.TIME_UP, "InvalidJobError": ExitCode.PROBLEMS}
    assert exit_code(error) == expected.get(name, ExitCode.FAILED)


def test_the_worst_of_several_jobs_counts(capsys: pytest.CaptureFixture[str]) -> None:
    """Each job is tried, each failure is told, and the exit code is the greatest."""
    errors: dict[str, MSJobError] = {
        "a": InvalidJobError("a is refused"),
        "c": JobWaitTimeoutError("c takes too long"),
        "d": JobNotFoundError("d", "default"),
    }
    tried = []

    def act(name: str) -> None:
        tried.append(name)
        if name in errors:
            raise errors[name]

    assert each(["a", "b", "c", "d"], act) == ExitCode.TIME_UP
    assert tried == ["a", "b", "c", "d"]
    assert [line.partition(" ")[2] for line in capsys.readouterr().err.splitlines()] == [*map(str, errors.values())]


def test_what_all_would_fail_with_is_told_once() -> None:
    """A cluster that does not answer is not asked again for the next job."""
    tried = []

    def act(name: str) -> None:
        tried.append(name)
        raise ClusterUnreachableError("no answer")

    with pytest.raises(ClusterUnreachableError):
        each(["a", "b"], act)
    assert tried == ["a"]


def test_a_job_that_is_not_there_has_no_progress(capfd: pytest.CaptureFixture[str]) -> None:
    """Who waits for one to be gone, and there is none, hears that alone."""

    class Client:
        def wait(self, name: str, *, on_change: Callable[[MSJob], None], **_: object) -> MSJob:
            job = MSJob(name=name, namespace="default")
            on_change(job)
            return job

    assert wait_for(cast("MSJobClient", Client()), "train", until="deleted") == ExitCode.GOOD
    assert capfd.readouterr() == ("msjob.mindspore.gitee.com/train deleted\n", "")


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("MSJob default/train has failed: why.", "has failed: why."),
        ("why", "failed: why"),
        ("", "failed"),
    ],
)
def test_what_is_said_of_a_job_that_failed(message: str, said: str, capfd: pytest.CaptureFixture[str]) -> None:
    """That it failed, also where its message does not say so, or where there is none."""

    class Client:
        def wait(self, name: str, **_: object) -> MSJob:
            condition = {"type": "Failed", "status": "True", "reason": "x", "message": message}
            metadata = {"name": name, "namespace": "default", "uid": "a"}
            return MSJob.read({"metadata": metadata, "status": {"conditions": [condition]}})

    assert wait_for(cast("MSJobClient", Client()), "train", quiet=True) == ExitCode.PROBLEMS
    assert capfd.readouterr() == (f"msjob.mindspore.gitee.com/train {said}\n", "")
