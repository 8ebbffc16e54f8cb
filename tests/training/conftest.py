"""What training needs: MindSpore, and the machine for itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.training.environment import exclusive, training_environment


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test here the time that several starts of MindSpore take on a busy machine."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.timeout(1200))


@pytest.fixture(scope="session")
def environment() -> Iterator[Path]:
    """The virtual environment of the training image, installed at first use. Without it the tests fail."""
    with exclusive():
        yield training_environment()


@pytest.fixture
def claims(tmp_path: Path) -> Path:
    """The PersistentVolumeClaims of a test."""
    return tmp_path / "claims"
