"""The image of ``samples/training``, built once for the run."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from support.image.container import Container, Run, image_environment, image_user
from support.image.oci import Mount, config
from support.image.prepared import prepared
from support.image.training import TrainingImage

HERE = Path(__file__).parent
IMAGE = pytest.StashKey[TrainingImage]()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build the image before the first test."""
    image = prepared(session, HERE, "test-training-image", TrainingImage)
    if image is not None:
        session.config.stash[IMAGE] = image


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test here the time that MindSpore takes on a busy machine."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(scope="session")
def image(request: pytest.FixtureRequest) -> TrainingImage:
    """The image."""
    return request.config.stash[IMAGE]


@pytest.fixture
def work() -> Path:
    """A folder for files, which is removed after the run."""
    return Path(os.environ["MSJOB_IMAGE_WORK"])


@pytest.fixture
def run(image: TrainingImage, work: Path) -> Iterator[Run]:
    """Start a container of the image, as its user, with a read-only root and a writable /tmp.

    It takes the command, by default that of the image, and the keywords `mounts`, `memory` and `network` of
    `support.image.oci.config`; all others are variables.
    """
    with ExitStack() as containers:

        def start(*command: str, mounts: tuple[Mount, ...] = (), **given: Any) -> Container:
            limits = {name: given.pop(name) for name in ("memory", "network") if name in given}
            wanted = config(
                image.rootfs,
                command or image.config["config"]["Cmd"],
                env={**image_environment(image.config), **given},
                user=image_user(image.config),
                mounts=[Mount("/tmp"), *mounts],  # noqa: S108 - of the container
                **limits,
            )
            wanted["process"]["cwd"] = image.config["config"]["WorkingDir"]
            return containers.enter_context(Container(work, wanted, "training"))

        yield start
