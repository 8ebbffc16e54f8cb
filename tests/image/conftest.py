"""The operator's image, built once for the run, and a control plane with ``dist/`` for it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.image.container import Container, Run, image_environment, image_user
from support.image.oci import Mount, config
from support.image.prepared import prepared
from support.image.storage import BuiltImage
from support.programs import ROOT
from support.testbed.binaries import find_binaries
from support.testbed.client import Object
from support.testbed.controlplane import ControlPlane
from support.testbed.progress import Progress

_SAFE_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

HERE = Path(__file__).parent
IMAGE = pytest.StashKey[BuiltImage]()
FIGURES = pytest.StashKey[dict[str, str]]()
LOGS = ROOT / "build" / "image-logs"
"""Where logs go when a test fails."""


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build the image before the first test."""

    def make(folder: Path, progress: Progress) -> BuiltImage:
        find_binaries(progress)
        return BuiltImage(folder, progress)

    image = prepared(session, HERE, "test-image", make)
    if image is not None:
        session.config.stash[IMAGE] = image


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Show what was measured."""
    figures = config.stash.get(FIGURES, {})
    if figures:
        terminalreporter.section("image")
        for name, value in figures.items():
            terminalreporter.write_line(f"{name}: {value}")


@pytest.fixture(scope="session")
def figures(request: pytest.FixtureRequest) -> dict[str, str]:
    """What is measured, for the summary."""
    return request.config.stash.setdefault(FIGURES, {})


@pytest.fixture(scope="session")
def image(request: pytest.FixtureRequest) -> BuiltImage:
    """The image."""
    return request.config.stash[IMAGE]


@pytest.fixture(scope="session")
def work() -> Path:
    """A folder for files, which is removed after the run."""
    return Path(os.environ["MSJOB_IMAGE_WORK"])


@pytest.fixture
def run(image: BuiltImage, work: Path) -> Iterator[Run]:
    """Start a container of the image, as its user, with a writable /tmp and nothing else that can be written to.

    It takes the program with its arguments, by default the image's own with these; and `mounts` and `env`, added to
    the image's.
    """
    with ExitStack() as containers:

        def start(*args: str, entrypoint: str | None = None, mounts: tuple[Mount, ...] = (), **env: str) -> Container:
            program = [entrypoint] if entrypoint else image.config["config"]["Entrypoint"]
            wanted = config(
                image.rootfs,
                [*program, *args],
                env={**image_environment(image.config), **env},
                user=image_user(image.config),
                mounts=[Mount("/tmp"), *mounts],  # noqa: S108 - of the container
            )
            return containers.enter_context(Container(work, wanted))

        yield start


@pytest.fixture(scope="session")
def installation() -> list[Object]:
    """The objects of ``dist/``, in the order in which they are applied."""
    texts = [path.read_text() for path in sorted((ROOT / "dist").glob("*.yaml"))]
    return [item for text in texts for item in yaml.load_all(text, _SAFE_LOADER) if item]


@pytest.fixture(scope="session")
def control_plane(request: pytest.FixtureRequest, installation: list[Object], work: Path) -> Iterator[ControlPlane]:
    """A control plane with ``dist/``: its controllers make the Pod of the operator, which no kubelet starts."""
    control_plane = ControlPlane(
        manifests=[item for item in installation if item["kind"] == "CustomResourceDefinition"]
    )
    with control_plane:
        for item in installation:
            control_plane.admin.apply(item)
        yield control_plane
        if request.session.testsfailed:
            shutil.rmtree(LOGS, ignore_errors=True)
            control_plane.keep_logs(LOGS)
            for log in (work / "bundles").glob("*/log"):
                shutil.copy(log, LOGS / f"{log.parent.name}.log")
