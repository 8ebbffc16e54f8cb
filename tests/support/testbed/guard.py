"""The guard: a process that ends the control plane and removes its files when the process that owns it dies.

It is a process of its own, and not ``PR_SET_PDEATHSIG`` in each child, for four reasons: that signal is sent when the
*thread* that started the child ends, so a control plane started in a helper thread would die with it; it needs code
that runs between fork and exec, which may deadlock in a process with threads; it exists on Linux alone; and nobody
would be left to remove the files. The kernel closes the owner's end of the pipe however the owner ends, SIGKILL too.

The programs are in the guard's process group, which is not that of the terminal: Ctrl-C interrupts the tests, and they
stop the programs in order. One signal to the group reaches programs and whatever they started.

Run as ``python -I -S guard.py FOLDER``, the leader of a process group of its own, with a pipe as standard input. An
owner that cleans up by itself ends it with the rest of the group.
"""

import os
import shutil
import signal
import sys
import time

_SECONDS_TO_REMOVE = 10.0


def main(folder: str) -> None:
    """Wait for the end of the owner; then end the process group and remove the folder.

    Args:
        folder: All files that the owner and its programs have written.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()

    group = os.getpgrp()
    if os.fork():
        while True:  # until the child ends the whole group, this process with it
            signal.pause()
    os.setpgid(0, 0)
    os.killpg(group, signal.SIGKILL)
    deadline = time.monotonic() + _SECONDS_TO_REMOVE
    while os.path.exists(folder) and time.monotonic() < deadline:  # noqa: PTH110 - pathlib would double the start-up
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.05)


if __name__ == "__main__":
    main(sys.argv[1])
