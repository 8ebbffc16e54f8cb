"""The nodes that the jobs of the demo fit on, with the labels and resources that their pods ask for."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msjob.api import Job
from msjob.api.job import RoleSpec

NAME: Final = "demo-node"

_AMPLE: Final = {"cpu": "1k", "memory": "16Ti", "ephemeral-storage": "64Ti", "pods": "10k"}
"""Room for any job: what is shown is not how many nodes it takes."""

_ACCELERATORS: Final = ("huawei.com/Ascend910", "nvidia.com/gpu")
"""On every node, asked for or not."""

_HOSTNAME: Final = "kubernetes.io/hostname"

_USUAL: Final = {
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/os": "linux",
    "topology.kubernetes.io/region": "demo",
    "topology.kubernetes.io/zone": "demo",
}

Json = dict[str, Any]


def nodes(jobs: Iterable[Job]) -> list[Json]:
    """Give the Nodes: one, unless a job needs several.

    Several are needed by pods that share the network of their node and so must not share the node, by pods that ask for
    labels of which no node can have both, and by pods that name their node.

    Args:
        jobs: The jobs.
    """
    roles = [role for job in jobs for role in job.roles.values()]
    resources = {name for role in roles for name in _resources(role)}
    wanted: list[dict[str, str]] = [{}]
    for role in roles:
        labels = _labels(role)
        fitting = next((item for item in wanted if _agree(item, labels)), None)
        if fitting is None:
            wanted.append(labels)
        else:
            fitting.update(labels)
    apart = max((_apart(job) for job in jobs), default=1)
    made = [
        _node(f"{NAME}-{number}", labels, resources)
        for number, labels in enumerate(labels for labels in wanted for _ in range(apart))
    ]
    named = sorted({name for role in roles if (name := _spec(role).get("nodeName"))})
    return [*made, *(_node(name, {}, resources) for name in named)]


def _node(name: str, labels: Mapping[str, str], resources: Iterable[str]) -> Json:
    offered = {**_AMPLE, **{item: "1Ti" if item.startswith("hugepages-") else "1k" for item in sorted(resources)}}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {**_USUAL, _HOSTNAME: name, **labels},
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
        "status": {"capacity": offered, "allocatable": offered},
    }


def _apart(job: Job) -> int:
    """How many nodes a job needs because its Workers share nothing of theirs."""
    elastic = job.spec.elastic_policy
    most = (elastic.max_replicas if elastic is not None else None) or 1
    counts = [max(role.replicas, most) for role in job.roles.values() if role.host_network or _refuses_company(role)]
    return max(counts, default=1)


def _refuses_company(role: RoleSpec) -> bool:
    affinity = (_spec(role).get("affinity") or {}).get("podAntiAffinity") or {}
    return bool(affinity.get("requiredDuringSchedulingIgnoredDuringExecution"))


def _labels(role: RoleSpec) -> dict[str, str]:
    """The labels of a node that a role accepts."""
    spec = _spec(role)
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    terms = required.get("nodeSelectorTerms") or [{}]
    spread = [item.get("topologyKey") for item in spec.get("topologySpreadConstraints") or []]
    labels = {key: "demo" for key in spread if key and key not in (_HOSTNAME, *_USUAL)}
    # One term is enough to be accepted.
    for item in terms[0].get("matchExpressions") or []:
        value = _accepted(item)
        if value is not None:
            labels[item["key"]] = value
    return {**labels, **(spec.get("nodeSelector") or {})}


def _accepted(expression: Mapping[str, Any]) -> str | None:
    """A value that meets a requirement; None where it is met by a node without the label."""
    values = [str(value) for value in expression.get("values") or []]
    match expression.get("operator"):
        case "In" if values:
            return values[0]
        case "Exists":
            return "true"
        case "Gt" if values:
            return str(int(values[0]) + 1)
        case "Lt" if values:
            return str(int(values[0]) - 1)
        case _:
            return None


def _agree(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return all(one.get(key, value) == value for key, value in other.items())


def _resources(role: RoleSpec) -> Iterator[str]:
    """Names of what containers ask for, beside what every node has."""
    yield from _ACCELERATORS
    spec = _spec(role)
    for container in (*(spec.get("containers") or []), *(spec.get("initContainers") or [])):
        for amounts in (container.get("resources") or {}).values():
            if isinstance(amounts, dict):
                yield from (name for name in amounts if name not in _AMPLE)


def _spec(role: RoleSpec) -> Mapping[str, Any]:
    return role.template.get("spec") or {}
