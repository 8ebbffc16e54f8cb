"""`msjob` as a program of its own, for one user of a cluster."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from support.cli import Outcome
from support.programs import clean_environment

BIN: Final = Path(sys.executable).parent
"""Where `msjob` lies, and `kubectl-msjob` beside it."""


class MsjobProgram:
    """`msjob` as one user calls it.

    Args:
        kubeconfig: Of the user; its context names the namespace.
        folder: The working folder, and the user's home.
    """

    def __init__(self, kubeconfig: Path, folder: Path) -> None:
        self.kubeconfig = kubeconfig
        self.folder = folder

    def __call__(self, *arguments: str | Path, stdin: str = "", timeout: float = 40) -> Outcome:
        """Run it to its end; no traceback may be shown.

        Args:
            *arguments: Its arguments.
            stdin: What it reads from standard input.
            timeout: Seconds it may take.
        """
        done = subprocess.run(
            [BIN / "msjob", *arguments],
            check=False,
            capture_output=True,
            text=True,
            input=stdin,
            cwd=self.folder,
            env=self.environment(),
            timeout=timeout,
        )
        return checked(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str | Path) -> "Started":
        """Start it, to look at what it prints meanwhile and to press Ctrl-C."""
        return Started([BIN / "msjob", *arguments], self.folder, self.environment())

    def environment(self) -> dict[str, str]:
        """The environment of the user."""
        kept = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
        clean = {name: value for name, value in clean_environment().items() if not name.startswith("KUBE")}
        path = f"{BIN}:{clean['PATH']}"
        return {**clean, **kept, "PATH": path, "HOME": str(self.folder), "KUBECONFIG": str(self.kubeconfig)}


class Started:
    """A program that runs; killed when the `with` block is left.

    Args:
        command: The program and its arguments.
        folder: Its working folder.
        environment: Its environment.

    Attributes:
        out: Lines of standard output so far.
        err: Lines of standard error so far.
    """

    def __init__(self, command: list[str | Path], folder: Path, environment: dict[str, str]) -> None:
        self.out: list[str] = []
        self.err: list[str] = []
        self._program = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        self._readers = [self._read(self._program.stdout, self.out), self._read(self._program.stderr, self.err)]

    def wait_for(self, true: Callable[[], object], timeout: float = 20) -> None:
        """Wait until something is true, while the program runs or after its end.

        Args:
            true: Such as `lambda: "ready" in program.out`.
            timeout: Seconds.
        """
        deadline = time.monotonic() + timeout
        while not true():
            assert time.monotonic() < deadline, f"out: {self.out}\nerr: {self.err}"
            time.sleep(0.02)

    def wait_shown(self, pattern: str, timeout: float = 20) -> None:
        """Wait until a line of either output matches a regular expression."""
        self.wait_for(lambda: any(re.search(pattern, line) for line in [*self.out, *self.err]), timeout)

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        os.killpg(self._program.pid, signal.SIGINT)

    def ended(self, timeout: float = 20) -> Outcome:
        """Wait for its end, and give all that it printed."""
        code = self._program.wait(timeout)
        for reader in self._readers:
            reader.join(timeout)
        return checked(code, *("".join(f"{line}\n" for line in lines) for lines in (self.out, self.err)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._program.poll() is None:
            self._program.kill()
        self._program.wait()
        for reader in self._readers:
            reader.join()
        for stream in (self._program.stdout, self._program.stderr):
            if stream is not None:
                stream.close()

    @staticmethod
    def _read(stream: IO[str] | None, lines: list[str]) -> threading.Thread:
        assert stream is not None

        def read() -> None:
            lines.extend(line.removesuffix("\n") for line in stream)

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        return thread


def checked(code: int, out: str, err: str) -> Outcome:
    """What a call gave, once it is certain that no bug of the program showed."""
    assert "Traceback" not in out + err, err
    assert "internal error" not in err, err
    assert "Exception" not in err, err
    return Outcome(code, out, err)
