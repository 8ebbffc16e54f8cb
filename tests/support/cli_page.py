"""The page about the command line, taken apart."""

import re
from typing import Final

from support.programs import ROOT

PAGE: Final = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
JOB: Final = PAGE.partition("```yaml\n# job.yaml\n")[2].partition("```")[0]
"""The job that the examples are about."""


def section(title: str) -> str:
    """The text under a heading of the second level."""
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def examples(title: str) -> list[tuple[str, str]]:
    """The examples under a heading: each line that is typed, and what it prints."""
    return [
        (example[0], example[1])
        for block in re.findall(r"```console\n(.*?)```", section(title), re.DOTALL)
        for example in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    ]


def options(title: str) -> set[str]:
    """The options in the table under a heading."""
    rows = [line.split(" | ")[0] for line in section(title).splitlines() if line.startswith("| `-")]
    return {option for row in rows for option in re.findall(r"`(-[-a-zA-Z]+)`", row)}
