"""What tests of live objects need."""

import secrets
from collections.abc import Iterator

import pytest

from support.testbed.controlplane import ControlPlane


@pytest.fixture(scope="session")
def elsewhere(control_plane: ControlPlane) -> Iterator[str]:
    """A namespace in which nothing is, to ask the API server for its defaults."""
    name = control_plane.create_namespace(f"t-elsewhere-{secrets.token_hex(3)}")
    yield name
    control_plane.admin.delete("v1/namespaces", name)
