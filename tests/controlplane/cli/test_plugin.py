"""`kubectl msjob`: kubectl finds the program, hands over words and rights, and asks it for completions."""

import subprocess

import pytest

from support.live_jobs import Jobs
from support.msjob_program import BIN, MsjobProgram
from support.testbed.controlplane import ControlPlane

pytestmark = pytest.mark.usefixtures("operator")
FULL = "msjob.mindspore.gitee.com/train"


@pytest.fixture
def kubectl(control_plane: ControlPlane, msjob: MsjobProgram) -> "Plugin":
    """The kubectl of the control plane for a user who is bound to `edit`."""
    return Plugin(control_plane, msjob)


class Plugin:
    """kubectl with `kubectl-msjob` on the PATH."""

    def __init__(self, control_plane: ControlPlane, msjob: MsjobProgram) -> None:
        self._program = control_plane.binaries.kubectl
        self._msjob = msjob

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        return subprocess.run(
            [self._program, *arguments],
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            cwd=self._msjob.folder,
            env=self._msjob.environment(),
            timeout=40,
        )


def test_kubectl_lists_the_plugin(kubectl: Plugin) -> None:
    """The plugin is there, and nothing is in its way."""
    done = kubectl("plugin", "list")

    assert f"{BIN / 'kubectl-msjob'}" in done.stdout.splitlines()
    assert "kubectl-msjob" not in done.stderr


def test_it_is_the_same_program(kubectl: Plugin, msjob: MsjobProgram, jobs: Jobs) -> None:
    """Output and exit codes are those of `msjob`; usage names the plugin as it is called."""
    jobs.create(scheduler=None, worker=1)
    jobs.run(1)

    assert kubectl("msjob", "get", "-o", "name").stdout == f"{FULL}\n"
    assert kubectl("msjob", "wait", "train", "--for=running", "-q").stdout == f"{FULL} running\n"
    assert kubectl("msjob", "suspend", "train").stdout == f"{FULL} suspended\n"
    missing = kubectl("msjob", "why", "nothing")
    assert missing.returncode == msjob("why", "nothing").code == 3
    wrong = kubectl("msjob", "wait")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("Usage: kubectl msjob wait [OPTIONS] NAME\n")


def test_kubectl_completes_its_words(kubectl: Plugin, jobs: Jobs) -> None:
    """What kubectl gives a shell to complete: commands, values of options and names of jobs, and no files."""
    jobs.create(scheduler=None, worker=1)
    jobs.create(name="try", scheduler=None, worker=1)
    jobs.create(name="other", scheduler=None, worker=1)
    for name in ("train", "try", "other"):
        jobs.wait_state("Created", name)

    def completed(*words: str) -> list[str]:
        *lines, directive = kubectl("__complete", "msjob", *words).stdout.splitlines()
        assert directive == ":4"
        return lines

    assert completed("su") == [
        "submit\tCreate MSJobs from files.",
        "suspend\tSuspend MSJobs: their pods go, the jobs stay.",
    ]
    assert completed("why", "tr") == ["train\tCreated", "try\tCreated"]
    assert completed("delete", "train", "tr") == ["try\tCreated"]
    assert completed("get", "-o", "w") == ["wide"]
    assert completed("why", "-n", "nowhere", "") == []
