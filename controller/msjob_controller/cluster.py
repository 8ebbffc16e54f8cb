"""What the controller knows of the cluster: jobs, and the pods and Services they own, from list + watch."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

from msjob.api import meta
from msjob_controller.kube.cache import Informer, drop_noise
from msjob_controller.kube.paths import resource_path
from msjob_controller.kube.transport import Transport

Json = dict[str, Any]

BY_OWNER: Final = "owner"
_SELECTOR: Final = {"labelSelector": f"{meta.LABEL_OPERATOR_NAME}={meta.CONTROLLER_NAME}"}
_METADATA: Final = (
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
_LABELS: Final = (
    meta.LABEL_REPLICA_TYPE,
    meta.LABEL_REPLICA_INDEX,
    meta.LABEL_REPLICA_TYPE_OLD,
    meta.LABEL_REPLICA_INDEX_OLD,
    meta.LABEL_RESTART_ATTEMPT,
)


class Cluster:
    """Caches of jobs, pods and Services.

    Args:
        transport: to the API server.
        namespace: only this one, None for all.
        on_job: called with the key (`namespace/name`) of each job that may need a look.
        on_job_gone: called with the last known state of a job that is gone.
    """

    def __init__(
        self,
        transport: Transport,
        namespace: str | None,
        on_job: Callable[[str], None],
        on_job_gone: Callable[[Json], None],
    ) -> None:
        self._on_job = on_job
        self._on_job_gone = on_job_gone
        index = {BY_OWNER: _owner_uids}
        self.jobs = Informer(
            transport, resource_path(meta.API_VERSION, meta.PLURAL, namespace), self._job_event, trim=drop_noise
        )
        self.pods = Informer(
            transport,
            resource_path("v1", "pods", namespace),
            self._child_event,
            params=_SELECTOR,
            trim=trim_pod,
            indexers=index,
        )
        self.services = Informer(
            transport,
            resource_path("v1", "services", namespace),
            self._child_event,
            params=_SELECTOR,
            trim=trim_service,
            indexers=index,
        )

    @property
    def informers(self) -> tuple[Informer, ...]:
        """All caches."""
        return (self.jobs, self.pods, self.services)

    @property
    def synced(self) -> bool:
        """Whether every cache has its first list."""
        return all(informer.has_synced.is_set() for informer in self.informers)

    async def wait_synced(self) -> None:
        """Wait until every cache has its first list: before that, a child that exists may look missing."""
        await asyncio.gather(*(informer.has_synced.wait() for informer in self.informers))

    def pods_of(self, uid: str) -> list[Json]:
        """Pods that a job owns."""
        return self.pods.by(BY_OWNER, uid)

    def services_of(self, uid: str) -> list[Json]:
        """Services that a job owns."""
        return self.services.by(BY_OWNER, uid)

    def _job_event(self, kind: str, old: Json | None, new: Json | None) -> None:
        job = new or old
        if job is None:
            return
        if kind == "DELETED":
            self._on_job_gone(job)
        self._on_job(f"{job['metadata']['namespace']}/{job['metadata']['name']}")

    def _child_event(self, kind: str, old: Json | None, new: Json | None) -> None:
        del kind
        child = new or old
        for owner in (child or {}).get("metadata", {}).get("ownerReferences") or []:
            self._on_job(f"{(child or {})['metadata']['namespace']}/{owner['name']}")


def trim_pod(pod: Json) -> Json:
    """Keep what the decisions read of a pod: some 600 of its 4,000 bytes."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    containers = [
        {"name": item.get("name"), "state": item.get("state")} for item in status.get("containerStatuses") or []
    ]
    return {
        "metadata": _trim_metadata(pod["metadata"]),
        "spec": {"restartPolicy": spec.get("restartPolicy", "Never")},
        "status": {
            **{key: status[key] for key in ("phase", "reason", "message") if status.get(key)},
            "containerStatuses": containers,
        },
    }


def trim_service(service: Json) -> Json:
    """Keep name, owner and address of a Service."""
    address = (service.get("spec") or {}).get("clusterIP") or ""
    return {"metadata": _trim_metadata(service["metadata"]), "spec": {"clusterIP": address}}


def _trim_metadata(metadata: Json) -> Json:
    labels = metadata.get("labels") or {}
    kept: Json = {key: metadata[key] for key in _METADATA if key in metadata}
    kept["labels"] = {key: labels[key] for key in _LABELS if key in labels}
    kept["ownerReferences"] = [
        {"name": owner["name"], "uid": owner["uid"]}
        for owner in metadata.get("ownerReferences") or []
        if owner.get("kind") == meta.KIND and owner.get("controller")
    ]
    return kept


def _owner_uids(item: Json) -> list[str]:
    return [owner["uid"] for owner in item["metadata"]["ownerReferences"]]
