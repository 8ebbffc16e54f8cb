"""The Python environment of the training image, in the cache and not in the checkout: MindSpore takes 2.7 GB."""

import contextlib
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from support.programs import ROOT
from support.testbed.builder import cache_root
from support.testbed.errors import HarnessError
from support.testbed.locking import locked
from support.testbed.progress import Progress, to_stderr

SOURCE = ROOT / "samples" / "training"
"""What the image is made of."""

_REQUIREMENTS = SOURCE / "requirements.txt"
_UV = ROOT / ".venv" / "bin" / "uv"
_LONGEST_INSTALL = 900.0
_WAITING = "another process trains, or installs MindSpore; waiting for it"


def training_environment(progress: Progress = to_stderr) -> Path:
    """Give the virtual environment with what the image has, made if it is not there yet.

    Args:
        progress: Is told what is being done, and how long that takes.

    Raises:
        HarnessError: It cannot be made, or MindSpore cannot be imported from it.
    """
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    digest = hashlib.sha256(_REQUIREMENTS.read_bytes()).hexdigest()[:12]
    folder = cache_root() / "training" / f"py{version}-{digest}"
    stamp = folder / "complete"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder.with_suffix(".lock"), _WAITING, progress):
            if not stamp.exists():
                _make(folder, progress)
                stamp.touch()
    except OSError as error:
        raise HarnessError(
            f"the environment with MindSpore cannot be kept in {folder}: {error}\n"
            "What to do: set MSJOB_CACHE to a folder that this user can write to, with 4 GB free."
        ) from error
    return folder


@contextlib.contextmanager
def exclusive(progress: Progress = to_stderr) -> Iterator[None]:
    """Let one run at a time train on this machine: the port of a MindSpore Scheduler is there once."""
    folder = cache_root() / "training"
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "run.lock", _WAITING, progress):
        yield


def _make(folder: Path, progress: Progress) -> None:
    start = time.monotonic()
    progress(f"installing {_REQUIREMENTS.relative_to(ROOT)} into {folder}: 2.7 GB, a minute or more")
    python = folder / "bin" / "python"
    _run("make the environment", _UV, "venv", "--quiet", "--clear", "--python", sys.executable, folder)
    _run(
        "install MindSpore",
        *(_UV, "pip", "install", "--quiet", "--require-hashes", "--compile-bytecode"),
        *("--python", python, "--requirement", _REQUIREMENTS),
        advice="samples/training/requirements.txt has what there is for Python 3.11; another one may lack a wheel",
    )
    _run(
        "import MindSpore",
        *(python, "-c", "import mindspore"),
        advice="where libgomp.so.1 is missing, install libgomp1, as samples/training/Dockerfile does",
    )
    progress(f"installed MindSpore in {time.monotonic() - start:.0f} s")


def _run(what: str, *command: str | Path, advice: str = "look at what is printed above") -> None:
    try:
        result = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}},
            timeout=_LONGEST_INSTALL,
        )
    except subprocess.TimeoutExpired:
        raise HarnessError(f"it took more than {_LONGEST_INSTALL:.0f} s to {what}") from None
    if result.returncode:
        lines = "\n".join((result.stdout + result.stderr).splitlines()[-15:])
        raise HarnessError(f"it failed to {what}:\n{lines}\nWhat to do: {advice}.")
