"""What the tests of the cluster tell: a row for each, with what happened and how long it took."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

from support.cluster.site import NOT_HERE
from support.programs import ROOT
from support.testbed.client import Client

_LOCKS = {
    "MindSpore": "samples/training/requirements.txt",
    "MindSpore with PS": "tests/cluster/images/ps/requirements.txt",
}


@dataclass(slots=True)
class Row:
    """What a test tells.

    Attributes:
        matrix: The table that it is in, such as `failure`.
        case: What was done.
        outcome: `passed`, `failed`, or that it is not possible on this cluster; empty while the test runs.
        happened: What came of it, in the words of the test.
        seconds: What was measured.
        took: Seconds of the whole test.
    """

    matrix: str = ""
    case: str = ""
    outcome: str = ""
    happened: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    took: float = 0.0

    def tell(self, text: str) -> None:
        """Say what happened."""
        self.happened.append(text)

    def measure(self, name: str, seconds: float) -> None:
        """Say how long something took."""
        self.seconds[name] = round(seconds, 2)

    def line(self) -> str:
        """The row in a line of text."""
        measured = ", ".join(f"{name} {value:.1f} s" for name, value in self.seconds.items())
        told = "; ".join(text for text in (*self.happened, measured) if text)
        return f"{self.matrix}: {self.case}: {self.outcome} in {self.took:.0f} s" + (f" ({told})" if told else "")


class Report:
    """All rows of a run.

    Args:
        path: The file that `write` writes; None for none.

    Attributes:
        facts: What the rows were run on, such as the version of Kubernetes.
    """

    def __init__(self, path: str | None) -> None:
        self.facts: dict[str, str] = {}
        self._path = Path(path) if path else None
        self._rows: dict[str, Row] = {}

    def row(self, test: str) -> Row:
        """The row of a test."""
        return self._rows.setdefault(test, Row())

    def end(self, test: str, matrix: str, case: str, result: pytest.TestReport) -> None:
        """Take in how a test ended."""
        row = self.row(test)
        row.matrix, row.case = matrix, case
        row.took += result.duration
        if result.skipped:
            row.outcome = NOT_HERE
            row.tell(_why(result))
        else:
            row.outcome = "passed" if result.passed and row.outcome != "failed" else "failed"

    def lines(self) -> list[str]:
        """All rows that have ended, in lines of text."""
        return [row.line() for row in self._rows.values() if row.outcome]

    def write(self) -> None:
        """Write facts and rows as JSON, where a file was named."""
        if self._path is not None:
            rows = [asdict(row) for row in self._rows.values() if row.outcome]
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps({"facts": self.facts, "rows": rows}, indent=1))


def _why(result: pytest.TestReport) -> str:
    """What a test that was passed over says of it."""
    said = result.longrepr[2] if isinstance(result.longrepr, tuple) else str(result.longrepr)
    return said.removeprefix("Skipped: ").removeprefix(f"{NOT_HERE}: ")


def facts(client: Client, images: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a cluster is made of: versions, its images, and the size of its first node.

    Args:
        client: A client that may read nodes.
        images: Images that somebody else has built, by name; those of this checkout by default.
    """
    version = json.loads(client.request("GET", "/version"))["gitVersion"]
    nodes = client.list("v1/nodes")
    node = nodes[0]["status"]
    info, size = node["nodeInfo"], node["capacity"]
    memory = int(str(size["memory"]).removesuffix("Ki")) / 2**20
    kernel = str(info["kernelVersion"]).partition("-")[0]  # what a distribution adds says nothing to others
    found = {
        "Kubernetes": version,
        "container runtime": info["containerRuntimeVersion"],
        "node": f"{info['osImage']}, Linux {kernel}, {size['cpu']} cores, {memory:.0f} GiB",
    }
    if len(nodes) > 1:
        found["nodes"] = f"{len(nodes)}; that is one of them"
    if images is not None:
        return {**found, **{f"image: {name}": image for name, image in images.items()}}
    for name, lock in _LOCKS.items():
        pinned = re.search(r"^mindspore==(\S+)", (ROOT / lock).read_text(), re.MULTILINE)
        if pinned is not None:
            found[name] = pinned[1]
    return found
