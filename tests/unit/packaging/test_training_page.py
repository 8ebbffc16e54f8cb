"""The page about a first training: what it names is there."""

import re

import yaml

from support.programs import ROOT

FOLDER = ROOT / "samples" / "training"
PAGE = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
SCRIPT = (FOLDER / "train.py").read_text(encoding="utf-8")
DOCKERFILE = (FOLDER / "Dockerfile").read_text(encoding="utf-8")


def test_paths_are_there() -> None:
    """Every file that a command names is in the checkout."""
    named = re.findall(r"\b(samples/[\w./]+)", PAGE)

    assert len(named) > 3
    assert [path for path in named if not (ROOT / path.rstrip(".")).exists()] == []


def test_targets_are_there() -> None:
    """Each target that the page names is one of the Makefile."""
    targets = re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = re.findall(r"`make ([a-z-]+)", PAGE)

    assert named
    assert set(named) <= set(targets)


def test_options() -> None:
    """The table of options has each one of the script, with its default."""
    known = re.findall(r'add\("(\w+)", \w+, "?([\w.]+)"?,', SCRIPT)
    told = re.findall(r"^\| `--(\w+)` \| `?([\w.]+)`? \|", PAGE, re.MULTILINE)

    assert len(known) == SCRIPT.count('add("') == 7
    assert told == known


def test_image() -> None:
    """The image has what the page says: MindSpore, numpy below 2, libgomp1, and a user by number who is not root."""
    wanted = (FOLDER / "requirements.in").read_text()
    locked = dict(re.findall(r"^([a-z]+)==(\S+) \\$", (FOLDER / "requirements.txt").read_text(), re.MULTILINE))

    assert re.search(r"^mindspore==2\.10\.0$", wanted, re.MULTILINE)
    assert locked["mindspore"] == "2.10.0"
    assert int(locked["numpy"].partition(".")[0]) == 1
    assert "libgomp1" in DOCKERFILE
    assert "--require-hashes" in DOCKERFILE
    users = re.findall(r"^USER (\d+):\d+$", DOCKERFILE, re.MULTILINE)
    assert users == ["65532"]
    group = yaml.safe_load((ROOT / "samples" / "train_retry.yaml").read_text())
    assert group["spec"]["msReplicaSpecs"]["Worker"]["template"]["spec"]["securityContext"]["fsGroup"] == int(users[0])
    copied = re.findall(r"^COPY (\S+) \.$", DOCKERFILE, re.MULTILINE)
    ignored = (FOLDER / ".dockerignore").read_text().split()
    assert ignored == ["*", *(f"!{name}" for name in copied)]
