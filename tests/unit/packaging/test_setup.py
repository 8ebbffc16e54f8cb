"""`make setup` on machines that lack what it needs: one line that says so."""

import shutil
from pathlib import Path

import pytest

from support.programs import ROOT, run_program, write_program


@pytest.fixture
def bare_clone(tmp_path: Path) -> Path:
    """A checkout in which nothing has been set up."""
    shutil.copytree(ROOT / "tools", tmp_path / "clone" / "tools")
    return tmp_path / "clone"


def test_no_python_that_is_new_enough(bare_clone: Path, tmp_path: Path) -> None:
    """An old Python is refused by its version, before anything is written."""
    old = write_program(tmp_path / "old" / "python3", "exit 3")

    done = run_program("sh", bare_clone / "tools" / "setup.sh", env={"PYTHON": str(old)})

    assert done.returncode == 1
    assert done.stderr == (
        f"setup: no {old} of version 3.11 or newer was found; install one, or name it with PYTHON=<program>\n"
    )
    assert not (bare_clone / ".venv").exists()


def test_python_without_venv(bare_clone: Path, tmp_path: Path) -> None:
    """A Python without `venv` or `ensurepip`, as Debian ships it, is named with the package to install."""
    bare = write_program(tmp_path / "bare" / "python3", 'case "$2" in *ensurepip*) exit 1 ;; esac')

    done = run_program("sh", bare_clone / "tools" / "setup.sh", env={"PYTHON": str(bare)})

    assert done.returncode == 1
    assert done.stderr == (
        f"setup: {bare} lacks its modules venv or ensurepip; install them "
        "(on Debian and Ubuntu the package python3-venv)\n"
    )


def test_first_complete_python_is_taken(bare_clone: Path, tmp_path: Path) -> None:
    """An incomplete Python that comes first does not stand in the way of a complete one."""
    bare = write_program(tmp_path / "a" / "python3", 'case "$2" in *ensurepip*) exit 1 ;; esac')
    full = write_program(tmp_path / "b" / "python3.12", '[ "$1" = -c ] || echo "runs $*"')

    done = run_program(
        "/bin/sh",
        bare_clone / "tools" / "setup.sh",
        env={"PATH": f"{bare.parent}:{full.parent}:/usr/bin:/bin"},
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"runs {bare_clone}/tools/setup.py\n"
