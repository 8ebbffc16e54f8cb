"""Run a container with runc, and look into it."""

import json
import os
import secrets
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from support.image.oci import Json


class Container:
    """A container. Use it with ``with``.

    Args:
        folder: for the files of all containers.
        config: what it is to be, see `support.image.oci.config`.
        name: the first part of its id.
    """

    def __init__(self, folder: Path, config: Json, name: str = "container") -> None:
        self.id = f"ms-operator-test-{name}-{secrets.token_hex(4)}"
        self._runtime = ["runc", "--root", str(folder / "runc")]
        self.bundle = folder / "bundles" / self.id
        self.bundle.mkdir(parents=True)
        (self.bundle / "config.json").write_text(json.dumps(config))
        self._log = self.bundle / "log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*self._runtime, "run", "--bundle", self.bundle, self.id],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def text(self) -> str:
        """All that it has printed."""
        return self._log.read_text(errors="replace")

    def pid(self) -> int:
        """The process id of its first process, as this machine has it."""
        return int(json.loads(self._command("state", self.id))["pid"])

    def status(self) -> dict[str, str]:
        """What the kernel knows of that process: ``/proc/PID/status``."""
        lines = Path(f"/proc/{self.pid()}/status").read_text().splitlines()
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}

    def peak_memory(self) -> int:
        """Most memory that it has used at a time, in bytes; what it has in memory file systems counts, too."""
        groups = Path(f"/proc/{self.pid()}/cgroup").read_text().splitlines()
        for _, controllers, path in (line.split(":", 2) for line in groups):
            for file in (
                Path("/sys/fs/cgroup/memory", path.lstrip("/"), "memory.max_usage_in_bytes"),
                Path("/sys/fs/cgroup", path.lstrip("/"), "memory.peak"),
            ):
                if controllers in ("", "memory") and file.exists():
                    return int(file.read_text())
        raise FileNotFoundError(f"no cgroup tells the memory of {self.id}: {groups}")

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to its first process, as a kubelet does."""
        self._command("kill", self.id, number.name)

    def wait(self, timeout: float = 30) -> int:
        """Wait until it has ended, and give its exit code."""
        return self._process.wait(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        subprocess.run([*self._runtime, "delete", "--force", self.id], check=False, capture_output=True)
        self._process.wait(20)

    def _command(self, *arguments: str) -> str:
        done = subprocess.run([*self._runtime, *arguments], check=False, capture_output=True, text=True)
        assert done.returncode == 0, f"runc {' '.join(arguments)}: {done.stderr}{self.text()}"
        return done.stdout


Run = Callable[..., Container]
"""Starts a container of the image, see the fixture ``run``."""


def image_environment(config: Json) -> dict[str, str]:
    """The environment that an image asks for."""
    return dict(item.split("=", 1) for item in config["config"].get("Env") or [])


def image_user(config: Json) -> tuple[int, int]:
    """The numeric user and group that an image asks for."""
    uid, gid = config["config"]["User"].split(":")
    return int(uid), int(gid)


def give(folder: Path, owner: tuple[int, int], files: dict[str, str]) -> Path:
    """Make a folder with files that only their owner reads, as a kubelet makes volumes for one user.

    Returns:
        The folder.
    """
    folder.mkdir(parents=True)
    for name, text in files.items():
        path = folder / name
        path.write_text(text)
        path.chmod(0o600)
        os.chown(path, *owner)
    return folder
