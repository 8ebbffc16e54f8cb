"""The HorizontalPodAutoscaler of an elastic job: it changes the number of Workers through the scale subresource."""

from typing import Any

from msjob.api import Job, Role, meta
from msjob.workload import labels
from msjob.workload.plain import plain
from msjob.workload.tokens import Tokens


def autoscaler(job: Job, tokens: Tokens) -> dict[str, Any] | None:
    """Build the HorizontalPodAutoscaler `<job>`.

    Without metrics in the policy it has none here: the API server puts in its own.

    Returns:
        A manifest of autoscaling/v2 with tokens in it, which shares nothing with the job; None for one that is not
        elastic.
    """
    policy = job.spec.elastic_policy
    if policy is None:
        return None
    spec: dict[str, Any] = {
        "scaleTargetRef": {"apiVersion": meta.API_VERSION, "kind": meta.KIND, "name": job.name},
        "minReplicas": 1 if policy.min_replicas is None else policy.min_replicas,
        "maxReplicas": policy.max_replicas,
    }
    if policy.metrics:
        spec["metrics"] = plain(policy.metrics)
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": labels.metadata(job, job.name, labels.of_role(job, Role.WORKER), tokens),
        "spec": spec,
    }
