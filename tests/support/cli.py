"""Calling `msjob` in this process, as the console script does but for the process."""

import sys
from dataclasses import dataclass

from click.testing import CliRunner

from msjob.printer import to_yaml
from msjob_cli.main import run
from support.jobs import Json


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call of the program gave.

    Attributes:
        code: exit code.
        out: standard output.
        err: standard error.
    """

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """The lines of standard output."""
        return self.out.splitlines()


def msjob_call(*args: str, stdin: str | bytes = b"") -> Outcome:
    """Call `msjob`.

    Args:
        *args: arguments.
        stdin: standard input.

    Returns:
        What it gave. No call may show a traceback, so that is checked here.
    """
    with CliRunner().isolation(input=stdin) as (out, err, _):
        code = run(args)
        sys.stderr.flush()
    outcome = Outcome(code, out.getvalue().decode(), err.getvalue().decode())
    assert "Traceback" not in outcome.out + outcome.err
    assert "internal error" not in outcome.err
    return outcome


def text(*objects: Json) -> str:
    """Write objects as YAML documents that every reader takes for the same."""
    return to_yaml(objects)
