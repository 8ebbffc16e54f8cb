"""MSJobs and what belongs to them, read from and written to one API server. Errors leave as those of this package."""

import contextlib
import sys
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any, Final, Self

import structlog

from msjob.api import meta
from msjob_client.errors import ClusterUnreachableError, InvalidJobError
from msjob_client.faults import Doing, told
from msjob_client.job import MSJob
from msjob_client.pod import PodView, in_order
from msjob_client.reading import mapping, objects, text
from msjob_client.watching import Changes, changes
from msjob_controller.kube import config
from msjob_controller.kube.errors import ConfigError
from msjob_controller.kube.paths import resource_path
from msjob_controller.kube.transport import MERGE_PATCH, Transport, decode, encode

MANAGER: Final = "msjob"
"""Owner of the fields that this client writes (`metadata.managedFields`)."""
_TABLE: Final = "application/json;as=Table;v=v1;g=meta.k8s.io"

Objects = list[dict[str, Any]]
Pods = list[PodView]


class Server:
    """One API server.

    Args:
        transport: To it; closed with this.
        namespace: For jobs that are named without one.
    """

    def __init__(self, transport: Transport, namespace: str) -> None:
        self.transport = transport
        self.namespace = namespace

    @classmethod
    async def connect(cls, kubeconfig: Path | str | None, context: str | None, namespace: str | None) -> Self:
        """Find it, see `AsyncMSJobClient.connect`."""
        _log_to_standard_error()
        try:
            found = await config.load(None if kubeconfig is None else str(kubeconfig), context)
        except ConfigError as error:
            raise ClusterUnreachableError(str(error)) from error
        return cls(Transport(found), namespace or found.namespace)

    async def close(self) -> None:
        """Close the connections."""
        await self.transport.close()

    def within(self, namespace: str | None) -> str:
        """The namespace that a call is about."""
        return namespace or self.namespace

    # -- jobs ------------------------------------------------------------------------------------------------------

    async def job(self, name: str, namespace: str) -> MSJob:
        """Read a job."""
        with told(Doing(f"MSJob {name} in namespace {namespace} cannot be read", name, namespace)):
            return MSJob.read(await self.transport.get(job_path(namespace, name)))

    async def jobs(self, namespace: str | None, selector: str | None) -> list[MSJob]:
        """Read all jobs of a namespace, or of all for None, sorted."""
        with told(_listing(namespace)):
            found, _ = await self.transport.list(jobs_path(namespace), _selected(selector))
        jobs = (MSJob.read({"apiVersion": meta.API_VERSION, "kind": meta.KIND, **item}) for item in found)
        return sorted(jobs, key=lambda job: (job.namespace, job.name))

    async def namesakes(self, name: str) -> list[str]:
        """Read in which namespaces there are jobs of a name."""
        with told(_listing(None)):
            found, _ = await self.transport.list(jobs_path(None), {"fieldSelector": f"metadata.name={name}"})
        return sorted(MSJob.read(item).namespace for item in found)

    async def table(self, name: str | None, namespace: str | None, selector: str | None) -> dict[str, Any]:
        """Read one job, or all of a namespace or of the cluster, as a Table."""
        if name is None:
            path, doing = jobs_path(namespace), _listing(namespace)
        else:
            path = job_path(namespace or "", name)
            doing = Doing(f"MSJob {name} in namespace {namespace} cannot be read", name, namespace or "")
        with told(doing):
            answer = await self.transport.request("GET", path, params=_selected(selector), accept=_TABLE)
            return decode(answer, f"GET {path}")

    async def job_changes(
        self, namespace: str | None, name: str | None = None, selector: str | None = None
    ) -> AsyncGenerator[Changes]:
        """Hear of jobs, see `watching.changes`."""
        params = _selected(selector)
        if name is not None:
            params["fieldSelector"] = f"metadata.name={name}"
        with told(_listing(namespace, "watched")):
            async with contextlib.aclosing(changes(self.transport, jobs_path(namespace), params)) as found:
                async for batch in found:
                    yield batch

    async def create(self, job: Mapping[str, Any], namespace: str, *, dry_run: bool = False) -> MSJob:
        """Create a job; fields that are not known are refused."""
        params = {"fieldManager": MANAGER, "fieldValidation": "Strict", **({"dryRun": "All"} if dry_run else {})}
        own = mapping(job.get("metadata"))
        name = text(own.get("name")) or text(own.get("generateName"))
        path = jobs_path(namespace)
        doing = Doing(f"MSJob {name} cannot be created in namespace {namespace}", name, namespace)
        try:
            body = encode(dict(job))
        except (TypeError, ValueError) as error:
            # YAML has dates and the like, which JSON has not.
            raise InvalidJobError(f"{doing.text}: it is no JSON: {error}; put quotes around such values") from error
        with told(doing):
            answer = await self.transport.request("POST", path, body=body, params=params)
            return MSJob.read(decode(answer, f"POST {path}"))

    async def change(self, job: MSJob, spec: Mapping[str, Any], verb: str) -> MSJob:
        """Merge into the spec of that very job.

        Args:
            job: The job.
            spec: The patch.
            verb: What is done to it, such as `suspended`.
        """
        path = job_path(job.namespace, job.name)
        patch = {"metadata": {"uid": job.uid}, "spec": dict(spec)}
        with told(Doing(f"MSJob {job.name} cannot be {verb}", job.name, job.namespace)):
            answer = await self.transport.request(
                "PATCH", path, body=encode(patch), content_type=MERGE_PATCH, params={"fieldManager": MANAGER}
            )
            return MSJob.read(decode(answer, f"PATCH {path}"))

    async def delete(self, name: str, namespace: str, *, uid: str | None = None, foreground: bool = False) -> None:
        """Delete a job with all it owns.

        Args:
            name: Of the job.
            namespace: Its namespace.
            uid: Only that very job.
            foreground: The job stays until all it owns is gone.
        """
        propagation = "Foreground" if foreground else "Background"
        with told(Doing(f"MSJob {name} in namespace {namespace} cannot be deleted", name, namespace)):
            await self.transport.delete(job_path(namespace, name), uid=uid, propagation=propagation)

    # -- what belongs to them --------------------------------------------------------------------------------------

    async def pods(self, job: MSJob) -> Pods:
        """Read the pods that a job owns, sorted."""
        with told(Doing(f"the pods of MSJob {job.name} cannot be read")):
            found, _ = await self.transport.list(pods_path(job.namespace), pods_of(job.name))
        return in_order(PodView.read(pod) for pod in found if owned(pod, job))

    async def services(self, job: MSJob) -> Objects:
        """Read the Services that a job owns."""
        path = resource_path("v1", "services", job.namespace)
        with told(Doing(f"the Service of MSJob {job.name} cannot be read")):
            found, _ = await self.transport.list(path, pods_of(job.name))
        return [item for item in found if owned(item, job)]

    async def events(self, namespace: str) -> Objects:
        """Read all events of a namespace."""
        with told(Doing(f"the events of namespace {namespace} cannot be read")):
            found, _ = await self.transport.list(resource_path("v1", "events", namespace))
        return found


