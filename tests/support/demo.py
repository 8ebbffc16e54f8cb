"""The demo as a process of its own, and what it leaves."""

import itertools
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.programs import ROOT, clean_environment
from support.testbed.waiting import wait_for

PATIENCE = 90.0
"""Seconds that one step of the demo may take on a machine that has much else to do."""


class Demo:
    """A demo that runs.

    Args:
        folder: For its temporary files, and for nothing else.
        arguments: Of the demo, or with ``make`` of make.
        make: Start it as people do, with make.
        lines: After so many, nobody reads what it prints.
    """

    def __init__(self, folder: Path, *arguments: str, make: bool = False, lines: int | None = None) -> None:
        self.folder = folder
        self._limit = lines
        command = ["make", "--no-print-directory", "demo"] if make else [sys.executable, "-m", "demo"]
        self.process = subprocess.Popen(
            [*command, *arguments],
            cwd=ROOT,
            env={
                **{name: value for name, value in clean_environment().items() if not name.startswith("MAKE")},
                "PYTHONPATH": "tests:tools",
                "TMPDIR": str(folder),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def text(self) -> str:
        """All that it has printed."""
        return "".join(self._lines)

    def wait_text(self, text: str) -> None:
        """Wait until it has printed something."""

        def look() -> bool:
            assert text in self.text or self.process.poll() is None, self.text
            return text in self.text

        wait_for(look, PATIENCE, what=f"the demo to print {text!r}")

    def wait_program(self, name: str) -> None:
        """Wait until a program of it runs."""
        wait_for(lambda: any(name in command for command in self.programs().values()), PATIENCE, what=f"{name} to run")

    def wait(self) -> int:
        """Wait until it has ended, and give its exit code."""
        code = self.process.wait(PATIENCE)
        self._reader.join(10)
        return code

    def programs(self) -> dict[int, str]:
        """Command lines of all processes that it started, by process id: they have its folder in their environment."""
        found = {}
        for place in Path("/proc").glob("[0-9]*"):
            try:
                if str(self.folder).encode() in (place / "environ").read_bytes():
                    command = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    found[int(place.name)] = command.strip()
            except OSError:  # ended, or another user's
                continue
        return {process_id: command for process_id, command in found.items() if command}

    def left(self) -> list[str]:
        """What there is of it: processes, with whatever ports they hold, files and mounts."""
        table = Path("/proc/mounts")
        mounts = [line for line in table.read_text().splitlines() if str(self.folder) in line] if table.exists() else []
        return [*self.programs().values(), *mounts, *map(str, self.folder.iterdir())]

    def wait_gone(self) -> None:
        """Wait until nothing is left of it."""
        wait_for(lambda: not self.left(), 20, what=f"the demo to be gone, of which there is {self.left()}")

    def signal(self, number: signal.Signals, *, everyone: bool = False) -> None:
        """Send it a signal.

        Args:
            number: Which.
            everyone: As a terminal does it: to make, the demo and all in their process group.
        """
        if everyone:
            os.killpg(self.process.pid, number)
        else:
            self.process.send_signal(number)

    def _read(self) -> None:
        if self.process.stdout is None:
            return
        with self.process.stdout as lines:
            for line in itertools.islice(lines, self._limit):
                self._lines.append(line)


@contextmanager
def demo(*arguments: str, make: bool = False, lines: int | None = None) -> Iterator[Demo]:
    """Run a demo, which a test that fails does not leave behind."""
    # Where pytest puts temporary files, paths are too long for sockets.
    with tempfile.TemporaryDirectory(prefix="demo-") as folder:
        running = Demo(Path(folder), *arguments, make=make, lines=lines)
        try:
            yield running
        finally:
            if running.process.poll() is None:
                os.killpg(running.process.pid, signal.SIGKILL)
                running.process.wait()
