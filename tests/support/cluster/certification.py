"""``make certify``: the page of docs/ with what every row of the cluster tier came to.

The rows are those of a run on the commit that is checked out: with changes that are not committed, nothing is written.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

from support.programs import ROOT
from support.testbed.pins import OLDEST_MODULE, read_pins

PAGE: Final = ROOT / "docs" / "certification.md"

_TITLES: Final = {
    "install": "Installation",
    "training": "Training",
    "failure": "Failures",
    "oldest": "The oldest Kubernetes",
}
"""Titles of the matrices, in the order of the page."""


_WRITTEN_BY: Final = (
    "Written by `make certify`: every row of the cluster tier, on a real kubelet with real MindSpore processes "
    "([docs/cluster.md](cluster.md) says how). Do not edit."
)


def page(rows: Iterable[Mapping[str, Any]], facts: Mapping[str, str], written_by: str = _WRITTEN_BY) -> str:
    """Write the page.

    Args:
        rows: As `support.cluster.report.Report` writes them.
        facts: What they were run on.
        written_by: What the page says of itself.
    """
    rows = list(rows)
    parts = [
        "# Certification",
        written_by,
        "\n".join(["| | |", "| --- | --- |", *(f"| {name} | {_cell(text)} |" for name, text in facts.items())]),
    ]
    known = [*_TITLES, *sorted({str(row["matrix"]) for row in rows} - {*_TITLES})]
    for matrix in known:
        listed = [row for row in rows if row["matrix"] == matrix]
        if listed:
            head = ["| case | result | what happened | measured | in all |", "| --- | --- | --- | --- | --- |"]
            parts.append(f"## {_TITLES.get(matrix, matrix.capitalize())}")
            parts.append("\n".join([*head, *map(_line, listed)]))
    return "\n\n".join(parts) + "\n"


def _line(row: Mapping[str, Any]) -> str:
    measured = ", ".join(f"{name}: {seconds:.1f} s" for name, seconds in row["seconds"].items())
    cells = [row["case"], row["outcome"], "; ".join(row["happened"]), measured, f"{row['took']:.0f} s"]
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: object) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def oldest_row(path: Path) -> dict[str, Any]:
    """Make a row of a JUnit XML file, as pytest writes it."""
    suite = ET.parse(path).getroot().find("testsuite")  # noqa: S314 - pytest has just written it
    if suite is None:
        raise ValueError(f"{path} holds no testsuite")
    count = {name: int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")}
    failed = count["failures"] + count["errors"]
    passed = count["tests"] - failed - count["skipped"]
    return {
        "matrix": "oldest",
        "case": "the control plane tier, `make test-oldest`",
        "outcome": "failed" if failed or count["skipped"] or not passed else "passed",
        "happened": [f"Kubernetes {read_pins(OLDEST_MODULE).kubernetes}", f"{passed} of {count['tests']} tests passed"],
        "seconds": {},
        "took": float(suite.get("time", 0)),
    }


def _commit() -> str:
    """The commit that is checked out; empty if something of it has been changed."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], check=True, cwd=ROOT, capture_output=True, text=True)  # noqa: S607
        return done.stdout.strip()

    return "" if git("status", "--porcelain", "--untracked-files=no") else git("rev-parse", "--short=12", "HEAD")


def main() -> int:
    """Write the page from the files that the runs left.

    Returns:
        The exit code: 1 if a row failed.
    """
    parser = argparse.ArgumentParser(prog="python -m support.cluster.certification", description="Write the page.")
    parser.add_argument("run", type=Path, help="JSON with facts and rows, of the cluster tier")
    parser.add_argument("oldest", type=Path, help="JUnit XML of the control plane tier on the oldest Kubernetes")
    given = parser.parse_args()
    commit = _commit()
    if not commit:
        sys.stderr.write("certify: there are changes that are not committed, so these rows are of no commit\n")
        return 1
    found = json.loads(given.run.read_text())
    rows = [*found["rows"], oldest_row(given.oldest)]
    facts = {"commit": commit, "date": time.strftime("%Y-%m-%d", time.gmtime()), **found["facts"]}
    PAGE.write_text(page(rows, facts))
    failed = [row["case"] for row in rows if row["outcome"] != "passed"]
    sys.stderr.write(
        f"certify: {len(rows) - len(failed)} of {len(rows)} rows passed; {PAGE.relative_to(ROOT)} is written\n"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
