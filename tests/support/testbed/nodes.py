"""Nodes that exist as objects alone."""

import contextlib
from datetime import UTC, datetime
from typing import Any, Literal

from support.testbed.client import PODS, Client
from support.testbed.errors import AlreadyExistsError, NotFoundError

NODES = "v1/nodes"

Readiness = Literal["True", "False", "Unknown"]


def create_node(
    client: Client,
    name: str,
    *,
    ip: str = "10.0.0.1",
    port: int | None = None,
    labels: dict[str, str] | None = None,
) -> None:
    """Create a Node that is ready and large; does nothing when there is one of that name.

    Args:
        client: A client that may create Nodes.
        name: The Node.
        ip: Its address.
        port: Where its kubelet listens at that address, for an API server that asks it for logs.
        labels: More labels.
    """
    node: dict[str, Any] = {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}}}
    with contextlib.suppress(AlreadyExistsError):
        client.create(NODES, node)
    resources = {"cpu": "1000", "memory": "10Ti", "pods": "10000"}
    status: dict[str, Any] = {
        "capacity": resources,
        "allocatable": resources,
        "addresses": [{"type": "InternalIP", "address": ip}, {"type": "Hostname", "address": name}],
        "conditions": [_ready_condition("True")],
    }
    if port is not None:
        # The API server would try the host name first.
        del status["addresses"][1]
        status["daemonEndpoints"] = {"kubeletEndpoint": {"Port": port}}
    client.patch(NODES, name, {"status": status}, subresource="status")


def delete_node(client: Client, name: str) -> None:
    """Delete a Node; does nothing when there is none of that name."""
    with contextlib.suppress(NotFoundError):
        client.delete(NODES, name)


def set_node_ready(client: Client, name: str, ready: Readiness) -> None:
    """Report a Node as ready (``True``), broken (``False``) or lost (``Unknown``).

    kube-controller-manager then taints the Node within a second or two, with ``NoExecute`` only while another Node is
    ready: when all are lost it takes itself for the one who is cut off. What it also does when it finds a Node lost by
    itself, after a grace period that no test waits for, is done here: the pods on a lost Node are no longer ready.
    """
    client.patch(NODES, name, {"status": {"conditions": [_ready_condition(ready)]}}, subresource="status")
    if ready != "Unknown":
        return
    not_ready = {"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "NodeNotReady"}]}}
    for pod in client.list(PODS, fields=f"spec.nodeName={name}"):
        metadata = pod["metadata"]
        with contextlib.suppress(NotFoundError):
            client.patch(
                PODS, metadata["name"], not_ready, metadata["namespace"], kind="strategic", subresource="status"
            )


def _ready_condition(ready: Readiness) -> dict[str, str]:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    reason = {"True": "KubeletReady", "False": "KubeletNotReady", "Unknown": "NodeStatusUnknown"}[ready]
    return {
        "type": "Ready",
        "status": ready,
        "reason": reason,
        "message": "set by the test",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }
