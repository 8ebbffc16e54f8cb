"""`msjob` as a program: help, version, signals, closed pipes, full disks, a missing Node.js, its own mistakes."""

import os
import pty
import signal
import subprocess
import sys
import time
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest
from click.testing import CliRunner

from msjob_cli.main import COMMANDS, GROUPS, run
from support.cli import msjob_call, text
from support.jobs import msjob
from support.programs import clean_environment, run_program, write_program

MSJOB = Path(sys.executable).with_name("msjob")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good job whose objects do not fit into a pipe."""
    path = tmp_path_factory.mktemp("job") / "job.yaml"
    path.write_text(text(msjob(worker=20_000)))
    return path


@pytest.mark.parametrize("command", [[MSJOB], [sys.executable, "-m", "msjob"]], ids=["msjob", "python -m msjob"])
def test_help_and_version(command: list[str | Path]) -> None:
    """Both ways to call the program give the same help and the version of the distribution."""
    helped = run_program(*command, "--help")
    told = run_program(*command, "--version")

    assert (helped.returncode, helped.stderr) == (0, "")
    assert helped.stdout.startswith("Usage: msjob [OPTIONS] COMMAND")
    assert (told.returncode, told.stdout) == (0, f"msjob {version('ms-operator')}\n")


@pytest.mark.parametrize("arguments", [[], *([name] for name in GROUPS["In a cluster"])], ids=" ".join)
def test_help_loads_nothing_that_takes_time(arguments: list[str]) -> None:
    """The help of the program, and of what works in a cluster, comes at once: nothing that takes time is loaded."""
    slow = "{'pydantic', 'yaml', 'cdk8s', 'aiohttp', 'asyncio', 'kubernetes', 'msjob_client'}"
    check = (
        f"import sys; from msjob_cli.main import run; run({[*arguments, '--help']}); print({slow} & {{*sys.modules}})"
    )

    done = run_program(sys.executable, "-c", check)

    assert done.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command(name: str) -> None:
    """Each command explains itself, by the line that the program's help has for it, without Node.js."""
    with CliRunner().isolation() as (out, _, _):
        assert run(["--help"]) == run([name, "--help"]) == 0
    text_of_help = out.getvalue().decode()

    assert f"{name} {COMMANDS[name]}" in " ".join(text_of_help.split())
    assert import_module(f"msjob_cli.commands.{name}").command.get_short_help_str(100) == COMMANDS[name]
    assert f"Usage: msjob {name} [OPTIONS]" in text_of_help
    assert "Exit codes:" in text_of_help


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["render"],
        ["render", "--nonsense"],
        ["validate"],
        ["validate", "-f"],
        ["validate", "-f", "-", "-f", "-"],
    ],
    ids=" ".join,
)
def test_wrong_usage(arguments: list[str]) -> None:
    """Wrong usage is told on standard error with exit code 2."""
    outcome = msjob_call(*arguments)

    assert (outcome.code, outcome.out) == (2, "")
    assert "Error: " in outcome.err


def test_a_command_with_a_typing_mistake() -> None:
    """The nearest command is named; where none is near, nothing is guessed."""
    near, far = msjob_call("wai", "train"), msjob_call("xyzzy")

    assert (near.code, far.code) == (2, 2)
    assert near.err.endswith("Error: No such command 'wai'; did you mean wait?\n")
    assert far.err.endswith("Error: No such command 'xyzzy'.\n")


def test_validate_needs_no_node(job: Path) -> None:
    """Jobs are checked where there is no Node.js, and `validate` never loads the construct library."""
    done = run_program(MSJOB, "validate", "-f", job, env={"JSII_NODE": "/missing/node"})

    assert (done.returncode, done.stdout, done.stderr) == (0, f"{job}: default/train is valid\n", "")


