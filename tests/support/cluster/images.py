"""The images of the cluster: which there are, what they are called, and where they are kept.

===============  =====================================================================================================
``pause``        holds the namespaces of a pod: ``tests/cluster/images/pause``
``operator``     the project's own, by ``make docker-build``
``training``     ``samples/training`` as it is
``training-ps``  trains in parameter-server mode, with the last MindSpore that can: ``tests/cluster/images/ps``
===============  =====================================================================================================

Each is built once for each content (``tools/cluster-images.sh``), before there is a cluster, which has no network to
build in. Its archive is kept until the node has taken it: whoever loads it into containerd calls `Image.taken`.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from support.cluster.contents import context_files, key_of
from support.cluster.places import PAUSE, images_folder, store_folder, usual_store
from support.image.base import base_name
from support.programs import ROOT

CORE: Final = ("pause", "operator", "training")
"""What the rows of the core need."""

ALL: Final = (*CORE, "training-ps")

PAUSE_FOLDER: Final = ROOT / "tests" / "cluster" / "images" / "pause"
TRAINING_FOLDER: Final = ROOT / "samples" / "training"
PS_FOLDER: Final = ROOT / "tests" / "cluster" / "images" / "ps"


@dataclass(frozen=True, slots=True)
class Image:
    """An image.

    Attributes:
        name: One of `ALL`.
        key: Of its content.
        ref: What it is called in the cluster.
        archive: Where its archive is kept until the node has taken it: uncompressed, of the kind ``docker-archive``,
            with `ref` as its name. It is there whole or not at all.
        marker: The file that says that the node has taken it.
    """

    name: str
    key: str
    ref: str
    archive: Path
    marker: Path

    @property
    def imported(self) -> bool:
        """Whether the node has it."""
        return self.marker.exists()

    @property
    def there(self) -> bool:
        """Whether it need not be built: the node has it, or its archive is there."""
        return self.imported or self.archive.exists()

    def taken(self) -> None:
        """Note that the node has it, and no other content of its name any more; remove its archive.

        Another store (``MSJOB_CLUSTER_STORE``) leaves it: all stores share the archives, and the usual one may need it.
        """
        self.marker.parent.mkdir(parents=True, exist_ok=True)
        for old in self.marker.parent.glob(f"{self.name}-{'[0-9a-f]' * len(self.key)}"):
            old.unlink()
        self.marker.touch()
        if store_folder() == usual_store():
            self.archive.unlink(missing_ok=True)


def wanted(names: Iterable[str] = ALL) -> dict[str, Image]:
    """Give images by name, as the checkout has them now; nothing is built.

    Args:
        names: Some of `ALL`.

    Raises:
        KeyError: There is no such image.
    """
    return {name: _image(name, _KEYS[name]()) for name in names}


def _image(name: str, key: str) -> Image:
    ref = PAUSE if name == "pause" else f"localhost/{_REPOSITORIES.get(name, name)}:{key}"
    stem = f"{name}-{key}"
    return Image(name, key, ref, images_folder() / f"{stem}.tar", store_folder() / "imported" / stem)


def _of_python(folder: Path) -> Callable[[], str]:
    return lambda: key_of(context_files(folder), os.environ.get("PYTHON_IMAGE") or base_name())


def _pause_key() -> str:
    files = {name: (PAUSE_FOLDER / name).read_bytes() for name in ("Dockerfile", "pause.go")}
    return key_of(files)


_REPOSITORIES: Final = {"operator": "ms-operator"}

_KEYS: Final[Mapping[str, Callable[[], str]]] = {
    "pause": _pause_key,
    "operator": _of_python(ROOT),
    "training": _of_python(TRAINING_FOLDER),
    "training-ps": _of_python(PS_FOLDER),
}
