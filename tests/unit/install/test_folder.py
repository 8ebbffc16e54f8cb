"""Replacing a folder: all or nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from msjob.folder import replacing


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A folder with a file and a subfolder, alone in its parent."""
    folder = tmp_path / "parent" / "dist"
    (folder / "sub").mkdir(parents=True)
    (folder / "old").write_text("old")
    (folder / "sub" / "old").write_text("old")
    return folder


def _content(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


OLD = {"old": "old", "sub/old": "old"}


def _fail_renames(monkeypatch: pytest.MonkeyPatch, outcomes: Iterator[bool]) -> None:
    rename = Path.rename

    def flaky(self: Path, to: Path) -> Path:
        if next(outcomes):
            return rename(self, to)
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "rename", flaky)


def test_replaces_all(target: Path) -> None:
    """What was there is gone, what was written is there, and nothing is left beside it."""
    with replacing(target) as fresh:
        (fresh / "new").write_text("new")
        assert _content(target) == OLD

    assert _content(target) == {"new": "new"}
    assert [*target.parent.iterdir()] == [target]


def test_makes_what_is_missing(tmp_path: Path) -> None:
    """The target and its parents need not exist."""
    with replacing(tmp_path / "a" / "b") as fresh:
        (fresh / "new").write_text("new")

    assert _content(tmp_path / "a" / "b") == {"new": "new"}


def test_is_open_to_others(target: Path) -> None:
    """The new folder has the permissions that any new folder gets."""
    (target.parent / "usual").mkdir()
    with replacing(target):
        pass

    assert target.stat().st_mode == (target.parent / "usual").stat().st_mode


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_in_the_block(target: Path, error: type[BaseException]) -> None:
    """A failure, and an interruption, while the folder is filled changes nothing and leaves nothing."""

    def fail(fresh: Path) -> None:
        (fresh / "new").write_text("new")
        raise error

    with pytest.raises(error), replacing(target) as fresh:
        fail(fresh)

    assert _content(target) == OLD
    assert [*target.parent.iterdir()] == [target]


@pytest.mark.parametrize("failing", [0, 1])
def test_a_failure_of_a_rename(target: Path, monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    """Whichever of the two renames fails, the old folder is in its place, and nothing is left beside it."""
    _fail_renames(monkeypatch, iter(step != failing for step in range(10)))
    with pytest.raises(OSError, match="No space left"), replacing(target) as fresh:
        (fresh / "new").write_text("new")

    assert _content(target) == OLD
    assert [*target.parent.iterdir()] == [target]


def test_the_old_folder_is_never_lost(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Should even putting the old folder back fail, it is kept beside its place."""
    _fail_renames(monkeypatch, iter([True, False, False]))
    with pytest.raises(OSError, match="No space left"), replacing(target) as fresh:
        (fresh / "new").write_text("new")

    (kept,) = target.parent.glob(".dist.*/old")
    assert _content(kept) == OLD


def test_a_symbolic_link_stays(target: Path) -> None:
    """A link to the folder keeps pointing to it; the folder is replaced where it lies."""
    link = target.parent / "link"
    link.symlink_to("dist")
    with replacing(link) as fresh:
        (fresh / "new").write_text("new")

    assert link.is_symlink()
    assert _content(target) == {"new": "new"}


def test_a_file_in_the_way(tmp_path: Path) -> None:
    """A parent that is a file is an error, and the file stays."""
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OSError, match="file"), replacing(tmp_path / "file" / "dist"):
        pass

    assert _content(tmp_path) == {"file": "mine"}
