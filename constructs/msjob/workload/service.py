"""The Service in front of the MindSpore Scheduler: an address that is known before its pod runs and outlives it."""

from typing import Any

from msjob.api import Job, meta
from msjob.workload import labels
from msjob.workload.tokens import Tokens


def service(job: Job, tokens: Tokens) -> dict[str, Any] | None:
    """Build the Service `<job>-scheduler-0` (under msrun without a Scheduler `<job>-worker-0`).

    Not-ready addresses are published: Workers dial while the Scheduler still starts, and retry by themselves.

    Returns:
        A Service manifest with tokens in it, or None for a job that needs none.
    """
    if job.host_role is None:
        return None
    name = job.pod_name(job.host_role, 0)
    selector = {**labels.selector(job, job.host_role), meta.LABEL_REPLICA_INDEX: "0"}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": labels.metadata(job, name, labels.child(job, job.host_role, "0"), tokens),
        "spec": {
            "type": "ClusterIP",
            "publishNotReadyAddresses": True,
            "selector": selector,
            "ports": [{"name": meta.PORT_NAME, "port": job.port, "targetPort": job.port, "protocol": "TCP"}],
        },
    }
