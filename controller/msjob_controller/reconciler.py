"""One pass over one job: observe, decide, act."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Final, NamedTuple

import structlog

from msjob.api import ConditionType, EventReason, InvalidJobError, Job, Problem, Reason, managed
from msjob.validation import validate
from msjob.workload.tokens import Facts
from msjob_controller.actions import Actions, Failure, NameTakenError
from msjob_controller.cluster import Cluster
from msjob_controller.kube.errors import ApiError, Invalid, Terminating
from msjob_controller.kube.events import EventRecorder
from msjob_controller.kube.transport import Transport
from msjob_controller.metrics import Metrics
from msjob_controller.policy import conditions
from msjob_controller.policy.decide import decide, reject, stall
from msjob_controller.policy.decision import Decision, Event, EventType
from msjob_controller.policy.observed import Observed
from msjob_controller.policy.reading import observe
from msjob_controller.renderer import Renderer, RenderFailedError
from msjob_controller.status_patch import merge_patch, only_counters

Json = dict[str, Any]

COALESCE_SECONDS: Final = 1.0
"""A status change that only counts pods waits so long for others: a job of many pods is not written once a pod."""
PASSES: Final = 4
"""Passes in a row over one job whose own writes call for another look (its Service has an address now, for one)."""

_log = structlog.get_logger(__name__)


class RetryLaterError(Exception):
    """This job could not be brought where it should be; the queue tries again after a pause that grows."""


class Reconciler:
    """Brings jobs to where their specs want them.

    Args:
        transport: to the API server.
        cluster: caches.
        renderer: the construct worker.
        recorder: of events.
        metrics: of the operator.
        leads: whether this instance may write at this moment.
        clock: wall clock, UTC.
    """

    def __init__(
        self,
        transport: Transport,
        cluster: Cluster,
        renderer: Renderer,
        recorder: EventRecorder,
        metrics: Metrics,
        *,
        leads: Callable[[], bool] = lambda: True,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._transport = transport
        self._cluster = cluster
        self._renderer = renderer
        self._recorder = recorder
        self._metrics = metrics
        self._leads = leads
        self._clock = clock
        self._read: dict[str, tuple[int, Job | list[Problem]]] = {}
        self._held: dict[str, float] = {}

    def forget(self, job: Json) -> None:
        """Drop all that is kept about a job that is gone."""
        uid = job["metadata"]["uid"]
        self._read.pop(uid, None)
        self._held.pop(uid, None)
        self._renderer.forget(uid)
        self._metrics.job("deleted", job["metadata"]["namespace"])

    async def reconcile(self, key: str) -> float | None:
        """Look at a job, and again while its own writes call for it.

        Args:
            key: `namespace/name`.

        Returns:
            Seconds until it wants another look; None for never.

        Raises:
            RetryLaterError: something could not be done now.
            LeadershipLost: another instance may lead now.
        """
        for _ in range(PASSES):
            job = self._cluster.jobs.get(key)
            if job is None or job["metadata"].get("deletionTimestamp"):
                return None
            again, wait = await self._pass(job)
            if not again:
                return wait
        return 0.0

    async def _pass(self, job: Json) -> tuple[bool, float | None]:
        if not managed(job):
            return False, None
        uid = job["metadata"]["uid"]
        reading = self._reading(job)
        status = job.get("status") or {}
        services = self._cluster.services_of(uid)
        if isinstance(reading, Job):
            # A site's construct may add Services of its own.
            services = [item for item in services if item["metadata"]["name"] == reading.service_name]
        observed = observe(self._cluster.pods_of(uid), services)
        now = self._clock()
        if isinstance(reading, Job):
            decision = decide(reading, status, observed, now)
        else:
            decision = reject(status, reading, job["metadata"]["generation"], now, observed)
        return await self._act(job, decision, observed)

    def _reading(self, job: Json) -> Job | list[Problem]:
        """The job parsed, or what is wrong with it. Judged once per generation."""
        metadata = job["metadata"]
        known = self._read.get(metadata["uid"])
        if known is not None and known[0] == metadata["generation"]:
            return known[1]
        reading: Job | list[Problem] = validate(job, unknown="ignore")
        if not reading:
            try:
                reading = Job.parse(job)
            except InvalidJobError as error:
                reading = error.problems
        self._read[metadata["uid"]] = (metadata["generation"], reading)
        return reading

    async def _act(self, job: Json, decision: Decision, observed: Observed) -> tuple[bool, float | None]:
        actions = Actions(self._transport, self._cluster, job, self._leads)
        # Together, since neither needs the other; both are seen to their end before an error of one counts. The events
        # of the status come first: that a job is there, then what was made for it.
        writing = asyncio.ensure_future(self._write_status(job, decision, actions))
        written, created = await asyncio.gather(
            writing, self._create(job, decision, observed, actions, writing), return_exceptions=True
        )
        if isinstance(created, RenderFailedError):
            await self._write(job, stall(decision.status, Reason.RENDER_FAILED, str(created), self._clock()), actions)
            raise RetryLaterError(str(created))
        if isinstance(written, BaseException):
            raise written
        if isinstance(created, BaseException):
            raise created
        refused = next((failure for failure in created if _refused(failure.error)), None)
        if refused is not None:
            await self._refuse(job, decision, refused, actions)
            # Again, since pods that were taken before the refusal have to go.
            return True, None
        # Deletes come after the status: once pods are gone, only the status tells what they came to.
        failures = created + await self._delete(job, decision, observed, actions)
        # In a namespace that is being deleted nothing can be made any more, and the job goes with it.
        failures = [failure for failure in failures if not isinstance(failure.error, Terminating)]
        if failures:
            first = failures[0]
            if not _passing(first):
                _log.warning(
                    "child.failed", job=_key(job), child=first.name, error=str(first.error), count=len(failures)
                )
            raise RetryLaterError(str(first.error))
        # A job that was stalled and now has its pods can say so at once.
        unstalled = bool(decision.create_pods) and conditions.is_true(
            decision.status.get("conditions") or [], ConditionType.STALLED
        )
        return (decision.create_service or unstalled) and not created, written

    async def _write_status(self, job: Json, decision: Decision, actions: Actions) -> float | None:
        """Write the status if it changed. A change of numbers alone may wait a little.

        Returns:
            Seconds until the job wants another look.
        """
        uid = job["metadata"]["uid"]
        patch = merge_patch(job.get("status") or {}, decision.status)
        if patch and only_counters(patch):
            left = self._held.setdefault(uid, time.monotonic()) + COALESCE_SECONDS - time.monotonic()
            if left > 0:
                return min(left, decision.requeue_after or left)
        self._held.pop(uid, None)
        await self._write(job, decision, actions)
        return decision.requeue_after

    async def _write(self, job: Json, decision: Decision, actions: Actions) -> None:
        """Write the status if it differs from what is stored, then tell its events and count."""
        patch = merge_patch(job.get("status") or {}, decision.status)
        if not patch:
            return
        # A pass may write twice: what its first write told and counted is in the cache.
        known = (self._cluster.jobs.get(_key(job)) or job).get("status") or {}
        await actions.patch_status(patch)
        for event in decision.events:
            self._tell(job, event)
        self._metrics.failed_pods.inc(max(0, _failed(decision.status) - _failed(known)))
        before, after = known.get("conditions") or [], decision.status.get("conditions") or []
        for kind, what in _COUNTED:
            if conditions.is_true(after, kind) and not conditions.is_true(before, kind):
                self._metrics.job(what, job["metadata"]["namespace"])
        if conditions.finished(after):
            self._renderer.forget(job["metadata"]["uid"])

    async def _refuse(self, job: Json, decision: Decision, failure: Failure, actions: Actions) -> None:
        """The API server will never take a child like this: the job is invalid, in a way that only it could tell."""
        problem = Problem(("spec", "msReplicaSpecs"), f"{failure.name}: {_why(failure)}")
        generation = job["metadata"]["generation"]
        await self._write(job, reject(decision.status, [problem], generation, self._clock()), actions)

    async def _create(
        self,
        job: Json,
        decision: Decision,
        observed: Observed,
        actions: Actions,
        told: "asyncio.Future[Any]",
    ) -> list[Failure]:
        """Make what is missing, and tell of it once `told` is done, whatever became of that."""
        if not (decision.create_service or decision.create_pods):
            return []
        rendered = await self._renderer.render(job)
        attempt = int((decision.status.get("restarts")) or 0)
        address = "" if observed.service is None else observed.service.cluster_ip
        facts = Facts(scheduler_ip=address, owner_uid=job["metadata"]["uid"], attempt=attempt)
        if decision.create_service:
            failures = await actions.create_service(rendered, facts)
            await asyncio.wait((told,))
            self._metrics.service(created=not failures)
            self._tell_outcome(job, _CREATED_SERVICE, "" if failures else "the Service", failures)
            return failures
        failures = await actions.create_extras(rendered, facts)
        if failures:
            await asyncio.wait((told,))
            self._tell_outcome(job, _CREATED_PODS, "", failures)
            return failures
        made, failures = await actions.create_pods(rendered, decision.create_pods, facts)
        await asyncio.wait((told,))
        self._metrics.created_pods.inc(made)
        self._metrics.failed_pod_creations.inc(len(failures))
        self._tell_outcome(job, _CREATED_PODS, _pods(made), failures)
        return failures

    async def _delete(self, job: Json, decision: Decision, observed: Observed, actions: Actions) -> list[Failure]:
        failures: list[Failure] = []
        if decision.delete_pods:
            names = [observed.pods[key].name for key in decision.delete_pods]
            failures += await actions.delete_pods(names)
            self._metrics.deleted_pods.inc(len(names) - len(failures))
            self._tell_outcome(job, _DELETED_PODS, _pods(len(names) - len(failures)), failures)
        if decision.delete_service and observed.service is not None:
            left = await actions.delete_service(observed.service.name)
            self._tell_outcome(job, _DELETED_SERVICE, "" if left else "the Service", left)
            failures += left
        return failures

    def _tell_outcome(self, job: Json, about: "_Writes", what: str, failures: list[Failure]) -> None:
        """Tell what became of some writes: their first failure that matters, else what was done, if anything."""
        telling = [failure for failure in failures if not _passing(failure)]
        if telling:
            message = f"Error {about.doing} {telling[0].name}: {_why(telling[0])}"
            self._tell(job, Event(EventType.WARNING, about.bad, message))
        elif what:
            self._tell(job, Event(EventType.NORMAL, about.good, f"{about.done} {what}"))

    def _tell(self, job: Json, event: Event) -> None:
        self._recorder.event(job, event.type.value, event.reason.value, event.message)


_COUNTED: Final = (
    (ConditionType.CREATED, "created"),
    (ConditionType.SUCCEEDED, "successful"),
    (ConditionType.FAILED, "failed"),
)


def _failed(status: Json) -> int:
    """Failed pods that a status counts."""
    return sum(role.get("failed") or 0 for role in (status.get("replicaStatuses") or {}).values())


class _Writes(NamedTuple):
    """How events tell of writes of one kind."""

    good: EventReason
    bad: EventReason
    done: str
    doing: str


_CREATED_PODS: Final = _Writes(EventReason.CREATED_POD, EventReason.FAILED_CREATE_POD, "Created", "creating")
_DELETED_PODS: Final = _Writes(EventReason.DELETED_POD, EventReason.FAILED_DELETE_POD, "Deleted", "deleting")
_CREATED_SERVICE: Final = _Writes(EventReason.CREATED_SERVICE, EventReason.FAILED_CREATE_SERVICE, "Created", "creating")
_DELETED_SERVICE: Final = _Writes(EventReason.DELETED_SERVICE, EventReason.FAILED_DELETE_SERVICE, "Deleted", "deleting")


def _key(job: Json) -> str:
    return f"{job['metadata']['namespace']}/{job['metadata']['name']}"


def _pods(count: int) -> str:
    """So many pods, for people; empty for none."""
    return f"{count} pod{'s' if count > 1 else ''}" if count else ""


def _why(failure: Failure) -> str:
    """What the API server said, without the request it answered."""
    return str(getattr(failure.error, "message", failure.error))


def _passing(failure: Failure) -> bool:
    """Whether a failure is in the course of things, and nobody need hear of it."""
    return isinstance(failure.error, Terminating) or getattr(failure.error, "leaving", False)


def _refused(error: ApiError | NameTakenError) -> bool:
    """Whether the same request can never succeed.

    An admission webhook that denies without a code of its own answers 400, too; what it denies now it may allow later.
    """
    if isinstance(error, NameTakenError) or error.message.startswith("admission webhook "):
        return False
    return isinstance(error, Invalid) or error.status == HTTPStatus.BAD_REQUEST
