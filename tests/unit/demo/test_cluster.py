"""The programs of the demo, as far as they need not run."""

from pathlib import Path
from types import SimpleNamespace

from demo.cluster import Cluster


def cluster(keep: object = None) -> Cluster:
    """Give a cluster that has not started; with ``keep`` one with logs, and what copies them."""
    made = Cluster.__new__(Cluster)
    made.control_plane = SimpleNamespace(logs=Path(), keep_logs=keep) if keep else SimpleNamespace()  # type: ignore[assignment]
    return made


def copy(folder: Path) -> Path:
    """Copy logs."""
    folder.mkdir(parents=True)
    return folder


def test_logs_of_the_last_runs_are_kept(tmp_path: Path) -> None:
    """It is said where; those of long ago go."""
    for number in range(12):
        (tmp_path / f"20250101-0000{number:02}").mkdir()

    said = cluster(copy).keep_logs(tmp_path)

    kept = sorted(tmp_path.iterdir())
    assert len(kept) == 10
    assert said == f"The logs of all programs are in {kept[-1]}."
    assert cluster().keep_logs(tmp_path) == ""


def test_logs_that_cannot_be_kept(tmp_path: Path) -> None:
    """As in a checkout that may only be read: it is told beside what went wrong, and not in its place."""

    def refuse(folder: Path) -> Path:
        raise OSError(30, "Read-only file system", str(folder))

    said = cluster(refuse).keep_logs(tmp_path)

    assert said == f"The logs of all programs cannot be kept in {tmp_path}: Read-only file system."
