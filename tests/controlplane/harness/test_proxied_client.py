"""The client of the tests behind `kubectl proxy`, which logs in as kubectl does."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.testbed.client import Client, ProxiedClient
from support.testbed.controlplane import ControlPlane
from support.testbed.errors import ConflictError, NotFoundError, UnreachableError
from support.testbed.waiting import wait_for

MAPS = "v1/configmaps"


@pytest.fixture
def proxied(control_plane: ControlPlane, tmp_path: Path) -> Iterator[Client]:
    """A client through a proxy."""
    path = control_plane.folder / f"proxy-{tmp_path.name}"
    proxy = control_plane.kubectl().start("proxy", f"--unix-socket={path}", output=tmp_path / "proxy.log")
    try:
        wait_for(path.exists, 20, what="kubectl proxy")
        with ProxiedClient(path) as client:
            yield client
    finally:
        proxy.terminate()
        proxy.wait()


def test_it_does_what_a_client_does(proxied: Client, admin: Client, namespace: str) -> None:
    """It reads and writes as whom kubectl is; what the API server refuses is told as it is told otherwise."""
    proxied.create(MAPS, {"metadata": {"name": "one"}, "data": {"a": "1"}}, namespace)
    proxied.patch(MAPS, "one", {"data": {"b": "2"}}, namespace)
    assert admin.get(MAPS, "one", namespace)["data"] == {"a": "1", "b": "2"}
    with pytest.raises(ConflictError):
        proxied.create(MAPS, {"metadata": {"name": "one"}}, namespace)
    proxied.delete(MAPS, "one", namespace)
    with pytest.raises(NotFoundError):
        proxied.get(MAPS, "one", namespace)


def test_watch(proxied: Client, namespace: str) -> None:
    """A watch tells of changes as they come, and ends when it is closed from another thread."""
    seen: list[tuple[str, str]] = []
    watch = proxied.watch(MAPS, namespace)
    thread = threading.Thread(target=lambda: seen.extend((kind, item["metadata"]["name"]) for kind, item in watch))
    thread.start()
    proxied.create(MAPS, {"metadata": {"name": "one"}}, namespace)
    wait_for(lambda: ("ADDED", "one") in seen, 20, what="the change")
    watch.close()
    thread.join(20)
    assert not thread.is_alive()


def test_nobody_listens(tmp_path: Path) -> None:
    """Without a proxy it says where it looked for one."""
    client = ProxiedClient(tmp_path / "none")
    with pytest.raises(UnreachableError, match=f"unix://{tmp_path}/none"):
        client.list(MAPS)
