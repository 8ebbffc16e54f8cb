"""Sets of replica indices as short text: `0,2-4`, the form that batch/v1 Job uses for `completedIndexes`."""

from collections.abc import Iterable


def parse(text: str | None) -> frozenset[int]:
    """Read a set of indices; what cannot be read is left out."""
    found: set[int] = set()
    for part in (text or "").split(","):
        first, _, last = part.partition("-")
        if first.isdecimal() and (last.isdecimal() or not last):
            found.update(range(int(first), int(last or first) + 1))
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
