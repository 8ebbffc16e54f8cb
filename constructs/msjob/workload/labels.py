"""Labels and owner of everything a job owns."""

from collections.abc import Mapping
from typing import Any, Final

from msjob.api import Job, Role, meta
from msjob.workload.tokens import Tokens

OF_ONE_POD: Final = (meta.LABEL_REPLICA_INDEX, meta.LABEL_REPLICA_INDEX_OLD, meta.LABEL_RESTART_ATTEMPT)
"""Labels whose values differ between pods of one role."""


def selector(job: Job, role: Role | None = None) -> dict[str, str]:
    """Labels that select the pods of a job, or of one of its roles (the Go operator's, kept for compatibility)."""
    labels = {meta.LABEL_JOB_NAME: job.name, meta.LABEL_OPERATOR_NAME: meta.CONTROLLER_NAME}
    if role is not None:
        labels[meta.LABEL_REPLICA_TYPE] = role.slug
    return labels


def of_role(job: Job, role: Role) -> dict[str, str]:
    """Labels of an object of the job that is about all pods of a role."""
    return {
        **selector(job, role),
        meta.LABEL_GROUP_NAME_OLD: meta.GROUP,
        meta.LABEL_JOB_NAME_OLD: job.name,
        meta.LABEL_CONTROLLER_NAME_OLD: meta.CONTROLLER_NAME,
        meta.LABEL_REPLICA_TYPE_OLD: role.slug,
    }


def child(job: Job, role: Role, index: str) -> dict[str, str]:
    """Labels of a pod or Service of the job.

    Args:
        job: the owner.
        role: of the pod, or of the pod behind the Service.
        index: replica index or its token.
    """
    return {**of_role(job, role), meta.LABEL_REPLICA_INDEX: index, meta.LABEL_REPLICA_INDEX_OLD: index}


def pod(job: Job, role: Role, tokens: Tokens) -> dict[str, str]:
    """Labels of a pod of a role."""
    return {**child(job, role, tokens.index), meta.LABEL_RESTART_ATTEMPT: tokens.attempt}


def metadata(job: Job, name: str, labels: Mapping[str, str], tokens: Tokens) -> dict[str, Any]:
    """Metadata of a child.

    Nothing of the job's own metadata is in it: a tool that tracks the MSJob would claim the child.
    """
    return {
        "name": name,
        "namespace": job.namespace,
        "labels": dict(labels),
        "ownerReferences": [owner(job, tokens)],
    }


def owner(job: Job, tokens: Tokens) -> dict[str, Any]:
    """The owner reference that makes the garbage collector remove a child with its job."""
    return {
        "apiVersion": meta.API_VERSION,
        "kind": meta.KIND,
        "name": job.name,
        "uid": tokens.owner_uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def adopted(job: Job, manifest: Mapping[str, Any], tokens: Tokens) -> dict[str, Any]:
    """An object that a site adds to a job: in its namespace, owned by it, and with its name in a label.

    Raises:
        ValueError: the object has no `apiVersion`, `kind` or `metadata.name`, or is to live in another namespace, where
            an owner reference means nothing.
    """
    own = manifest.get("metadata") or {}
    if not (manifest.get("apiVersion") and manifest.get("kind") and own.get("name")):
        raise ValueError(f"an object needs apiVersion, kind and metadata.name, and this one has {sorted(manifest)}")
    if own.get("namespace") not in (None, job.namespace):
        raise ValueError(
            f"{manifest['kind']} {own['name']}: an object of a job must be in its namespace {job.namespace}"
        )
    base = metadata(job, own["name"], {meta.LABEL_JOB_NAME: job.name, **(own.get("labels") or {})}, tokens)
    base["ownerReferences"] += [other for other in own.get("ownerReferences") or [] if other != owner(job, tokens)]
    return {**manifest, "metadata": {**own, **base}}


def lost(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    """The first thing of an object's metadata that the operator needs and that is no longer there.

    Args:
        found: metadata of the object.
        wanted: what `metadata` gave for it; more labels and owners are welcome.

    Returns:
        For example `metadata.name train-worker-0`; None if all is there.
    """
    for key in ("name", "namespace"):
        if found.get(key) != wanted[key]:
            return f"metadata.{key} {wanted[key]}"
    labels = found.get("labels") or {}
    for label, value in wanted["labels"].items():
        if labels.get(label) != value:
            return f"label {label}={value}"
    if not all(reference in (found.get("ownerReferences") or []) for reference in wanted["ownerReferences"]):
        return "the owner reference to the MSJob"
    return None
