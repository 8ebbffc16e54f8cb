"""A program on a terminal of its own, typed at by the test."""

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

_ESCAPES: Final = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\a]*\a|[()=>][0-9A-Za-z]?|[a-zA-Z])|[\r\a\b]")
"""What moves the cursor, sets titles and colours, or rings."""

_ON_ITS_TERMINAL: Final = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"
)
"""Makes the terminal that of the session, as a terminal emulator does, so that Ctrl-C reaches the program."""


class Terminal:
    """A program that runs on a pseudo terminal, ended when the `with` block is left.

    Args:
        *command: The program and its arguments.
        env: Its environment.
        cwd: Its folder.
    """

    def __init__(self, *command: str | Path, env: Mapping[str, str], cwd: Path) -> None:
        self._master, slave = pty.openpty()
        self._program = subprocess.Popen(
            [sys.executable, "-c", _ON_ITS_TERMINAL, *command],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
        )
        os.close(slave)
        self._seen = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._program.pid, signal.SIGKILL)
        self._program.wait()
        os.close(self._master)

    @property
    def raw(self) -> str:
        """What was shown since keys were pressed last, with all that moves the cursor and sets colours."""
        return self._seen

    def type(self, text: str) -> None:
        r"""Press keys: `\t` is the tab key, `\r` the enter key, `\x03` Ctrl-C."""
        self._seen = ""
        os.write(self._master, text.encode())

    def wait(self, pattern: str, timeout: float = 20) -> str:
        """Wait until what was shown since keys were pressed last matches a regular expression.

        Args:
            pattern: To be found in it, without what moves the cursor and sets colours.
            timeout: Seconds to wait.

        Returns:
            All that was shown.

        Raises:
            AssertionError: It does not.
        """
        deadline = time.monotonic() + timeout
        while not re.search(pattern, shown := _ESCAPES.sub("", self._seen)):
            left = deadline - time.monotonic()
            assert left > 0, f"the terminal does not show {pattern!r}, but {shown!r}"
            if select.select([self._master], [], [], left)[0]:
                try:
                    self._seen += os.read(self._master, 65_536).decode(errors="replace")
                except OSError as error:  # Linux says so when the program has ended
                    raise AssertionError(f"the program has ended; it showed {shown!r}, not {pattern!r}") from error
        return shown
