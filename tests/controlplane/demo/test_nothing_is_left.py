"""Whatever ends the demo: no process is left, no file, no mount, no port."""

import os
import signal
from pathlib import Path

import pytest

from support.demo import demo
from support.programs import is_running
from support.testbed.waiting import wait_for

pytestmark = [
    pytest.mark.timeout(180),  # a control plane of its own
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="whose a process is only Linux tells so"),
]

RUNNING = "Running     Workers 4/4"
"""What the demo prints in the middle, when all programs run: those of the cluster, the operator, kubectl and msjob."""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "SIGTERM"])
def test_interrupted_in_the_middle(number: signal.Signals, code: int) -> None:
    """Ctrl-C and SIGTERM end the demo in order and without a traceback; the exit code tells by what."""
    with demo() as running:
        running.wait_text(RUNNING)
        running.signal(number)
        assert running.wait() == code, running.text
        assert running.left() == []

    assert "Traceback" not in running.text


def test_interrupted_from_a_terminal() -> None:
    """Ctrl-C reaches make, the demo and all else in the process group at once; pressed again, it cuts nothing short."""
    with demo(make=True) as running:
        running.wait_text(RUNNING)
        running.signal(signal.SIGINT, everyone=True)
        running.signal(signal.SIGINT, everyone=True)
        running.wait()
        running.wait_gone()

    assert "Traceback" not in running.text


def test_killed_in_the_middle() -> None:
    """SIGKILL, of which the demo knows nothing: the guard ends all it started, the operator's Node.js too."""
    with demo() as running:
        running.wait_text(RUNNING)
        programs = running.programs()
        running.signal(signal.SIGKILL)
        running.wait()
        running.wait_gone()

    started = (
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kwok",
        "ms-operator",
        "msjob wait",
    )
    assert [name for name in started if not any(name in command for command in programs.values())] == []
    wait_for(lambda: not any(map(is_running, programs)), 10, what=f"{programs} to end")


def test_make_is_killed_in_the_middle() -> None:
    """SIGKILL of make, which cannot tell the demo: it ends by itself."""
    with demo(make=True) as running:
        running.wait_text(RUNNING)
        running.signal(signal.SIGKILL)
        running.wait()
        running.wait_gone()


@pytest.mark.parametrize("program", ["etcd", "kube-apiserver", "kwok", "ms-operator"])
def test_killed_while_it_starts(program: str) -> None:
    """SIGKILL at the moment at which a program starts."""
    with demo() as running:
        running.wait_program(f"/{program} ")
        running.signal(signal.SIGKILL)
        running.wait()
        running.wait_gone()


@pytest.mark.parametrize("program", ["etcd", "kube-apiserver", "kube-controller-manager"])
def test_a_program_is_killed(program: str) -> None:
    """The demo says at once which one has ended, not which others suffer from it, and ends."""
    with demo() as running:
        running.wait_text(RUNNING)
        (victim,) = (number for number, command in running.programs().items() if f"/{program} " in command)
        os.kill(victim, signal.SIGKILL)
        assert running.wait() == 3, running.text
        running.wait_gone()

    assert f"demo: {program} was ended by SIGKILL." in running.text


def test_the_guard_is_killed() -> None:
    """The demo does not go on without it."""
    with demo() as running:
        running.wait_text(RUNNING)
        (victim,) = (number for number, command in running.programs().items() if "/guard.py " in command)
        os.kill(victim, signal.SIGKILL)
        assert running.wait() == 3, running.text
        running.wait_gone()

    assert "demo: the guard, which ends all programs" in running.text


def test_output_that_nobody_reads() -> None:
    """A reader that leaves, such as `| head`, ends the demo, with the exit code of all that nobody reads any more."""
    with demo(lines=3) as running:
        assert running.wait() == 141, running.text
        assert running.left() == []

    assert "Traceback" not in running.text
