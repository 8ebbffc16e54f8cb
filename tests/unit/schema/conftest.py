"""What the tests of the schema share."""

from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

import pytest

from support.programs import ROOT


@pytest.fixture(scope="session")
def generator() -> ModuleType:
    """`tools/generate_pod_template.py` as a module."""
    spec = spec_from_file_location("generate_pod_template", ROOT / "tools" / "generate_pod_template.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
