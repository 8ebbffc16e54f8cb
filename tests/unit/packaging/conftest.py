"""The project's wheel, for the tests of how it is built and installed."""

import sys
from pathlib import Path

import pytest

from support.programs import run_program


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's wheel, built without a network and outside the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    uv = Path(sys.executable).with_name("uv")
    built = run_program(uv, "build", "--quiet", "--offline", "--wheel", "--no-build-isolation", "--out-dir", folder)
    assert built.returncode == 0, built.stderr
    (file,) = folder.glob("*.whl")
    return file
