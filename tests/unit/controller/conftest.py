"""A reconciler for each test."""

from collections.abc import AsyncIterator

import pytest

from support.shell import Shell, shell


@pytest.fixture
async def operator() -> AsyncIterator[Shell]:
    """A reconciler on an empty API server."""
    async with shell() as found:
        yield found
