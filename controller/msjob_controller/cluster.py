"""What the controller knows of the cluster: jobs, what they own, and the nodes that they are on, from list + watch."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final

import structlog

from msjob.api import meta
from msjob_controller.kube.cache import Informer, drop_noise
from msjob_controller.kube.paths import resource_path
from msjob_controller.kube.transport import Transport
from msjob_controller.policy.reading import node_is_lost
from msjob_controller.trim import trim_autoscaler, trim_node, trim_pod, trim_service

Json = dict[str, Any]

BY_OWNER: Final = "owner"
BY_NODE: Final = "node"
AUTOSCALING: Final = "autoscaling/v2"
AUTOSCALERS: Final = "horizontalpodautoscalers"
_SELECTOR: Final = {"labelSelector": f"{meta.LABEL_OPERATOR_NAME}={meta.CONTROLLER_NAME}"}

_log = structlog.get_logger(__name__)


class Cluster:
    """Caches of jobs, pods, Services, HorizontalPodAutoscalers and nodes.

    Args:
        transport: to the API server.
        namespace: only this one, None for all.
        on_job: called with the key (`namespace/name`) of each job that may need a look.
        on_job_gone: called with the last known state of a job that is gone.

    Attributes:
        nodes: not needed: where the operator may not read nodes, no node counts as lost.
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

        def children(
            api_version: str, plural: str, trim: Callable[[Json], Json], **indexers: Callable[[Json], list[str]]
        ) -> Informer:
            return Informer(
                transport,
                resource_path(api_version, plural, namespace),
                self._child_event,
                params=_SELECTOR,
                trim=trim,
                indexers={BY_OWNER: _owner_uids, **indexers},
            )

        jobs = resource_path(meta.API_VERSION, meta.PLURAL, namespace)
        self.jobs = Informer(transport, jobs, self._job_event, trim=drop_noise)
        self.pods = children("v1", "pods", trim_pod, **{BY_NODE: _node})
        self.services = children("v1", "services", trim_service)
        self.autoscalers = children(AUTOSCALING, AUTOSCALERS, trim_autoscaler)
        self.nodes = Informer(
            transport,
            resource_path("v1", "nodes"),
            self._node_event,
            trim=trim_node,
            optional=True,
            on_sync=self._nodes_listed,
        )

    @property
    def informers(self) -> tuple[Informer, ...]:
        """All caches."""
        return (*self.needed, self.nodes)

    @property
    def needed(self) -> tuple[Informer, ...]:
        """The caches without which nothing can be decided."""
        return (self.jobs, self.pods, self.services, self.autoscalers)

    @property
    def ready(self) -> bool:
        """Whether all that is needed is there and kept up to date."""
        return self.synced and all(informer.failure is None for informer in self.needed)

    @property
    def synced(self) -> bool:
        """Whether each cache that is needed has its first list."""
        return all(informer.has_synced.is_set() for informer in self.needed)

    async def wait_synced(self) -> None:
        """Wait until each cache that is needed has its first list: before, a child that exists may look missing."""
        await asyncio.gather(*(informer.has_synced.wait() for informer in self.needed))

    def pods_of(self, uid: str) -> list[Json]:
        """Pods that a job owns."""
        return self.pods.by(BY_OWNER, uid)

    def services_of(self, uid: str) -> list[Json]:
        """Services that a job owns."""
        return self.services.by(BY_OWNER, uid)

    def autoscalers_of(self, uid: str) -> list[Json]:
        """HorizontalPodAutoscalers that a job owns."""
        return self.autoscalers.by(BY_OWNER, uid)

    def lost_nodes(self, pods: Iterable[Json]) -> frozenset[str]:
        """Names of the nodes of these pods that are gone or do not answer; none while nothing is heard of nodes."""
        if not self.nodes.has_synced.is_set() or self.nodes.failure is not None:
            return frozenset()
        names = {name for pod in pods for name in _node(pod)}
        return frozenset(name for name in names if node_is_lost(self.nodes.get(name)))

    def _job_event(self, kind: str, old: Json | None, new: Json | None) -> None:
        job = new or old
        if job is None:
            return
        if kind == "DELETED":
            self._on_job_gone(job)
        self._on_job(f"{job['metadata']['namespace']}/{job['metadata']['name']}")

    def _child_event(self, kind: str, old: Json | None, new: Json | None) -> None:
        del kind
        if old is not None and new is not None and _same(old, new):
            return
        self._tell_owners((new or old or {}).get("metadata") or {})

    def _node_event(self, kind: str, old: Json | None, new: Json | None) -> None:
        del kind
        node = new or old
        # Of a node that is not known yet nobody has thought that it was lost: see `_nodes_listed`.
        if node is None or not self.nodes.has_synced.is_set() or node_is_lost(old) == node_is_lost(new):
            return
        name = node["metadata"]["name"]
        pods = self.pods.by(BY_NODE, name)
        lost = node_is_lost(new)
        if pods:
            _log.info("node.lost" if lost else "node.back", node=name, pods=len(pods))
        for pod in pods:
            self._tell_owners(pod["metadata"])

    def _nodes_listed(self) -> None:
        for _, pod in self.pods.items():  # noqa: PERF102 - it is no dict
            if self.lost_nodes((pod,)):
                self._tell_owners(pod["metadata"])

    def _tell_owners(self, metadata: Json) -> None:
        for owner in metadata.get("ownerReferences") or []:
            self._on_job(f"{metadata['namespace']}/{owner['name']}")


def _same(old: Json, new: Json) -> bool:
    """Whether nothing has changed in what is kept of a child, its version aside."""
    rest = [{**item, "metadata": {**item["metadata"], "resourceVersion": ""}} for item in (old, new)]
    return rest[0] == rest[1]


def _owner_uids(item: Json) -> list[str]:
    return [owner["uid"] for owner in item["metadata"]["ownerReferences"]]


def _node(pod: Json) -> list[str]:
    name = (pod.get("spec") or {}).get("nodeName")
    return [name] if name else []
