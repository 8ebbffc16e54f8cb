"""One pass over one job: observe, decide, act."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import structlog

from msjob.api import ConditionType, EventReason, InvalidJobError, Job, Problem, Reason, managed
from msjob.rendered import Rendered
from msjob.validation import validate
from msjob.workload.tokens import Facts
from msjob_controller import transitions
from msjob_controller.actions import Actions, Failure
from msjob_controller.cluster import Cluster
from msjob_controller.hindrance import REASONS, Hindrance, hindrance, passing, refused, why
from msjob_controller.kube.errors import Terminating
from msjob_controller.kube.events import EventRecorder
from msjob_controller.kube.transport import Transport
from msjob_controller.metrics import Metrics
from msjob_controller.policy import conditions, expiry
from msjob_controller.policy.decide import decide, reject, stall
from msjob_controller.policy.decision import Decision, Event, EventType
from msjob_controller.policy.observed import Observed
from msjob_controller.policy.reading import observe
from msjob_controller.policy.stored import readable
from msjob_controller.renderer import Renderer, RenderFailedError
from msjob_controller.status_patch import merge_patch, only_counters

Json = dict[str, Any]

COALESCE_SECONDS: Final = 1.0
"""A status change that only counts pods waits so long for others: a job of many pods is not written once a pod."""
PASSES: Final = 4
"""Passes in a row over one job whose own writes call for another look (its Service has an address now, for one)."""

_log = structlog.get_logger(__name__)


class RetryLaterError(Exception):
    """This job could not be brought where it should be; the queue tries again after a pause that grows.

    Attributes:
        timer: seconds until the job wants another look in any case, since a deadline of it passes; None for never.
    """

    def __init__(self, message: str, timer: float | None) -> None:
        super().__init__(message)
        self.timer = timer


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
        status = readable(job.get("status"))
        services, autoscalers = self._cluster.services_of(uid), self._cluster.autoscalers_of(uid)
        if isinstance(reading, Job):
            # A site's construct may add some of its own.
            services = [item for item in services if item["metadata"]["name"] == reading.service_name]
            autoscalers = [item for item in autoscalers if item["metadata"]["name"] == reading.name]
        pods = self._cluster.pods_of(uid)
        observed = observe(pods, services, autoscalers, self._cluster.lost_nodes(pods))
        now = self._clock()
        if isinstance(reading, Job):
            decision = decide(reading, status, observed, now)
        else:
            ttl = expiry.of_unreadable(job)
            decision = reject(status, reading, job["metadata"]["generation"], now, observed, ttl=ttl)
        elastic = isinstance(reading, Job) and reading.spec.elastic_policy is not None
        return await self._act(job, decision, observed, elastic=elastic)

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

    async def _act(
        self, job: Json, decision: Decision, observed: Observed, *, elastic: bool
    ) -> tuple[bool, float | None]:
        actions = Actions(self._transport, self._cluster, job, self._leads)
        writing = asyncio.ensure_future(self._write_status(job, decision, actions))
        failures: list[Failure] = []
        if _one_by_one(job, decision):
            # Once pods are gone, only the status tells what they came to, and which attempt comes next.
            await writing
            failures = await self._delete(job, decision, observed, actions)
        # Together, since neither needs the other; both are seen to their end before an error of one counts. The events
        # of the status come first: that a job is there, then what was made for it.
        written, created = await asyncio.gather(
            writing, self._create(job, decision, observed, actions, writing), return_exceptions=True
        )
        if isinstance(written, BaseException):
            raise written
        if isinstance(created, RenderFailedError):
            await self._stall(job, decision, Hindrance(Reason.RENDER_FAILED, str(created)), actions)
            raise RetryLaterError(str(created), written)
        if isinstance(created, BaseException):
            raise created
        refusal = next(filter(refused, created), None)
        if refusal is not None:
            await self._refuse(job, decision, refusal, actions)
            # Again, since pods that were taken before the refusal have to go.
            return True, None
        if (found := hindrance(created)) is not None:
            await self._stall(job, decision, found, actions)
        self._give_up_on_failures(job, created + failures, written)
        return not created and _looks_again(decision, actions, elastic=elastic), written

    def _give_up_on_failures(self, job: Json, failures: list[Failure], timer: float | None) -> None:
        """End a pass in which something could not be done.

        Args:
            job: the job.
            failures: what could not be done.
            timer: seconds until the job wants another look all the same.

        Raises:
            RetryLaterError: there is something. In a namespace that is being deleted nothing can be made any more, and
                the job goes with it.
        """
        failures = [failure for failure in failures if not isinstance(failure.error, Terminating)]
        if failures:
            first = failures[0]
            if not passing(first):
                _log.warning(
                    "child.failed", job=_key(job), child=first.name, error=str(first.error), count=len(failures)
                )
            raise RetryLaterError(str(first.error), timer)

    async def _write_status(self, job: Json, decision: Decision, actions: Actions) -> float | None:
        """Write the status if it changed. A change of numbers alone may wait a little, if nothing waits for it.

        Returns:
            Seconds until the job wants another look.
        """
        uid = job["metadata"]["uid"]
        patch = merge_patch(_stored(job), decision.status)
        if patch and only_counters(patch) and not _one_by_one(job, decision):
            left = self._held.setdefault(uid, time.monotonic()) + COALESCE_SECONDS - time.monotonic()
            if left > 0:
                return left if decision.requeue_after is None else min(left, decision.requeue_after)
        self._held.pop(uid, None)
        await self._write(job, decision, actions)
        return decision.requeue_after

    async def _write(self, job: Json, decision: Decision, actions: Actions) -> None:
        """Write the status if it differs from what is stored, then tell its events and count."""
        patch = merge_patch(_stored(job), decision.status)
        if not patch:
            return
        # A pass may write twice: what its first write told and counted is in the cache.
        known = readable((self._cluster.jobs.get(_key(job)) or job).get("status"))
        await actions.patch_status(patch)
        for event in decision.events:
            self._tell(job, event)
        transitions.record(job, known, decision.status, self._metrics)
        if conditions.finished(decision.status.get("conditions") or []):
            self._renderer.forget(job["metadata"]["uid"])

    async def _stall(self, job: Json, decision: Decision, found: Hindrance, actions: Actions) -> None:
        """Let the job say what keeps it from having its children, once.

        What its pods show to be in the way has been said already, and comes first: with two causes that take turns the
        status would never come to rest.
        """
        stalled = stall(decision.status, found.reason, found.message, self._clock())
        before = conditions.find(decision.status.get("conditions") or [], ConditionType.STALLED) or {}
        if before.get("status") == "True" and before.get("reason") not in REASONS:
            # All but a render has an event of its own, that it failed.
            for event in stalled.events if found.reason is Reason.RENDER_FAILED else ():
                self._tell(job, event)
        elif stalled.status != decision.status:
            await self._write(job, stalled, actions)

    async def _refuse(self, job: Json, decision: Decision, failure: Failure, actions: Actions) -> None:
        """The API server will never take a child like this: the job is invalid, in a way that only it could tell."""
        # An autoscaler has the name of its job, no other child has.
        field = "elasticPolicy" if failure.name == job["metadata"]["name"] else "msReplicaSpecs"
        problem = Problem(("spec", field), f"{failure.name}: {why(failure)}")
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
        if not (decision.create_service or decision.create_pods or decision.create_autoscaler):
            return []
        rendered = await self._renderer.render(job)
        attempt = int(decision.status.get("attempt") or 0)
        address = "" if observed.service is None else observed.service.cluster_ip
        facts = Facts(scheduler_ip=address, owner_uid=job["metadata"]["uid"], attempt=attempt)
        failures: list[Failure] = []
        if decision.create_service:
            failures = await actions.create_service(rendered, facts)
            await asyncio.wait((told,))
            self._metrics.service(created=not failures)
            self._tell_outcome(job, _CREATED_SERVICE, "" if failures else "the Service", failures)
            # Pods are given its address.
            return failures
        if decision.create_pods:
            failures = await self._create_pods(job, decision, rendered, facts, actions, told)
        if decision.create_autoscaler and not failures:
            failures = await actions.create_autoscaler(rendered, facts)
            await asyncio.wait((told,))
            self._tell_outcome(job, _CREATED_AUTOSCALER, "" if failures else _AUTOSCALER, failures)
        return failures

    async def _create_pods(
        self,
        job: Json,
        decision: Decision,
        rendered: Rendered,
        facts: Facts,
        actions: Actions,
        told: "asyncio.Future[Any]",
    ) -> list[Failure]:
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
        """Remove what has to go, and in the end the job."""
        failures: list[Failure] = []
        for keys, force, about in (
            (decision.delete_pods, False, _DELETED_PODS),
            (decision.force_delete_pods, True, _FORCED_PODS),
        ):
            if keys:
                left = await actions.delete_pods((observed.pods[key] for key in keys), force=force)
                self._metrics.deleted_pods.inc(len(keys) - len(left))
                self._tell_outcome(job, about, _pods(len(keys) - len(left)), left)
                failures += left
        if decision.delete_service and observed.service is not None:
            left = await actions.delete_service(observed.service.name)
            self._tell_outcome(job, _DELETED_SERVICE, "" if left else "the Service", left)
            failures += left
        if decision.delete_autoscaler and observed.autoscaler is not None:
            left = await actions.delete_autoscaler(observed.autoscaler.name)
            self._tell_outcome(job, _DELETED_AUTOSCALER, "" if left else _AUTOSCALER, left)
            failures += left
        if decision.delete_job:
            left = await actions.delete_job()
            self._tell_outcome(job, _DELETED_JOB, "" if left else "the job, which has been over for its TTL", left)
            failures += left
        return failures

    def _tell_outcome(self, job: Json, about: "_Writes", what: str, failures: list[Failure]) -> None:
        """Tell what became of some writes: their first failure that matters, else what was done, if anything."""
        telling = [failure for failure in failures if not passing(failure)]
        if telling:
            message = f"Error {about.doing} {telling[0].name}: {why(telling[0])}"
            self._tell(job, Event(EventType.WARNING, about.bad, message))
        elif what:
            self._tell(job, Event(about.type, about.good, f"{about.done} {what}"))

    def _tell(self, job: Json, event: Event) -> None:
        self._recorder.event(job, event.type.value, event.reason.value, event.message)


class _Writes(NamedTuple):
    """How events tell of writes of one kind."""

    good: EventReason
    bad: EventReason
    done: str
    doing: str
    type: EventType = EventType.NORMAL


_CREATED_PODS: Final = _Writes(EventReason.CREATED_POD, EventReason.FAILED_CREATE_POD, "Created", "creating")
_DELETED_PODS: Final = _Writes(EventReason.DELETED_POD, EventReason.FAILED_DELETE_POD, "Deleted", "deleting")
_FORCED_PODS: Final = _Writes(
    EventReason.FORCE_DELETED_POD,
    EventReason.FAILED_DELETE_POD,
    "Removed from lost nodes by force:",
    "removing by force",
    EventType.WARNING,
)
_CREATED_SERVICE: Final = _Writes(EventReason.CREATED_SERVICE, EventReason.FAILED_CREATE_SERVICE, "Created", "creating")
_DELETED_SERVICE: Final = _Writes(EventReason.DELETED_SERVICE, EventReason.FAILED_DELETE_SERVICE, "Deleted", "deleting")
_AUTOSCALER: Final = "the HorizontalPodAutoscaler"
_CREATED_AUTOSCALER: Final = _Writes(
    EventReason.CREATED_AUTOSCALER, EventReason.FAILED_CREATE_AUTOSCALER, "Created", "creating"
)
_DELETED_AUTOSCALER: Final = _Writes(
    EventReason.DELETED_AUTOSCALER, EventReason.FAILED_DELETE_AUTOSCALER, "Deleted", "deleting"
)
_DELETED_JOB: Final = _Writes(EventReason.DELETED_JOB, EventReason.FAILED_DELETE_JOB, "Deleted", "deleting")


def _one_by_one(job: Json, decision: Decision) -> bool:
    """Whether the status has to be written before anything else: something goes, or an attempt begins."""
    goes = (
        decision.delete_pods,
        decision.force_delete_pods,
        decision.delete_service,
        decision.delete_autoscaler,
        decision.delete_job,
    )
    before = _stored(job).get("attempt") or 0
    return any(goes) or (decision.status.get("attempt") or 0) != before


def _looks_again(decision: Decision, actions: Actions, *, elastic: bool) -> bool:
    """Whether what was just made, which no event will tell of, calls for another look."""
    made = bool(decision.create_service or decision.create_pods or decision.create_autoscaler)
    # A job that was stalled and now has what it needs can say so at once.
    stalled = conditions.is_true(decision.status.get("conditions") or [], ConditionType.STALLED)
    # After the Service come the pods, and after all pods the autoscaler.
    next_comes = decision.create_service or (elastic and bool(decision.create_pods))
    return next_comes or actions.adopted > 0 or (made and stalled)


def _stored(job: Json) -> Json:
    """The status as it is stored, which need not be readable."""
    status = job.get("status")
    return status if isinstance(status, dict) else {}


def _key(job: Json) -> str:
    return f"{job['metadata']['namespace']}/{job['metadata']['name']}"


def _pods(count: int) -> str:
    """So many pods, for people; empty for none."""
    return f"{count} pod{'s' if count > 1 else ''}" if count else ""
