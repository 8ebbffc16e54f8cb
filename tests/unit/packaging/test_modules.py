"""The modules: small, and cheap to import where they build no construct."""

import sys
from itertools import chain

import pytest

from support.programs import ROOT, run_program

LIMIT = 500
FOLDERS = ("constructs", "controller", "client", "tests", "bench", "tools")


def test_modules_are_small() -> None:
    """A module that reaches the limit does too much: split it before. Tests and tools are no exception."""
    modules = {folder: [*(ROOT / folder).rglob("*.py")] for folder in FOLDERS}
    assert all(modules.values())

    lines = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in chain(*modules.values())}
    assert {module: count for module, count in lines.items() if count >= LIMIT} == {}


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "module", ["msjob.api", "msjob_cli", "msjob_client", "msjob_controller.policy", "msjob_controller.main"]
)
def test_module_starts_no_node(module: str) -> None:
    """What builds no construct neither imports the construct library nor starts a Node.js."""
    check = f"import sys, {module}; print({{'cdk8s', 'constructs', 'jsii'}} & {{*sys.modules}})"

    done = run_program(sys.executable, "-c", check)

    assert (done.returncode, done.stdout, done.stderr) == (0, "set()\n", "")
