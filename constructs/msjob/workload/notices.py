"""What is legal but worth telling the user once: a warning on the terminal, an event on the job."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from msjob.api import EventReason, FailureAction, Job, LaunchMode, RestartPolicy, RestartScope, Role, RoleSpec, meta
from msjob.workload import environment, hosts, msrun, pods
from msjob.workload.tokens import Tokens


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning about a job that runs all the same.

    Attributes:
        reason: reason of the event.
        message: what the operator does and why it may surprise.
        path: the field that it is about, from the root of the object.
    """

    reason: EventReason
    message: str
    path: tuple[str | int, ...] = ()


def notices(job: Job) -> list[Notice]:
    """Everything worth telling about a job, in a fixed order."""
    return [notice for found in _ALL for notice in found(job)]


def _reserved(job: Job) -> Iterator[Notice]:
    tokens = Tokens.absent_from("")
    for role, spec in job.roles.items():
        names = pods.overridden(spec, environment.injected(job, role, tokens, host=role is job.host_role))
        if names:
            yield Notice(
                EventReason.RESERVED_ENV,
                f"{role}: the template sets {', '.join(names)}; its values are kept, the operator's are not injected",
                (*_container_path(spec), "env"),
            )


def _restart_policy(job: Job) -> Iterator[Notice]:
    for role, spec in job.roles.items():
        wanted = (spec.template.get("spec") or {}).get("restartPolicy")
        used = pods.restart_policy(job, spec)
        if wanted not in (None, used):
            yield Notice(
                EventReason.TEMPLATE_RESTART_POLICY,
                f"{role}: restartPolicy {wanted} of the pod template is replaced by {used}; set restartPolicy of the "
                "role",
                (*_template_path(spec), "restartPolicy"),
            )


def _hostname(job: Job) -> Iterator[Notice]:
    for role, spec in job.roles.items():
        if pods.shares_hostname(job, spec):
            yield Notice(
                EventReason.TEMPLATE_HOSTNAME,
                f"{role}: hostname {spec.template['spec']['hostname']} of the pod template is left out; each pod of "
                "the job needs its own, which is its name",
                (*_template_path(spec), "hostname"),
            )


def _host_port(job: Job) -> Iterator[Notice]:
    if job.port_is_derived and job.host_role is not None:
        spec = job.roles[job.host_role]
        yield Notice(
            EventReason.HOST_NETWORK,
            f"{spec.role}: with hostNetwork the MindSpore Scheduler listens on port {job.port} of its node, derived "
            f"from namespace and name of the job; to choose another, name a container port {meta.PORT_NAME}",
            (*_template_path(spec), "hostNetwork"),
        )


def _host_names(job: Job) -> Iterator[Notice]:
    spec = job.roles.get(Role.WORKER)
    if spec is None or not hosts.shares_host_names(job, spec):
        return
    if hosts.kept_apart(job, spec):
        yield Notice(
            EventReason.HOST_NETWORK,
            "Worker: with hostNetwork each Worker is kept on a node of its own, since MindSpore numbers devices by "
            "host name; the operator adds a required podAntiAffinity to those of the template",
            (*_template_path(spec), "hostNetwork"),
        )
    elif spec.template["spec"].get("nodeName"):
        yield Notice(
            EventReason.HOST_NETWORK,
            "Worker: with hostNetwork and nodeName all Workers have one host name, by which MindSpore numbers devices, "
            "so that they count on devices that are not there; leave out nodeName",
            (*_template_path(spec), "nodeName"),
        )


def _msrun(job: Job) -> Iterator[Notice]:
    spec = job.roles.get(Role.WORKER)
    if spec is None or job.launch_mode is LaunchMode.NONE or not msrun.returns_at_once(spec.container):
        return
    yield Notice(
        EventReason.MSRUN_WITHOUT_JOIN,
        "Worker: msrun without --join=True returns at once, and its exit 0 ends the pod before training has begun; "
        "add --join=True",
        (*_container_path(spec), "args" if spec.container.get("args") else "command"),
    )


def _parameter_server(job: Job) -> Iterator[Notice]:
    if job.replicas(Role.PS):
        yield Notice(
            EventReason.PARAMETER_SERVER,
            "PS: parameter servers need MindSpore 2.7 or older; with 2.8 and later each process may train in a world "
            "of its own and still exit 0",
            ("spec", "msReplicaSpecs", job.roles[Role.PS].key),
        )


