"""docs/reference/client.md: its examples run, with the rights that it names, and it leaves nothing out."""

import inspect
import re
import threading
from pathlib import Path

import pytest
import yaml

import msjob_client
from msjob_client import AsyncMSJobClient, Kind, MSJobClient, Until
from support.live_jobs import Jobs
from support.programs import ROOT
from support.testbed.client import Client
from support.testbed.logs import LogServer
from support.testbed.serviceaccount import bound_account, service_account_kubeconfig
from support.testbed.waiting import wait_for

PAGE = (ROOT / "docs/reference/client.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
ROLE = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0])
FIRST, ASYNC, CHANGES, WHY, ERRORS = EXAMPLES

JOB = """
apiVersion: mindspore.gitee.com/v1
kind: MSJob
metadata:
  name: train
  labels: {team: vision}
spec:
  launchMode: Standalone
  successPolicy: AllWorkers
  msReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers:
          - name: mindspore
            image: my/training:1
"""


@pytest.fixture
def user(admin: Client, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An account with the Role of the page and no other right, in a folder with the file of the page."""
    admin.create("rbac.authorization.k8s.io/v1/roles", ROLE, namespace)
    bound_account(admin, namespace, "user", ROLE["metadata"]["name"], may="patch", kind="Role")
    kubeconfig = service_account_kubeconfig(admin, namespace, "user", tmp_path / "kubeconfig")
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
    monkeypatch.chdir(tmp_path)
    Path("job.yaml").write_text(JOB)


def run(example: str) -> None:
    """Run an example as a program of its own would."""
    exec(compile(example, "client.md", "exec"), {"__name__": "__main__"})  # noqa: S102 - it is ours


@pytest.mark.usefixtures("operator", "user")
def test_a_job_from_its_beginning_to_its_end(jobs: Jobs, logs: LogServer, capsys: pytest.CaptureFixture[str]) -> None:
    """Submit, wait, follow, and then change, explain and delete."""

    def live() -> None:
        jobs.run(2)
        wait_for(lambda: logs.followed("train-worker-0") and logs.followed("train-worker-1"), 20)
        logs.write("train-worker-0", "loss 0.1")
        logs.write("train-worker-1", "loss 0.2")
        for pod in ("train-worker-0", "train-worker-1"):
            logs.end(pod)
        jobs.finish("worker-0", "worker-1")

    life = threading.Thread(target=live)
    life.start()
    run(FIRST)
    life.join()
    shown = capsys.readouterr().out
    assert sorted(shown.splitlines()[:2]) == ["[worker-0] loss 0.1", "[worker-1] loss 0.2"]
    assert "Succeeded MSJob" in shown
    run(WHY)
    assert capsys.readouterr().out.startswith("MSJob train succeeded")
    run(ERRORS)
    run(ERRORS)
    assert capsys.readouterr().out == ""
    assert jobs.pods() == {}


@pytest.mark.usefixtures("operator", "user")
def test_a_job_that_is_changed(jobs: Jobs, capsys: pytest.CaptureFixture[str]) -> None:
    """Scale it, and see it fail."""
    jobs.create(yaml.safe_load(JOB))

    def live() -> None:
        jobs.run(3)
        jobs.finish("worker-2", code=3)

    life = threading.Thread(target=live)
    life.start()
    run(CHANGES)
    life.join()
    shown = capsys.readouterr().out.splitlines()
    assert shown[-1].startswith("train-worker-2 3")
    assert any(line.startswith("Running 3/3") for line in shown)


@pytest.mark.usefixtures("operator")
def test_asynchronously(jobs: Jobs, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It needs rights in the whole cluster."""
    jobs.create(suspend=True)
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
    run(ASYNC)


def test_nothing_is_left_out() -> None:
    """Each public name, method, goal, kind and attribute is on the page."""
    methods = {name for name, _ in inspect.getmembers(AsyncMSJobClient, inspect.isfunction) if not name.startswith("_")}
    parts = re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL))
    named = {word for part in parts for word in re.findall(r"\w+", part)}
    assert methods - named == set()
    assert set(msjob_client.__all__) - named == set()
    assert {goal.name for goal in Until} - named == set()
    assert {kind.value for kind in Kind} - named == set()
    for method in methods - {"close"}:
        options = set(inspect.signature(getattr(AsyncMSJobClient, method)).parameters) - {"self", "namespace"}
        assert options - named == set(), method
    view = {name for name in dir(msjob_client.MSJob) if not name.startswith("_")} - {"read"}
    assert view - named == set()
    public = {name for name, _ in inspect.getmembers(MSJobClient, inspect.isfunction) if not name.startswith("_")}
    assert methods - public == {"states"}
    assert public <= methods
