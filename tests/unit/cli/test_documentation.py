"""The page about the command line says what is true: its examples are run, its tables compared with the program."""

import re
import shlex
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import click
import pytest

from msjob_cli.exits import ExitCode
from msjob_cli.main import COMMANDS, GROUPS
from support.cli import msjob_call
from support.cli_page import JOB, PAGE, examples, options, section

COMMON = {"--debug"}
IN_A_CLUSTER = options("In a cluster")
"""Options that are told once, for all commands that work in a cluster."""


@pytest.mark.parametrize("command", [name for name in GROUPS["Offline"] if name != "completion"])
def test_examples_print_what_the_page_says(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example of a command, run on the job of the page, gives the output that stands below it.

    Those of commands in a cluster are run by tests/controlplane/cli, those of completion by shells in test_completion.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.yaml").write_text(JOB)
    (tmp_path / "bad.yaml").write_text(JOB.replace("replicas: 2", "replicas: two").replace("command:", "comand:"))
    told = examples(f"msjob {command}")
    assert told

    code = None
    for line, printed in told:
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
    return {name for parameter in command.params if isinstance(parameter, click.Option) for name in parameter.opts}


@pytest.mark.parametrize("name", COMMANDS)
def test_options_are_those_of_the_program(name: str) -> None:
    """The table of a command has each of its options, and no other; some are told once for all."""
    elsewhere = COMMON | (IN_A_CLUSTER if name in GROUPS["In a cluster"] else set())

    told, there = options(f"msjob {name}"), _options(import_module(f"msjob_cli.commands.{name}").command)

    assert told == there - elsewhere
    assert elsewhere <= there


def test_every_command_is_listed_in_its_group() -> None:
    """The two tables at the top have the commands as the help groups them."""
    tables = PAGE.partition("\n## ")[0].split("| command | does")[1:]
    listed = [re.findall(r"^\| \[`msjob (\w+)`\]\(#msjob-\1\)", table, re.MULTILINE) for table in tables]

    assert [set(names) for names in listed] == [set(group) for group in GROUPS.values()]


def test_rights_are_told_of_every_command() -> None:
    """The table of rights has each command that works in a cluster."""
    table = section("In a cluster").partition("| command | rights |")[2]
    told = {
        name for row in re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)[^`]*`", row)
    }

    assert told == set(GROUPS["In a cluster"])


def test_exit_codes_are_those_of_the_program() -> None:
    """Every exit code has its row, in order."""
    codes = [int(code) for code in re.findall(r"^\| (\d+) \|", section("Exit codes"), re.MULTILINE)]

    assert codes == [*ExitCode]
    assert all(first < second for first, second in pairwise(codes))