def _rejoin(job: Job) -> Iterator[Notice]:
    if job.launch_mode not in (LaunchMode.DYNAMIC_CLUSTER, LaunchMode.MSRUN):
        return
    for role, spec in job.roles.items():
        if role is not Role.SCHEDULER and spec.restart_scope is RestartScope.POD:
            yield Notice(
                EventReason.CANNOT_REJOIN,
                f"{role}: restartScope Pod restarts a failed process alone, and MindSpore does not take it back into "
                "its cluster, so that the others fail as well or hang; use Job",
                ("spec", "msReplicaSpecs", spec.key, "restartScope"),
            )


def _scale(job: Job) -> Iterator[Notice]:
    spec = job.roles.get(Role.WORKER)
    if spec is not None and spec.key != Role.WORKER.value:
        yield Notice(
            EventReason.SCALE_UNAVAILABLE,
            f"{spec.key}: kubectl scale and autoscalers find the Workers of a job only under the key Worker; change "
            "replicas in the job instead",
            ("spec", "msReplicaSpecs", spec.key),
        )


def _gang(job: Job) -> Iterator[Notice]:
    if job.run_policy.scheduling_policy is not None:
        yield Notice(
            EventReason.GANG_UNAVAILABLE,
            "schedulingPolicy: this version has no gang scheduling; pods are scheduled one by one, as if it were not "
            "there",
            ("spec", "runPolicy", "schedulingPolicy"),
        )


def _retries(job: Job) -> Iterator[Notice]:
    """What is only for restarts, in a job that has none after a failure: the default of restartPolicy is Never."""
    policy = job.run_policy.failure_policy
    ruled = any(rule.action is not FailureAction.FAIL_JOB for rule in (policy.rules if policy is not None else ()))
    if ruled:
        return
    never = {role: spec for role, spec in job.roles.items() if spec.restart_policy is RestartPolicy.NEVER}
    if job.run_policy.backoff_limit is not None and never.keys() == job.roles.keys():
        yield Notice(
            EventReason.RETRIES_UNUSED,
            "backoffLimit has no effect: restartPolicy of every role is Never (the default), so that the first failure "
            "fails the job; set restartPolicy of the roles to OnFailure or ExitCode",
            ("spec", "runPolicy", "backoffLimit"),
        )
    for role, spec in never.items():
        if job.spec.ms_replica_specs[spec.key].restart_scope is RestartScope.POD:
            yield Notice(
                EventReason.RETRIES_UNUSED,
                f"{role}: restartScope Pod is only for pods that are taken away: restartPolicy is Never (the default), "
                "so that a failure fails the job; set restartPolicy of the role to OnFailure or ExitCode",
                ("spec", "msReplicaSpecs", spec.key, "restartScope"),
            )


def _alone(job: Job) -> Iterator[Notice]:
    """Workers that know nothing of each other, where nobody said that this is meant."""
    if job.spec.launch_mode is None and job.launch_mode is LaunchMode.STANDALONE and job.replicas(Role.WORKER) > 1:
        yield Notice(
            EventReason.TRAINS_ALONE,
            "Worker: without a Scheduler the Workers do not know each other, and each trains by itself; add the role "
            "Scheduler, start the processes by msrun with launchMode Msrun, or set launchMode Standalone if that is "
            "meant",
            ("spec", "msReplicaSpecs", job.roles[Role.WORKER].key),
        )


_ALL: Final[tuple[Callable[[Job], Iterator[Notice]], ...]] = (
    _reserved,
    _restart_policy,
    _hostname,
    _host_port,
    _host_names,
    _msrun,
    _parameter_server,
    _alone,
    _rejoin,
    _retries,
    _scale,
    _gang,
)


def _template_path(spec: RoleSpec) -> tuple[str | int, ...]:
    return ("spec", "msReplicaSpecs", spec.key, "template", "spec")


def _container_path(spec: RoleSpec) -> tuple[str | int, ...]:
    containers = (spec.template.get("spec") or {}).get("containers") or []
    index = next((i for i, item in enumerate(containers) if item.get("name") == meta.CONTAINER), 0)
    return (*_template_path(spec), "containers", index)
