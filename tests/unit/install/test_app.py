"""Other ways to the same files: the program that the `cdk8s` command runs, and other machines."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from msjob.settings import InstallSettings
from msjob.synth import synth
from support.files import tree

ROOT = Path(__file__).parents[3]
SAMPLES = Path(__file__).parents[3] / "samples"

pytestmark = pytest.mark.timeout(60)  # two processes start a Node.js each


def _run_app(folder: Path, **environment: str) -> subprocess.Popen[str]:
    """Start what `cdk8s.yaml` names as `cdk8s` does: by the shell, with the target in the environment."""
    command = yaml.safe_load((ROOT / "cdk8s.yaml").read_text())["app"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.Popen(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, **environment},
        stderr=subprocess.PIPE,
        text=True,
    )


def test_same_files_everywhere(tmp_path: Path) -> None:
    """The command of `cdk8s.yaml` writes what synth writes, whatever hash seed, zone, language or cdk8s setting."""
    (tmp_path / "samples").symlink_to(SAMPLES)
    machines = [
        {"PYTHONHASHSEED": "1", "TZ": "Asia/Shanghai", "LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0"},
        {"PYTHONHASHSEED": "2", "TZ": "UTC", "CDK8S_DISABLE_SORT": "1", "CDK8S_LEGACY_HASH": "1"},
    ]
    running = [
        _run_app(tmp_path, CDK8S_OUTDIR=str(tmp_path / f"dist{number}"), **machine)
        for number, machine in enumerate(machines)
    ]
    for process in running:
        assert process.communicate(timeout=50)[1] == ""
        assert process.returncode == 0
    synth(tmp_path / "here", InstallSettings(), SAMPLES)

    assert tree(tmp_path / "dist0") == tree(tmp_path / "here")
    assert tree(tmp_path / "dist1") == tree(tmp_path / "here")


def test_failure_of_the_app(tmp_path: Path) -> None:
    """Where files cannot be replaced, the app ends with one line and exit code 1, as the `cdk8s` command reports it."""
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "mine.yaml").write_text("a: 1\n")
    process = _run_app(tmp_path, CDK8S_OUTDIR="")
    message = process.communicate(timeout=50)[1]

    assert process.returncode == 1
    assert message == "dist: holds what was not generated (mine.yaml): move it, or choose another folder\n"


def test_failure_without_node(tmp_path: Path) -> None:
    """Where no Node.js is found, the app says so in one line."""
    process = _run_app(tmp_path, JSII_NODE=str(tmp_path / "none"))
    message = process.communicate(timeout=50)[1]

    assert process.returncode == 1
    assert message.startswith(f"JSII_NODE={tmp_path / 'none'} is not a usable Node.js")
    assert message.count("\n") == 1


def test_no_output_in_the_configuration() -> None:
    """`cdk8s.yaml` names no output: `cdk8s synth --stdout` would delete that folder."""
    assert "output" not in yaml.safe_load((ROOT / "cdk8s.yaml").read_text())
