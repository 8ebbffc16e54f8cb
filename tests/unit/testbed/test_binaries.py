"""Which programs the control plane of the tests is made of."""

import os
from pathlib import Path

import pytest

from support.programs import write_program
from support.testbed import builder
from support.testbed.binaries import find_all, find_binaries
from support.testbed.errors import HarnessError
from support.testbed.pins import read_pins

VERSIONS = {
    "etcd": "etcd Version: {etcd}\nGit SHA: none",
    "kube-apiserver": "Kubernetes {kubernetes}",
    "kube-controller-manager": "Kubernetes {kubernetes}",
    "kubectl": "Client Version: {kubernetes}\nKustomize Version: v5.8.1",
}
SIMULATORS = {"kube-scheduler": "Kubernetes {kubernetes}", "kwok": "kwok version {kwok} go1.26.8 (linux/amd64)"}


class Machine:
    """A machine with an empty PATH and an empty cache.

    Attributes:
        bin: Its only folder of programs.
        cache: Where programs of the pinned versions are kept.
        said: What was shown to the user.
    """

    def __init__(self, root: Path) -> None:
        self.bin = root / "bin"
        self.assets = root / "assets"
        self.cache = root / "cache" / "testbed" / read_pins().name
        self.said: list[str] = []
        for folder in (self.bin, self.assets, self.cache):
            folder.mkdir(parents=True)

    def add(self, folder: Path, name: str, kubernetes: str | None = None) -> Path:
        """Put a program somewhere, of the pinned version by default."""
        pins = read_pins()
        text = {**VERSIONS, **SIMULATORS}[name].format(
            etcd=pins.etcd, kubernetes=kubernetes or pins.kubernetes, kwok=pins.kwok
        )
        return write_program(folder / name, f"echo '{text}'")

    def fill(self, folder: Path) -> None:
        """Put the four programs of the control plane somewhere."""
        for name in VERSIONS:
            self.add(folder, name)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine without any of the programs, and without Go."""
    machine = Machine(tmp_path)
    monkeypatch.setenv("PATH", str(machine.bin))
    monkeypatch.setenv("MSJOB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    return machine


def folders(machine: Machine) -> dict[str, Path]:
    """Find the programs and give the folder of each."""
    return {path.name: path.parent for path in vars(find_binaries(machine.said.append)).values()}


def test_assets_come_first(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of KUBEBUILDER_ASSETS are used though the same are on PATH and in the cache."""
    for folder in (machine.assets, machine.bin, machine.cache):
        machine.fill(folder)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(machine.assets))

    assert set(folders(machine).values()) == {machine.assets}


def test_what_the_assets_lack_comes_from_elsewhere(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each program is looked for by itself: the usual bundles of assets hold no kube-controller-manager."""
    machine.fill(machine.cache)
    for name in ("etcd", "kube-apiserver", "kubectl"):
        machine.add(machine.assets, name)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(machine.assets))

    found = folders(machine)

    assert found.pop("kube-controller-manager") == machine.cache
    assert set(found.values()) == {machine.assets}


def test_path_comes_before_the_cache(machine: Machine) -> None:
    """Programs on PATH are used when their minor version is the pinned one, whatever the patch."""
    machine.fill(machine.cache)
    machine.fill(machine.bin)
    machine.add(machine.bin, "kubectl", f"v{read_pins().kubernetes.removeprefix('v').rpartition('.')[0]}.99")

    assert set(folders(machine).values()) == {machine.bin}


@pytest.mark.parametrize(
    "says",
    ["Client Version: v1.32.4-dispatcher", "Client Version: v11.36.1", "hello", ""],
    ids=["old", "other", "odd", "mute"],
)
def test_other_versions_on_path_are_left_alone(machine: Machine, says: str) -> None:
    """A program on PATH of another version, or that names none, is not used."""
    machine.fill(machine.cache)
    write_program(machine.bin / "kubectl", f"echo '{says}'")

    assert folders(machine)["kubectl"] == machine.cache


def test_broken_program_on_path_is_left_alone(machine: Machine) -> None:
    """A program on PATH that fails, or is no program, is not used."""
    machine.fill(machine.cache)
    write_program(machine.bin / "kubectl", "exit 3")
    (machine.bin / "etcd").write_bytes(b"\x7fELF no more")
    (machine.bin / "etcd").chmod(0o755)

    assert set(folders(machine).values()) == {machine.cache}


def test_assets_that_are_no_folder(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistaken KUBEBUILDER_ASSETS is an error that names it, not a silent build."""
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(machine.assets / "none"))

    with pytest.raises(HarnessError, match=r"KUBEBUILDER_ASSETS names .*none, which is no folder"):
        find_binaries(machine.said.append)


