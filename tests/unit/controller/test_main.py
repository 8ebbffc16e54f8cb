"""The operator as a program that cannot start."""

import json
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from support.programs import ROOT, run_program

KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: test
contexts: [{name: test, context: {cluster: test, user: test}}]
clusters: [{name: test, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: test, user: {}}]
"""


def fail(*arguments: str, code: int = 1, **env: str) -> dict[str, Any]:
    """Start an operator that cannot, and give the one error it logged: all lines are JSON, none is a traceback."""
    done = run_program(sys.executable, "-m", "msjob_controller.main", *arguments, env=env)
    assert (done.returncode, done.stdout) == (code, "")
    started, failed = (json.loads(line) for line in done.stderr.splitlines())
    assert started["msg"] == "operator.starting"
    assert (failed["msg"], failed["level"]) == ("operator.failed", "error")
    assert "exception" not in failed
    return dict(failed)


@pytest.mark.parametrize(
    "content", [None, "", "a: [", "\x00\x01", "[]", KUBECONFIG.replace("name: test, user", "x: y, user")]
)
def test_no_usable_kubeconfig(tmp_path: Path, content: str | None) -> None:
    """A kubeconfig that is missing or broken is one line that names the file, and exit status 1."""
    path = tmp_path / "kubeconfig"
    if content is not None:
        path.write_text(content)
    assert str(path) in fail("--kubeconfig", str(path))["error"]


def test_no_way_to_a_cluster(tmp_path: Path) -> None:
    """Without kubeconfig and ServiceAccount the message says where the operator looked."""
    found = fail(HOME=str(tmp_path), KUBECONFIG="", KUBERNETES_SERVICE_HOST="")
    assert "kubeconfig" in found["error"]


@pytest.mark.parametrize("flag", ["--metrics-bind-address", "--health-probe-bind-address"])
def test_an_address_in_use(tmp_path: Path, flag: str) -> None:
    """A port that is taken is one line that names it, and the flag to set another."""
    path = tmp_path / "kubeconfig"
    path.write_text(KUBECONFIG)
    other = {"--metrics-bind-address": "0", "--health-probe-bind-address": "0"}
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        arguments = [f"{name}={value}" for name, value in {**other, flag: f"127.0.0.1:{port}"}.items()]
        said = fail("--kubeconfig", str(path), *arguments)["error"]
    assert said == f"{flag} 127.0.0.1:{port}: Address already in use; choose another address, or 0 for none"


def test_an_address_of_nobody(tmp_path: Path) -> None:
    """A host that is not known is told likewise."""
    path = tmp_path / "kubeconfig"
    path.write_text(KUBECONFIG)
    said = fail("--kubeconfig", str(path), "--health-probe-bind-address", "nowhere.invalid:1")["error"]
    assert said.startswith("--health-probe-bind-address nowhere.invalid:1: ")
    assert "Errno" not in said


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    ("construct", "words"),
    [
        ("no.such:Thing", "ModuleNotFoundError"),
        ("support.odd_constructs:NotAWorkload", "not a subclass of msjob.workload.construct.MSJobWorkload"),
    ],
)
def test_a_construct_that_cannot_be_loaded(construct: str, words: str) -> None:
    """A construct that no job can be rendered with ends the operator as wrong usage, before it looks for a cluster."""
    found = fail("--job-construct", construct, code=2, PYTHONPATH=str(ROOT / "tests"), KUBECONFIG="/nowhere")
    assert found["job_construct"] == construct
    assert f"--job-construct {construct}: " in found["error"]
    assert words in found["error"]


@pytest.mark.timeout(30)
def test_a_construct_that_can_be_loaded(tmp_path: Path) -> None:
    """With a good construct the start goes on to what comes next."""
    construct = "support.odd_constructs:OddWorkload"
    found = fail("--job-construct", construct, PYTHONPATH=str(ROOT / "tests"), KUBECONFIG=str(tmp_path / "none"))
    assert "no such file" in found["error"]
