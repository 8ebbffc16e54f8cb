"""What the program is called."""

from typing import Final

PROGRAM: Final = "msjob"

COMPLETE_VARIABLE: Final = "_MSJOB_COMPLETE"
"""The variable by which a shell asks for completions: the name that click gives it."""
