"""Labels and owner of everything a job owns."""

from typing import Any

from msjob.api import Job, Role, meta
from msjob.workload.tokens import Tokens


def selector(job: Job, role: Role | None = None) -> dict[str, str]:
    """Labels that select the pods of a job, or of one of its roles (the Go operator's, kept for compatibility)."""
    labels = {meta.LABEL_JOB_NAME: job.name, meta.LABEL_OPERATOR_NAME: meta.CONTROLLER_NAME}
    if role is not None:
        labels[meta.LABEL_REPLICA_TYPE] = role.slug
    return labels


def child(job: Job, role: Role, index: str) -> dict[str, str]:
    """Labels of a pod or Service of the job.

    Args:
        job: the owner.
        role: of the pod, or of the pod behind the Service.
        index: replica index or its token.
    """
    return dict(
        sorted(
            {
                **selector(job, role),
                meta.LABEL_REPLICA_INDEX: index,
                meta.LABEL_GROUP_NAME_OLD: meta.GROUP,
                meta.LABEL_JOB_NAME_OLD: job.name,
                meta.LABEL_CONTROLLER_NAME_OLD: meta.CONTROLLER_NAME,
                meta.LABEL_REPLICA_TYPE_OLD: role.slug,
                meta.LABEL_REPLICA_INDEX_OLD: index,
            }.items()
        )
    )


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
