"""The versions of the programs under the tests, read from ``go/go.mod``, the only place that pins them."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

MODULE = Path(__file__).parent / "go"
"""The folder of the Go module that builds the programs."""


@dataclass(frozen=True)
class Pins:
    """The pinned versions.

    Attributes:
        kubernetes: The version of kube-apiserver, kube-controller-manager and kubectl, such as ``v1.36.3``.
        etcd: The version of etcd, such as ``v3.6.8``.
        go: The oldest Go that builds them, such as ``1.26.0``.
    """

    kubernetes: str
    etcd: str
    go: str

    @property
    def name(self) -> str:
        """The name of the folder in which programs of these versions are kept."""
        return f"{self.kubernetes}-etcd-{self.etcd}"


@lru_cache(maxsize=1)
def read_pins() -> Pins:
    """Read the pinned versions.

    Raises:
        ValueError: ``go.mod`` does not name them all.
    """
    text = (MODULE / "go.mod").read_text()
    return Pins(
        kubernetes=_find(r"^\s*k8s\.io/kubernetes (v\S+)", text),
        etcd=_find(r"^\s*go\.etcd\.io/etcd/server/v3 (v\S+)", text),
        go=_find(r"^go (\S+)", text),
    )


def minor(version: str) -> tuple[int, int] | None:
    """Give major and minor of the first version that a text names; None when it names none.

    >>> minor("Client Version: v1.36.3")
    (1, 36)
    """
    found = re.search(r"(?<![\d.])v?(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else None


def _find(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise ValueError(f"{MODULE / 'go.mod'} has no line like {pattern}")
    return found[1]
