"""What may be set about an installation of the operator: image, namespace, replicas, flags, resources."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from importlib.metadata import version
from typing import Final, Literal, get_args

from msjob.api.problem import Problem, summarise

IMAGE_REPOSITORY: Final = "swr.cn-south-1.myhuaweicloud.com/mindspore/ms-operator"
DEFAULT_NAMESPACE: Final = "ms-operator-system"

PullPolicy = Literal["Always", "IfNotPresent", "Never"]

OWN_FLAGS: Final = ("--leader-elect", "--metrics-bind-address", "--health-probe-bind-address")
"""Flags that the Deployment sets itself, because its ports, probes and roles follow from them."""

EXTRA_FLAGS: Final = (
    "--job-construct",
    "--kube-api-burst",
    "--kube-api-qps",
    "--kubeconfig",
    "--leader-election-namespace",
    "--log-level",
    "--namespace",
    "--workers",
)
"""All other flags of `ms-operator` that do something; each takes a value. A test holds them to the program's own."""

REFUSED_FLAGS: Final = ("--enable-gang-scheduling", "--gang-scheduler-name")
"""Flags of the Go operator that `ms-operator` knows only to refuse them: with one it would end at its start."""

CONSTRUCT: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*")
"""`package.module:Class`, as `--job-construct` names a site's construct."""

_CLUSTER_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")

DNS_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
"""RFC 1123 label, as Kubernetes wants a namespace to be named."""

_NAME_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_HOST_PART = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][-a-zA-Z0-9]*[a-zA-Z0-9])"
_IMAGE = re.compile(
    rf"(?:{_HOST_PART}(?:\.{_HOST_PART})*(?::[0-9]+)?/)?"
    rf"{_NAME_PART}(?:/{_NAME_PART})*"
    r"(?::[A-Za-z0-9_][-.A-Za-z0-9_]{0,127})?"
    r"(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?",
)
"""`[registry[:port]/]name[:tag][@digest]`, the grammar that registries and container runtimes share."""

_FLAG = re.compile(r"(?P<name>--[a-z0-9]+(?:-[a-z0-9]+)*)(?P<value>=[^\x00-\x1f\x7f]*)?")

_QUANTITY = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?)(?P<unit>m|k|Ki|M|Mi|G|Gi|T|Ti)?")
_UNITS: Final = {
    "": Decimal(1),
    "m": Decimal("0.001"),
    "k": Decimal(10**3),
    "M": Decimal(10**6),
    "G": Decimal(10**9),
    "T": Decimal(10**12),
    "Ki": Decimal(2**10),
    "Mi": Decimal(2**20),
    "Gi": Decimal(2**30),
    "Ti": Decimal(2**40),
}


class InvalidSettingsError(ValueError):
    """Settings that no installation can be made from.

    Args:
        problems: at least one.
    """

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(summarise(problems, limit=len(problems)))
        self.problems = tuple(problems)


def project_version() -> str:
    """The version of the installed project, such as `0.1.0`."""
    return version("ms-operator")


def default_image() -> str:
    """The operator's image of this version of the project."""
    return f"{IMAGE_REPOSITORY}:{project_version()}"


@dataclass(frozen=True, slots=True)
class Resources:
    """CPU and memory of the operator's container, as Kubernetes quantities.

    A controller at work is a Python process and the construct worker with its Node.js, together 325 to 375 MB at the
    most; at rest the worker is stopped and about a third of that remains. The request covers the peak, so that a node
    short of memory does not evict the operator in the middle of its work, and the limit leaves a third on top. CPU has
    no limit by default: being throttled would delay every job of the cluster, and an idle CPU costs nothing.

    Attributes:
        cpu_request: reserved CPU.
        cpu_limit: most CPU it may use; None for no limit.
        memory_request: reserved memory.
        memory_limit: memory above which the container is killed.
    """

    cpu_request: str = "100m"
    cpu_limit: str | None = None
    memory_request: str = "384Mi"
    memory_limit: str = "512Mi"


