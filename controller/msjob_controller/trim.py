"""What the caches keep of an object: as much as the decisions read, in as few bytes as plain JSON allows.

Small parts that many objects have in common (conditions, owners, the place of a pod) are kept once and shared.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from sys import intern
from typing import Any, Final

from msjob.api import meta

Json = dict[str, Any]

MESSAGE_LIMIT: Final = 4096
"""Characters kept of a message. The kubelet keeps as many bytes of a termination message."""

_METADATA: Final = ("name", "uid", "resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds")
_LABELS: Final = (
    (meta.LABEL_REPLICA_TYPE, meta.LABEL_REPLICA_TYPE_OLD),
    (meta.LABEL_REPLICA_INDEX, meta.LABEL_REPLICA_INDEX_OLD),
    (meta.LABEL_RESTART_ATTEMPT,),
)
"""Labels that are read, each with the one that stands in for it."""
_STATES: Final[Mapping[str, tuple[str, ...]]] = {
    "waiting": ("reason", "message"),
    "running": ("startedAt",),
    "terminated": ("exitCode", "reason", "message", "startedAt", "finishedAt"),
}
_SHARED: Final = 4096
"""Small parts of each kind that are kept once."""


def trim_pod(pod: Json) -> Json:
    """Keep what `policy.reading.read_pod` reads.

    Of the 17,000 bytes that a running pod is as Python objects (4,000 as JSON) 2,200 are kept (measured).
    """
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    kept: Json = {key: intern(str(status[key])) for key in ("phase", "reason") if status.get(key)}
    if status.get("message"):
        kept["message"] = _cut(status["message"])
    for kind in ("initContainerStatuses", "containerStatuses"):
        if status.get(kind):
            kept[kind] = [_container(item) for item in status[kind]]
    if status.get("conditions"):
        kept["conditions"] = [_condition(item) for item in status["conditions"]]
    return {
        "metadata": _metadata(pod["metadata"]),
        "spec": _place(spec.get("restartPolicy", "Never"), spec.get("nodeName")),
        "status": kept,
    }


def trim_service(service: Json) -> Json:
    """Keep name, owner, address and ports of a Service."""
    spec = service.get("spec") or {}
    ports = [{"name": port.get("name"), "port": port.get("port")} for port in spec.get("ports") or []]
    kept = {"clusterIP": spec.get("clusterIP") or "", "ports": ports}
    return {"metadata": _metadata(service["metadata"]), "spec": kept}


def trim_autoscaler(autoscaler: Json) -> Json:
    """Keep name and owner of a HorizontalPodAutoscaler: what it does shows in the job."""
    return {"metadata": _metadata(autoscaler["metadata"])}


def trim_node(node: Json) -> Json:
    """Keep what `policy.reading.node_is_lost` reads: some 900 bytes, where a node is 10,000 of JSON and more."""
    conditions = (node.get("status") or {}).get("conditions") or []
    taints = (node.get("spec") or {}).get("taints") or []
    return {
        "metadata": _kept(node["metadata"], ("name", "uid", "resourceVersion")),
        "spec": {"taints": [{"key": taint.get("key")} for taint in taints]} if taints else {},
        "status": {"conditions": [_condition(item) for item in conditions if item.get("type") == "Ready"]},
    }


def _metadata(metadata: Json) -> Json:
    kept = _kept(metadata, _METADATA)
    if "namespace" in metadata:
        kept["namespace"] = intern(metadata["namespace"])
    labels = metadata.get("labels") or {}
    found = (next((name for name in names if labels.get(name)), None) for names in _LABELS)
    kept["labels"] = {name: intern(labels[name]) for name in found if name is not None}
    kept["ownerReferences"] = [
        _owner(owner["name"], owner["uid"])
        for owner in metadata.get("ownerReferences") or []
        if owner.get("kind") == meta.KIND and owner.get("controller")
    ]
    return kept


def _container(item: Json) -> Json:
    state = {
        kind: _state(detail, _STATES[kind])
        for kind, detail in (item.get("state") or {}).items()
        if detail is not None and kind in _STATES
    }
    kept = {"name": item.get("name"), "state": state}
    if before := (item.get("lastState") or {}).get("terminated"):
        kept["lastState"] = {"terminated": _state(before, _STATES["terminated"])}
    if item.get("restartCount"):
        kept["restartCount"] = item["restartCount"]
    return kept


def _state(detail: Json, fields: Iterable[str]) -> Json:
    first, *_ = fields
    kept = _kept(detail, fields)
    if "message" in kept:
        kept["message"] = _cut(kept["message"])
    # What was not empty must not become so.
    return kept if kept or not detail else {first: None}


def _condition(item: Json) -> Json:
    if item.get("type") == "DisruptionTarget":
        return _kept(item, ("type", "status", "reason"))
    if item.get("type") == "PodScheduled" and item.get("status") == "False":
        kept = _kept(item, ("type", "status", "reason", "message"))
        return kept if "message" not in kept else {**kept, "message": _cut(kept["message"])}
    if isinstance(item.get("type"), str) and isinstance(item.get("status"), str):
        return _plain_condition(item["type"], item["status"])
    return {key: item[key] for key in ("type", "status") if key in item}


def _kept(item: Json, fields: Iterable[str]) -> Json:
    return {key: item[key] for key in fields if item.get(key) is not None}


def _cut(message: object) -> object:
    return message[:MESSAGE_LIMIT] if isinstance(message, str) else message


@lru_cache(_SHARED)
def _plain_condition(kind: str, status: str) -> Json:
    return {"type": kind, "status": status}


@lru_cache(_SHARED)
def _owner(name: str, uid: str) -> Json:
    return {"name": name, "uid": uid}


@lru_cache(_SHARED)
def _place(restart_policy: object, node: object) -> Json:
    place: Json = {"restartPolicy": restart_policy}
    return place if node is None else {**place, "nodeName": node}
