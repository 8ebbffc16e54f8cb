"""`make demo`: what it shows of the life of a job, and how it ends."""

import re
import signal
from pathlib import Path

import pytest
import yaml

from support.demo import demo
from support.jobs import Json
from support.programs import ROOT, run_program

pytestmark = pytest.mark.timeout(180)  # a control plane of its own, and a job that takes its time

TEMPLATE = {"spec": {"containers": [{"name": "mindspore", "image": "none"}]}}


def write(path: Path, *documents: Json) -> str:
    """Write a file with these objects, and give its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump_all(documents))
    return str(path)


def job(name: str, *, annotations: dict[str, str] | None = None, **metadata: str) -> Json:
    """Give a job with one Worker."""
    template = {**TEMPLATE, "metadata": {"annotations": annotations or {}}}
    return {
        "apiVersion": "mindspore.gitee.com/v1",
        "kind": "MSJob",
        "metadata": {**({"name": name} if name else {}), **metadata},
        "spec": {"msReplicaSpecs": {"Worker": {"template": template}}},
    }


def test_default_sample() -> None:
    """`make demo` alone installs the operator, shows a job, its pods and its events until it succeeded, and is gone."""
    with demo(make=True) as running:
        assert running.wait() == 0, running.text
        running.wait_gone()

    name = "ms-widedeep-dataparallel"
    shown = [
        "$ kubectl apply -f dist/",
        "deployment.apps/ms-operator-controller-manager created",
        f"$ kubectl apply -f samples/{name.replace('ms-widedeep', 'ms_wide_deep').replace('-', '_')}.yaml",
        f"msjob.mindspore.gitee.com/{name} created",
        f"$ msjob wait {name}",
        "Running     Workers 4/4",
        "$ kubectl get pods",
        f"{name}-scheduler-0",
        f"{name}-worker-3",
        f"msjob.mindspore.gitee.com/{name} succeeded",
        f"$ kubectl events --for msjob/{name}",
        "MSJobSucceeded",
        "$ kubectl get msjob",
        "Done.",
    ]
    assert [text for text in shown if text not in running.text] == []
    places = [running.text.index(text) for text in shown]
    assert places == sorted(places)
    assert re.search(rf"{name} +Succeeded .* 4/4 .* MSJobSucceeded", running.text)


def test_file_with_everything(tmp_path: Path) -> None:
    """A path with spaces, several documents, a namespace to be made, a generated name, a suspended job, a failing one.

    Each job has its life shown, the failure is explained, and the exit code tells of it.
    """
    suspended = job("rests", namespace="team-a", annotations={"msjob-demo/seconds": "1"})
    suspended["spec"]["runPolicy"] = {"suspend": True}
    failing = job("", generateName="dies-", annotations={"msjob-demo/seconds": "1", "msjob-demo/exit-code": "42"})
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "team-a"}}
    file = write(tmp_path / "my jobs" / "a b.yaml", other, suspended, failing)

    with demo(f"SAMPLE={file}", make=True) as running:
        running.wait()
        running.wait_gone()

    text = running.text
    assert "Error 1\n" in text, text  # make's own code is 2, whatever its program says
    assert "namespace/team-a created" in text
    assert "configmap/settings created" in text
    assert "$ msjob resume rests -n team-a" in text
    assert "msjob.mindspore.gitee.com/rests succeeded" in text
    dies = re.search(r"msjob\.mindspore\.gitee\.com/(dies-\w+) created", text)
    assert dies is not None, text
    told = text.partition(f"$ msjob why {dies[1]}\n")[2]
    assert "42" in told.partition("\n[")[0]
    assert "Done; a job failed." in text


def test_pod_that_fails_once_is_restarted() -> None:
    """`FAIL=worker-2:137` in a job with retries: a restart that counts, and a second attempt that succeeds."""
    with demo("--fail", "worker-2:137", "samples/ms_wide_deep_retry.yaml") as running:
        assert running.wait() == 0, running.text
        running.wait_gone()

    assert "To fail the first time: worker-2 (exit code 137)." in running.text
    assert re.search(r"Restarting .*worker-2.* exited with code 137", running.text)
    assert re.search(r"ms-widedeep-retry +Succeeded +\S+ +4/4 +1 ", running.text)


def test_job_of_another_controller(tmp_path: Path) -> None:
    """A job that `managedBy` leaves to somebody else is said to be left alone, and not to have ended."""
    left = job("left")
    left["spec"]["runPolicy"] = {"managedBy": "kueue.x-k8s.io/multikueue"}

    with demo(write(tmp_path / "left.yaml", left)) as running:
        assert running.wait() == 0, running.text
        running.wait_gone()

    assert "Another controller runs this job" in running.text
    assert "had ended" not in running.text


def test_stays_up_until_it_is_told(tmp_path: Path) -> None:
    """`KEEP=1`: what it prints lets kubectl and msjob work on its cluster from elsewhere; Ctrl-C ends it well."""
    file = write(tmp_path / "short.yaml", job("short", annotations={"msjob-demo/seconds": "1"}))

    with demo("--keep", file) as running:
        running.wait_text("msjob logs short")
        exports = [line for line in running.text.splitlines() if line.startswith("export ")]
        script = "\n".join([*exports, "kubectl get nodes", "kubectl get msjob short", "msjob logs short"])
        tried = run_program("sh", "-euc", script, cwd=tmp_path)
        running.signal(signal.SIGINT)
        assert running.wait() == 0, running.text
        assert running.left() == []

    assert tried.returncode == 0, tried.stderr
    assert re.search(r"demo-node-0 +Ready", tried.stdout)
    assert re.search(r"short +Succeeded", tried.stdout)
    assert "This pod is simulated" in tried.stdout


def test_operator_that_is_uninstalled(tmp_path: Path) -> None:
    """`KEEP=1`: an operator that loses its rights, as by `make undeploy`, ends, and takes the cluster along no more."""
    file = write(tmp_path / "short.yaml", job("short", annotations={"msjob-demo/seconds": "1"}))

    with demo("--keep", file) as running:
        running.wait_text("msjob logs short")
        exports = [line for line in running.text.splitlines() if line.startswith("export ")]
        script = "\n".join([*exports, "kubectl delete -f dist/ --wait=false"])
        removed = run_program("sh", "-euc", script, cwd=ROOT)
        running.wait_text("The operator has ended")
        tried = run_program("sh", "-euc", "\n".join([*exports, "kubectl get nodes"]), cwd=tmp_path)
        running.signal(signal.SIGINT)
        assert running.wait() == 0, running.text
        assert running.left() == []

    assert removed.returncode == 0, removed.stderr
    assert tried.returncode == 0, tried.stderr


def test_job_that_does_not_end(tmp_path: Path) -> None:
    """After the limit the demo says what the job waits for and where the logs are, and ends with 124."""
    file = write(tmp_path / "long.yaml", job("long", annotations={"msjob-demo/seconds": "3600"}))

    with demo("--limit", "6", file) as running:
        assert running.wait() == 124, running.text
        running.wait_gone()

    assert "long did not end within 6 s" in running.text
    assert "had ended after" not in running.text
    logs = re.search(r"logs of all programs\s+are in\s+(\S+)\.\n", running.text)
    assert logs is not None, running.text
    kept = {path.name for path in Path(logs[1]).iterdir()}
    assert {"etcd.log", "kube-scheduler.log", "kwok.log", "ms-operator.log"} <= kept


@pytest.mark.parametrize(
    ("change", "code"), [({"replicas": -1}, 1), ({"template": None}, 1), (None, 2)], ids=["rule", "template", "empty"]
)
def test_bad_file(tmp_path: Path, change: Json | None, code: int) -> None:
    """What is wrong with a file is told in the words of `msjob validate`, before anything is started."""
    bad = job("bad")
    bad["spec"]["msReplicaSpecs"]["Worker"] |= change or {}
    file = write(tmp_path / "bad.yaml", bad) if change is not None else write(tmp_path / "bad.yaml")

    with demo(file) as running:
        assert running.wait() == code, running.text

    validated = run_program(ROOT / ".venv" / "bin" / "msjob", "validate", "-f", file)
    assert running.text == validated.stdout + validated.stderr
    assert validated.returncode == code
