"""The environment that MindSpore forms its cluster from.

Measured with MindSpore 2.7 to 2.10: `MS_SCHED_HOST` takes an IP literal only; the Scheduler binds exactly the address
it is given, so it needs its own pod IP and never the cluster IP; Workers may dial any address that reaches it.
`MS_NODE_ID` decides the rank if every id in the cluster is a number, which is possible only without PS (PS 0 and Worker
0 would collide).
"""

from typing import Any, Final

from msjob.api import Job, LaunchMode, RestartScope, Role
from msjob.workload.tokens import Tokens

ATTEMPT: Final = "MSJOB_RESTART_ATTEMPT"
NODE_ID: Final = "MS_NODE_ID"
LOCAL_WORKERS: Final = "MS_LOCAL_WORKER"
NODE_RANK: Final = "MS_NODE_RANK"
"""Who a process is: by an id of its own, or as one of so many in a pod of such a place among the pods."""

HEARTBEAT_RETRY: Final = 120
"""Seconds for which Workers and PS dial a Scheduler that is away, where it is restarted alone.

MindSpore's own 20 s are shorter than it takes to make a pod and import MindSpore. Measured with 2.10: 90 s outlast 40 s
without a Scheduler, although MindSpore's documentation asks for less than `MS_NODE_TIMEOUT` (30 s). MindSpore reads it
from 2.8 on.
"""

EnvVar = dict[str, Any]


def injected(job: Job, role: Role, tokens: Tokens, *, host: bool) -> list[EnvVar]:
    """Variables for the `mindspore` container of a pod.

    Args:
        job: the job.
        role: of the pod.
        tokens: stand-ins for the index and the facts.
        host: whether this pod is the one that runs the MindSpore Scheduler.

    Returns:
        Kubernetes env entries in a fixed order. Empty in launch mode `None`; no `MS_*` in `Standalone`.
    """
    if job.launch_mode is LaunchMode.NONE:
        return []
    attempt = _value(ATTEMPT, tokens.attempt)
    if job.launch_mode is LaunchMode.STANDALONE:
        return [attempt]
    address = _field("MS_SCHED_HOST", "status.podIP") if host else _value("MS_SCHED_HOST", tokens.scheduler_ip)
    return [
        _value("MS_ROLE", role.ms_role),
        address,
        _value("MS_SCHED_PORT", job.port),
        _value("MS_WORKER_NUM", job.replicas(Role.WORKER) * job.processes_per_worker),
        _value("MS_SERVER_NUM", job.replicas(Role.PS)),
        *_identity(job, role, tokens),
        *_timeouts(job, role),
        attempt,
    ]


def _identity(job: Job, role: Role, tokens: Tokens) -> list[EnvVar]:
    """Which node of the cluster the pod is: none for the Scheduler, one for a process, several for msrun to number."""
    if role is Role.SCHEDULER:
        return []
    pod_ip = _field("MS_WORKER_IP", "status.podIP")
    if role is Role.WORKER and (job.launch_mode is LaunchMode.MSRUN or job.processes_per_worker > 1):
        local = _value(LOCAL_WORKERS, job.processes_per_worker)
        return [local, _value(NODE_RANK, tokens.index), pod_ip]
    node = _value(NODE_ID, tokens.index) if not job.replicas(Role.PS) else _field(NODE_ID, "metadata.name")
    return [node, pod_ip]


def _timeouts(job: Job, role: Role) -> list[EnvVar]:
    """How long a process waits for the others, where MindSpore's own answer does not suit the job."""
    found = []
    deadline = job.run_policy.startup_deadline_seconds
    if deadline is not None:
        found.append(_value("MS_TOPO_TIMEOUT", deadline))
    scheduler = job.roles.get(Role.SCHEDULER)
    if role is not Role.SCHEDULER and scheduler is not None and scheduler.restart_scope is RestartScope.POD:
        found.append(_value("MS_HEARTBEAT_RETRY_TIMEOUT", HEARTBEAT_RETRY))
    return found


def _value(name: str, value: object) -> EnvVar:
    return {"name": name, "value": str(value)}


def _field(name: str, path: str) -> EnvVar:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
