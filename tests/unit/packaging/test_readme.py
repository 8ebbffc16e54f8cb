"""The README: what it names is there, and what it says to run works."""

import re
import shlex
from pathlib import Path

import pytest

from msjob_cli.main import GROUPS
from support.cli import msjob_call
from support.programs import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    line.partition(" #")[0].strip()
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
    if line.strip() and not line.startswith("#")
]


def test_samples_are_all_told() -> None:
    """The table of samples has each of them, and no other."""
    told = set(re.findall(r"^\| \[\w+\]\(samples/(\w+\.yaml)\)", README, re.MULTILINE))

    assert told == {path.name for path in (ROOT / "samples").glob("*.yaml")}


def test_targets_are_there() -> None:
    """Every `make` command names a target of the Makefile."""
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {shlex.split(command)[1] for command in COMMANDS if command.startswith("make ")}

    assert named >= {"synth", "test", "install", "run", "deploy", "undeploy"}
    assert named <= targets


@pytest.mark.timeout(30)
def test_offline_examples_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """What needs no cluster works in the checkout as it stands."""
    monkeypatch.chdir(ROOT)
    lines = [line for line in COMMANDS if line.startswith("msjob ") and shlex.split(line)[1] in GROUPS["Offline"]]
    assert {shlex.split(line)[1] for line in lines} == {"validate", "render"}

    for line in lines:
        assert msjob_call(*shlex.split(line)[1:]).code == 0, line


def test_files_of_examples_are_there() -> None:
    """What is applied is in the checkout."""
    files = [
        word for line in COMMANDS for flag, word in zip(line.split(), line.split()[1:], strict=False) if flag == "-f"
    ]

    assert files
    assert [file for file in files if not Path(ROOT / file).exists()] == []


def test_job_is_the_one_of_the_picture(tmp_path: Path) -> None:
    """The job at the top is valid, has no warning, and is drawn as the sample is that the picture is made of."""
    file = tmp_path / "job.yaml"
    file.write_text(README.partition("```yaml\n")[2].partition("```")[0])

    validated, drawn = (msjob_call(command, "-f", str(file)) for command in ("validate", "graph"))

    assert validated.out == f"{file}: default/train-cpu is valid\n"
    assert (drawn.code, drawn.err) == (0, "")
    assert f"```mermaid\n{drawn.out}```" in README
