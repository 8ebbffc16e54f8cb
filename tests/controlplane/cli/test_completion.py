"""Names of jobs are completed from the cluster, fast, and whatever goes wrong without a word."""

import secrets
import shutil
import socket
import time
from pathlib import Path

import pytest

from support.live_jobs import Jobs
from support.msjob_program import BIN, MsjobProgram
from support.programs import run_program
from support.terminals import Terminal
from support.testbed.controlplane import ControlPlane
from support.testbed.kubeconfig import write_kubeconfig

pytestmark = pytest.mark.usefixtures("operator")
SETTINGS = "bind 'set show-all-if-ambiguous on' 'set enable-bracketed-paste off'; PS1='re''ady> '"


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed here")
def test_bash_completes_names(msjob: MsjobProgram, jobs: Jobs) -> None:
    """The tab key completes the name of a job; one that stands in the line already is not offered again."""
    jobs.create(scheduler=None, worker=1)
    jobs.create(name="resnet", scheduler=None, worker=1)
    environment = {**msjob.environment(), "TERM": "dumb"}
    with Terminal("bash", "--norc", "--noprofile", "-i", env=environment, cwd=msjob.folder) as bash:
        bash.type(f"{SETTINGS}; source <(msjob completion bash)\r")
        bash.wait(r"ready> $")
        bash.type("msjob suspend tr\t")
        bash.wait(r"train $")
        bash.type("\t")
        bash.wait(r"resnet $")


def test_a_cluster_that_does_not_answer_costs_seconds(control_plane: ControlPlane, tmp_path: Path) -> None:
    """A server that takes the connection and says nothing is given up, in silence."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = f"https://127.0.0.1:{silent.getsockname()[1]}"
        path = write_kubeconfig(
            tmp_path / "silent", server=server, ca_file=control_plane.ca_file, token=secrets.token_hex(8)
        )
        program = MsjobProgram(path, tmp_path)
        environment = {**program.environment(), "_MSJOB_COMPLETE": "bash_complete", "COMP_CWORD": "2"}
        started = time.monotonic()
        done = run_program(BIN / "msjob", env={**environment, "COMP_WORDS": "msjob why "}, cwd=tmp_path)

    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")
    assert time.monotonic() - started < 12
