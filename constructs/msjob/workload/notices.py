"""What is legal but worth telling the user once: a warning on the terminal, an event on the job."""

from collections.abc import Iterator
from dataclasses import dataclass

from msjob.api import EventReason, Job, LaunchMode, Role, RoleSpec, meta
from msjob.workload import environment, pods
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
    return [*_reserved(job), *_restart_policy(job), *_hostname(job), *_msrun(job), *_parameter_server(job)]


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


def _msrun(job: Job) -> Iterator[Notice]:
    if job.launch_mode is not LaunchMode.MSRUN or Role.WORKER not in job.roles:
        return
    spec = job.roles[Role.WORKER]
    container = spec.container
    line = " ".join([*(container.get("command") or []), *(container.get("args") or [])])
    if "msrun" in line and "--join" not in line:
        yield Notice(
            EventReason.MSRUN_WITHOUT_JOIN,
            "Worker: msrun without --join=True returns at once, and its exit 0 ends the pod before training has begun; "
            "add --join=True",
            (*_container_path(spec), "args" if container.get("args") else "command"),
        )


def _parameter_server(job: Job) -> Iterator[Notice]:
    if job.replicas(Role.PS):
        yield Notice(
            EventReason.PARAMETER_SERVER,
            "PS: parameter servers need MindSpore 2.7 or older; with 2.8 and later each process may train in a world "
            "of its own and still exit 0",
            ("spec", "msReplicaSpecs", job.roles[Role.PS].key),
        )


def _template_path(spec: RoleSpec) -> tuple[str | int, ...]:
    return ("spec", "msReplicaSpecs", spec.key, "template", "spec")


def _container_path(spec: RoleSpec) -> tuple[str | int, ...]:
    containers = (spec.template.get("spec") or {}).get("containers") or []
    index = next((i for i, item in enumerate(containers) if item.get("name") == meta.CONTAINER), 0)
    return (*_template_path(spec), "containers", index)
