"""Carrying out a decision: the writes of one job, each safe to repeat."""

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from msjob.api import meta
from msjob.rendered import Rendered
from msjob.workload.tokens import Facts
from msjob_controller.cluster import AUTOSCALERS, AUTOSCALING, Cluster
from msjob_controller.kube.cache import Informer
from msjob_controller.kube.errors import AlreadyExists, ApiError, Conflict, LeadershipLost, NotFound
from msjob_controller.kube.paths import resource_path
from msjob_controller.kube.transport import Transport, decode
from msjob_controller.policy.observed import Pod, PodKey
from msjob_controller.policy.reading import read_pod

Json = dict[str, Any]

FIRST_BATCH: Final = 16
"""Pods created at once before it is known whether any can be (client-go begins with 1, and doubles)."""
IN_FLIGHT: Final = 32
"""Pods of one job that are being created at the same time: half of what a transport has in flight, so that other jobs
need not wait until all pods of a large one are there. More makes an API server no faster."""


class NameTakenError(Exception):
    """A child's name belongs to an object that the job does not own, or that is not to be known as its child.

    Args:
        path: of the object.
        leaving: see below.
        own: the job owns it, but its labels no longer say what it is.

    Attributes:
        leaving: that object is being deleted or just gone; most often it was a child of a deleted job of that name.
    """

    def __init__(self, path: str, *, leaving: bool, own: bool = False) -> None:
        why = "has lost the labels that the operator knows it by: delete it" if own else "does not belong to this job"
        super().__init__(f"{path} exists and {why}")
        self.leaving = leaving


@dataclass(frozen=True, slots=True)
class Failure:
    """A child that could not be made or removed.

    Attributes:
        name: of the child.
        error: what the API server said.
    """

    name: str
    error: ApiError | NameTakenError


