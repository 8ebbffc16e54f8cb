"""The image of ``samples/training``, built once for the run."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from support.image.container import Container, Run, image_environment, image_user
from support.image.oci import Mount, config
from support.image.training import TrainingImage
from support.testbed.errors import HarnessError
from support.testbed.progress import to_stderr

HERE = Path(__file__).parent
IMAGE = pytest.StashKey[TrainingImage]()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build the image before the first test; what that takes is shown even while pytest captures."""
    if session.config.option.collectonly or not any(item.path.is_relative_to(HERE) for item in session.items):
        return
    work = os.environ.get("MSJOB_IMAGE_WORK")
    if work is None:
        raise pytest.UsageError("these tests need namespaces of their own: run them with make test-training-image")
    capture = session.config.pluginmanager.getplugin("capturemanager")

    def show(line: str) -> None:
        with capture.global_and_fixture_disabled():
            to_stderr(line)

    try:
        session.config.stash[IMAGE] = TrainingImage(Path(work, "storage"), show)
    except HarnessError as error:
        raise pytest.UsageError(f"no image to train in: {error}") from error


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
