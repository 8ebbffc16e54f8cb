"""The versions of the programs under the tests, read from the ``go.mod`` files beside this one: they alone pin them."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

MODULE = Path(__file__).parent / "go"
"""The folder of the Go module that builds the programs of Kubernetes."""

OLDEST_MODULE = Path(__file__).parent / "oldest"
"""The folder of the Go module that builds those of the oldest Kubernetes that the documentation names."""

KWOK_MODULE = Path(__file__).parent / "kwok"
"""The folder of the Go module that builds kwok, which needs other versions of the same libraries."""

COREDNS_MODULE = Path(__file__).parent / "coredns"
"""The folder of the Go module that builds the DNS server of the cluster."""

POLICIES_MODULE = Path(__file__).parent / "netpol"
"""The folder of the Go module that builds what enforces NetworkPolicies in the cluster."""


@dataclass(frozen=True)
class Pins:
    """The pinned versions.

    Attributes:
        kubernetes: The version of all programs of Kubernetes, such as ``v1.36.3``.
        etcd: The version of etcd, such as ``v3.6.8``.
        kwok: The version of kwok, such as ``v0.7.0``.
        coredns: The version of CoreDNS, such as ``v1.15.0``.
        policies: The version of kube-network-policies, such as ``v0.8.0``.
        go: The oldest Go that builds the programs of Kubernetes, such as ``1.26.0``.
        module: The folder of the Go module that builds the programs of Kubernetes.
    """

    kubernetes: str
    etcd: str
    kwok: str
    coredns: str
    policies: str
    go: str
    module: Path = MODULE

    @property
    def name(self) -> str:
        """The name of the folder in which the programs of Kubernetes of these versions are kept."""
        return f"{self.kubernetes}-etcd-{self.etcd}"


@lru_cache
def read_pins(module: Path = MODULE) -> Pins:
    """Read the pinned versions.

    Args:
        module: The folder of the Go module that pins Kubernetes: ``MODULE`` or ``OLDEST_MODULE``.

    Raises:
        ValueError: A ``go.mod`` does not name what it pins.
    """
    return Pins(
        kubernetes=_find(r"^\s*k8s\.io/kubernetes (v\S+)", module),
        etcd=_find(r"^\s*go\.etcd\.io/etcd/server/v3 (v\S+)", MODULE),
        kwok=_find(r"^\s*sigs\.k8s\.io/kwok (v\S+)", KWOK_MODULE),
        coredns=_find(r"^\s*(?:require )?github\.com/coredns/coredns (v\S+)", COREDNS_MODULE),
        policies=_find(r"^\s*sigs\.k8s\.io/kube-network-policies (v\S+)", POLICIES_MODULE),
        go=_find(r"^go (\S+)", module),
        module=module,
    )


def minor(version: str) -> tuple[int, int] | None:
    """Give major and minor of the first version that a text names; None when it names none.

    >>> minor("Client Version: v1.36.3")
    (1, 36)
    """
    found = re.search(r"(?<![\d.])v?(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else None


def _find(pattern: str, module: Path) -> str:
    file = module / "go.mod"
    found = re.search(pattern, file.read_text(), re.MULTILINE)
    if found is None:
        raise ValueError(f"{file} has no line like {pattern}")
    return found[1]
