"""The image that trains, built from ``samples/training`` as its Dockerfile says."""

import os
import sys
import time
from pathlib import Path
from typing import Final

from build_image import pip_settings
from support.image.storage import Storage, size_of
from support.programs import ROOT, run_program
from support.testbed.progress import Progress

IMAGE: Final = "localhost/training:test"


class TrainingImage:
    """The image.

    Args:
        folder: for all files.
        progress: is told what takes long.

    Attributes:
        rootfs: its file system.
        config: what it says of itself.
        seconds: how long the build took.
    """

    def __init__(self, folder: Path, progress: Progress) -> None:
        storage = Storage(folder)
        base = storage.base(progress)
        progress(f"building the image of samples/training on {base}: 3 GB, some minutes")
        start = time.monotonic()
        build_on_index(storage, ROOT / "samples" / "training", IMAGE, base)
        self.seconds = time.monotonic() - start
        self.rootfs = storage.mount(IMAGE)
        self.config = storage.config(IMAGE)
        progress(f"built it in {self.seconds:.0f} s: {size_of(self.rootfs) / 1e9:.2f} GB")


def build_on_index(storage: Storage, context: Path, image: str, base: str) -> None:
    """Build an image whose Dockerfile installs from a Python package index.

    Args:
        storage: Where to.
        context: The folder of the Dockerfile, which has the argument ``PYTHON_IMAGE``.
        image: The name.
        base: The base image.

    Raises:
        HarnessError: It failed.
    """
    storage.buildah(
        *("build", "--quiet", "--network", "host", "--tag", image, f"--build-arg=PYTHON_IMAGE={base}"),
        *(f"--volume={source}:{target}:ro" for source, target in _index(storage.folder).items()),
        context,
    )


def _index(folder: Path) -> dict[Path, str]:
    """How this machine reaches its package index, to be mounted for the build alone: no layer keeps it."""
    listed = run_program(sys.executable, "-m", "pip", "config", "list").stdout
    text, certificates = pip_settings(listed, os.environ)
    config = folder / "pip.conf"
    config.write_text(text)
    return {config: "/etc/pip.conf"} | ({certificates: "/run/secrets/ca"} if certificates else {})
