"""Jobs as the table that the API server makes of them: the columns of `kubectl get`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from msjob_client.reading import at, count, objects, text


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        name: Its title, such as `State`.
        type: Of its values in OpenAPI's words, such as `string`, `integer`, `date`.
        priority: 0 for a column that is always shown; above it for one of `-o wide`.
    """

    name: str
    type: str = "string"
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One job.

    Attributes:
        name: Of the job.
        namespace: Its namespace.
        cells: Its values, one a column, as the API server prints them: text, a number, or None.
    """

    name: str
    namespace: str
    cells: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Jobs as a table.

    Attributes:
        columns: What each cell means.
        rows: One for each job, sorted by namespace and name.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    @classmethod
    def read(cls, obj: Mapping[str, Any]) -> Self:
        """Read a `meta.k8s.io/v1` Table of any shape."""
        columns = tuple(
            Column(text(item.get("name")), text(item.get("type")), count(item.get("priority")))
            for item in objects(obj.get("columnDefinitions"))
        )
        return cls(columns, tuple(map(_row, objects(obj.get("rows")))))


def _row(item: Mapping[str, Any]) -> Row:
    cells = item.get("cells")
    return Row(
        name=text(at(item, "object", "metadata", "name")),
        namespace=text(at(item, "object", "metadata", "namespace")),
        cells=tuple(cells) if isinstance(cells, list) else (),
    )