@pytest.mark.parametrize(
    "arguments", [["render", "-f", "{job}"], ["synth", "--output", "{folder}/out"]], ids=["render", "synth"]
)
def test_a_missing_node_is_one_error(arguments: list[str], job: Path, tmp_path: Path) -> None:
    """What needs Node.js says in one line that there is none, and what to do."""
    filled = [argument.format(job=job, folder=tmp_path) for argument in arguments]

    done = run_program(MSJOB, *filled, env={"JSII_NODE": "/missing/node"})

    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("error: JSII_NODE=/missing/node is not a usable Node.js")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "arguments", [["render", "-f", "{job}"], ["synth", "--output", "{folder}/out"]], ids=["render", "synth"]
)
def test_a_node_that_dies_is_one_error(arguments: list[str], job: Path, tmp_path: Path) -> None:
    """A Node.js that does not run the construct library is named, in one line."""
    node = write_program(tmp_path / "node", '[ "$1" = --version ] && echo v24.0.0')
    filled = [argument.format(job=job, folder=tmp_path) for argument in arguments]

    done = run_program(MSJOB, *filled, env={"JSII_NODE": str(node)})

    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"error: Node.js ({node}) does not run the construct library: ")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_reader_that_leaves_is_no_error(job: Path) -> None:
    """As in `msjob render | head`: nothing is said, and the exit code is that of a program ended by SIGPIPE."""
    with subprocess.Popen(
        [MSJOB, "render", "-f", job], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment()
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        assert program.stdout.readline() == b"---\n"
        program.stdout.close()
        said = program.stderr.read()

    assert (program.returncode, said) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_a_full_disk_is_told(job: Path) -> None:
    """Output that cannot be written is an error of one line."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [MSJOB, "validate", "-f", job], check=False, stdout=full, stderr=subprocess.PIPE, env=clean_environment()
        )

    assert (done.returncode, done.stderr) == (3, b"error: cannot write the output: No space left on device\n")


def _interrupt(program: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    """Press Ctrl-C, which reaches every process of the terminal, and see how the program ends."""
    os.killpg(program.pid, signal.SIGINT)
    _, said = program.communicate(timeout=20)
    return program.returncode, said


def test_interrupted_while_it_prints(job: Path) -> None:
    """Ctrl-C ends the program at once and without a word."""
    with subprocess.Popen(
        [MSJOB, "render", "-f", job],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
        start_new_session=True,
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"---\n"
        code, said = _interrupt(program)

    assert (code, said.strip()) == (130, b"")


def test_interrupted_while_node_starts(job: Path, tmp_path: Path) -> None:
    """Ctrl-C while Node.js, which may be slow, has not answered yet ends the program without a traceback."""
    started = tmp_path / "started"
    node = write_program(
        tmp_path / "node", f'[ "$1" = --version ] && echo v24.0.0 && exit\n: > {started}\nexec sleep 30'
    )
    with subprocess.Popen(
        [MSJOB, "render", "-f", job],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**clean_environment(), "JSII_NODE": str(node)},
        start_new_session=True,
    ) as program:
        while not started.exists():
            assert program.poll() is None
            time.sleep(0.02)
        code, said = _interrupt(program)

    assert code == 130
    assert b"Traceback" not in said


@pytest.mark.parametrize("arguments", [["--debug", "validate", "-f", "-"], ["validate", "-f", "-", "--debug"]])
def test_a_mistake_of_the_program(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug of the program's own is one line that asks for a report; `--debug`, anywhere, adds the traceback."""

    def fail(_names: object, _namespace: object) -> None:
        raise ZeroDivisionError("a bug\nof two lines")

    monkeypatch.setattr("msjob_cli.commands.validate.check_files", fail)
    outcomes = []
    for given in ([argument for argument in arguments if argument != "--debug"], arguments):
        with CliRunner().isolation() as (_, err, _):
            outcomes.append((run(given), err.getvalue().decode()))

    (code, plain), (debug_code, full) = outcomes
    assert (code, debug_code) == (3, 3)
    assert plain == "error: internal error: ZeroDivisionError: a bug; please report it with the output of --debug\n"
    assert "Traceback (most recent call last)" in full
    assert full.endswith("error: internal error: ZeroDivisionError: a bug\n")


@pytest.mark.parametrize(
    ("terminal", "environment", "coloured"), [(False, {}, False), (True, {}, True), (True, {"NO_COLOR": "1"}, False)]
)
def test_colours_only_on_a_terminal(terminal: bool, environment: dict[str, str], coloured: bool) -> None:  # noqa: FBT001 - parametrized
    """Messages are coloured on a terminal, unless `NO_COLOR` is set, and never in a file or a pipe."""
    reader, writer = pty.openpty() if terminal else os.pipe()
    done = subprocess.run(
        [MSJOB, "synth", "--output", "/dev/null"],
        check=False,
        stdin=subprocess.DEVNULL,
        stderr=writer,
        env={**clean_environment(), "JSII_NODE": "/missing/node", "TERM": "xterm", **environment},
    )
    said = os.read(reader, 10_000)
    for end in (reader, writer):
        os.close(end)

    assert done.returncode == 3
    assert b"error:" in said
    assert (b"\x1b[" in said) == coloured


def test_output_is_utf_8_in_any_locale(tmp_path: Path) -> None:
    """Text beyond ASCII is printed the same where the locale cannot encode it."""
    (tmp_path / "job.yaml").write_text(text(msjob(worker=1, größe=1)), encoding="utf-8")
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

    done = run_program(MSJOB, "validate", "-f", "job.yaml", cwd=tmp_path, env=locale)

    assert (done.returncode, done.stdout) == (1, "job.yaml:8:3: spec.größe: unknown field [schema]\n")


@pytest.mark.parametrize(
    ("arguments", "redirection", "code", "words"),
    [
        ("validate -f -", "<&-", 2, "-: cannot be read: standard input is closed"),
        ("validate -f /missing", "2>&-", 2, ""),
        ("validate -f /missing", "2>/dev/full", 2, ""),
        ("validate --missing", "2>&-", 2, ""),
        ("validate --missing", "2>/dev/full", 2, ""),
        ("render -f -", ">&- 2>&- <&-", 2, ""),
        ("--help", ">/dev/full", 3, "error: cannot write the output: No space left on device"),
        ("--version", ">/dev/full", 3, "error: cannot write the output: No space left on device"),
        ("--help", ">&-", 0, ""),
    ],
)
def test_streams_that_are_closed_or_full(arguments: str, redirection: str, code: int, words: str) -> None:
    """The exit code tells what came of it, though nobody can be told anything else."""
    done = run_program("sh", "-c", f'"$0" {arguments} {redirection}', MSJOB)

    assert done.returncode == code
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr


def test_help_that_nobody_reads() -> None:
    """As for all other output: the exit code is that of a program ended by SIGPIPE."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [MSJOB, "--help"], check=False, stdout=writer, stderr=subprocess.PIPE, env=clean_environment()
    )
    os.close(writer)

    assert (done.returncode, done.stderr) == (141, b"")
