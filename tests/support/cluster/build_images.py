"""Build the images of the cluster; ``tools/cluster-images.sh`` runs it where that can be done.

A build needs the machine's network and mounts of its own. What it makes is an archive in the cache; all else is in a
folder that goes with the script.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from support.cluster.contents import KEY_LENGTH
from support.cluster.images import ALL, CORE, PAUSE_FOLDER, PS_FOLDER, TRAINING_FOLDER, Image, wanted
from support.cluster.places import images_folder
from support.image.storage import Storage
from support.image.training import build_on_index
from support.testbed.builder import cache_root, compiler_environment
from support.testbed.errors import HarnessError
from support.testbed.golang import find_go
from support.testbed.locking import locked
from support.testbed.pins import read_pins
from support.testbed.progress import Progress, to_stderr

SETS: Final[Mapping[str, tuple[str, ...]]] = {"core": CORE, "all": ALL}
"""What the command line calls them."""

_LENGTHS: Final = {
    "pause": "seconds",
    "operator": "about 1 min",
    "training": "2.8 GB, some minutes",
    "training-ps": "2.4 GB, some minutes",
}
"""On 2 cores; of the trainings, most is to download and unpack MindSpore."""

_ATTEMPTS: Final = 3

_WAITING: Final = "another process builds images of the cluster; waiting for it"


def missing(names: Iterable[str] = ALL) -> list[Image]:
    """Give those images that have to be built, in the order of the names."""
    return [image for image in wanted(names).values() if not image.there]


def build(names: Iterable[str], progress: Progress) -> None:
    """Make the archives of those images that neither the cache nor the node has.

    Args:
        names: Some of `support.cluster.images.ALL`.
        progress: Is told what takes long.

    Raises:
        HarnessError: One cannot be built, or this is not run by ``tools/cluster-images.sh``.
    """
    names = tuple(names)
    if not missing(names):
        return
    work = os.environ.get("MSJOB_IMAGE_WORK")
    if work is None:
        raise HarnessError(
            "images are built in namespaces of their own.\nWhat to do: run this with sh tools/cluster-images.sh."
        )
    try:
        images_folder().mkdir(parents=True, exist_ok=True)
        with locked(images_folder() / "build.lock", _WAITING, progress):
            storage = Storage(Path(tempfile.mkdtemp(prefix="storage-", dir=work)))
            for name in names:
                _build(storage, name, progress)
    except OSError as error:
        raise HarnessError(
            f"the images of the cluster cannot be kept in {images_folder()}: {error}\n"
            "What to do: set MSJOB_CACHE to a folder that this user can write to, with 10 GB free."
        ) from error


def _build(storage: Storage, name: str, progress: Progress) -> None:
    """Build an image and its archive, unless another process has done so meanwhile."""
    for _ in range(_ATTEMPTS):
        image = wanted([name])[name]
        if image.there:
            return
        start = time.monotonic()
        progress(f"building {image.ref}: {_LENGTHS[name]}")
        _BUILDERS[name](storage, image.ref, progress)
        if wanted([name])[name] == image:  # else somebody edited what it is made of
            progress(f"built {name} in {time.monotonic() - start:.0f} s")
            _archive(storage, image, progress)
        storage.buildah("rmi", "--force", image.ref)
    if not wanted([name])[name].there:
        raise HarnessError(
            f"the sources of the image {name} changed {_ATTEMPTS} times while it was built.\n"
            "What to do: start again once nobody edits them."
        )


def _archive(storage: Storage, image: Image, progress: Progress) -> None:
    """Make the archive, whole or not at all; what a run that was killed left goes, and other contents' archives."""
    start = time.monotonic()
    for old in images_folder().glob(f"{image.name}-{'[0-9a-f]' * KEY_LENGTH}.tar*"):
        old.unlink()
    unfinished = image.archive.with_suffix(".tar.unfinished")
    try:
        storage.buildah(
            "push", "--quiet", "--disable-compression", image.ref, f"docker-archive:{unfinished}:{image.ref}"
        )
        unfinished.replace(image.archive)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    progress(f"wrote its archive in {time.monotonic() - start:.0f} s: {image.archive.stat().st_size / 1e6:.0f} MB")


def _build_pause(storage: Storage, ref: str, progress: Progress) -> None:
    context = storage.folder / "pause"
    shutil.copytree(PAUSE_FOLDER, context)
    go = find_go(read_pins().go, cache_root() / "testbed", progress)
    done = subprocess.run(
        [go.program, "build", "-trimpath", "-ldflags", "-s -w", "-o", context / "pause", "pause.go"],
        check=False,
        cwd=context,
        env=compiler_environment(go),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise HarnessError(f"pause.go did not build (go build ended with {done.returncode}):\n{done.stderr.strip()}")
    storage.buildah("build", "--quiet", "--tag", ref, context)


def _build_operator(storage: Storage, ref: str, progress: Progress) -> None:
    storage.make("docker-build", IMG=ref, BUILDER="buildah", PYTHON_IMAGE=storage.base(progress))


def _build_from(context: Path) -> Callable[[Storage, str, Progress], None]:
    return lambda storage, ref, progress: build_on_index(storage, context, ref, storage.base(progress))


_BUILDERS: Final[Mapping[str, Callable[[Storage, str, Progress], None]]] = {
    "pause": _build_pause,
    "operator": _build_operator,
    "training": _build_from(TRAINING_FOLDER),
    "training-ps": _build_from(PS_FOLDER),
}


def main() -> int:
    """Build what the arguments name, or list what of it is missing.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog="tools/cluster-images.sh", description="Build the images of the cluster.")
    parser.add_argument("images", choices=[*SETS, *ALL], help="core: what a run in CI needs; or the name of one")
    parser.add_argument("--missing", action="store_true", help="build nothing; print the names of what is missing")
    given = parser.parse_args()
    names = SETS.get(given.images, (given.images,))
    try:
        if given.missing:
            sys.stdout.writelines(f"{image.name}\n" for image in missing(names))
        else:
            build(names, to_stderr)
    except HarnessError as error:
        to_stderr(str(error))
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
