"""How the operator starts: outside the cluster as ``make run`` does, and with what cannot work."""

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from support.live_jobs import Jobs
from support.operator import Operators, free_port, program_environment
from support.programs import ROOT
from support.testbed.controlplane import ControlPlane
from support.testbed.kubeconfig import write_kubeconfig
from support.testbed.waiting import wait_for


def test_make_run(own_operators: Operators, jobs: Jobs, control_plane: ControlPlane) -> None:
    """Outside the cluster ``make run`` takes the current kubeconfig and passes flags on; an interrupt ends it."""
    own_operators.rest()
    port = free_port()
    flags = f"--namespace {jobs.namespace} --health-probe-bind-address 127.0.0.1:{port} --metrics-bind-address 0"
    with subprocess.Popen(
        ["make", "--no-print-directory", "run", f"ARGS={flags}"],  # noqa: S607 - make is where the system has it
        cwd=ROOT,
        env=program_environment({"KUBECONFIG": str(control_plane.kubeconfig)}),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            jobs.create()
            jobs.run(3, timeout=30)
        finally:
            os.killpg(process.pid, 2)
            stderr = process.communicate(timeout=20)[1]
    assert "operator.stopped" in stderr
    assert "Traceback" not in stderr


def start_in_vain(*flags: str, env: dict[str, str] | None = None) -> tuple[int, dict[str, str]]:
    """Start the operator and give its exit code and its last words, which must be JSON like all others."""
    command = [sys.executable, "-m", "msjob_controller.main", "--metrics-bind-address", "0", *flags]
    result = subprocess.run(
        command, env=program_environment(env), check=False, capture_output=True, text=True, timeout=30
    )
    assert result.stdout == ""
    lines = [json.loads(line) for line in result.stderr.splitlines()]
    errors = [line for line in lines if line["level"] == "error"]
    assert len(errors) == 1
    assert errors == lines[-1:]
    return result.returncode, errors[0]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "no such file"),
        ("{not yaml", "kubeconfig"),
        ("\x00\x01\x02", "kubeconfig"),
        ("apiVersion: v1\nkind: Config\ncurrent-context: gone\ncontexts: []\nclusters: []\nusers: []\n", "gone"),
    ],
    ids=["missing", "not-yaml", "binary", "no-context"],
)
def test_bad_kubeconfig(tmp_path: Path, content: str | None, words: str) -> None:
    """A kubeconfig that is none ends the operator with one line that names it and its fault."""
    path = tmp_path / "kubeconfig"
    if content is not None:
        path.write_text(content)

    code, error = start_in_vain("--kubeconfig", str(path), "--health-probe-bind-address", "0")
    assert code == 1
    assert error["msg"] == "operator.failed"
    assert str(path) in error["error"]
    assert words in error["error"]


def test_no_kubeconfig(tmp_path: Path) -> None:
    """Without any way to a cluster it says where it has looked."""
    code, error = start_in_vain("--health-probe-bind-address", "0", env={"HOME": str(tmp_path)})
    assert code == 1
    assert "no way to reach a cluster" in error["error"]


def test_port_that_is_taken(control_plane: ControlPlane) -> None:
    """An address that cannot be bound is named, with its flag."""
    taken = control_plane.server.rpartition(":")[2]
    code, error = start_in_vain(
        "--kubeconfig", str(control_plane.kubeconfig), "--health-probe-bind-address", f"127.0.0.1:{taken}"
    )
    assert code == 1
    assert error["error"].startswith(f"--health-probe-bind-address 127.0.0.1:{taken}: Address already in use")


def test_token_that_is_not_accepted(own_operators: Operators, control_plane: ControlPlane, tmp_path: Path) -> None:
    """With a token that the API server refuses it goes on trying, says so, and is not ready."""
    path, unknown = tmp_path / "kubeconfig", secrets.token_hex()
    kubeconfig = write_kubeconfig(path, server=control_plane.server, ca_file=control_plane.ca_file, token=unknown)
    operator = own_operators.start(kubeconfig=kubeconfig)

    wait_for(lambda: operator.log("informer.failed"), 20, what="the operator to tell")
    failed = operator.log("informer.failed")[0]
    assert "401" in failed["error"]
    assert "log in again" in failed["hint"]
    assert operator.get("/readyz")[0] == 503
    assert operator.get("/healthz")[0] == 200
    assert operator.terminate()[0] == 0
