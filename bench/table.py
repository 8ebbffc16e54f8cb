"""The table of the benchmark: a figure, the raw ceiling of the same run where there is one, and the goal."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """One line.

    Attributes:
        work: what was measured.
        figure: what came out.
        unit: of the figure and of raw.
        goal: the most that the figure may be; where raw is given, the ratio to it. None for a line that only informs.
        raw: the same requests over one bare session.
    """

    work: str
    figure: float
    unit: str
    goal: float | None = None
    raw: float | None = None

    @property
    def ratio(self) -> float | None:
        """Times the raw ceiling."""
        return None if self.raw is None else self.figure / self.raw

    @property
    def met(self) -> bool:
        """Whether the goal is met; True without one."""
        judged = self.figure if self.ratio is None else self.ratio
        return self.goal is None or judged <= self.goal

    def data(self) -> dict[str, Any]:
        """The row as JSON has it."""
        return {**asdict(self), "ratio": self.ratio, "met": self.met}


def header() -> str:
    """The first line."""
    return f"{'work':<64}{'figure':>16}{'raw':>9}{'ratio':>8}{'goal':>8}"


def line(row: Row) -> str:
    """One row as text."""
    times = "" if row.raw is None else "x"
    figure = f"{row.figure:.2f} {row.unit}".strip()
    raw = "" if row.raw is None else f"{row.raw:.2f}"
    ratio = "" if row.ratio is None else f"{row.ratio:.1f}x"
    goal = "" if row.goal is None else f"{row.goal:g}{times}"
    met = "" if row.goal is None else ("met" if row.met else "MISSED")
    return f"{row.work:<64}{figure:>16}{raw:>9}{ratio:>8}{goal:>8} {met}".rstrip()
