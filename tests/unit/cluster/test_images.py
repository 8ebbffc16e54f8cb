"""The images of the cluster: an image is built once for each content, and its archive is there whole or not at all."""

import re
from pathlib import Path

import pytest

from support.cluster import build_images, images
from support.cluster.contents import context_files, included, key_of
from support.cluster.images import ALL, CORE, Image, wanted
from support.image.storage import Storage
from support.programs import ROOT, run_program, write_program
from support.testbed.errors import HarnessError
from support.testbed.progress import Progress

REF = re.compile(r"localhost/[a-z0-9]+([._-][a-z0-9]+)*:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
"""https://github.com/distribution/reference: a name with a registry and a tag."""

BUILDAH = """
echo "$@" >>"$BUILDAH_CALLS"
case "$1" in
from) echo container ;;
push)
    target=${5#docker-archive:}
    echo "$4" >"${target%%:*}"
    exit "${BUILDAH_PUSH:-0}"
    ;;
esac
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("MSJOB_CACHE", str(folder))
    monkeypatch.delenv("MSJOB_CLUSTER_STORE", raising=False)
    monkeypatch.delenv("PYTHON_IMAGE", raising=False)
    return folder


@pytest.fixture
def buildah(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A buildah that only notes how it is called, in the file that this gives; the base image can be pulled."""
    calls = tmp_path / "calls"
    program = write_program(tmp_path / "bin" / "buildah", BUILDAH)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setenv("BUILDAH_CALLS", str(calls))
    monkeypatch.setenv("MSJOB_IMAGE_WORK", str(tmp_path / "work"))
    monkeypatch.setenv("PYTHON_IMAGE", "registry.example/python:3")
    cache.mkdir()
    (tmp_path / "work").mkdir()
    return calls


@pytest.fixture
def context(tmp_path: Path) -> Path:
    """Something to build an image from."""
    folder = tmp_path / "context"
    (folder / "code" / "__pycache__").mkdir(parents=True)
    (folder / "Dockerfile").write_text("FROM scratch")
    (folder / ".dockerignore").write_text("*\n!code\n!lock.txt\n**/__pycache__\n")
    (folder / "lock.txt").write_text("six==1")
    (folder / "code" / "main.py").write_text("pass")
    (folder / "code" / "__pycache__" / "main.pyc").write_text("compiled")
    return folder


# -- keys --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changed", ["Dockerfile", "lock.txt", "code/main.py", "code/more.py"])
def test_key_changes(context: Path, changed: str) -> None:
    """The key changes with whatever goes into the image."""
    before = key_of(context_files(context))
    (context / changed).write_text("another")
    assert key_of(context_files(context)) != before


def test_key_stays(context: Path) -> None:
    """What does not go into the image leaves the key as it is."""
    before = key_of(context_files(context))
    (context / "notes.txt").write_text("new")
    (context / "code" / "__pycache__" / "main.pyc").write_text("compiled anew")
    assert key_of(context_files(context)) == before


def test_key_boundaries() -> None:
    """Names, contents and what else counts do not flow into each other."""
    keys = {
        key_of({"a": b"bc"}),
        key_of({"ab": b"c"}),
        key_of({"a": b"b", "c": b""}),
        key_of({"a": b"bc"}, "base"),
        key_of({"base": b"", "a": b"bc"}),
    }
    assert len(keys) == 5


@pytest.mark.parametrize("text", ["", "!train.py", "*\nnotes", "*\n!a\nb*"])
def test_unknown_ignore_file(text: str) -> None:
    """A .dockerignore that says it in another way is an error, not a key that misses something."""
    with pytest.raises(ValueError, match="is not"):
        included(text)


def test_sources_of_project() -> None:
    """The key of the operator's image sees its code and its lock files, that of each training its script and lock."""
    assert {"requirements/runtime.txt", "pyproject.toml", "Dockerfile", "controller/msjob_controller/main.py"} <= set(
        context_files(ROOT)
    )
    for folder in (images.TRAINING_FOLDER, images.PS_FOLDER):
        assert set(context_files(folder)) == {"Dockerfile", ".dockerignore", "requirements.txt", "train.py"}


@pytest.mark.usefixtures("cache")
def test_base_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """On another base image all are other images, but for the pause image, which has none."""
    before = wanted()
    monkeypatch.setenv("PYTHON_IMAGE", "registry.example/python:3")
    assert {name for name, image in wanted().items() if image.key == before[name].key} == {"pause"}


# -- names and places --------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("cache")
def test_refs() -> None:
    """Each image has a valid name that no other has, on no registry, and which is not `latest`: no kubelet pulls it."""
    found = wanted()
    assert list(found) == list(ALL)
    assert all(REF.fullmatch(image.ref) and not image.ref.endswith(":latest") for image in found.values())
    assert len({image.ref for image in found.values()}) == len(ALL)
    assert found["operator"].ref == f"localhost/ms-operator:{found['operator'].key}"


def test_taken(cache: Path) -> None:
    """An image need not be built while its archive is there, nor once the node has taken it, which ends the archive."""
    image = wanted(["training"])["training"]
    assert image in build_images.missing()
    image.archive.parent.mkdir(parents=True)
    image.archive.touch()
    assert image not in build_images.missing()

    image.taken()

    assert not image.archive.exists()
    assert image.marker == cache / "cluster" / "containerd" / "imported" / f"training-{image.key}"
    assert image not in build_images.missing()


def test_taken_by_another_store(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node with a store of its own leaves the archive to the usual one, which does not have the image yet."""
    monkeypatch.setenv("MSJOB_CLUSTER_STORE", str(tmp_path / "store"))
    image = wanted(["training"])["training"]
    image.archive.parent.mkdir(parents=True)
    image.archive.touch()

    image.taken()

    assert image.imported
    assert image.marker.is_relative_to(tmp_path / "store")
    monkeypatch.delenv("MSJOB_CLUSTER_STORE")
    usual = wanted(["training"])["training"]
    assert (usual.imported, usual.there, usual.archive.parent) == (False, True, cache / "cluster" / "images")


# -- building ----------------------------------------------------------------------------------------------------------


def build(*names: str) -> tuple[list[Image], list[str]]:
    """Build images; gives them, and what was told."""
    said: list[str] = []
    build_images.build(names, said.append)
    return list(wanted(names).values()), said


def test_builds_what_is_missing(buildah: Path, cache: Path) -> None:
    """What lacks is built from its own folder and its archive named as in the cluster; older archives of it go."""
    folder = cache / "cluster" / "images"
    folder.mkdir(parents=True)
    old = [folder / "training-0123456789ab.tar", folder / "training-0123456789ab.tar.unfinished"]
    others = [folder / "training-ps-0123456789ab.tar", folder / "operator-0123456789ab.tar"]
    for path in (*old, *others):
        path.touch()

    (image,), said = build("training")

    assert image.archive.read_text().strip() == image.ref
    assert sorted(folder.glob("*.tar*")) == sorted([image.archive, *others])
    steps = [line.split() for line in buildah.read_text().splitlines()]
    assert [step[0] for step in steps] == ["build", "push", "rmi"]
    assert steps[0][-1] == str(ROOT / "samples" / "training")
    assert "--build-arg=PYTHON_IMAGE=registry.example/python:3" in steps[0]
    assert any("2.8 GB" in line for line in said)

    assert build("training") == ([image], [])


@pytest.mark.usefixtures("buildah")
def test_sources_change(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What changes while it is built is built again, and never kept under the key of what it was; thrice is enough."""
    built: list[str] = []

    def built_while_edited(_storage: Storage, ref: str, _progress: Progress) -> None:
        built.append(ref)
        if len(built) != 2:
            monkeypatch.setenv("PYTHON_IMAGE", f"registry.example/python:{len(built)}")

    monkeypatch.setattr(build_images, "_BUILDERS", {"training": built_while_edited})
    (image,), _ = build("training")
    assert (len(built), built[1]) == (2, image.ref)
    assert image.archive.read_text().strip() == image.ref

    image.archive.unlink()
    with pytest.raises(HarnessError, match="changed 3 times"):
        build("training")
    assert list((cache / "cluster" / "images").glob("*.tar*")) == []


@pytest.mark.usefixtures("buildah")
def test_no_half_archive(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive that breaks off is an error with buildah's words, and leaves nothing."""
    monkeypatch.setenv("BUILDAH_PUSH", "1")
    with pytest.raises(HarnessError, match=r"buildah push .* exit code 1"):
        build("training")
    assert list((cache / "cluster" / "images").glob("*.tar*")) == []


@pytest.mark.usefixtures("buildah")
def test_needs_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing would take mounts and files away again, nothing is built; the message says what to run."""
    monkeypatch.delenv("MSJOB_IMAGE_WORK")
    with pytest.raises(HarnessError, match=r"tools/cluster-images\.sh"):
        build(*CORE)


@pytest.mark.usefixtures("cache")
def test_command_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It lists what is missing; an error is a message, no traceback."""
    monkeypatch.delenv("MSJOB_IMAGE_WORK", raising=False)
    monkeypatch.setattr("sys.argv", ["build_images", "--missing", "core"])
    assert build_images.main() == 0
    assert capsys.readouterr().out.split() == list(CORE)

    monkeypatch.setattr("sys.argv", ["build_images", "all"])
    assert build_images.main() == 1
    assert "What to do" in capsys.readouterr().err


def test_script_has_nothing_to_do(cache: Path) -> None:
    """Where all is there, the script needs neither root nor a program."""
    for image in wanted().values():
        image.taken()
    done = run_program("/bin/sh", ROOT / "tools" / "cluster-images.sh", "all", env={"MSJOB_CACHE": str(cache)})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
