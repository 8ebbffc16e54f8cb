"""docs/certification.md has the rows that there are, and all of them passed."""

import json
import re
import sys

from support.cluster.certification import PAGE
from support.programs import run_program


def cases() -> set[str]:
    """The cases of all rows, as pytest collects them."""
    collect = ("-p", "support.cluster.collected", "--collect-only", "-q", "tests/cluster")
    done = run_program(sys.executable, "-m", "pytest", *collect, env={"PYTHONPATH": "tests"})
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (line for line in done.stdout.splitlines() if line.startswith("row "))
    return {json.loads(line.removeprefix("row "))[1] for line in lines}


def rows() -> dict[str, str]:
    """Case and result of each row of the page."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    cells = [re.split(r"(?<!\\)\|", line) for line in lines]
    found = {cell[1].strip().replace("\\|", "|"): cell[2].strip() for cell in cells}
    return {case: result for case, result in found.items() if result in ("passed", "failed")}


def test_each_row_was_run() -> None:
    """No row was added or renamed since the page was written: `make certify` writes it again."""
    told, there = set(rows()), cases()

    assert len(there) > 40
    assert there <= told, there - told
    assert len(told - there) == 1  # the control plane tier on the oldest Kubernetes


def test_each_row_passed() -> None:
    """A page with a failed row is no certification."""
    assert [case for case, result in rows().items() if result != "passed"] == []