def test_asset_that_cannot_be_run(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of KUBEBUILDER_ASSETS that is not executable is an error that names it."""
    machine.fill(machine.assets)
    (machine.assets / "etcd").chmod(0o644)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(machine.assets))
    # Root may read and write anything, but not even root may run a file without an x bit.
    with pytest.raises(HarnessError, match=r"etcd \(from KUBEBUILDER_ASSETS\) cannot be run"):
        find_binaries(machine.said.append)


def test_server_and_controllers_of_two_versions(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """An API server of KUBEBUILDER_ASSETS is not paired with controllers of another version."""
    machine.fill(machine.cache)
    machine.add(machine.assets, "kube-apiserver", "v1.30.1")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(machine.assets))

    with pytest.raises(HarnessError, match=r"kube-apiserver is Kubernetes 1\.30, kube-controller-manager would be 1\."):
        find_binaries(machine.said.append)


def test_old_version_as_a_whole_is_welcome(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """KUBEBUILDER_ASSETS may hold another version of Kubernetes, so that the tests can run against it."""
    machine.add(machine.assets, "etcd")
    for name in ("kube-apiserver", "kube-controller-manager", "kubectl"):
        machine.add(machine.assets, name, "v1.30.1")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(machine.assets))

    assert set(folders(machine).values()) == {machine.assets}


def test_simulators_are_found_beside_the_control_plane(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """What simulates nodes is looked for in the same places; kwok is cached by its own version."""
    machine.fill(machine.assets)
    machine.add(machine.assets, "kube-scheduler")
    own = machine.cache.with_name(f"kwok-{read_pins().kwok}")
    machine.add(own, "kwok")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(machine.assets))

    control_plane, simulators = find_all(machine.said.append)

    assert {path.parent for path in vars(control_plane).values()} == {machine.assets}
    assert simulators.kube_scheduler == machine.assets / "kube-scheduler"
    assert simulators.kwok == own / "kwok"
    machine.add(machine.bin, "kwok")
    assert find_all(machine.said.append)[1].kwok == machine.bin / "kwok"


def test_server_and_scheduler_of_two_versions(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """An API server of KUBEBUILDER_ASSETS does without the scheduler of another version, as far as tests go."""
    for name in VERSIONS:
        machine.add(machine.assets, name, None if name == "etcd" else "v1.30.1")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(machine.assets))

    assert set(folders(machine).values()) == {machine.assets}
    with pytest.raises(HarnessError, match=r"kube-apiserver is Kubernetes 1\.30, kube-scheduler would be 1\."):
        find_all(machine.said.append)


def test_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are kept outside the checkout, in the user's cache or where MSJOB_CACHE says."""
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.delenv("MSJOB_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    homes = [builder.cache_root()]
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    homes.append(builder.cache_root())
    monkeypatch.setenv("MSJOB_CACHE", "/own")
    homes.append(builder.cache_root())

    assert [str(home) for home in homes] == ["/home/someone/.cache/ms-operator", "/xdg/ms-operator", "/own"]
    assert os.fspath(builder.cache_folder(read_pins())).startswith("/own/testbed/v1.")
