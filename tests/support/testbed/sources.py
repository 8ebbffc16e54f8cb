"""Each program that the test bed runs: the Go package it is built from, and how long that takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from support.testbed.pins import COREDNS_MODULE, KWOK_MODULE, MODULE, POLICIES_MODULE, Pins

CONTROL_PLANE: Final = ("etcd", "kube-apiserver", "kube-controller-manager", "kubectl")
"""The programs that tests need."""

SIMULATION: Final = ("kube-scheduler", "kwok")
"""The programs that the demo needs beside them: what puts pods on nodes, and what lets them run there."""

OF_ONE_VERSION: Final = ("kube-apiserver", "kube-controller-manager", "kubectl", "kube-scheduler")
"""The programs of those above that are of another version with another Kubernetes."""

NODE: Final = ("kube-scheduler", "kubelet", "kube-proxy", "coredns")
"""The programs that make a cluster with a real node of a control plane."""

POLICIES: Final = "kube-network-policies"
"""The program that enforces NetworkPolicies on that node."""


@dataclass(frozen=True)
class Source:
    """Where a program comes from.

    Attributes:
        package: The Go package.
        core_seconds: Seconds times cores that the build takes, measured on 2 cores with empty caches, in the order in
            which the programs are built: what they share is built with the first.
        module: The folder of the Go module that pins it, for the newest Kubernetes that there are tests with.
    """

    package: str
    core_seconds: int
    module: Path = MODULE


SOURCES: Final[Mapping[str, Source]] = {
    "etcd": Source("go.etcd.io/etcd/server/v3", 140),
    "kube-apiserver": Source("k8s.io/kubernetes/cmd/kube-apiserver", 650),
    "kube-controller-manager": Source("k8s.io/kubernetes/cmd/kube-controller-manager", 170),
    "kubectl": Source("k8s.io/kubernetes/cmd/kubectl", 60),
    "kube-scheduler": Source("k8s.io/kubernetes/cmd/kube-scheduler", 15),
    "kubelet": Source("k8s.io/kubernetes/cmd/kubelet", 60),
    "kube-proxy": Source("k8s.io/kubernetes/cmd/kube-proxy", 20),
    "kwok": Source("sigs.k8s.io/kwok/cmd/kwok", 300, KWOK_MODULE),
    "coredns": Source(".", 45, COREDNS_MODULE),
    POLICIES: Source(".", 150, POLICIES_MODULE),
}
"""All programs, in the order in which they are built."""


def module(name: str, pins: Pins) -> Path:
    """Give the folder of the Go module that builds a program.

    Args:
        name: The program.
        pins: All versions.
    """
    own = SOURCES[name].module
    return pins.module if own == MODULE else own


def version(name: str, pins: Pins) -> str:
    """Give the pinned version of a program.

    Args:
        name: The program.
        pins: All versions.
    """
    own = {"etcd": pins.etcd, "kwok": pins.kwok, "coredns": pins.coredns, POLICIES: pins.policies}
    return own.get(name, pins.kubernetes)


def stamps(name: str, pins: Pins) -> str:
    """Give the variables that the linker sets, from which a program knows its own version.

    Args:
        name: The program.
        pins: All versions.
    """
    if name == "kwok":
        values = {"sigs.k8s.io/kwok/pkg/consts.Version": pins.kwok}
    elif name in ("coredns", POLICIES):
        values = {}
    else:
        major, minor = pins.kubernetes.removeprefix("v").split(".")[:2]
        base = "k8s.io/component-base/version"
        values = {f"{base}.gitVersion": pins.kubernetes, f"{base}.gitMajor": major, f"{base}.gitMinor": minor}
    return " ".join(f"-X {variable}={value}" for variable, value in values.items())
