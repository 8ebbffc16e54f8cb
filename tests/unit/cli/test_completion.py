"""Completion as shells and kubectl ask for it, each of them really running."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from msjob_cli.main import COMMANDS
from support.cli import msjob_call
from support.programs import clean_environment, run_program
from support.terminals import Terminal

BIN = Path(sys.executable).parent
SHELLS = ("bash", "zsh", "fish")
pytestmark = pytest.mark.timeout(30)


def installed(shell: str) -> pytest.MarkDecorator:
    """Skip a test where a shell is not installed, which is said in the summary."""
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed here")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment with `msjob` on the PATH, and a home that nobody has set up."""
    kept = {name: value for name, value in clean_environment().items() if not name.startswith(("KUBE", "ZDOTDIR"))}
    return {**kept, "PATH": f"{BIN}:{kept['PATH']}", "HOME": str(tmp_path), "TERM": "dumb", "LC_ALL": "C.UTF-8"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one file to complete."""
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "my-job.yaml").touch()
    return folder


@pytest.fixture
def bash(environment: dict[str, str], folder: Path) -> Iterator[Terminal]:
    """An interactive bash that has loaded the completion."""
    with Terminal("bash", "--norc", "--noprofile", "-i", env=environment, cwd=folder) as terminal:
        settings = "bind 'set show-all-if-ambiguous on' 'set enable-bracketed-paste off' 'set bell-style none'"
        terminal.type(f"{settings}; source <(msjob completion bash); PS1='re''ady> '\r")
        terminal.wait(r"ready> $")
        yield terminal


@pytest.fixture
def zsh(environment: dict[str, str], folder: Path) -> Iterator[Terminal]:
    """An interactive zsh that has loaded the completion, as the help of the command says."""
    with Terminal("zsh", "-f", "-i", env=environment, cwd=folder) as terminal:
        terminal.type("autoload -U compinit; compinit -u; source <(msjob completion zsh); PS1='re''ady> '\r")
        terminal.wait(r"ready> $")
        yield terminal


@installed("bash")
def test_bash_completes_commands_options_and_files(bash: Terminal) -> None:
    """The tab key lists what is possible, and completes what is certain."""
    bash.type("msjob su\t")
    assert {"submit", "suspend"} <= set(bash.wait(r"ready> msjob su$").split())
    bash.type("b\t")
    bash.wait(r"mit $")
    bash.type("-f my\t")
    bash.wait(r"-f my-job.yaml $")
    bash.type("--rep\t")
    bash.wait(r"--replace $")


@installed("zsh")
def test_zsh_completes_commands_options_and_files(zsh: Terminal) -> None:
    """The tab key lists what is possible, with what it does, and completes what is certain."""
    zsh.type("msjob su\t")
    assert "Create MSJobs from files." in zsh.wait(r"suspend +-- Suspend MSJobs")
    zsh.type("b\t")
    zsh.wait(r"mit ")
    zsh.type("-f my\t")
    zsh.wait(r"my-job.yaml ")


@installed("fish")
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("msjob su", ["submit\tCreate MSJobs from files.", "suspend\tSuspend MSJobs: their pods go, the jobs stay."]),
        ("msjob submit --rep", ["--replace\tDelete a job of that name that has ended, with its pods, first."]),
        ("msjob get -o ya", ["yaml"]),
        ("msjob submit -f my", ["my-job.yaml"]),
    ],
)
def test_fish_completes(environment: dict[str, str], folder: Path, line: str, found: list[str]) -> None:
    """Fish lists the same, with what each does."""
    script = f"msjob completion fish | source; complete --do-complete '{line}'"

    done = run_program("fish", "--no-config", "-c", script, env=environment, cwd=folder)

    assert (done.stdout.splitlines(), done.stderr) == (found, "")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_for_its_shell(shell: str) -> None:
    """Each script is printed, and ends well."""
    outcome = msjob_call("completion", shell)

    assert (outcome.code, outcome.err) == (0, "")
    assert f"_MSJOB_COMPLETE={shell}_complete" in outcome.out


def test_the_help_says_where_to_load_it() -> None:
    """Each shell has a line of its own, to be copied."""
    lines = [line.strip() for line in msjob_call("completion", "--help").lines]

    for shell, line in (
        ("bash", "source <(msjob completion bash)"),
        ("zsh", "source <(msjob completion zsh)"),
        ("fish", "msjob completion fish | source"),
    ):
        (found,) = (found for found in lines if found.startswith((f"{shell} ", f"{shell},")))
        assert found.endswith(f" {line}")


def test_another_shell_is_wrong_usage() -> None:
    """A shell that is not known is refused with those that are."""
    outcome = msjob_call("completion", "tcsh")

    assert (outcome.code, outcome.out) == (2, "")
    assert "'bash', 'zsh', 'fish'" in outcome.err


@pytest.mark.parametrize("words", ["msjob why ''", "msjob validate x ''", "msjob get --nonsense x ''"])
@pytest.mark.parametrize("asked", ["bash_complete", "zsh_complete", "fish_complete", "tcsh_complete", "bash"])
def test_what_cannot_be_completed_is_silent(
    environment: dict[str, str], tmp_path: Path, words: str, asked: str
) -> None:
    """No cluster, words that make no sense, a shell that is not known: nothing is printed into the user's line."""
    count = str(len(words.split()) - 1)

    done = run_program(
        BIN / "msjob",
        env={**environment, "_MSJOB_COMPLETE": asked, "COMP_WORDS": words.replace("''", ""), "COMP_CWORD": count},
        cwd=tmp_path,
    )

    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("words", "found", "directive"),
    [
        ([""], [f"{name}\t{says}" for name, says in COMMANDS.items()], 4),
        (["wa"], ["wait\tWait for an MSJob to end, or for another state of it."], 4),
        (["get", "-o", "j"], ["json"], 4),
        (["submit", "-f", ""], [], 0),
        (["why", ""], [], 4),
    ],
)
def test_kubectl_asks_for_words(
    environment: dict[str, str], tmp_path: Path, words: list[str], found: list[str], directive: int
) -> None:
    """What kubectl asks of its plugin: a word a line, then what else the shell may complete."""
    done = run_program(BIN / "kubectl_complete-msjob", *words, env=environment, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [*found, f":{directive}"]


def test_usage_names_the_plugin(environment: dict[str, str]) -> None:
    """Called as a plugin, the program names itself as its user has called it."""
    helped = run_program(BIN / "kubectl-msjob", "get", "--help", env=environment)
    wrong = run_program(BIN / "kubectl-msjob", "get", "--nonsense", env=environment)

    assert helped.stdout.startswith("Usage: kubectl msjob get [OPTIONS] [NAME]...\n")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "Try 'kubectl msjob get --help' for help." in wrong.stderr


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full", ">&- 2>&-"])
@pytest.mark.parametrize("asked", ["kubectl_complete-msjob ''", "_MSJOB_COMPLETE=bash_source msjob"])
def test_an_answer_that_nobody_can_read(asked: str, redirection: str, environment: dict[str, str]) -> None:
    """Is none, and no error that would come into somebody's line."""
    done = run_program("sh", "-c", f"{asked} {redirection}", env=environment)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
