"""`msjob`: render, validate and synth on the command line.

Importing this package loads click alone; what a command needs is loaded when the command is called.
"""

from msjob_cli.main import main

__all__ = ["main"]
