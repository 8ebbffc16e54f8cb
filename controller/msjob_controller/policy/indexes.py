"""Sets of replica indices as short text: `0,2-4`, the form that batch/v1 Job uses for `completedIndexes`."""

import re
from collections.abc import Iterable
from typing import Final

from msjob.api import meta

_RUN: Final = re.compile(r"([0-9]{1,9})(?:-([0-9]{0,9}))?")


def parse(text: str | None) -> frozenset[int]:
    """Read a set of indices; what cannot be read, or names more pods than a job can have, is left out."""
    runs: set[tuple[int, int]] = set()
    for part in (text or "").split(","):
        run = _RUN.fullmatch(part)
        if run is not None:
            runs.add((int(run[1]), min(int(run[2] or run[1]) + 1, meta.MAX_REPLICAS)))
    found: set[int] = set()
    reached = 0
    for first, end in sorted(runs):
        found.update(range(max(first, reached), end))
        reached = max(reached, end)
    return frozenset(found)


def text(indices: Iterable[int]) -> str:
    """Write a set of indices, empty for none."""
    runs: list[list[int]] = []
    for index in sorted(set(indices)):
        if runs and index == runs[-1][1] + 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
