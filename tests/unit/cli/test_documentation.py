"""The page about the command line says what is true: its examples are run, its tables compared with the program."""

import re
import shlex
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import click
import pytest

from msjob_cli.exits import ExitCode
from msjob_cli.main import COMMANDS
from support.cli import msjob_call
from support.programs import ROOT

PAGE = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
JOB = PAGE.partition("```yaml\n# job.yaml\n")[2].partition("```")[0]


def section(title: str) -> str:
    """The text under a heading of the second level."""
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_print_what_the_page_says(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example of a command, run on the job of the page, gives the output that stands below it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.yaml").write_text(JOB)
    (tmp_path / "bad.yaml").write_text(JOB.replace("replicas: 2", "replicas: two").replace("command:", "comand:"))
    examples = [
        example
        for block in re.findall(r"```console\n(.*?)```", section(f"msjob {command}"), re.DOTALL)
        for example in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    ]
    assert examples

    code = None
    for line, printed in examples:
        if line == "echo $?":
            assert printed == f"{code}\n"
            continue
        outcome = msjob_call(*shlex.split(line)[1:])
        code = outcome.code.real
        if printed.startswith("...\n"):
            assert outcome.out.endswith(printed.removeprefix("...\n"))
        else:
            assert outcome.out == printed


def _options(command: click.Command) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts}


@pytest.mark.parametrize("name", COMMANDS)
def test_options_are_those_of_the_program(name: str) -> None:
    """The table of a command has each of its options, and no other."""
    rows = [line.split(" | ")[0] for line in section(f"msjob {name}").splitlines() if line.startswith("| `-")]
    common = {"--debug"}

    assert {option for row in rows for option in re.findall(r"`(-[-a-z]+)`", row)} == (
        _options(import_module(f"msjob_cli.commands.{name}").command) - common
    )


def test_exit_codes_are_those_of_the_program() -> None:
    """Every exit code has its row, in order."""
    codes = [int(code) for code in re.findall(r"^\| (\d+) \|", section("Exit codes"), re.MULTILINE)]

    assert codes == [*ExitCode]
    assert all(first < second for first, second in pairwise(codes))
