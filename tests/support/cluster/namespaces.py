"""Namespaces of tests."""

import contextlib
import secrets
from collections.abc import Iterator
from typing import Final

from support.testbed.client import Client

_NAMESPACES: Final = "v1/namespaces"


@contextlib.contextmanager
def restricted(client: Client) -> Iterator[str]:
    """A namespace with the Restricted Pod Security profile, deleted in the end, with all that is in it."""
    name = f"test-{secrets.token_hex(3)}"
    labels = {"pod-security.kubernetes.io/enforce": "restricted", "ms-operator-test": ""}
    client.create(_NAMESPACES, {"metadata": {"name": name, "labels": labels}})
    try:
        client.wait_until("v1/serviceaccounts", "default", name, bool, timeout=20)
        yield name
    finally:
        client.delete(_NAMESPACES, name)
        client.wait_gone(_NAMESPACES, name, timeout=120)
