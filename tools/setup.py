"""Make ``.venv``, the environment in which everything of this repository runs.

It holds exactly what the hashed lock files in ``requirements/`` name, and the project itself as an editable install.
Run it as ``make setup``. It uses the standard library alone; ``tools/setup.sh`` finds the Python to run it with.

A stamp inside ``.venv`` records what the environment was made from, so a second run ends at once.

Node.js comes with it as a wheel where none that is new enough is on ``PATH``. Once it was needed it stays, so that a
``PATH`` that changes back and forth costs nothing.
"""

import hashlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import time
import tomllib
import venv
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "setup.json"
REQUIREMENTS = ROOT / "requirements"


def main() -> None:
    """Bring ``.venv`` up to date; exits with one line on standard error when that fails."""
    stamp = _read_stamp()
    locks = _wanted_locks(stamp)
    wanted = {"key": _key(locks), "locks": locks}
    if stamp == wanted and (VENV / "bin" / "python").exists():
        return

    start = time.monotonic()
    try:
        _install(locks)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"setup: failed: {error}")
    STAMP.write_text(json.dumps(wanted))
    _say(f"done in {time.monotonic() - start:.0f} s")


def _install(locks: list[str]) -> None:
    """Create the environment if need be, and fill it with what the lock files name and the project itself."""
    STAMP.unlink(missing_ok=True)
    python = VENV / "bin" / "python"
    if not (VENV.exists() and VENV.samefile(sys.prefix)):
        _say(f"creating .venv with Python {'.'.join(map(str, sys.version_info[:3]))} ({sys.executable})")
        venv.create(VENV, clear=True, symlinks=True, with_pip=True)

    uv = VENV / "bin" / "uv"
    bootstrap = REQUIREMENTS / "bootstrap.txt"
    pinned = re.search(r"^uv==(\S+)", bootstrap.read_text(), re.MULTILINE)
    if pinned is None:
        sys.exit(f"setup: {bootstrap} names no version of uv")
    if not uv.exists() or pinned[1] not in _output(uv, "--version").split():
        _say(f"installing uv {pinned[1]}")
        if not (VENV / "bin" / "pip").exists():
            _run(python, "-m", "ensurepip")
        _run(
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--require-hashes",
            "-r",
            bootstrap,
        )

    _say(f"installing what {', '.join(locks)} name")
    files = [REQUIREMENTS / lock for lock in locks]
    _run(uv, "pip", "sync", "--quiet", "--python", python, "--require-hashes", *files)
    _say("installing ms-operator itself (editable)")
    _run(uv, "pip", "install", "--quiet", "--python", python, "--no-deps", "--no-build-isolation", "--editable", ROOT)


def _wanted_locks(stamp: dict[str, object]) -> list[str]:
    """Name the lock files to install: those every environment has, and the one this machine needs or has had before."""
    before = stamp.get("locks")
    had = before if isinstance(before, list) else []
    locks = ["bootstrap.txt", "dev.txt"]
    if "node.txt" in had or not _has_node():
        locks.append("node.txt")
    return locks


def _has_node() -> bool:
    """Tell whether this machine has a Node.js that the project can use, wheels aside."""
    node = _load(ROOT / "constructs" / "msjob" / "node.py")
    try:
        node.find_node(os.environ, wheel=lambda: None)
    except node.NodeNotFoundError:
        return False
    return True


def _load(path: Path) -> ModuleType:
    """Import one module by its path: its package may need what is not installed yet."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        sys.exit(f"setup: {path} cannot be read")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _key(locks: list[str]) -> str:
    """Digest all that decides what is in the environment: the lock files and how the project is built and named."""
    digest = hashlib.sha256()
    for lock in locks:
        digest.update((REQUIREMENTS / lock).read_bytes())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    made_of = [project["build-system"], project["project"], project["tool"]["hatch"], str(ROOT)]
    digest.update(json.dumps(made_of, sort_keys=True).encode())
    return digest.hexdigest()


def _read_stamp() -> dict[str, object]:
    """Read what ``.venv`` was made from; empty when it was never finished or the stamp is damaged."""
    try:
        stamp = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def _output(*command: str | Path) -> str:
    return subprocess.run(command, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout


def _say(message: str) -> None:
    print(f"setup: {message}", flush=True)


if __name__ == "__main__":
    main()