@dataclass(frozen=True, slots=True)
class InstallSettings:
    """An installation of the operator, checked when it is made.

    Attributes:
        image: image reference of the operator.
        namespace: where the operator runs; a namespace of its own, as it gets the Restricted Pod Security profile.
        replicas: operator pods; one of them leads, the others stand by. 0 stops the operator and leaves all else.
        extra_flags: more flags of `ms-operator`, each as `--name=value`: those of `EXTRA_FLAGS`.
        image_pull_policy: `IfNotPresent` suits released tags, which never change; `Always` a tag that moves.
        resources: CPU and memory of the container.

    Raises:
        InvalidSettingsError: at least one of them makes no sense; it lists them all.
    """

    image: str = field(default_factory=default_image)
    namespace: str = DEFAULT_NAMESPACE
    replicas: int = 1
    extra_flags: tuple[str, ...] = ()
    image_pull_policy: PullPolicy = "IfNotPresent"
    resources: Resources = field(default_factory=Resources)

    def __post_init__(self) -> None:
        """Check all values together."""
        problems = [*self._problems()]
        if problems:
            raise InvalidSettingsError(problems)

    def _problems(self) -> Iterator[Problem]:
        if not _IMAGE.fullmatch(self.image):
            yield _problem(
                "image",
                self.image,
                "is not an image reference: write [registry/]name:tag or name@sha256:digest, in lower case",
            )
        if not DNS_LABEL.fullmatch(self.namespace):
            yield _problem(
                "namespace",
                self.namespace,
                "is not a namespace name: use at most 63 lower case letters, digits and '-', beginning and ending with "
                "a letter or digit",
            )
        elif self.namespace in _CLUSTER_NAMESPACES:
            yield _problem(
                "namespace",
                self.namespace,
                "belongs to the cluster, and the Restricted profile set on it would refuse other pods there: "
                f"use a namespace of its own, such as {DEFAULT_NAMESPACE}",
            )
        if self.replicas < 0:
            yield _problem(
                "replicas", self.replicas, "is negative: use 0 to stop the operator, 1, or more for standby pods"
            )
        if self.image_pull_policy not in get_args(PullPolicy):
            yield _problem("image_pull_policy", self.image_pull_policy, f"is none of {', '.join(get_args(PullPolicy))}")
        yield from _flag_problems(self.extra_flags)
        yield from _resource_problems(self.resources)


def _problem(name: str, value: object, message: str) -> Problem:
    return Problem((name,), f"{value!r} {message}" if value != "" else f"is empty and {message}", "settings")


def _flag_problems(flags: tuple[str, ...]) -> Iterator[Problem]:
    seen: set[str] = set()
    for flag in flags:
        match = _FLAG.fullmatch(flag)
        if match is None:
            yield _problem("extra_flags", flag, "is not a flag: write --name=value")
            continue
        name = match["name"]
        if name in OWN_FLAGS:
            yield _problem("extra_flags", flag, "is set by the Deployment itself: leave it out")
        elif name in REFUSED_FLAGS:
            yield _problem(
                "extra_flags", flag, "is refused by ms-operator, which has no gang scheduling backend yet: leave it out"
            )
        elif name not in EXTRA_FLAGS:
            yield _problem("extra_flags", flag, f"is no flag of ms-operator: it has {', '.join(EXTRA_FLAGS)}")
        elif not match["value"]:
            yield _problem("extra_flags", flag, f"lacks its value: write {name}=value")
        elif name == "--job-construct" and not CONSTRUCT.fullmatch(match["value"][1:]):
            yield _problem("extra_flags", flag, "names no class: write --job-construct=package.module:Class")
        elif name in seen:
            yield _problem("extra_flags", flag, f"sets {name} a second time: keep one of them")
        seen.add(name)


def _resource_problems(resources: Resources) -> Iterator[Problem]:
    for kind, request, limit in (
        ("cpu", resources.cpu_request, resources.cpu_limit),
        ("memory", resources.memory_request, resources.memory_limit),
    ):
        amounts: list[Decimal] = []
        for side, value in (("request", request), ("limit", limit)):
            if value is None:
                continue
            match = _QUANTITY.fullmatch(value)
            if match is None:
                yield _problem(f"resources.{kind}_{side}", value, "is not a quantity: write for example 500m or 512Mi")
            else:
                amounts.append(Decimal(match["number"]) * _UNITS[match["unit"] or ""])
        if amounts != sorted(amounts):
            yield _problem(
                f"resources.{kind}_request", request, f"is more than the limit {limit}: lower it, or raise the limit"
            )
