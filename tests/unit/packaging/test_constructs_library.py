"""The folder `constructs/` never hides the library of that name, however the project is started or installed."""

import sys
import zipfile
from pathlib import Path
from textwrap import indent

import pytest

from support.programs import ROOT, run_program

pytestmark = pytest.mark.timeout(60)

CHECK = """
import msjob.cdk
import constructs
import sys
assert constructs.__file__.startswith(sys.prefix), constructs.__file__
assert msjob.cdk.Construct is constructs.Construct
"""


def test_python_started_in_the_checkout_finds_the_library() -> None:
    """`python -c` puts the checkout first on the import path, and still the library wins over the folder."""
    done = run_program(sys.executable, "-c", CHECK)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "start",
    [[sys.executable, "-m", "pytest"], [str(Path(sys.executable).with_name("pytest"))]],
    ids=["module", "command"],
)
def test_pytest_started_in_the_checkout_finds_the_library(start: list[str | Path], tmp_path: Path) -> None:
    """`python -m pytest` puts the checkout on the import path, plain `pytest` does not: both find the library."""
    test = tmp_path / "test_inner.py"
    test.write_text("def test_inner():\n" + indent(CHECK, "    "))

    done = run_program(*start, "-p", "no:cacheprovider", "--rootdir", ROOT, "-c", ROOT / "pyproject.toml", test)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_installed_wheel_works_beside_the_library(wheel: Path, tmp_path: Path) -> None:
    """Installed from its wheel, the project leaves the library alone and runs from where it was installed."""
    target = tmp_path / "installed"
    uv = Path(sys.executable).with_name("uv")
    installed = run_program(uv, "pip", "install", "--quiet", "--offline", "--no-deps", "--target", target, wheel)
    assert installed.returncode == 0, installed.stderr
    where = f"assert msjob.cdk.__file__.startswith({str(target)!r}), msjob.cdk.__file__"

    done = run_program(sys.executable, "-c", CHECK + where, env={"PYTHONPATH": str(target)}, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")


def test_wheel_holds_the_packages_and_their_types(wheel: Path) -> None:
    """The wheel writes into no other distribution's folder, and type checkers find all packages typed."""
    names = zipfile.ZipFile(wheel).namelist()

    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"msjob", "msjob_controller", "msjob_client", "msjob_cli"}
    assert {f"{top}/py.typed" for top in tops} <= set(names)


@pytest.mark.parametrize("source_root", ["constructs", "controller", "client"])
def test_source_roots_are_no_packages(source_root: str) -> None:
    """An `__init__.py` there would make a package of the folder, and `constructs` would hide the library."""
    assert (ROOT / source_root).is_dir()
    assert not (ROOT / source_root / "__init__.py").exists()


@pytest.mark.parametrize("hidden_by", ["package", "folder"])
def test_hidden_library_gives_one_clear_error(hidden_by: str, tmp_path: Path) -> None:
    """Where something else of that name does win, the error names it, instead of failing somewhere inside jsii."""
    taken = tmp_path / "constructs"
    taken.mkdir()
    if hidden_by == "package":
        (taken / "__init__.py").touch()
        start = ""
    else:
        # Without the library on the path at all, a plain folder answers to its name.
        start = "import sys; sys.path = [p for p in sys.path if 'site-packages' not in p]; "

    source = str(ROOT / "constructs")
    done = run_program(
        sys.executable, "-c", start + "import msjob.cdk", env={"PYTHONPATH": f"{tmp_path}:{source}"}, cwd=tmp_path
    )

    last_line = done.stderr.splitlines()[-1]
    assert done.returncode == 1
    assert last_line.startswith("ImportError: `constructs` is not the construct library but ")
    assert str(taken) in last_line