def jobs_path(namespace: str | None) -> str:
    """Path of the jobs of a namespace, or of all for None."""
    return resource_path(meta.API_VERSION, meta.PLURAL, namespace)


def job_path(namespace: str, name: str) -> str:
    """Path of a job.

    Raises:
        InvalidJobError: The name is empty, which would be the path of all jobs.
    """
    if not name:
        raise InvalidJobError("the name of an MSJob is empty: give one")
    return resource_path(meta.API_VERSION, meta.PLURAL, namespace, name)


def pods_path(namespace: str) -> str:
    """Path of the pods of a namespace."""
    return resource_path("v1", "pods", namespace)


def pods_of(name: str) -> dict[str, str]:
    """What selects the pods and Services of a job."""
    return {"labelSelector": f"{meta.LABEL_JOB_NAME}={name}"}


def owned(obj: Mapping[str, Any], job: MSJob) -> bool:
    """Whether an object belongs to that very job."""
    listed = (obj.get("metadata") or {}).get("ownerReferences")
    return any(item.get("uid") == job.uid for item in objects(listed))


def _log_to_standard_error() -> None:
    """Keep what is logged below, such as a login that cannot be renewed, off standard output: that is the program's.

    Programs that have set up structlog, or do so later, have it their way.
    """
    if not structlog.is_configured():
        structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))


def _selected(selector: str | None) -> dict[str, str]:
    return {"labelSelector": selector} if selector else {}


def _listing(namespace: str | None, verb: str = "listed") -> Doing:
    where = f"in namespace {namespace}" if namespace else "of all namespaces"
    return Doing(f"MSJobs {where} cannot be {verb}")
