"""Find the programs of the test bed: in ``KUBEBUILDER_ASSETS``, else on PATH, else built once into a cache.

A folder that ``KUBEBUILDER_ASSETS`` names is taken at its word, so that the tests can run against another version of
Kubernetes. A program on PATH counts only when its minor version is the pinned one: a kubectl of another age, or a
wrapper of that name, is left alone.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from support.testbed import builder
from support.testbed.errors import HarnessError
from support.testbed.pins import OLDEST_MODULE, Pins, minor, read_pins
from support.testbed.progress import Progress, to_stderr
from support.testbed.sources import CONTROL_PLANE, NODE, OF_ONE_VERSION, POLICIES, SIMULATION, version

_ASK_VERSION = {
    "etcd": ["--version"],
    "kube-apiserver": ["--version"],
    "kube-controller-manager": ["--version"],
    "kube-scheduler": ["--version"],
    "kubectl": ["version", "--client"],
    "kwok": ["--version"],
    "kubelet": ["--version"],
    "kube-proxy": ["--version"],
    "coredns": ["-version"],
}

_OF_THE_SERVERS_AGE = ("kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy")
"""Programs that ask the API server for what an older one has not."""


@dataclass(frozen=True)
class Binaries:
    """Where the four programs are."""

    etcd: Path
    kube_apiserver: Path
    kube_controller_manager: Path
    kubectl: Path


@dataclass(frozen=True)
class Simulators:
    """Where the programs are that let pods run on nodes that are none."""

    kube_scheduler: Path
    kwok: Path


@dataclass(frozen=True)
class NodePrograms:
    """Where the programs are that make a cluster with a real node of a control plane."""

    kube_scheduler: Path
    kubelet: Path
    kube_proxy: Path
    coredns: Path


def find_binaries(progress: Progress = to_stderr) -> Binaries:
    """Find the programs of the control plane, and build those that are nowhere; the first build takes minutes.

    Args:
        progress: Is told what is being built, and why.

    Raises:
        HarnessError: A program is nowhere and cannot be built, or ``KUBEBUILDER_ASSETS`` is of no use.
    """
    return Binaries(**_find(CONTROL_PLANE, progress))


def find_all(progress: Progress = to_stderr) -> tuple[Binaries, Simulators]:
    """Find the programs that simulate nodes, too; as ``find_binaries`` does.

    Args:
        progress: Is told what is being built, and why.

    Raises:
        HarnessError: As ``find_binaries``.
    """
    binaries, others = _find_both(SIMULATION, progress)
    return binaries, Simulators(**others)


def find_node_programs(progress: Progress = to_stderr) -> tuple[Binaries, NodePrograms]:
    """Find the programs of a node, too; as ``find_binaries`` does.

    Args:
        progress: Is told what is being built, and why.

    Raises:
        HarnessError: As ``find_binaries``.
    """
    binaries, others = _find_both(NODE, progress)
    return binaries, NodePrograms(**others)


def build_policies(progress: Progress = to_stderr) -> Path:
    """Build the program that enforces NetworkPolicies, where it is missing; no other than ours reads a kubeconfig.

    Args:
        progress: Is told what is being built.

    Raises:
        HarnessError: It cannot be built.
    """
    pins = read_pins()
    builder.build([POLICIES], pins, progress)
    return builder.cached(POLICIES, pins)


def build_oldest(progress: Progress = to_stderr) -> Path:
    """Build the programs of the oldest Kubernetes that the documentation promises to work with, where they are missing.

    Args:
        progress: Is told what is being built.

    Returns:
        Their folder, for ``KUBEBUILDER_ASSETS``; etcd and kwok are not in it, and so are found as always.

    Raises:
        HarnessError: One cannot be built.
    """
    pins = read_pins(OLDEST_MODULE)
    builder.build(OF_ONE_VERSION, pins, progress)
    return builder.cache_folder(pins)


def _find_both(names: Sequence[str], progress: Progress) -> tuple[Binaries, dict[str, Path]]:
    """Give the programs of the control plane, and others by their names as fields have them."""
    paths = _find((*CONTROL_PLANE, *names), progress)
    others = {name.replace("-", "_") for name in names}
    return (
        Binaries(**{name: path for name, path in paths.items() if name not in others}),
        {name: path for name, path in paths.items() if name in others},
    )


def _find(names: Sequence[str], progress: Progress) -> dict[str, Path]:
    """Give the path of each program, by its name as a field has it."""
    pins = read_pins()
    assets = _assets()
    found: dict[str, Path] = {}
    passed_over: list[str] = []
    for name in names:
        path = _in_assets(name, assets) or _on_path(name, pins, passed_over)
        if path is not None:
            found[name] = path
    if assets is not None:
        for name in _OF_THE_SERVERS_AGE:
            if name in names:
                _check_same_minor(name, found, assets, pins)

    wanted = [name for name in names if name not in found]
    if any(not builder.cached(name, pins).exists() for name in wanted):
        for line in passed_over:
            progress(line)
        builder.build(wanted, pins, progress)
    paths = {**{name: builder.cached(name, pins) for name in wanted}, **found}
    return {name.replace("-", "_"): path for name, path in paths.items()}


def _assets() -> Path | None:
    value = os.environ.get("KUBEBUILDER_ASSETS")
    if not value:
        return None
    folder = Path(value).expanduser().absolute()
    if not folder.is_dir():
        raise HarnessError(
            f"KUBEBUILDER_ASSETS names {value}, which is no folder.\n"
            f"What to do: name the folder that holds {', '.join(CONTROL_PLANE)}, or unset the variable."
        )
    return folder


def _in_assets(name: str, assets: Path | None) -> Path | None:
    if assets is None or not (assets / name).exists():
        return None
    path = assets / name
    if not (path.is_file() and os.access(path, os.X_OK)):
        raise HarnessError(f"{path} (from KUBEBUILDER_ASSETS) cannot be run.\nWhat to do: make it an executable file.")
    return path


def _on_path(name: str, pins: Pins, passed_over: list[str]) -> Path | None:
    program = shutil.which(name)
    if program is None:
        return None
    wanted = minor(version(name, pins))
    answer = _ask_version(name, Path(program))
    if minor(answer) == wanted and wanted is not None:
        return Path(program)
    says = answer.splitlines()[0] if answer else "no version"
    passed_over.append(
        f"not using {program}: it says {says!r}, and {name} {wanted[0]}.{wanted[1]} is needed" if wanted else ""
    )
    return None


def _ask_version(name: str, program: Path) -> str:
    """Ask a program for its version; empty when it fails, hangs or says nothing."""
    try:
        result = subprocess.run(
            [program, *_ASK_VERSION[name]],
            check=True,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=20,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return result.stdout.strip()


def _check_same_minor(name: str, found: dict[str, Path], assets: Path, pins: Pins) -> None:
    """Refuse an API server of one version with controllers of another: newer controllers ask for what it has not."""
    server = found.get("kube-apiserver")
    if server is None:
        return
    server_minor = minor(_ask_version("kube-apiserver", server))
    other_minor = minor(_ask_version(name, found[name])) if name in found else minor(pins.kubernetes)
    if server_minor != other_minor:
        raise HarnessError(
            f"{server} is Kubernetes {_dotted(server_minor)}, {name} would be {_dotted(other_minor)}.\n"
            f"What to do: put both of one version into {assets}, or unset KUBEBUILDER_ASSETS to use {pins.kubernetes}."
        )


def _dotted(version: tuple[int, int] | None) -> str:
    return f"{version[0]}.{version[1]}" if version else "of no known version"
