"""``make test-e2e``: the page with what each row came to on somebody else's cluster."""

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from support.cluster.certification import page
from support.cluster.site import NOT_HERE
from support.programs import ROOT

_WRITTEN_BY: Final = (
    "Written by `make test-e2e`: every row of the cluster tier, on this cluster, with real MindSpore processes. A row "
    f"that is *{NOT_HERE}* was not tried, for the reason beside it."
)


def report(found: Mapping[str, Any], commit: str, date: str) -> tuple[str, str]:
    """Give the page, and what it comes to in a line.

    Args:
        found: Facts and rows, as `support.cluster.report.Report` writes them.
        commit: Of the project that was tested with.
        date: When.
    """
    rows = found["rows"]
    count = Counter(row["outcome"] for row in rows)
    summary = ", ".join(f"{count[outcome]} {outcome}" for outcome in ("passed", "failed", NOT_HERE) if count[outcome])
    facts = {"commit of the tests": commit, "date": date, **found["facts"], "rows": summary or "none"}
    return page(rows, facts, _WRITTEN_BY), f"{len(rows)} rows: {summary}"


def main(folder: Path) -> int:
    """Write `report.md` from the `report.json` that a run has left, if it came to that.

    Returns:
        The exit code.
    """
    source, target = folder / "report.json", folder / "report.md"
    found = json.loads(source.read_text()) if source.exists() else {"rows": []}
    if found["rows"]:
        git = subprocess.run(
            ["git", "describe", "--always", "--dirty"],  # noqa: S607 - git is where the system has it
            check=False,
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        date = time.strftime("%Y-%m-%d", time.gmtime())
        text, summary = report(found, git.stdout.strip() or "unknown", date)
        target.write_text(text)
        sys.stderr.write(f"test-e2e: {summary}; {target} has them\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
