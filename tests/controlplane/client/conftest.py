"""The client library against the real API server, with the operator at work and the test as the kubelet."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from msjob_client import AsyncMSJobClient, MSJobClient
from support.testbed.controlplane import ControlPlane
from support.testbed.kubeconfig import write_kubeconfig


@pytest.fixture
def kubeconfig(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> Path:
    """A kubeconfig of the administrator, whose context names the test's namespace."""
    return write_kubeconfig(
        tmp_path / "kubeconfig",
        server=control_plane.server,
        ca_file=control_plane.ca_file,
        token=control_plane.admin.token,
        namespace=namespace,
    )


@pytest.fixture
def client(kubeconfig: Path) -> Iterator[MSJobClient]:
    """A synchronous client in the test's namespace."""
    with MSJobClient.connect(kubeconfig=kubeconfig) as client:
        yield client


@pytest.fixture
async def aclient(kubeconfig: Path) -> AsyncIterator[AsyncMSJobClient]:
    """An asynchronous client in the test's namespace."""
    async with await AsyncMSJobClient.connect(kubeconfig=kubeconfig) as client:
        yield client
