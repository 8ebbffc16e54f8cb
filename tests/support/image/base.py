"""The base image where none can be pulled: Debian 12 with its Python, from Debian's packages."""

import hashlib
import os
import platform
import subprocess
import time
from collections import deque
from pathlib import Path
from typing import Final

from support.testbed.builder import cache_root
from support.testbed.errors import HarnessError
from support.testbed.locking import locked
from support.testbed.progress import Progress

SUITE: Final = "bookworm"
RECIPE: Final = (
    "--variant=minbase",
    "--include=python3,python3-venv,ca-certificates",
    # Nothing in an image reads them; licences stay.
    "--dpkgopt=path-exclude=/usr/share/man/*",
    "--dpkgopt=path-exclude=/usr/share/locale/*",
    "--dpkgopt=path-exclude=/usr/share/doc/*",
    "--dpkgopt=path-include=/usr/share/doc/*/copyright",
)

_NEWS_EVERY: Final = 20.0
_LINES_SHOWN: Final = 15


def base_name() -> str:
    """Give the name of the base image: another recipe gives another one."""
    recipe = hashlib.sha256("\n".join((SUITE, *RECIPE)).encode()).hexdigest()[:12]
    return f"debian-{SUITE}-{platform.machine()}-{recipe}"


def find_base(progress: Progress) -> Path:
    """Give an archive of the file system, from the cache or made now, which takes one to two minutes.

    ``DEBIAN_MIRROR`` names another mirror than Debian's own.

    Args:
        progress: is told what takes long.

    Raises:
        HarnessError: it cannot be made.
    """
    folder = cache_root() / "image"
    archive = folder / f"{base_name()}.tar"
    if archive.exists():
        return archive
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "base.lock", "another process makes the base image; waiting for it", progress):
        if not archive.exists():  # another run may have made it meanwhile
            _make_whole(archive, progress)
    return archive


def _make_whole(archive: Path, progress: Progress) -> None:
    """Make it whole or not at all; what an older recipe gave, or a run that was killed, goes."""
    unfinished = archive.with_name("unfinished.tar")
    log = archive.with_suffix(".log")
    start = time.monotonic()
    progress(f"making the base image {archive.stem} with mmdebstrap; about 2 min")
    _make(unfinished, log, progress)
    for old in archive.parent.glob("debian-*"):
        old.unlink()
    unfinished.replace(archive)
    progress(f"made the base image in {time.monotonic() - start:.0f} s: {archive.stat().st_size / 1e6:.0f} MB")


def _make(archive: Path, log: Path, progress: Progress) -> None:
    mirror = [address] if (address := os.environ.get("DEBIAN_MIRROR")) else []
    command = ["mmdebstrap", *RECIPE, SUITE, str(archive), *mirror]
    start = time.monotonic()
    with log.open("w+") as output:
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output) as process:
            while True:
                try:
                    code = process.wait(_NEWS_EVERY)
                    break
                except subprocess.TimeoutExpired:
                    progress(f"still making the base image ({time.monotonic() - start:.0f} s)")
        output.seek(0)
        if code:
            last = "".join(f"  {line}" for line in deque(output, maxlen=_LINES_SHOWN)).rstrip()
            raise HarnessError(
                f"mmdebstrap ended with exit code {code}. The last lines of its output:\n{last}\n"
                "What to do: let this machine reach a Debian mirror (DEBIAN_MIRROR= names one), or give a base image "
                "that can be pulled: make test-image PYTHON_IMAGE=…"
            )
