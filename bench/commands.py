"""How long the commands take that people and CI run often."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

from table import Row

_TIMES = 5
_MSJOB = str(Path(sys.executable).with_name("msjob"))


def commands() -> list[Row]:
    """`make synth` after set-up, which writes `dist/` of this checkout anew, and `msjob --help`."""
    return [
        Row(f"make synth, median of {_TIMES}", _median("make", "synth"), "s", 3),
        Row(f"msjob --help, median of {_TIMES}", _median(_MSJOB, "--help"), "s", 0.3),
    ]


def _median(*command: str) -> float:
    """Seconds that a command takes, after one run that is not counted."""
    root = Path(__file__).resolve().parent.parent
    seconds = []
    for _ in range(_TIMES + 1):
        started = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=root)
        seconds.append(time.monotonic() - started)
    return statistics.median(seconds[1:])
