"""The picture in the README is the one that the project itself makes."""

import re
import shlex

import pytest

from support.cli import msjob_call
from support.programs import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """The block between the markers is what the command in the first of them prints; to renew it, run that command."""
    monkeypatch.chdir(ROOT)
    marked = re.findall(
        r"<!-- (msjob graph .*) -->\n```mermaid\n(.*?)```\n<!-- end of msjob graph -->", README, re.DOTALL
    )
    assert len(marked) == 1
    command, block = marked[0]

    printed = msjob_call(*shlex.split(command)[1:])

    assert (printed.code, printed.err) == (0, "")
    assert block == printed.out
