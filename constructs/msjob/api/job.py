"""A job as the workload and the controller read it: keys normalised, defaults applied.

Defaults live here and not in the schema, because a schema default shows as drift in GitOps tools that diff on the
client (`replicas` is the exception: the scale subresource needs it stored).
"""

import hashlib
import itertools
import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from pydantic import ValidationError

from msjob.api import meta
from msjob.api.problem import Problem, summarise
from msjob.api.roles import Role, by_role
from msjob.api.types import CleanPodPolicy, LaunchMode, MSJobSpec, RestartPolicy, RestartScope, RunPolicy, SuccessPolicy

ACCELERATOR: Final = re.compile(r"(nvidia|amd)\.com/gpu(\.shared)?|huawei\.com/(Ascend[0-9A-Za-z]+|npu)")
"""Extended resources that count as accelerators for `procPerWorker: auto`: whole devices (or shares that a process sees
as one), and not their memory, cores or slices, such as `nvidia.com/gpumem`, `huawei.com/npu-core`."""

HOST_PORTS: Final = range(17000, 30000)
"""Ports of MindSpore Schedulers in the network of a node, where a port is taken once for all pods.

Above the ports 8118 to 16309 that Workers and PS listen on (measured with MindSpore 2.10), below NodePorts (30000 to
32767) and the ports that Linux gives to clients (from 32768).
"""

_NUMBER: Final = re.compile(r"[0-9]{1,18}")
"""A number that a template gives as text. Python refuses to read very long ones."""

TOPOLOGY_TIMEOUT: Final = 1800
"""Seconds, see `Job.topology_timeout`."""
MSRUN_TOPOLOGY_TIMEOUT: Final = 600
"""Likewise: what `msrun --cluster_time_out` is by default."""


class InvalidJobError(ValueError):
    """A job that cannot be read.

    Attributes:
        problems: what is wrong, at least one.
    """

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(summarise(problems))
        self.problems = problems


def managed(obj: Mapping[str, Any]) -> bool:
    """Whether this operator runs a job, or another controller does.

    Args:
        obj: JSON of an MSJob, which may be broken in any way: another controller's job is not judged here.
    """
    spec = obj.get("spec")
    spec = spec if isinstance(spec, Mapping) else {}
    policy = spec.get("runPolicy")
    inner = policy.get("managedBy") if isinstance(policy, Mapping) else None
    return (inner or spec.get("managedBy") or meta.MANAGED_BY_SELF) == meta.MANAGED_BY_SELF


@dataclass(frozen=True, slots=True)
class RoleSpec:
    """One role with its defaults applied.

    Attributes:
        role: which.
        key: the key of `msReplicaSpecs` as the user spelled it.
        replicas: number of pods, default 1.
        restart_policy: default `Never` (the Go operator's).
        restart_scope: default `Job`, in launch mode `Standalone` `Pod`.
        template: pod template as the user wrote it; never changed.
    """

    role: Role
    key: str
    replicas: int
    restart_policy: RestartPolicy
    restart_scope: RestartScope
    template: Mapping[str, Any]

    @property
    def container(self) -> Mapping[str, Any]:
        """The `mindspore` container of the template, empty if there is none."""
        containers = (self.template.get("spec") or {}).get("containers") or []
        return next((c for c in containers if c.get("name") == meta.CONTAINER), {})

    @property
    def host_network(self) -> bool:
        """Whether the pods live in the network of their node, and so share its host name and ports."""
        return bool((self.template.get("spec") or {}).get("hostNetwork"))

    @property
    def declared_ports(self) -> frozenset[int]:
        """All ports that containers of the template declare."""
        spec = self.template.get("spec") or {}
        containers = itertools.chain(spec.get("containers") or [], spec.get("initContainers") or [])
        declared = itertools.chain.from_iterable(item.get("ports") or [] for item in containers)
        return frozenset(port["containerPort"] for port in declared if "containerPort" in port)


