"""The pods of one role: the user's template plus what makes them members of the job."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msjob.api import Job, LaunchMode, RestartPolicy, Role, RoleSpec, meta
from msjob.workload import labels as labelling
from msjob.workload.environment import EnvVar
from msjob.workload.tokens import Tokens

GRACE_SECONDS: Final = 10
"""Termination grace where the template sets none: python as PID 1 ignores SIGTERM (measured), so 30 s would only be waited out."""

Manifest = dict[str, Any]


def pod(
    job: Job,
    role: Role,
    tokens: Tokens,
    *,
    host: bool,
    labels: Mapping[str, str],
    environment: Sequence[EnvVar],
) -> Manifest:
    """Build a pod of a role.

    Everything of the template is kept. The operator's labels win over the user's (selectors depend on them), the user's
    variables win over the operator's.

    Args:
        job: the owner.
        role: of the pod.
        tokens: stand-ins for the index and the facts.
        host: whether this pod runs the MindSpore Scheduler, and so listens on the job's port.
        labels: the operator's labels.
        environment: the operator's variables for the `mindspore` container.

    Returns:
        A Pod manifest with tokens in it. Nested parts may be shared with the template: do not change it in place.
    """
    spec = job.roles[role]
    metadata = spec.template.get("metadata") or {}
    kept = {key: metadata[key] for key in ("annotations", "finalizers") if metadata.get(key)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": job.pod_name(role, 0).removesuffix("0") + tokens.index,
            "namespace": job.namespace,
            "labels": {**(metadata.get("labels") or {}), **labels},
            **kept,
            "ownerReferences": [labelling.owner(job, tokens)],
        },
        "spec": _spec(job, spec, environment, host=host),
    }


def restart_policy(job: Job, spec: RoleSpec) -> str:
    """What the kubelet does with a container that ends.

    `Never`, because a MindSpore process cannot rejoin alone: the operator restarts the job. Only the one Worker of a
    `Standalone` job is left to the kubelet, with `OnFailure` for both `OnFailure` and `Always`: exit 0 is done under every
    policy, and under the kubelet's `Always` the job would never end.
    """
    alone = job.launch_mode is LaunchMode.STANDALONE and job.replicas(Role.WORKER) == 1
    kubelet = spec.restart_policy in (RestartPolicy.ON_FAILURE, RestartPolicy.ALWAYS)
    return "OnFailure" if alone and kubelet else "Never"


def overridden(spec: RoleSpec, environment: Sequence[EnvVar]) -> list[str]:
    """Names of injected variables that the user's template sets too; the user's value is the one that counts."""
    own = {entry.get("name") for entry in spec.container.get("env") or []}
    return [entry["name"] for entry in environment if entry["name"] in own]


def _spec(job: Job, role: RoleSpec, environment: Sequence[EnvVar], *, host: bool) -> Manifest:
    spec = dict(role.template.get("spec") or {})
    spec["restartPolicy"] = restart_policy(job, role)
    if spec.get("terminationGracePeriodSeconds") is None:
        spec["terminationGracePeriodSeconds"] = GRACE_SECONDS
    spec["containers"] = [
        _container(job, role, item, environment, host=host) if item.get("name") == meta.CONTAINER else item
        for item in spec.get("containers") or []
    ]
    return spec


def _container(
    job: Job, role: RoleSpec, container: Mapping[str, Any], environment: Sequence[EnvVar], *, host: bool
) -> Manifest:
    result = dict(container)
    taken = overridden(role, environment)
    env = [entry for entry in environment if entry["name"] not in taken] + list(container.get("env") or [])
    if env:
        # The operator's come first, so that the user's may refer to them as $(MS_SCHED_HOST).
        result["env"] = env
    ports = list(container.get("ports") or [])
    if host and not any(port.get("name") == meta.PORT_NAME for port in ports):
        ports.append({"name": meta.PORT_NAME, "containerPort": job.port, "protocol": "TCP"})
    if ports:
        result["ports"] = ports
    return result
