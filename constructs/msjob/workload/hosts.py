"""Workers in the network of their nodes: what keeps two of them off one node, whose host name they would share."""

from collections.abc import Mapping
from typing import Any, Final

from msjob.api import Job, LaunchMode, Role, RoleSpec
from msjob.workload import labels as labelling
from msjob.workload.plain import plain

HOSTNAME: Final = "kubernetes.io/hostname"
"""The topology in which each node is a place of its own."""
REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
"""The terms of an affinity that kube-scheduler must keep."""

_Labels = Mapping[str, str | None]


def shares_host_names(job: Job, spec: RoleSpec) -> bool:
    """Whether several pods of a role would have one host name, that of their node, if they met on it.

    MindSpore numbers devices by host name: two pods with 8 each would count to 16. It matters for Workers alone, and
    not in `Standalone`, where no process knows of another.
    """
    several = spec.role is Role.WORKER and spec.replicas > 1
    return several and spec.host_network and job.launch_mode is not LaunchMode.STANDALONE


def kept_apart(job: Job, spec: RoleSpec) -> bool:
    """Whether the operator keeps such pods on different nodes.

    It need not where a term of the template does so already, and cannot where the template names the node: then
    kube-scheduler is not asked.
    """
    pod = spec.template.get("spec") or {}
    if not shares_host_names(job, spec) or pod.get("nodeName"):
        return False
    terms = plain(((pod.get("affinity") or {}).get("podAntiAffinity") or {}).get(REQUIRED) or [])
    labels = _labels(job, spec)
    return not any(_keeps_apart(term, job.namespace, labels) for term in terms)


def keep_apart(job: Job, spec: RoleSpec, pod: dict[str, Any]) -> None:
    """Add to a pod spec that no two pods of the role may be on one node; what it says itself still holds."""
    anti_affinity = pod.setdefault("affinity", {}).setdefault("podAntiAffinity", {})
    others = {"matchLabels": labelling.selector(job, spec.role)}
    anti_affinity.setdefault(REQUIRED, []).append({"labelSelector": others, "topologyKey": HOSTNAME})


def _labels(job: Job, spec: RoleSpec) -> _Labels:
    """Labels of all pods of a role: the value that they share, None where it may differ from pod to pod."""
    own = (spec.template.get("metadata") or {}).get("labels") or {}
    return {**own, **labelling.of_role(job, spec.role), **dict.fromkeys(labelling.OF_ONE_POD)}


def _keeps_apart(term: Mapping[str, Any], namespace: str, labels: _Labels) -> bool:
    """Whether a term of a required anti-affinity surely keeps all pods with these labels on different nodes."""
    selector = term.get("labelSelector")
    if term.get("topologyKey") != HOSTNAME or selector is None:
        return False
    if term.get("matchLabelKeys") or term.get("mismatchLabelKeys"):
        return False
    # Which labels a namespace has is not known here; an empty selector selects every one, and none beside no names the
    # pod's own.
    named, chosen = term.get("namespaces", []), term.get("namespaceSelector")
    if namespace not in named and chosen != {} and (named or chosen is not None):
        return False
    equal = [
        {"key": key, "operator": "In", "values": [value]} for key, value in selector.get("matchLabels", {}).items()
    ]
    return all(_meets(labels, requirement) for requirement in [*equal, *selector.get("matchExpressions", [])])


def _meets(labels: _Labels, requirement: Mapping[str, Any]) -> bool:
    """Whether all pods meet a requirement of a label selector."""
    key, values = requirement["key"], requirement.get("values", [])
    match requirement["operator"]:
        case "In":
            return key in labels and labels[key] in values
        case "NotIn":
            return key not in labels or (labels[key] is not None and labels[key] not in values)
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    return False
