"""What builds the operator's image: which program with which arguments, and what is told when that cannot be."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from msjob.settings import default_image
from support.programs import ROOT, run_program, write_program

DOCKERFILE = (ROOT / "Dockerfile").read_text()


def build_image(task: str, path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Build or push, with the programs of a folder and of the system alone."""
    empty = dict.fromkeys(("IMG", "BUILDER", "BUILDER_ARGS", "PYTHON_IMAGE", "SOURCE", "DEST", "SOURCE_DATE_EPOCH"), "")
    git = write_program(path / "git", 'case "$*" in *show*) echo "abc123 86400" ;; esac')
    return run_program(
        sys.executable,
        ROOT / "tools" / "build_image.py",
        task,
        env={**empty, "PATH": f"{git.parent}:{path / 'none'}", **variables},
    )


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    """A folder with builders that write down how they were called."""
    for name in ("docker", "podman", "buildah"):
        write_program(tmp_path / "bin" / name, f'printf "%s\\n" {name} "$@" >{tmp_path}/called')
    return tmp_path / "bin"


def called(bin_folder: Path) -> list[str]:
    """How the builder was called."""
    return (bin_folder.parent / "called").read_text().splitlines()


def test_image_of_the_installation(bin_folder: Path) -> None:
    """Without settings the first builder builds the image that `dist/` names, of this version, commit and its time."""
    done = build_image("build", bin_folder)

    assert (done.returncode, done.stderr) == (0, "")
    program, *arguments = called(bin_folder)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert [program, *arguments[:3]] == ["docker", "build", "--tag", default_image()]
    assert {item.removeprefix("--build-arg=") for item in arguments if item.startswith("--build-arg=")} == {
        f"VERSION={version}",
        "REVISION=abc123",
        "CREATED=1970-01-02T00:00:00Z",
        "SOURCE_DATE_EPOCH=86400",
    }
    assert arguments[-1] == str(ROOT)


@pytest.mark.parametrize("builder", ["podman", "buildah"])
def test_settings(bin_folder: Path, builder: str) -> None:
    """Each setting reaches the builder; those without a daemon take the time of the image by a flag of theirs."""
    done = build_image(
        "build",
        bin_folder,
        IMG="registry.example/op:1",
        BUILDER=builder,
        BUILDER_ARGS="--no-cache --label 'a=b c'",
        PYTHON_IMAGE="registry.example/python@sha256:0",
        SOURCE="https://sources.example",
    )

    assert done.returncode == 0, done.stderr
    program, *arguments = called(bin_folder)
    assert [program, *arguments[:3]] == [builder, "build", "--tag", "registry.example/op:1"]
    assert "--build-arg=PYTHON_IMAGE=registry.example/python@sha256:0" in arguments
    assert "--build-arg=SOURCE=https://sources.example" in arguments
    assert arguments[-6:-1] == ["--timestamp", "86400", "--no-cache", "--label", "a=b c"]


def test_index_and_certificates_are_secrets(bin_folder: Path, tmp_path: Path) -> None:
    """How pip reaches its index here is given as a file that is gone afterwards, and never as an argument."""
    certificates = tmp_path / "ca.pem"
    certificates.write_text("certificates")
    copy = f'for item; do case $item in --secret=id=pip,src=*) cat "${{item#*src=}}" ;; esac; done >{tmp_path}/pip'
    write_program(bin_folder / "docker", f'printf "%s\\n" "$@" >{tmp_path}/called\n{copy}')

    done = build_image(
        "build",
        bin_folder,
        PATH=f"{bin_folder}:/usr/bin:/bin",
        PIP_CONFIG_FILE="/dev/null",
        PIP_INDEX_URL="https://user:word@index.example/simple",
        PIP_FIND_LINKS="/folder/of/this/machine",
        PIP_CERT=str(certificates),
    )

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "pip").read_text().splitlines() == [
        "[global]",
        "index-url = https://user:word@index.example/simple",
        "cert = /run/secrets/ca",
    ]
    arguments = called(bin_folder)
    assert f"--secret=id=ca,src={certificates}" in arguments
    assert "index.example" not in "".join(arguments)
    (pip,) = (item for item in arguments if item.startswith("--secret=id=pip,src="))
    assert not Path(pip.partition("src=")[2]).exists()


def test_push(bin_folder: Path) -> None:
    """An image is pushed to where its name says, or elsewhere, which docker cannot."""
    assert build_image("push", bin_folder).returncode == 0
    assert called(bin_folder) == ["docker", "push", default_image()]

    assert build_image("push", bin_folder, IMG="a/b:1", BUILDER="buildah", DEST="oci-archive:x.tar").returncode == 0
    assert called(bin_folder) == ["buildah", "push", "a/b:1", "oci-archive:x.tar"]

    refused = build_image("push", bin_folder, DEST="oci-archive:x.tar")
    assert refused.returncode == 1
    assert "use BUILDER=podman or buildah" in refused.stderr


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({}, "none of docker, podman, buildah is on PATH: install one"),
        ({"BUILDER": "podman"}, "BUILDER=podman is not on PATH"),
        ({"BUILDER": "kaniko"}, "BUILDER=kaniko is none of docker, podman, buildah"),
    ],
    ids=["none", "absent", "unknown"],
)
def test_no_builder(tmp_path: Path, variables: dict[str, str], message: str) -> None:
    """Where there is nothing to build with, one line says so."""
    done = build_image("build", tmp_path / "bin", **variables)

    assert done.returncode == 1
    assert done.stderr.startswith(f"image: {message}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"IMG": "Not An Image"}, "image: IMG: 'Not An Image' is not an image reference"),
        ({"BUILDER_ARGS": "'unclosed"}, "image: BUILDER_ARGS='unclosed: No closing quotation"),
        ({"SOURCE_DATE_EPOCH": "today"}, "image: SOURCE_DATE_EPOCH=today is no number of seconds since 1970"),
    ],
    ids=["name", "arguments", "moment"],
)
def test_faults_in_settings(bin_folder: Path, variables: dict[str, str], message: str) -> None:
    """A setting that makes no sense is named, and nothing is started."""
    done = build_image("build", bin_folder, **variables)

    assert done.returncode == 1
    assert done.stderr.startswith(message)
    assert not (bin_folder.parent / "called").exists()


def test_builder_that_fails(bin_folder: Path) -> None:
    """The failure of a build is that of the command."""
    write_program(bin_folder / "docker", "exit 7")

    done = build_image("build", bin_folder)

    assert (done.returncode, done.stderr) == (
        1,
        (
            "image: docker build ended with exit code 7; what it printed says why. BUILDER= names another program, "
            "PYTHON_IMAGE= another base image: docs/image.md\n"
        ),
    )


def test_dockerfile_names_this_version() -> None:
    """A build without `make`, which gives no VERSION, is of this version, too."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    assert re.findall(r"^ARG VERSION=(.*)$", DOCKERFILE, re.MULTILINE) == [version]


def test_context_holds_all_that_is_copied() -> None:
    """Whatever the Dockerfile copies is let through by `.dockerignore`."""
    let_through = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {
        name for line in re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE) for name in line.split()
    }

    assert copied - let_through == {"requirements"}
    assert all((ROOT / name).exists() for name in let_through)
