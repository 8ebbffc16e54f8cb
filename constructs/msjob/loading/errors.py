"""The one error of reading a file."""


class LoadError(ValueError):
    """A file that cannot be read as objects.

    Attributes:
        file: as the user named it.
        line: from 1, or None where no line is at fault.
        column: from 1, or None likewise.
        message: what is wrong and what to do.
    """

    def __init__(self, file: str, line: int | None, column: int | None, message: str) -> None:
        super().__init__(file, line, column, message)
        self.file = file
        self.line = line
        self.column = column
        self.message = message

    def __str__(self) -> str:
        """`FILE:LINE:COLUMN: message`, as compilers print it."""
        place = "".join(f"{part}:" for part in (self.file, self.line, self.column) if part is not None)
        return f"{place} {self.message}"
