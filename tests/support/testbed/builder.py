"""Build the programs from Go modules into a cache outside the checkout, once for each pinned version."""

import contextlib
import fcntl
import os
import subprocess
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from support.testbed.errors import HarnessError
from support.testbed.golang import Go, find_go
from support.testbed.pins import MODULE, Pins
from support.testbed.progress import Progress

PACKAGES = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
}
"""The Go package of each program."""

_CORE_SECONDS = {"etcd": 140, "kube-apiserver": 650, "kube-controller-manager": 170, "kubectl": 60}
"""Measured on 2 cores with empty caches, in this order: seconds times cores."""

_NEWS_EVERY = 60.0
_LINES_SHOWN = 20


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
    """Give the folder that keeps the programs of these versions."""
    return cache_root() / "testbed" / pins.name


def build(names: Sequence[str], pins: Pins, progress: Progress) -> None:
    """Build programs that the cache lacks.

    A lock makes processes that want the same wait for each other: the second one finds all built.

    Args:
        names: The programs, keys of ``PACKAGES``.
        pins: Their versions.
        progress: Is told what is being built and how long that takes.

    Raises:
        HarnessError: No Go is to be had, the Go modules cannot be downloaded, or the compiler failed.
    """
    folder = cache_folder(pins)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / "build.lock", progress):
            missing = [name for name in names if not (folder / name).exists()]
            if not missing:
                return
            go = find_go(pins.go, cache_root() / "testbed", progress)
            for number, name in enumerate(missing, start=1):
                progress(
                    f"building {name} {pins.etcd if name == 'etcd' else pins.kubernetes} ({number} of {len(missing)}) "
                    f"with {go.version}; {_estimate(name)}"
                )
                seconds = _build(name, folder, go, pins, progress)
                progress(f"built {name} in {seconds:.0f} s")
    except OSError as error:
        raise HarnessError(
            f"the programs of the control plane cannot be kept in {folder}: {error}\n"
            "What to do: set MSJOB_CACHE to a folder that this user can write to, with 3 GB free."
        ) from error


@contextlib.contextmanager
def _locked(path: Path, progress: Progress) -> Iterator[None]:
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"another process is building the control plane; waiting for it ({path})")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(name: str, folder: Path, go: Go, pins: Pins, progress: Progress) -> float:
    """Build one program, whole or not at all.

    Returns:
        The seconds that it took.
    """
    major, minor = pins.kubernetes.removeprefix("v").split(".")[:2]
    stamp = " ".join(
        f"-X k8s.io/component-base/version.{variable}={value}"
        for variable, value in (("gitVersion", pins.kubernetes), ("gitMajor", major), ("gitMinor", minor))
    )
    unfinished = folder / f"{name}.unfinished"
    command: list[str | Path] = [
        go.program,
        "build",
        "-trimpath",
        "-ldflags",
        f"-s -w {stamp}",
        "-o",
        unfinished,
        PACKAGES[name],
    ]
    log_path = folder / f"{name}.log"
    start = time.monotonic()
    with log_path.open("w+") as log:
        with subprocess.Popen(
            command, cwd=MODULE, env=_environment(go), stdin=subprocess.DEVNULL, stdout=log, stderr=log
        ) as process:
            try:
                code = _wait(process, name, start, progress)
            except BaseException:
                process.kill()
                raise
        if code:
            raise HarnessError(
                f"{name} did not build (go build ended with exit code {code}). The last lines of its output:\n"
                f"{_last_lines(log)}\n"
                f"The whole output is in {log_path}.\n"
                "What to do: for a failed download, let Go reach a module proxy (go help goproxy) and start again; "
                f"or put {name} of the pinned version into a folder that KUBEBUILDER_ASSETS names."
            )
    unfinished.replace(folder / name)
    log_path.unlink()
    return time.monotonic() - start


def _wait(process: subprocess.Popen[bytes], name: str, start: float, progress: Progress) -> int:
    while True:
        try:
            return process.wait(_NEWS_EVERY)
        except subprocess.TimeoutExpired:
            progress(f"still building {name} ({time.monotonic() - start:.0f} s)")


def _environment(go: Go) -> dict[str, str]:
    """Give the compiler this process's environment, without what would change what is built."""
    steering = ("GOROOT", "GOOS", "GOARCH", "GOEXPERIMENT", "GO111MODULE")
    kept = {name: value for name, value in os.environ.items() if name not in steering}
    fixed = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly -buildvcs=false", "GOTOOLCHAIN": "local", "GOWORK": "off"}
    return {**kept, **fixed, **go.environment}


def _estimate(name: str) -> str:
    cores = os.cpu_count() or 1
    seconds = _CORE_SECONDS[name] / cores
    length = f"{seconds / 60:.0f} min" if seconds > 90 else f"{seconds:.0f} s"
    return f"about {length} on {cores} core{'s' if cores > 1 else ''} when nothing of it is cached"


def _last_lines(log: TextIO) -> str:
    log.seek(0)
    return "".join(f"  {line}" for line in deque(log, maxlen=_LINES_SHOWN)).rstrip()
