"""Programs that never outlive the process that started them, nor the folder they write to."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from support.testbed import guard
from support.testbed.errors import HarnessError

_LONGEST_TMPDIR = 50
"""The path of a Unix socket has at most 104 bytes on macOS and 108 on Linux; the other half is for folder and name."""


class Program:
    """A running program.

    Attributes:
        name: What it is called in messages and in the name of its log.
        log: The file with all that it printed, over all its starts.
        process: The process, a child of this one.
    """

    def __init__(self, name: str, log: Path, process: subprocess.Popen[bytes]) -> None:
        self.name = name
        self.log = log
        self.process = process

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def stop(self, *, kill: bool = False, timeout: float = 20) -> None:
        """End it and wait until it has ended; does nothing when it has.

        Args:
            kill: Send SIGKILL at once, as a crash, and not SIGTERM first.
            timeout: Seconds after SIGTERM after which SIGKILL follows.
        """
        if self.running and not kill:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout)
        if self.running:
            self.process.kill()
        self.process.wait()

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal, such as SIGSTOP."""
        self.process.send_signal(number)

    def tail(self, lines: int = 15) -> str:
        """Give the last lines of its log."""
        with self.log.open(errors="replace") as log:
            return "".join(deque(log, maxlen=lines))

    def check(self) -> None:
        """Check that it is running.

        Raises:
            HarnessError: It has ended; with the last lines of its log.
        """
        code = self.process.poll()
        if code is not None:
            how = f"ended with exit code {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"
            raise HarnessError(f"{self.name} {how}. The last lines of its log ({self.log}):\n{self.tail()}")


class ProgramGroup:
    """A folder and the programs that write to it; both end with this process, at the latest.

    Attributes:
        folder: A fresh folder that only this user can read. It is removed in the end.
        logs: The folder of the logs, inside it.
    """

    def __init__(self, prefix: str = "ms-operator-testbed-") -> None:
        self._prefix = prefix
        self._guard: subprocess.Popen[bytes] | None = None
        self._programs: list[Program] = []
        self.folder = Path()
        self.logs = Path()

    def open(self) -> Self:
        """Make the folder and start the guard."""
        base = tempfile.gettempdir()
        if len(base) > _LONGEST_TMPDIR:
            base = "/tmp"  # noqa: S108 - mkdtemp makes a folder that is safe there
        self.folder = Path(tempfile.mkdtemp(prefix=self._prefix, dir=base))
        try:
            self.logs = self.folder / "logs"
            self.logs.mkdir()
            self._guard = subprocess.Popen(
                [sys.executable, "-I", "-S", guard.__file__, str(self.folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                process_group=0,
            )
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        return self

    def start(
        self,
        name: str,
        command: Sequence[str | Path],
        env: Mapping[str, str] | None = None,
        *,
        cwd: Path | None = None,
    ) -> Program:
        """Start a program in the folder.

        Args:
            name: What to call it; its output is added to ``<name>.log``.
            command: The program and its arguments.
            env: Its whole environment; that of this process by default.
            cwd: The folder to start it in, if not that one.

        Raises:
            HarnessError: It cannot be started.
        """
        if self._guard is None:
            raise HarnessError(f"{name} cannot be started: the group of programs is not open")
        path = self.logs / f"{name}.log"
        try:
            with path.open("ab") as log:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=cwd or self.folder,
                    env=env,
                    process_group=self._guard.pid,
                )
        except OSError as error:
            raise HarnessError(f"{name} cannot be started: {error}") from error
        program = Program(name, path, process)
        self._programs.append(program)
        return program

    def check(self, *, but: str = "") -> None:
        """Check that all run; of one that was started anew, the latest start counts.

        Args:
            but: The name of one that may have ended.

        Raises:
            HarnessError: One has ended, the one that was started first if several have: others end because of it.
        """
        for name, program in {program.name: program for program in self._programs}.items():
            if name != but:
                program.check()
        if self._guard is not None and self._guard.poll() is not None:
            raise HarnessError("the guard, which ends all programs should this one be killed, has ended itself")

    @property
    def process_group(self) -> int:
        """The process group of the programs, for one that is started in another way and is to end with them.

        Raises:
            HarnessError: The group is not open.
        """
        if self._guard is None:
            raise HarnessError("the group of programs is not open")
        return self._guard.pid

    @property
    def process_ids(self) -> dict[str, int]:
        """The process ids of the programs, by name, and of the guard."""
        ids = {program.name: program.process.pid for program in self._programs}
        return ids if self._guard is None else {**ids, "guard": self._guard.pid}

    def close(self) -> None:
        """End all programs at once, the latest started first, then remove the folder and end the guard."""
        for program in reversed(self._programs):
            program.stop(kill=True)
        self._programs.clear()
        if self._guard is None:
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        # The guard, what the programs started, and one whose start an interrupt cut short.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._guard.pid, signal.SIGKILL)
        if self._guard.stdin is not None:
            self._guard.stdin.close()
        self._guard.wait()
        self._guard = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
