"""The page that `make certify` writes."""

from pathlib import Path

import pytest

from support.cluster import certification
from support.cluster.certification import page

ROW = {
    "matrix": "failure",
    "case": "kill -9 | a worker",
    "outcome": "passed",
    "happened": ["restarts: 1", "goes on\nafter step 10"],
    "seconds": {"report to new pods": 0.61},
    "took": 41.4,
}
JUNIT = '<testsuites><testsuite tests="{}" failures="{}" errors="0" skipped="{}" time="60.5"></testsuite></testsuites>'


def test_a_row() -> None:
    """A row is one line of a table, whatever is in its words."""
    text = page([ROW], {"Kubernetes": "v1.36.3"})

    assert "| Kubernetes | v1.36.3 |" in text
    assert "## Failures" in text
    assert (
        "| kill -9 \\| a worker | passed | restarts: 1; goes on after step 10 | report to new pods: 0.6 s | 41 s |"
        in text
    )


def test_matrices_in_their_order() -> None:
    """Each matrix has a table of its own; one that nobody expected is not lost."""
    text = page([{**ROW, "matrix": name} for name in ("other", "failure", "training", "install")], {})

    titles = [line for line in text.splitlines() if line.startswith("## ")]
    assert titles == ["## Installation", "## Training", "## Failures", "## Other"]


@pytest.mark.parametrize(
    ("counts", "outcome"), [((9, 0, 0), "passed"), ((9, 1, 0), "failed"), ((9, 0, 1), "failed"), ((0, 0, 0), "failed")]
)
def test_the_oldest_kubernetes(tmp_path: Path, counts: tuple[int, int, int], outcome: str) -> None:
    """A tier in which a test failed, or was skipped, or that has none, has not passed."""
    oldest = tmp_path / "oldest.xml"
    oldest.write_text(JUNIT.format(*counts))

    row = certification.oldest_row(oldest)

    assert row["outcome"] == outcome
    assert row["took"] == 60.5
