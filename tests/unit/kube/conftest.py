"""The other side: a small API server for each test."""

from collections.abc import AsyncIterator

import pytest

from msjob_controller.kube.transport import Transport
from support.apiserver import FakeApiServer


@pytest.fixture
async def server() -> AsyncIterator[FakeApiServer]:
    """An API server without any object."""
    async with FakeApiServer() as api:
        yield api


@pytest.fixture
async def transport(server: FakeApiServer) -> AsyncIterator[Transport]:
    """A transport to it, with the ordinary settings."""
    async with Transport(server.connection()) as transport:
        yield transport
