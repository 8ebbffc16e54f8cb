"""Who may do what: `view` reads, `edit` does all, and who is bound to neither is told what to ask for."""

from collections.abc import Callable
from pathlib import Path

import pytest

from support.cli import text
from support.jobs import msjob as job_of
from support.live_jobs import Jobs
from support.msjob_program import MsjobProgram
from support.testbed.client import MSJOBS, Client
from support.testbed.serviceaccount import service_account_kubeconfig

pytestmark = pytest.mark.usefixtures("operator")
FULL = "msjob.mindspore.gitee.com/train"
User = Callable[[str], MsjobProgram]


def test_view_reads_and_changes_nothing(user: User, jobs: Jobs) -> None:
    """Who is bound to `view` can list, wait and ask why; all that changes a job is refused in one line."""
    viewer = user("view")
    jobs.create(scheduler=None, worker=1)
    jobs.run(1)

    reads = [
        viewer("get", "train"),
        viewer("get", "-o", "yaml"),
        viewer("wait", "train", "--for", "running", "-q"),
        viewer("why", "train"),
    ]
    changes = [
        viewer("submit", "-f", "-", stdin=text(job_of("other", namespace=None, scheduler=None, worker=1))),
        viewer("suspend", "train"),
        viewer("resume", "train"),
        viewer("restart", "train"),
        viewer("scale", "train", "--replicas", "2"),
        viewer("delete", "train"),
    ]

    assert [(outcome.code, outcome.err) for outcome in reads] == [(0, "")] * 4
    # Nothing is to be changed for a job that is not suspended.
    assert [outcome.code for outcome in changes] == [3, 3, 0, 3, 3, 3]
    refused = [outcome.err.splitlines() for outcome in changes if outcome.code]
    assert [len(lines) for lines in refused] == [1] * 5
    assert all(lines[0].startswith("error: MSJob ") and "forbidden" in lines[0] for lines in refused)
    assert jobs.state() == "Running"
    assert [job["metadata"]["name"] for job in jobs.client.list(MSJOBS, jobs.namespace)] == ["train"]


def test_edit_does_all(user: User, jobs: Jobs, tmp_path: Path) -> None:
    """Who is bound to `edit` needs no other right, from submit to delete."""
    editor = user("edit")
    (tmp_path / "job.yaml").write_text(text(job_of("train", namespace=None, worker=1)))

    assert editor("submit", "-f", "job.yaml").out == f"{FULL} created\n"
    jobs.run(2)
    assert editor("wait", "train", "--for", "running", "-q").code == 0
    assert editor("why", "train").code == 0
    assert editor("restart", "train").code == 0
    jobs.wait_attempt(1, 2)
    assert editor("scale", "train", "--replicas", "2").code == 0
    jobs.wait_pods(3)
    assert editor("suspend", "train").code == 0
    assert editor("wait", "train", "--for", "suspended", "-q").code == 0
    assert editor("resume", "train").code == 0
    jobs.run(3)
    jobs.finish("worker-0", "worker-1")
    jobs.wait_state("Succeeded")
    assert editor("submit", "-f", "job.yaml", "--replace").code == 0
    assert editor("delete", "train", "--wait").code == 0


def test_a_stranger_is_told_what_to_ask_for(admin: Client, namespace: str, tmp_path: Path) -> None:
    """Whoever has no right gets one line that names the account, the right and a role that has it."""
    admin.create("v1/serviceaccounts", {"metadata": {"name": "stranger"}}, namespace)
    path = service_account_kubeconfig(admin, namespace, "stranger", tmp_path / "kubeconfig")
    stranger = MsjobProgram(path, tmp_path)

    for arguments in (["get"], ["get", "-A"], ["wait", "train"], ["why", "train"], ["logs", "train"], ["delete", "x"]):
        outcome = stranger(*arguments)
        assert (outcome.code, outcome.out) == (3, ""), arguments
        assert len(outcome.err.splitlines()) == 1, arguments
        assert f"system:serviceaccount:{namespace}:stranger" in outcome.err
        assert "ask an administrator" in outcome.err
    assert stranger("get", "-n", "default").code == 3
