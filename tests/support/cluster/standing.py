"""A cluster that stays up until it is told to go: ``make cluster-up`` and ``make cluster-down``.

Its API server is reached from the machine at a port of 127.0.0.1. Of its files on the machine one folder alone is at a
known place; it holds kubeconfig, process id and log.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from support.cluster import forward
from support.cluster.cluster import Cluster
from support.cluster.images import CORE, wanted
from support.cluster.places import ADDRESS
from support.programs import ROOT
from support.testbed.builder import cache_root
from support.testbed.errors import HarnessError, WaitTimeoutError
from support.testbed.kubeconfig import write_kubeconfig
from support.testbed.progress import Progress
from support.testbed.waiting import wait_for

_ABOVE_THE_SHELLS: Final = 20
"""A descriptor that the shell between here and there does not take for its own files."""

_SECONDS_TO_STOP: Final = 30.0


def up(progress: Progress) -> None:
    """Start the cluster, and leave it running.

    Args:
        progress: Is told what happens.

    Raises:
        HarnessError: It runs already, or does not start; with what it printed.
    """
    if os.geteuid():
        raise HarnessError("a cluster needs root: sudo make cluster-up")
    if _running():
        raise HarnessError(f"the cluster runs already: export KUBECONFIG={kubeconfig()}")
    shutil.rmtree(_folder(), ignore_errors=True)
    _folder().mkdir(mode=0o700, parents=True)
    log_file = _folder() / "log"
    with socket.create_server(("127.0.0.1", 0)) as listener, log_file.open("w") as log:
        descriptor = fcntl.fcntl(listener, fcntl.F_DUPFD, _ABOVE_THE_SHELLS)
        process = subprocess.Popen(
            ["sh", ROOT / "tools" / "cluster.sh", sys.executable, "-m", "support.cluster", "serve", str(descriptor)],  # noqa: S607 - sh is where the system has it
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(descriptor,),
            start_new_session=True,
        )
        os.close(descriptor)
    try:
        (_folder() / "pid").write_text(str(process.pid))
        _wait_up(process, log_file, progress)
    except BaseException:
        process.terminate()  # it ends what it has started, and itself then
        process.wait()
        shutil.rmtree(_folder(), ignore_errors=True)
        raise


def _wait_up(process: subprocess.Popen[bytes], log_file: Path, progress: Progress) -> None:
    """Wait until it is there, and hand on what it says meanwhile."""
    told = 0
    while True:
        there, ended = kubeconfig().exists(), process.poll() is not None
        lines = log_file.read_text().split("\n")[:-1]
        for line in lines[told:]:
            progress(line.removeprefix("testbed: "))
        told = len(lines)
        if ended:
            raise HarnessError("the cluster did not start")
        if there:
            return
        time.sleep(0.2)


def down() -> bool:
    """Stop the cluster and remove all that it left.

    Returns:
        Whether there was one.

    Raises:
        HarnessError: It does not end.
    """
    process = _running()
    if process is not None:
        os.kill(process, signal.SIGTERM)
        try:
            wait_for(lambda: _running() is None, _SECONDS_TO_STOP)
        except WaitTimeoutError as error:
            raise HarnessError(
                f"the cluster (process {process}) has not ended after {_SECONDS_TO_STOP:.0f} s.\n"
                f"What to do: kill -9 {process}, and make cluster-down again."
            ) from error
    there = _folder().exists()
    shutil.rmtree(_folder(), ignore_errors=True)
    return there


def serve(descriptor: int, progress: Progress) -> None:
    """Be the cluster, inside of its namespaces, until killed.

    Args:
        descriptor: A socket of the machine's network, which listens.
        progress: Is told what happens.
    """
    listener = socket.socket(fileno=descriptor)
    with Cluster(progress=progress) as cluster:
        images = wanted(CORE).values()
        cluster.load(images)
        progress(f"the node has {', '.join(image.ref for image in images)}")
        control_plane = cluster.control_plane
        host, port = control_plane.server.removeprefix("https://").split(":")
        forward.serve(listener, host, int(port))
        unfinished = write_kubeconfig(
            kubeconfig().with_suffix(".unfinished"),
            server=f"https://127.0.0.1:{listener.getsockname()[1]}",
            ca_file=control_plane.ca_file,
            token=control_plane.admin.token,
            server_name=ADDRESS,
        )
        unfinished.rename(kubeconfig())
        signal.pause()


def kubeconfig() -> Path:
    """The kubeconfig of the administrator, while the cluster runs."""
    return _folder() / "kubeconfig"


def _folder() -> Path:
    return cache_root() / "cluster" / "up"


def _running() -> int | None:
    """The process id of the cluster; None if none runs."""
    with contextlib.suppress(OSError, ValueError):
        process = int((_folder() / "pid").read_text())
        if b"cluster.sh" in Path(f"/proc/{process}/cmdline").read_bytes():
            return process
    return None
