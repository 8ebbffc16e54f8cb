"""Build the programs from Go modules into a cache outside the checkout, once for each pinned version.

A build that ends early, however, leaves neither a compiler that goes on nor its files.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from support.testbed.errors import HarnessError
from support.testbed.golang import Go, find_go
from support.testbed.locking import locked
from support.testbed.pins import Pins
from support.testbed.processes import ProgramGroup
from support.testbed.progress import Progress
from support.testbed.sources import POLICIES, SOURCES, module, stamps, version

_NEWS_EVERY = 60.0
_LINES_SHOWN = 20
_WAITING = "another process is building the control plane; waiting for it"


def cache_root() -> Path:
    """Give the folder under which everything is kept that is costly to make again.

    ``MSJOB_CACHE`` names it; else it is ``ms-operator`` in ``XDG_CACHE_HOME``, and that is ``~/.cache`` when not set.
    """
    own = os.environ.get("MSJOB_CACHE")
    if own:
        return Path(own).expanduser().absolute()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "ms-operator"


def cache_folder(pins: Pins) -> Path:
    """Give the folder that keeps the programs of Kubernetes of these versions."""
    return cache_root() / "testbed" / pins.name


def cached(name: str, pins: Pins) -> Path:
    """Give the file that a program is kept in, once it is built.

    Args:
        name: The program.
        pins: The versions.
    """
    # Folders of their own: another kwok is no reason to build Kubernetes again, nor the other way round.
    own = {"kwok": pins.kwok, "coredns": pins.coredns, POLICIES: pins.policies}
    return (cache_folder(pins).with_name(f"{name}-{own[name]}") if name in own else cache_folder(pins)) / name


def build(names: Sequence[str], pins: Pins, progress: Progress) -> None:
    """Build programs that the cache lacks.

    A lock makes processes that want the same wait for each other: the second one finds all built.

    Args:
        names: The programs, keys of ``SOURCES``.
        pins: Their versions.
        progress: Is told what is being built and how long that takes.

    Raises:
        HarnessError: No Go is to be had, the Go modules cannot be downloaded, or the compiler failed.
    """
    folder = cache_folder(pins)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / "build.lock", _WAITING, progress):
            missing = [name for name in names if not cached(name, pins).exists()]
            if not missing:
                return
            go = find_go(pins.go, cache_root() / "testbed", progress)
            if len(missing) > 1:
                progress(f"building {len(missing)} programs, once for all runs; {_estimate(*missing)}")
            for number, name in enumerate(missing, start=1):
                progress(
                    f"building {name} {version(name, pins)} ({number} of {len(missing)}) with {go.version}; "
                    f"{_estimate(name)}"
                )
                seconds = _build(name, go, pins, progress)
                progress(f"built {name} in {seconds:.0f} s")
    except OSError as error:
        raise HarnessError(
            f"the programs of the control plane cannot be kept in {folder}: {error}\n"
            "What to do: set MSJOB_CACHE to a folder that this user can write to, with 3 GB free."
        ) from error


def _build(name: str, go: Go, pins: Pins, progress: Progress) -> float:
    """Build one program, whole or not at all.

    Returns:
        The seconds that it took.
    """
    path = cached(name, pins)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{name}.unfinished")
    command: list[str | Path] = [go.program, "build", "-trimpath"]
    command += ["-ldflags", f"-s -w {stamps(name, pins)}", "-o", unfinished, SOURCES[name].package]
    start = time.monotonic()
    with ProgramGroup("ms-operator-build-") as group:
        environment = {**compiler_environment(go), "TMPDIR": str(group.folder)}
        try:
            program = group.start(name, command, environment, cwd=module(name, pins))
            code = _wait(program.process, name, start, progress)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        if code:
            log = shutil.copy(program.log, path.with_name(f"{name}.log"))
            raise HarnessError(
                f"{name} did not build (go build ended with exit code {code}). The last lines of its output:\n"
                f"{_indented(program.tail(_LINES_SHOWN))}\n"
                f"The whole output is in {log}.\n"
                "What to do: for a failed download, let Go reach a module proxy (go help goproxy) and start again; "
                f"or put {name} of the pinned version into a folder that KUBEBUILDER_ASSETS names."
            )
    unfinished.replace(path)
    path.with_name(f"{name}.log").unlink(missing_ok=True)
    return time.monotonic() - start


def _wait(process: subprocess.Popen[bytes], name: str, start: float, progress: Progress) -> int:
    while True:
        try:
            return process.wait(_NEWS_EVERY)
        except subprocess.TimeoutExpired:
            progress(f"still building {name} ({time.monotonic() - start:.0f} s)")


def compiler_environment(go: Go) -> dict[str, str]:
    """Give the compiler this process's environment, without what would change what is built.

    Args:
        go: The compiler.
    """
    steering = ("GOROOT", "GOOS", "GOARCH", "GOEXPERIMENT", "GO111MODULE")
    kept = {name: value for name, value in os.environ.items() if name not in steering}
    fixed = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly -buildvcs=false", "GOTOOLCHAIN": "local", "GOWORK": "off"}
    return {**kept, **fixed, **go.environment}


def _estimate(*names: str) -> str:
    cores = os.cpu_count() or 1
    seconds = sum(SOURCES[name].core_seconds for name in names) / cores
    length = f"{seconds / 60:.0f} min" if seconds > 90 else f"{seconds:.0f} s"
    return f"about {length} on {cores} core{'s' if cores > 1 else ''} when nothing of it is cached"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
