"""The modules: small, and cheap to import where they build no construct."""

import sys

import pytest

from support.programs import ROOT, run_program

LIMIT = 500


def test_modules_are_small() -> None:
    """A module that reaches the limit does too much: split it before."""
    modules = [path for source_root in ("constructs", "controller") for path in (ROOT / source_root).rglob("*.py")]

    lines = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in modules}
    assert len(lines) > 10
    assert {module: count for module, count in lines.items() if count >= LIMIT} == {}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("module", ["msjob.api", "msjob.cli", "msjob_controller.policy", "msjob_controller.main"])
def test_module_starts_no_node(module: str) -> None:
    """What builds no construct neither imports the construct library nor starts a Node.js."""
    check = f"import sys, {module}; print({{'cdk8s', 'constructs', 'jsii'}} & {{*sys.modules}})"

    done = run_program(sys.executable, "-c", check)

    assert (done.returncode, done.stdout, done.stderr) == (0, "set()\n", "")
