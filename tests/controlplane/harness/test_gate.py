"""The gate before the API server: what it holds, what arrives, and who hears of it."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any

import pytest
from yarl import URL

from support.gate import Call, Gate, read_call
from support.testbed.client import Client
from support.testbed.controlplane import ControlPlane

MAPS = "v1/configmaps"


@pytest.fixture
def gate(control_plane: ControlPlane) -> Iterator[Gate]:
    """A gate before the API server."""
    with Gate(control_plane.server, control_plane.ca_file) as gate:
        yield gate


@pytest.fixture
def create(gate: Gate, admin: Client, namespace: str) -> Callable[[str], threading.Thread]:
    """Lets a ConfigMap be created through the gate, in a thread whose name becomes the status code that it heard."""

    def ask(name: str) -> None:
        body = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}).encode()
        headers = {"Authorization": f"Bearer {admin.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(  # noqa: S310 - the gate
            f"{gate.address}/api/v1/namespaces/{namespace}/configmaps", body, headers
        )
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310
                threading.current_thread().name = str(answer.status)
        except urllib.error.HTTPError as error:
            threading.current_thread().name = str(error.code)
            error.close()
        except OSError:
            threading.current_thread().name = "nothing"

    def start(name: str) -> threading.Thread:
        thread = threading.Thread(target=ask, args=(name,))
        thread.start()
        return thread

    return start


def heard(thread: threading.Thread) -> str:
    """The status code that a request heard; `nothing` for no answer."""
    thread.join(20)
    return thread.name


@pytest.mark.parametrize(
    ("lost", "arrived"), [("request", ["cm-0", "kube-root-ca.crt"]), ("answer", ["cm-0", "cm-1", "kube-root-ca.crt"])]
)
def test_held(gate: Gate, create: Any, admin: Client, namespace: str, lost: Any, arrived: list[str]) -> None:
    """The first passes, the second is held before or after its effect, the third never arrives; others pass."""
    trap = gate.hold("create", "configmaps", after=1, lost=lost)
    assert heard(create("cm-0")) == str(HTTPStatus.CREATED.value)
    held = create("cm-1")
    assert trap.wait().body["metadata"]["name"] == "cm-1"
    later = create("cm-2")
    admin.wait_for(lambda: len(trap.caught) == 2)
    admin.wait_for(lambda: [item["metadata"]["name"] for item in admin.list(MAPS, namespace)] == arrived)

    trap.drop()
    assert (heard(held), heard(later)) == ("nothing", "nothing")
    assert [item["metadata"]["name"] for item in admin.list(MAPS, namespace)] == arrived
    assert heard(create("cm-3")) == str(HTTPStatus.CREATED.value)


def test_released(gate: Gate, create: Any, admin: Client, namespace: str) -> None:
    """What is released has its effect, and its sender hears of it; a sealed trap holds nothing new."""
    trap = gate.hold("create", "configmaps", when=lambda call: call.namespace == namespace)
    held = create("cm-0")
    trap.wait()
    trap.seal()
    assert heard(create("cm-1")) == str(HTTPStatus.CREATED.value)
    assert not admin.exists(MAPS, "cm-0", namespace)

    trap.release()
    assert heard(held) == str(HTTPStatus.CREATED.value)
    assert admin.exists(MAPS, "cm-0", namespace)


@pytest.mark.parametrize(
    ("method", "target", "call"),
    [
        ("GET", "/api/v1/pods?watch=1", Call("watch", "pods", "", "", None)),
        ("GET", "/api/v1/namespaces/a/pods?limit=500", Call("list", "pods", "a", "", None)),
        ("GET", "/api/v1/namespaces/a", Call("get", "namespaces", "", "a", None)),
        ("DELETE", "/api/v1/namespaces/a/pods/b", Call("delete", "pods", "a", "b", None)),
        ("PATCH", "/apis/g/v1/namespaces/a/msjobs/b/status", Call("patch", "msjobs/status", "a", "b", None)),
        ("PUT", "/apis/g/v1/nodes/b", Call("update", "nodes", "", "b", None)),
    ],
)
def test_call(method: str, target: str, call: Call) -> None:
    """A request is read as RBAC reads it."""
    assert read_call(method, URL(f"http://host{target}"), b"") == call
