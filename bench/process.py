"""The operator as a process of its own, and what it takes of the machine (Linux)."""

import asyncio
import contextlib
import http
import os
import platform
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

READY_SECONDS = 60.0
"""Time the operator has to be ready for jobs."""
_MIB = 1024


class Process:
    """The operator that runs.

    Args:
        pid: of its process.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def tree(self) -> list[int]:
        """Its process and all below it, itself first."""
        found, waiting = [], [self.pid]
        while waiting:
            pid = waiting.pop()
            found.append(pid)
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                with contextlib.suppress(OSError):
                    waiting.extend(int(child) for child in task.read_text().split())
        return found

    def own_memory(self) -> float:
        """PSS of the process alone, in MiB."""
        return self.memory([self.pid])[1]

    def memory(self, pids: list[int] | None = None) -> tuple[float, float]:
        """RSS and PSS in MiB.

        Args:
            pids: of these processes; of all that belong to it by default.
        """
        sums = {"Rss": 0, "Pss": 0}
        for pid in self.tree() if pids is None else pids:
            with contextlib.suppress(OSError):
                for text in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                    key, _, rest = text.partition(":")
                    if key in sums:
                        sums[key] += int(rest.split()[0])
        return sums["Rss"] / _MIB, sums["Pss"] / _MIB

    def cpu(self) -> float:
        """CPU time so far of all processes that run, in seconds."""
        ticks = 0
        for pid in self.tree():
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    async def until_alone(self, timeout_seconds: float = 120.0) -> None:
        """Wait until the construct worker is gone, which an idle operator ends after 30 s.

        Raises:
            RuntimeError: it stays.
        """
        deadline = time.monotonic() + timeout_seconds
        while len(self.tree()) > 1:
            if time.monotonic() > deadline:
                raise RuntimeError(f"the construct worker still runs after {timeout_seconds:g} s")
            await asyncio.sleep(0.2)


@contextlib.contextmanager
def operator(kubeconfig: Path) -> Iterator[Process]:
    """Run the operator, ready for jobs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        probe = f"127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, "-m", "msjob_controller.main", "--kubeconfig", str(kubeconfig), "--log-level", "error"]
    process = subprocess.Popen([*command, "--metrics-bind-address", "0", "--health-probe-bind-address", probe])
    try:
        _wait_ready(f"http://{probe}/readyz")
        yield Process(process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    models = [text for text in Path("/proc/cpuinfo").read_text().splitlines() if text.startswith("model name")]
    return {
        "cpus": os.cpu_count(),
        "cpu": models[0].partition(":")[2].strip() if models else platform.processor(),
        "memory_gib": round(memory / 2**30, 1),
        "system": platform.release(),
        "platform": platform.machine(),
        "python": platform.python_version(),
        "load_before": os.getloadavg(),
    }


def _wait_ready(url: str) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - http, loopback
            if answer.status == http.HTTPStatus.OK:
                return
        time.sleep(0.02)
    raise RuntimeError(f"the operator was not ready in {READY_SECONDS:g} s")
