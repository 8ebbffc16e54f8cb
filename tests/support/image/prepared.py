"""What is made before the first test starts, so that no test's time limit counts the minutes of a build."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from support.testbed.errors import HarnessError
from support.testbed.progress import Progress, to_stderr

T = TypeVar("T")


def prepared(session: pytest.Session, here: Path, target: str, make: Callable[[Path, Progress], T]) -> T | None:
    """Make what the tests of a folder need; what that takes is shown even while pytest captures.

    Args:
        session: After the collection.
        here: The folder.
        target: Of the Makefile, which runs these tests in namespaces of their own.
        make: Makes it in a folder that is removed after the run, and tells what takes long.

    Returns:
        What was made; None where no test of the folder is to run.

    Raises:
        pytest.UsageError: It cannot be made, or the tests are not run by that target.
    """
    if session.config.option.collectonly or not any(item.path.is_relative_to(here) for item in session.items):
        return None
    work = os.environ.get("MSJOB_IMAGE_WORK")
    if work is None:
        raise pytest.UsageError(f"these tests need namespaces of their own: run them with make {target}")
    capture = session.config.pluginmanager.getplugin("capturemanager")

    def show(line: str) -> None:
        with capture.global_and_fixture_disabled():
            to_stderr(line)

    try:
        return make(Path(work, "storage"), show)
    except HarnessError as error:
        raise pytest.UsageError(f"no image to test: {error}") from error
