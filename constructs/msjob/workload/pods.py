"""The pods of one role: the user's template plus what makes them members of the job."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msjob.api import Job, Role, RoleSpec, meta
from msjob.workload import hosts
from msjob.workload import labels as labelling
from msjob.workload.environment import EnvVar
from msjob.workload.plain import plain
from msjob.workload.tokens import Tokens

GRACE_SECONDS: Final = 10
"""Termination grace where the template sets none.

Python as PID 1 ignores SIGTERM (measured), so Kubernetes' 30 s would only be waited out.
"""

_CONTAINERS: Final = ("containers", "initContainers", "ephemeralContainers")

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

    Everything of the template is kept, but a host name that several pods would share and the restart policy. The
    operator's labels win over the user's (selectors depend on them), the user's variables win over the operator's. What
    keeps Workers with `hostNetwork` apart is added.

    Args:
        job: the owner.
        role: of the pod.
        tokens: stand-ins for the index and the facts.
        host: whether this pod runs the MindSpore Scheduler, and so listens on the job's port.
        labels: the operator's labels.
        environment: the operator's variables for the `mindspore` container.

    Returns:
        A Pod manifest with tokens in it, which shares nothing with the template: the caller may change it.
    """
    spec = job.roles[role]
    template = plain(spec.template)
    own = template.get("metadata", {})
    metadata = labelling.metadata(job, name(job, role, tokens), {**own.get("labels", {}), **labels}, tokens)
    metadata.update({key: own[key] for key in ("annotations", "finalizers") if own.get(key)})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": _spec(job, spec, template.get("spec", {}), plain(environment), host=host),
    }


def name(job: Job, role: Role, tokens: Tokens) -> str:
    """Name of a pod, `<job>-<role>-<index>`, with the token of the index."""
    return job.pod_name(role, 0).removesuffix("0") + tokens.index


def restart_policy(job: Job, spec: RoleSpec) -> str:
    """What the kubelet does with a container that ends.

    `Never`, because a MindSpore process cannot rejoin alone: the operator restarts the job. Only where failures are
    left to the kubelet (`Job.kubelet_restarts`) it is `OnFailure`, for the role's `Always` too: exit 0 is done under
    every policy, and under the kubelet's `Always` the job would never end.
    """
    return "OnFailure" if spec.role is Role.WORKER and job.kubelet_restarts else "Never"


def shares_hostname(job: Job, spec: RoleSpec) -> bool:
    """Whether the template gives several pods one host name; msrun tells nodes apart by it, so each needs its own."""
    named = (spec.template.get("spec") or {}).get("hostname")
    return bool(named) and sum(role.replicas for role in job.roles.values()) > 1


def overridden(spec: RoleSpec, environment: Sequence[EnvVar]) -> list[str]:
    """Names of injected variables that the user's template sets too; the user's value is the one that counts."""
    own = {entry.get("name") for entry in spec.container.get("env") or []}
    return [entry["name"] for entry in environment if entry["name"] in own]


def _spec(job: Job, role: RoleSpec, spec: Manifest, environment: Sequence[EnvVar], *, host: bool) -> Manifest:
    spec["restartPolicy"] = restart_policy(job, role)
    spec.setdefault("terminationGracePeriodSeconds", GRACE_SECONDS)
    if shares_hostname(job, role):
        del spec["hostname"]
    if hosts.kept_apart(job, role):
        hosts.keep_apart(job, role, spec)
    for kind in _CONTAINERS:
        for port in itertools.chain.from_iterable(container.get("ports", []) for container in spec.get(kind, [])):
            # The one default of the template's schema: a job from a file has to give what the stored one gives.
            port.setdefault("protocol", "TCP")
    for container in spec.get("containers", []):
        if container.get("name") == meta.CONTAINER:
            _join(container, job, role, environment, host=host)
    return spec


def _join(container: Manifest, job: Job, role: RoleSpec, environment: Sequence[EnvVar], *, host: bool) -> None:
    """Make a `mindspore` container a member of the job: its environment, and the port of the MindSpore Scheduler."""
    taken = overridden(role, environment)
    # The operator's come first, so that the user's may refer to them as $(MS_SCHED_HOST).
    env = [entry for entry in environment if entry["name"] not in taken] + container.get("env", [])
    if env:
        container["env"] = env
    ports = container.get("ports", [])
    if host and not any(
        port.get("name") == meta.PORT_NAME or (port.get("containerPort"), port["protocol"]) == (job.port, "TCP")
        for port in ports
    ):
        container["ports"] = [*ports, {"name": meta.PORT_NAME, "containerPort": job.port, "protocol": "TCP"}]
