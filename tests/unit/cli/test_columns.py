"""Tables of jobs as text."""

import pytest

from msjob_cli.columns import Columns
from msjob_client import Column, Row, Table

COLUMNS = (
    Column("Name"),
    Column("State"),
    Column("Age", "date"),
    Column("Workers", priority=1),
    Column("Restarts", "integer", priority=1),
    Column("Reason", priority=1),
)


def row(name: str, *cells: object, namespace: str = "default") -> Row:
    """The row of a job."""
    return Row(name, namespace, (name, *cells))


def table(*rows: Row) -> Table:
    """A table as the API server makes it."""
    return Table(COLUMNS, rows)


def test_columns_of_every_day() -> None:
    """Columns are as wide as their widest cell and three; those of `-o wide` are left out."""
    text = Columns(wide=False, namespaces=False).text(
        table(row("train", "Running", "5s", "4/4", None, "MSJobRunning"), row("b", None, "3d", None, 2, None))
    )

    assert text == ("NAME    STATE     AGE\ntrain   Running   5s\nb                 3d\n")


def test_wide_and_with_namespaces() -> None:
    """All columns, behind the namespace."""
    text = Columns(wide=True, namespaces=True).text(table(row("train", "Running", "5s", "4/4", 2, "MSJobRunning")))

    assert text == (
        "NAMESPACE   NAME    STATE     AGE   WORKERS   RESTARTS   REASON\n"
        "default     train   Running   5s    4/4       2          MSJobRunning\n"
    )


def test_rows_that_come_later_stand_below_the_others() -> None:
    """Titles come once, and a column never becomes narrower."""
    columns = Columns(wide=False, namespaces=False)

    texts = [columns.text(table(row(name, "Created", "1s"))) for name in ("a-long-name", "b", "a-longer-name")]

    assert texts == [
        "NAME          STATE     AGE\na-long-name   Created   1s\n",
        "b             Created   1s\n",
        "a-longer-name   Created   1s\n",
    ]


def test_titles_alone_are_never_printed_for_nothing() -> None:
    """A table without rows still has its titles, which the caller decides about."""
    assert Columns(wide=False, namespaces=False).text(table()) == "NAME   STATE   AGE\n"


@pytest.mark.parametrize(
    ("value", "shown"), [("two\nlines", "two..."), ("\x1b[31mred", r"\x1b[31mred"), ("", ""), (0, "0")]
)
def test_a_cell_is_one_line_that_steers_nothing(value: object, shown: str) -> None:
    """What stands in a status may be anything; a row stays a row."""
    lines = Columns(wide=False, namespaces=False).text(table(row("train", "x", value))).splitlines()

    assert lines[1:] == [f"train   x       {shown}"]
