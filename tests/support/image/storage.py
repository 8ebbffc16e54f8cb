"""buildah with a storage of its own, in which the project's own ``make docker-build`` builds the image."""

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any, Final

from support.image.base import find_base
from support.programs import ROOT, clean_environment
from support.testbed.errors import HarnessError
from support.testbed.progress import Progress

IMAGE: Final = "localhost/ms-operator:test"
SOURCE: Final = "https://sources.example/ms-operator"
CANARY: Final = "index-of-this-machine.example"
"""A host that pip is told to trust, as it would be told of a mirror: the image must not know of it."""

_BASE: Final = "localhost/ms-operator-base:test"
_LINES_SHOWN: Final = 30


class Storage:
    """Images and containers of buildah's, in a folder.

    Args:
        folder: for all of it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "tmp").mkdir(parents=True)
        config = folder / "storage.conf"
        config.write_text(
            f'[storage]\ndriver = "{_driver(folder)}"\ngraphroot = "{folder / "graph"}"\nrunroot = "{folder / "run"}"\n'
        )
        self.environment = {
            "BUILDAH_ISOLATION": "chroot",
            "CONTAINERS_STORAGE_CONF": str(config),
            "TMPDIR": str(folder / "tmp"),
        }
        self._base = os.environ.get("PYTHON_IMAGE", "")

    def buildah(self, *arguments: str | Path) -> str:
        """Run buildah and give what it prints.

        Raises:
            HarnessError: it failed.
        """
        return self._run(["buildah", *arguments], self.folder / "buildah.log", {})

    def make(self, target: str, **variables: str) -> str:
        """Run a target of the Makefile as a user would, and give what it prints.

        Args:
            target: of the Makefile.
            **variables: for it.

        Raises:
            HarnessError: it failed.
        """
        given = [f"{name}={value}" for name, value in variables.items()]
        around = {"MAKEFLAGS": "", "MAKELEVEL": "", "MFLAGS": "", "PIP_TRUSTED_HOST": CANARY}
        return self._run(["make", "--no-print-directory", target, *given], self.folder / f"{target}.log", around)

    def base(self, progress: Progress) -> str:
        """Give the name of the base image: the one in ``PYTHON_IMAGE``, else that of `find_base`, put into here.

        Args:
            progress: is told what takes long.

        Raises:
            HarnessError: it cannot be made.
        """
        if not self._base:
            archive = find_base(progress)
            container = self.buildah("from", "scratch").strip()
            self.buildah("add", "--quiet", container, archive, "/")
            self.buildah("commit", "--quiet", "--rm", container, _BASE)
            self._base = _BASE
        return self._base

    def mount(self, image: str) -> Path:
        """Give the file system of an image."""
        return Path(self.buildah("mount", self.buildah("from", image).strip()).strip())

    def config(self, image: str) -> dict[str, Any]:
        """What an image says of itself, as the OCI image specification has it."""
        found: dict[str, Any] = json.loads(self.buildah("inspect", "--type", "image", image))["OCIv1"]
        return found

    def _run(self, command: list[str | Path], log: Path, env: dict[str, str]) -> str:
        with log.open("a") as errors:
            done = subprocess.run(
                command,
                check=False,
                cwd=ROOT,
                env={**clean_environment(), **self.environment, **env},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
            errors.write(done.stdout)
        if done.returncode:
            last = "\n".join(log.read_text().splitlines()[-_LINES_SHOWN:])
            raise HarnessError(f"{' '.join(map(str, command))} ended with exit code {done.returncode}:\n{last}")
        return done.stdout


class BuiltImage:
    """The operator's image, built by ``make docker-build``.

    Args:
        folder: for all files.
        progress: is told what takes long.

    Attributes:
        storage: where it is.
        base: its base image.
        rootfs: its file system.
        config: what it says of itself.
        seconds: how long the build took.
    """

    def __init__(self, folder: Path, progress: Progress) -> None:
        self.storage = Storage(folder)
        self.base = self.storage.base(progress)
        progress(f"building the operator's image on {self.base}: make docker-build BUILDER=buildah")
        start = time.monotonic()
        self.storage.make("docker-build", IMG=IMAGE, BUILDER="buildah", PYTHON_IMAGE=self.base, SOURCE=SOURCE)
        self.seconds = time.monotonic() - start
        self.rootfs = self.storage.mount(IMAGE)
        self.config = self.storage.config(IMAGE)
        progress(f"built it in {self.seconds:.0f} s")

    def size(self) -> int:
        """Bytes of all its files."""
        return size_of(self.rootfs)


def size_of(folder: Path) -> int:
    """Bytes of all files in a folder; links are none."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _driver(folder: Path) -> str:
    """Give the storage driver: an overlay cannot lie on an overlay, which the root of a container often is."""
    kind = subprocess.run(
        ["stat", "--file-system", "--format=%T", folder],  # noqa: S607 - stat is where the system has it
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    return "vfs" if kind in ("overlayfs", "unknown") else "overlay"
