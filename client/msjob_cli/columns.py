"""Tables of jobs as text, laid out as kubectl lays them out."""

from itertools import zip_longest
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from msjob_client import Column, Row, Table

_GAP: Final = 3
_NARROWEST: Final = 6
"""Characters between two columns, and of a column with its gap at least: those of kubectl's printer
(k8s.io/cli-runtime, `GetNewTabWriter`)."""


class Columns:
    """Prints rows; a column stays as wide as it has been, so that rows that come later stand below the others.

    Args:
        wide: with the columns of `-o wide`.
        namespaces: with the namespace of each job.
    """

    def __init__(self, *, wide: bool, namespaces: bool) -> None:
        self._wide = wide
        self._namespaces = namespaces
        self._widths: list[int] = []
        self._headed = False

    def text(self, table: "Table") -> str:
        """Print rows, below the titles the first time.

        Args:
            table: always with the same columns.
        """
        lines = [self._cells(table.columns, row) for row in table.rows]
        if not self._headed:
            self._headed = True
            lines.insert(0, self._titles(table.columns))
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        self._widths = [max(pair) for pair in zip(widths, self._widths or widths, strict=True)]
        return "".join(f"{self._line(cells)}\n" for cells in lines)

    def _titles(self, columns: "tuple[Column, ...]") -> list[str]:
        titles = [column.name.upper() for column in columns if self._wide or not column.priority]
        return ["NAMESPACE", *titles] if self._namespaces else titles

    def _cells(self, columns: "tuple[Column, ...]", row: "Row") -> list[str]:
        shown = zip_longest(columns, row.cells[: len(columns)])
        cells = [_cell(value) for column, value in shown if self._wide or not column.priority]
        return [row.namespace, *cells] if self._namespaces else cells

    def _line(self, cells: list[str]) -> str:
        *most, last = cells
        return (
            "".join(cell.ljust(max(width + _GAP, _NARROWEST)) for cell, width in zip(most, self._widths, strict=False))
            + last
        )


def _cell(value: object) -> str:
    """The text of a cell: the first line, without what could steer a terminal."""
    if value is None:
        return ""
    text = str(value)
    first = text.splitlines()[0] if text else ""
    more = "..." if first != text else ""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in first) + more