class Actions:
    """Writes of one job.

    Args:
        transport: to the API server.
        cluster: caches, which learn of each write at once.
        job: JSON of the job.
        leads: whether this instance may write at this moment, asked before each write: one that was frozen in the
            middle of a pass may wake up when another leads.

    Attributes:
        adopted: children that were to be made and turned out to be there. The caches know them now, and no event will
            tell of them.
    """

    def __init__(self, transport: Transport, cluster: Cluster, job: Json, leads: Callable[[], bool]) -> None:
        self.adopted = 0
        self._transport = transport
        self._leads = leads
        self._cluster = cluster
        metadata = job["metadata"]
        self._namespace: str = metadata["namespace"]
        self._name: str = metadata["name"]
        self._uid: str = metadata["uid"]
        self._version: str = metadata["resourceVersion"]
        self._path = resource_path(meta.API_VERSION, meta.PLURAL, self._namespace, self._name)

    async def patch_status(self, patch: Json) -> None:
        """Change the status, if the job is still the one the decision was made on.

        Raises:
            Conflict: it is not; look again.
            ApiError: the API server refused.
            LeadershipLost: another instance may lead, here and in all that follows.
        """
        self._check_leadership()
        changed = await self._transport.patch_status(self._path, self._version, patch)
        self._cluster.jobs.apply_local(changed)
        self._version = changed["metadata"]["resourceVersion"]

    async def create_service(self, rendered: Rendered, facts: Facts) -> list[Failure]:
        """Create the Service."""
        if rendered.service is None:
            return []
        failure = await self._create("v1", "services", rendered.service.fill(facts), self._cluster.services)
        return [] if failure is None else [failure]

    async def create_extras(self, rendered: Rendered, facts: Facts) -> list[Failure]:
        """Create the objects that a site's construct adds, one after the other, in its order."""
        failures = []
        for template in rendered.extras:
            body = json.loads(template.fill(facts))
            # The plural of a foreign kind: the rule that holds for all kinds of Kubernetes itself but Endpoints.
            plural = _plural(body["kind"])
            failure = await self._create(body["apiVersion"], plural, json.dumps(body), None)
            if failure is not None:
                failures.append(failure)
        return failures

    async def create_pods(self, rendered: Rendered, keys: Iterable[PodKey], facts: Facts) -> tuple[int, list[Failure]]:
        """Create pods: a few, and if all goes well the others, until one of them cannot be made.

        Returns:
            How many are there now, and what failed.
        """
        waiting = list(keys)
        made, failures = await self._create_some(rendered, waiting[:FIRST_BATCH], facts)
        if failures:
            return made, failures
        more, failures = await self._create_some(rendered, waiting[FIRST_BATCH:], facts)
        return made + more, failures

    async def _create_some(self, rendered: Rendered, keys: list[PodKey], facts: Facts) -> tuple[int, list[Failure]]:
        """Create pods, so many at a time, and begin no other once one has failed."""
        made, failures, coming = 0, list[Failure](), iter(keys)

        async def create() -> None:
            nonlocal made
            for role, index in coming:
                failure = await self._create("v1", "pods", rendered.pod(role, index, facts), self._cluster.pods)
                if failure is None:
                    made += 1
                else:
                    failures.append(failure)
                if failures:
                    return

        await asyncio.gather(*(create() for _ in range(min(IN_FLIGHT, len(keys)))))
        return made, failures

    async def create_autoscaler(self, rendered: Rendered, facts: Facts) -> list[Failure]:
        """Create the HorizontalPodAutoscaler."""
        if rendered.autoscaler is None:
            return []
        body = rendered.autoscaler.fill(facts)
        failure = await self._create(AUTOSCALING, AUTOSCALERS, body, self._cluster.autoscalers)
        return [] if failure is None else [failure]

    async def delete_pods(self, pods: Iterable[Pod], *, force: bool = False) -> list[Failure]:
        """Delete pods: these, and none that has taken the name of one since.

        Args:
            pods: all of them at once, as far as the transport allows.
            force: at once, without waiting for the word of the node; else with the grace that each asks for.
        """
        grace = 0 if force else None
        cache = self._cluster.pods
        deletions = (self._delete("v1", "pods", cache, pod.name, uid=pod.uid, grace=grace) for pod in pods)
        results = await asyncio.gather(*deletions)
        return [failure for failure in results if failure is not None]

    async def delete_service(self, name: str) -> list[Failure]:
        """Delete the Service."""
        failure = await self._delete("v1", "services", self._cluster.services, name)
        return [] if failure is None else [failure]

    async def delete_autoscaler(self, name: str) -> list[Failure]:
        """Delete the HorizontalPodAutoscaler."""
        failure = await self._delete(AUTOSCALING, AUTOSCALERS, self._cluster.autoscalers, name)
        return [] if failure is None else [failure]

    async def delete_job(self) -> list[Failure]:
        """Delete the job itself; what it owns follows.

        Raises:
            Conflict: it has changed since the decision, its TTL may have been raised: look again.
            LeadershipLost: see `patch_status`.
        """
        self._check_leadership()
        try:
            left = await self._transport.delete(
                self._path, uid=self._uid, resource_version=self._version, propagation="Background"
            )
        except NotFound:
            return []
        except Conflict:
            raise
        except ApiError as error:
            return [Failure(self._name, error)]
        if left.get("kind") == meta.KIND:
            # A finalizer holds it.
            self._cluster.jobs.apply_local(left)
        return []

    async def _create(self, api_version: str, plural: str, body: str, cache: Informer | None) -> Failure | None:
        path = resource_path(api_version, plural, self._namespace)
        self._check_leadership()
        try:
            created = await self._transport.create(path, body.encode())
        except AlreadyExists:
            return await self._adopt(path, json.loads(body), cache)
        except ApiError as error:
            return Failure(json.loads(body)["metadata"]["name"], error)
        if cache is not None:
            cache.apply_local(decode(created, path))
        return None

    async def _adopt(self, path: str, wanted: Json, cache: Informer | None) -> Failure | None:
        """The name is taken: by our own child, which the cache has not seen yet, or by a stranger's."""
        if cache is None:
            return None
        name = wanted["metadata"]["name"]
        try:
            found = await self._transport.get(f"{path}/{name}")
        except NotFound:
            # Gone in between: the name is free, but there is still no child.
            return Failure(name, NameTakenError(f"{path}/{name}", leaving=True))
        except ApiError as error:
            return Failure(name, error)
        owners = found["metadata"].get("ownerReferences") or []
        # As the caches find children: an owner that is not the controller is none.
        own = any(
            owner.get("uid") == self._uid and owner.get("kind") == meta.KIND and owner.get("controller")
            for owner in owners
        )
        leaving = found["metadata"].get("deletionTimestamp") is not None
        if not own:
            return Failure(name, NameTakenError(f"{path}/{name}", leaving=leaving))
        cache.apply_local(found)
        known = cache.get(f"{self._namespace}/{name}")
        if known is None or (cache is self._cluster.pods and _place(known) != _place(wanted)):
            # Else it would be looked for, found and not known again, for ever.
            return Failure(name, NameTakenError(f"{path}/{name}", leaving=leaving, own=True))
        self.adopted += 1
        return None

    async def _delete(
        self,
        api_version: str,
        plural: str,
        cache: Informer,
        name: str,
        *,
        uid: str | None = None,
        grace: int | None = None,
    ) -> Failure | None:
        key = f"{self._namespace}/{name}"
        known = cache.get(key)
        if known is None or uid not in (None, known["metadata"]["uid"]):
            return None
        uid = str(known["metadata"]["uid"])
        path = resource_path(api_version, plural, self._namespace, name)
        self._check_leadership()
        try:
            left = await self._transport.delete(path, uid=uid, grace=grace)
        except NotFound:
            cache.remove_local(key, uid)
            return None
        except ApiError as error:
            return Failure(name, error)
        metadata = left.get("metadata", {})
        if not metadata.get("deletionTimestamp"):
            cache.remove_local(key, uid)
        elif metadata.get("resourceVersion"):
            cache.apply_local(left)
        # Else the API server met the kubelet's own deletion, and what it answers has no version (seen on 1.36): the
        # watch tells what is left.
        return None

    def _check_leadership(self) -> None:
        if not self._leads():
            raise LeadershipLost("the Lease was not renewed in time: another instance may lead")


def _place(pod: Json) -> PodKey | None:
    """Role and index of a pod as its labels say."""
    found = read_pod(pod)
    return None if found is None else found.key


def _plural(kind: str) -> str:
    """Lower-case plural of a kind."""
    lower = kind.lower()
    if lower.endswith("y") and not lower.endswith(("ay", "ey", "oy")):
        return f"{lower[:-1]}ies"
    return f"{lower}es" if lower.endswith(("s", "x", "ch", "sh")) else f"{lower}s"
