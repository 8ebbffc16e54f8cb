"""What a user reads when there is no cluster, no way into it, or no MSJobs in it: one line, and exit code 3."""

import secrets
import socket
import time
from pathlib import Path

import pytest

from support.msjob_program import BIN, MsjobProgram
from support.programs import run_program
from support.testbed.binaries import find_binaries
from support.testbed.controlplane import ControlPlane
from support.testbed.kubeconfig import write_kubeconfig
from support.testbed.waiting import wait_for

COMMANDS = [
    ["get"],
    ["get", "a", "b"],
    ["get", "-w"],
    ["wait", "train"],
    ["why", "train"],
    ["logs", "train", "-f"],
    ["suspend", "a", "b"],
    ["resume", "train"],
    ["restart", "train"],
    ["scale", "train", "--replicas", "2"],
    ["delete", "a", "b"],
]


def one_line(program: MsjobProgram, *arguments: str) -> str:
    """The one line that a call fails with."""
    outcome = program(*arguments)
    assert (outcome.code, outcome.out) == (3, ""), arguments
    assert len(outcome.err.splitlines()) == 1, outcome.err
    assert outcome.err.startswith("error: "), outcome.err
    return outcome.err


@pytest.fixture
def nowhere(control_plane: ControlPlane, tmp_path: Path) -> MsjobProgram:
    """`msjob` with a kubeconfig whose server does not answer: nothing listens at its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = write_kubeconfig(
        tmp_path / "kubeconfig",
        server=f"https://127.0.0.1:{port}",
        ca_file=control_plane.ca_file,
        token=secrets.token_hex(8),
    )
    return MsjobProgram(path, tmp_path)


@pytest.mark.parametrize("arguments", [COMMANDS[0], COMMANDS[6], COMMANDS[3], COMMANDS[5]], ids=" ".join)
def test_no_answer(nowhere: MsjobProgram, arguments: list[str]) -> None:
    """The server is named, once also for several jobs, and it takes some seconds at most."""
    started = time.monotonic()

    said = one_line(nowhere, *arguments)

    assert "does not answer" in said
    assert "127.0.0.1" in said
    assert time.monotonic() - started < 20


def test_no_kubeconfig(tmp_path: Path) -> None:
    """Where nothing says how to reach a cluster, the places that were looked at are named."""
    done = run_program("env", "-u", "KUBECONFIG", BIN / "msjob", "get", env={"HOME": str(tmp_path)}, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("error: no way to reach a cluster: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_broken_kubeconfig(nowhere: MsjobProgram) -> None:
    """A context that is not there, a file that is none, a file that is not there: each names what is wrong."""
    assert "nonsense" in one_line(nowhere, "get", "--context", "nonsense")
    broken = nowhere.folder / "broken"
    broken.write_text("a: [1\n")
    assert "broken" in one_line(nowhere, "get", "--kubeconfig", "broken")
    missing = nowhere("get", "--kubeconfig", "missing")
    assert (missing.code, missing.out) == (2, "")
    assert "missing" in missing.err


def test_credentials_that_are_not_accepted(control_plane: ControlPlane, tmp_path: Path) -> None:
    """A token that has expired or is of another cluster is told so."""
    path = write_kubeconfig(
        tmp_path / "kubeconfig", server=control_plane.server, ca_file=control_plane.ca_file, token=secrets.token_hex(8)
    )

    said = one_line(MsjobProgram(path, tmp_path), "suspend", "a", "b")

    assert "Unauthorized" in said


def test_a_namespace_that_is_not_there(admin_msjob: MsjobProgram) -> None:
    """It has no jobs, as for kubectl; a job in it is not found, and the namespace is named."""
    listed = admin_msjob("get", "-n", "nowhere")

    assert (listed.code, listed.out, listed.err) == (0, "", "No resources found in nowhere namespace.\n")
    assert "namespace nowhere" in one_line(admin_msjob, "wait", "train", "-n", "nowhere")


@pytest.mark.parametrize("name", ["Train", "a_b", "-", "pod/train", "team/train", "a b", "x" * 254, ""])
def test_what_is_no_name(nowhere: MsjobProgram, name: str) -> None:
    """It is wrong usage before a cluster is asked: exit code 2, and the name is shown."""
    for command in (["why"], ["get"], ["delete"]):
        outcome = nowhere(*command, "--", name)

        assert (outcome.code, outcome.out) == (2, "")
        assert "Error: Invalid value for" in outcome.err


def test_a_cluster_without_msjobs(tmp_path: Path) -> None:
    """Every command says that they are not installed, once, and how to install them."""
    with ControlPlane(binaries=find_binaries()) as bare:
        msjob = MsjobProgram(bare.kubeconfig, tmp_path)
        wait_for(lambda: msjob("get").code == 3, 20)
        said = {one_line(msjob, *arguments) for arguments in COMMANDS if arguments[0] != "why"}
        why = msjob("why", "train")

    assert all("kubectl apply -f dist/" in line for line in said)
    assert why.code == 3
    assert "kubectl apply -f dist/" in why.out + why.err