@dataclass(frozen=True)
class Job:
    """One MSJob.

    Attributes:
        namespace: `default` if the object names none.
        name: name of the job.
        uid: empty for a job that no API server has seen.
        generation: 0 likewise.
        spec: as written.
        roles: in the order Scheduler, PS, Worker.
    """

    namespace: str
    name: str
    uid: str
    generation: int
    spec: MSJobSpec
    roles: Mapping[Role, RoleSpec]

    @classmethod
    def parse(cls, obj: Mapping[str, Any]) -> "Job":
        """Read a job from its JSON.

        Args:
            obj: an MSJob as the API server or a file gives it. It should have passed `msjob.validation.validate`.

        Raises:
            InvalidJobError: a field has a type that cannot be read.
        """
        metadata = obj.get("metadata") or {}
        try:
            spec = MSJobSpec.model_validate(obj.get("spec") or {})
        except ValidationError as error:
            problems = [Problem(("spec", *item["loc"]), item["msg"]) for item in error.errors(include_url=False)]
            raise InvalidJobError(problems) from None
        keys = {role: key for key in reversed(spec.ms_replica_specs) if (role := Role.parse(key)) is not None}
        scope = RestartScope.POD if _launch_mode(spec, keys) is LaunchMode.STANDALONE else RestartScope.JOB
        roles = {
            role: RoleSpec(
                role=role,
                key=keys[role],
                replicas=1 if item.replicas is None else item.replicas,
                restart_policy=item.restart_policy or RestartPolicy.NEVER,
                restart_scope=item.restart_scope or scope,
                template=item.template,
            )
            for role, item in by_role(spec.ms_replica_specs).items()
        }
        return cls(
            namespace=metadata.get("namespace") or "default",
            name=metadata.get("name") or "",
            uid=metadata.get("uid") or "",
            generation=metadata.get("generation") or 0,
            spec=spec,
            roles=roles,
        )

    @property
    def run_policy(self) -> RunPolicy:
        """The run policy, empty if there is none."""
        return self.spec.run_policy or RunPolicy()

    @property
    def suspended(self) -> bool:
        """Whether the user wants the job to have no pods."""
        return bool(self.run_policy.suspend)

    @property
    def clean_pod_policy(self) -> CleanPodPolicy:
        """Which pods go at the end; default `Running`, the Go operator's."""
        return self.run_policy.clean_pod_policy or CleanPodPolicy.RUNNING

    @property
    def success_policy(self) -> SuccessPolicy:
        """When the job has succeeded."""
        return self.spec.success_policy or SuccessPolicy.DEFAULT

    @cached_property
    def launch_mode(self) -> LaunchMode:
        """How processes find each other; `DynamicCluster` with a Scheduler, else `Standalone`."""
        return _launch_mode(self.spec, self.roles)

    @cached_property
    def host_role(self) -> Role | None:
        """The role whose pod 0 is the MindSpore Scheduler and stands behind the Service; None for a job without."""
        if Role.SCHEDULER in self.roles:
            return Role.SCHEDULER
        return Role.WORKER if self.launch_mode is LaunchMode.MSRUN else None

    @property
    def service_name(self) -> str | None:
        """Name of the Service, `<job>-<role>-0`, as that of the pod behind it."""
        return None if self.host_role is None else self.pod_name(self.host_role, 0)

    @cached_property
    def named_port(self) -> int | None:
        """The port that the template of the MindSpore Scheduler names `msjob-port`."""
        if self.host_role is not None:
            for port in self.roles[self.host_role].container.get("ports") or []:
                if port.get("name") == meta.PORT_NAME:
                    return int(port["containerPort"])
        return None

    @property
    def port_is_derived(self) -> bool:
        """Whether the port is derived from namespace and name; not in launch mode `None`, which tells it to nobody."""
        host = None if self.host_role is None else self.roles[self.host_role]
        derived = host is not None and host.host_network and self.launch_mode is not LaunchMode.NONE
        return derived and self.named_port is None

    @cached_property
    def port(self) -> int:
        """Port of the MindSpore Scheduler: the one that its template names, else 2222.

        With `hostNetwork` it is derived from namespace and name instead of 2222, so that two jobs on one node rarely
        want the same one; where they do, kube-scheduler keeps them apart. It is none that the template declares.
        """
        if self.host_role is None or not self.port_is_derived:
            return self.named_port or meta.DEFAULT_PORT
        digest = hashlib.sha256(f"{self.namespace}/{self.name}".encode()).digest()
        start = int.from_bytes(digest[:8]) % len(HOST_PORTS)
        taken = self.roles[self.host_role].declared_ports
        free = (port for port in (*HOST_PORTS[start:], *HOST_PORTS[:start]) if port not in taken)
        return next(free, HOST_PORTS[start])

    def replicas(self, role: Role) -> int:
        """Number of pods of a role, 0 for a role that the job does not have."""
        return self.roles[role].replicas if role in self.roles else 0

    @cached_property
    def processes_per_worker(self) -> int:
        """MindSpore processes in one Worker pod."""
        asked = self.spec.proc_per_worker
        if asked != "auto":
            return asked or 1
        if Role.WORKER not in self.roles:
            return 1
        limits = (self.roles[Role.WORKER].container.get("resources") or {}).get("limits") or {}
        counts = [str(amount) for name, amount in limits.items() if ACCELERATOR.fullmatch(name)]
        # Kubernetes takes whole numbers only; one written in another way, such as 1k, counts as none.
        return sum(int(count) for count in counts if _NUMBER.fullmatch(count)) or 1

    @cached_property
    def kubelet_restarts(self) -> bool:
        """Whether failures are left to the kubelet, which restarts the container where it is.

        That is so for the one Worker of a `Standalone` job under `OnFailure` and `Always`, as long as nothing is asked
        that only the operator can do: a limit, rules, or a restart of the whole job.
        """
        worker = self.roles.get(Role.WORKER)
        return (
            worker is not None
            and self.launch_mode is LaunchMode.STANDALONE
            and worker.replicas == 1
            and worker.restart_policy in (RestartPolicy.ON_FAILURE, RestartPolicy.ALWAYS)
            and worker.restart_scope is RestartScope.POD
            and self.run_policy.backoff_limit is None
            and self.run_policy.failure_policy is None
        )

    @cached_property
    def topology_timeout(self) -> int:
        """Seconds after which MindSpore gives up to form its cluster.

        `MS_TOPO_TIMEOUT` as the Worker's template sets it, else the start-up deadline, from which the operator sets it,
        else 1800 (MindSpore's own, measured with 2.10). Under msrun at most 600: it puts its `--cluster_time_out` in
        the place of the variable, which is 600 unless the command line says more.
        """
        longest = MSRUN_TOPOLOGY_TIMEOUT if self.launch_mode is LaunchMode.MSRUN else None
        worker = self.roles.get(Role.WORKER)
        for entry in (worker.container.get("env") or []) if worker is not None else []:
            value = entry.get("value")
            if entry.get("name") == "MS_TOPO_TIMEOUT" and isinstance(value, str) and _NUMBER.fullmatch(value):
                return min(int(value), longest or int(value))
        wanted = self.run_policy.startup_deadline_seconds or TOPOLOGY_TIMEOUT
        return min(wanted, longest or wanted)

    def pod_name(self, role: Role, index: int) -> str:
        """Name of a pod: `<job>-<role>-<index>`."""
        return f"{self.name}-{role.slug}-{index}"


def _launch_mode(spec: MSJobSpec, roles: Container[Role]) -> LaunchMode:
    if spec.launch_mode is not None:
        return spec.launch_mode
    return LaunchMode.DYNAMIC_CLUSTER if Role.SCHEDULER in roles else LaunchMode.STANDALONE
