"""Which pods and containers are read. Pure."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from msjob.api import Problem, Role, meta
from msjob_client.errors import InvalidJobError
from msjob_client.job import MSJob
from msjob_client.pod import PodView
from msjob_client.reading import at, mapping, objects, text


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for.

    Attributes:
        roles: Pods of these roles; None for all.
        indexes: Pods with these replica indices; None for all.
        container: The container; None for all, init containers too.
    """

    roles: frozenset[Role] | None = None
    indexes: frozenset[int] | None = None
    container: str | None = meta.CONTAINER

    def pod(self, pod: PodView) -> bool:
        """Whether a pod is one of those asked for."""
        role = Role.parse(pod.role)
        return (self.roles is None or role in self.roles) and (self.indexes is None or pod.index in self.indexes)

    def containers(self, pod: PodView) -> Iterator[str]:
        """The containers of a pod that are asked for."""
        if self.pod(pod):
            yield from (view.name for view in pod.containers if self.container in (None, view.name))


def wanted(
    job: MSJob,
    pods: Iterable[PodView],
    *,
    roles: Collection[str] | None,
    indexes: Collection[int] | None,
    container: str | None,
    all_containers: bool,
) -> Wanted:
    """Read what is asked for, and refuse what can match nothing.

    Args:
        job: The job.
        pods: Its pods: what others have added to them counts, too.
        roles: Names of roles in any spelling; None for all.
        indexes: Replica indices; None for all.
        container: A container; None for `mindspore`.
        all_containers: All containers.

    Raises:
        InvalidJobError: The job has no such role, index or container.
    """
    known = {Role(name) for name in job.roles}
    parsed = None if roles is None else frozenset(_role(job, known, name) for name in roles)
    found = Wanted(
        parsed, None if indexes is None else frozenset(indexes), None if all_containers else container or meta.CONTAINER
    )
    there = [pod for pod in pods if found.pod(pod)]
    if indexes is not None and not there:
        _check_indexes(job, found.roles or known, frozenset(indexes))
    if container is not None and not all_containers:
        names = {view.name for pod in there for view in pod.containers} | set(_of_template(job, found.roles or known))
        if container not in names:
            raise _refusal(job, f"has no container {container}: it has {', '.join(sorted(names)) or 'none'}")
    return found


def _role(job: MSJob, known: Collection[Role], name: str) -> Role:
    role = Role.parse(name)
    if role is None or role not in known:
        raise _refusal(job, f"has no role {name}: it has {', '.join(sorted(known)) or 'none'}")
    return role


def _check_indexes(job: MSJob, roles: Collection[Role], indexes: Collection[int]) -> None:
    most = max((job.roles[role].replicas for role in roles), default=0)
    if not any(0 <= index < most for index in indexes):
        named = ", ".join(map(str, sorted(indexes)))
        raise _refusal(job, f"has no pod of index {named}: the last one is {most - 1}")


def _of_template(job: MSJob, roles: Collection[Role]) -> Iterator[str]:
    for key, item in mapping(at(job.raw, "spec", "msReplicaSpecs")).items():
        if Role.parse(key) in roles:
            spec = mapping(at(item, "template", "spec"))
            for listed in ("initContainers", "containers"):
                yield from (text(container.get("name")) for container in objects(spec.get(listed)))


def _refusal(job: MSJob, said: str) -> InvalidJobError:
    problem = Problem((), f"MSJob {job.name} {said}", "logs")
    return InvalidJobError(str(problem), (problem,))
