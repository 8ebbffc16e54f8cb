"""`msjob synth`: which settings it passes on, what it prints, how it fails."""

from pathlib import Path

import pytest

from msjob.loading import read
from support.cli import msjob_call, text
from support.jobs import Json, msjob


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def deployment(folder: Path) -> Json:
    """The operator's Deployment in a folder of manifests."""
    found: list[Json] = [
        dict(document.object) for path in folder.glob("*.yaml") for document in read(path.read_bytes(), str(path))
    ]
    return next(item for item in found if item["kind"] == "Deployment")


def test_prints_what_it_wrote_and_then_unchanged(folder: Path) -> None:
    """The first run lists every file; a second with the same settings says that nothing changed."""
    first = msjob_call("synth")
    second = msjob_call("synth")

    written = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*.yaml"))]
    assert (first.code, first.err) == (0, "")
    assert first.lines == [f"wrote {path}" for path in written]
    assert (second.code, second.out, second.err) == (0, "dist: unchanged\n", "")


def test_prints_what_it_changed_and_removed(folder: Path) -> None:
    """With other settings only the files that differ are listed, and those that are gone."""
    (folder / "samples").mkdir()
    (folder / "samples" / "one.yaml").write_text(text(msjob("one")))
    assert "wrote dist/examples/one/rendered.yaml" in msjob_call("synth").lines
    (folder / "samples" / "one.yaml").unlink()

    outcome = msjob_call("synth", "--replicas", "2")

    assert outcome.code == 0
    assert len(outcome.lines) == 2
    assert outcome.lines[0].startswith("wrote dist/")
    assert outcome.lines[1] == "removed dist/examples/one/rendered.yaml"


def test_settings_reach_the_manifests(folder: Path) -> None:
    """Every option shows in the Deployment of the folder that was named."""
    outcome = msjob_call(
        "synth",
        *("--output", "out/deploy"),
        *("--image", "example.com/ms-operator:2"),
        *("--namespace", "site"),
        *("--replicas", "3"),
        *("--operator-flag=--workers=8", "--operator-flag", "--kube-api-qps=50"),
        *("--image-pull-policy", "Always"),
        *("--cpu-request", "200m", "--cpu-limit", "2", "--memory-request", "1Gi", "--memory-limit", "2Gi"),
    )

    assert (outcome.code, outcome.err) == (0, "")
    found = deployment(folder / "out" / "deploy")
    (container,) = found["spec"]["template"]["spec"]["containers"]
    assert (found["metadata"]["namespace"], found["spec"]["replicas"]) == ("site", 3)
    assert (container["image"], container["imagePullPolicy"]) == ("example.com/ms-operator:2", "Always")
    assert container["args"][-2:] == ["--workers=8", "--kube-api-qps=50"]
    assert container["resources"] == {
        "requests": {"cpu": "200m", "memory": "1Gi"},
        "limits": {"cpu": "2", "memory": "2Gi"},
    }


def test_settings_that_make_no_sense() -> None:
    """Wrong values are all told at once, each by its option, and nothing is written."""
    outcome = msjob_call(
        "synth",
        "--image",
        "Not An Image",
        "--namespace",
        "kube-system",
        "--operator-flag",
        "workers",
        "--cpu-limit",
        "1m",
    )

    assert (outcome.code, outcome.out) == (2, "")
    assert all(
        option in outcome.err for option in ("--image: ", "--namespace: ", "--operator-flag: ", "--cpu-request: ")
    )
    assert not Path("dist").exists()


@pytest.mark.parametrize("arguments", [("--replicas", "-1"), ("--samples", "missing"), ("extra",)])
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    """What no run could use is refused before it starts."""
    assert msjob_call("synth", *arguments).code == 2


def test_a_bad_sample_is_told_with_its_line(folder: Path) -> None:
    """A sample that is not valid stops the synth, with its file and what is wrong; nothing is written."""
    (folder / "samples").mkdir()
    (folder / "samples" / "bad.yaml").write_text("a: 1\na: 2\n")

    outcome = msjob_call("synth")

    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.err.startswith("error: samples/bad.yaml:2:1: the key a is there twice")
    assert not (folder / "dist").exists()


def test_a_folder_of_others_is_left_alone(folder: Path) -> None:
    """A folder with files that were not generated is not replaced."""
    (folder / "mine.yaml").write_text("a: 1\n")

    outcome = msjob_call("synth", "--output", ".")

    assert (outcome.code, outcome.out) == (3, "")
    assert "mine.yaml" in outcome.err
    assert [path.name for path in folder.iterdir()] == ["mine.yaml"]
