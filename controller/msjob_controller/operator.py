"""The running operator: its parts put together, started in order, stopped in order."""

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

import structlog

from msjob_controller import clock
from msjob_controller.cluster import Cluster
from msjob_controller.kube import config
from msjob_controller.kube.errors import ApiError, ConfigError, LeadershipLost
from msjob_controller.kube.events import EventRecorder
from msjob_controller.kube.leader import LeaderElector
from msjob_controller.kube.queue import KeyedQueue
from msjob_controller.kube.ratelimit import TokenBucket
from msjob_controller.kube.transport import Transport
from msjob_controller.metrics import Metrics
from msjob_controller.options import Options, address
from msjob_controller.probes import Probes
from msjob_controller.reconciler import Reconciler, RetryLaterError
from msjob_controller.renderer import Renderer

FLUSH_SECONDS: Final = 1.0
"""Time that events have to get out when the operator stops."""
RETRIES_TO_WARN: Final = 6
"""Retries of a job in a row from which on they are warnings, some 2 s after the first: no conflict that passes."""
LEASE_SECONDS: Final = 0.5
"""Pause before a job is looked at that came up while the Lease had run out."""

_log = structlog.get_logger(__name__)


async def serve(options: Options, stop: asyncio.Event) -> None:
    """Run the operator until it is told to stop.

    Args:
        options: see there.
        stop: set it to stop; the caller wires signals to it.

    Raises:
        ConfigError: there is no usable way to the API server, or an address cannot be bound.
        LeadershipLost: another instance leads; the process must exit.
    """
    connection = await config.load(options.kubeconfig)
    metrics = Metrics()
    rate = TokenBucket(options.kube_api_qps, options.kube_api_burst) if options.kube_api_qps else None
    async with (
        Transport(connection, rate=rate, on_request=metrics.request) as transport,
        Transport(connection, limit=2, on_request=metrics.request) as lease_transport,
    ):
        elector = LeaderElector(lease_transport, namespace=options.leader_election_namespace)
        leads = (lambda: elector.is_leader) if options.leader_elect else (lambda: True)
        # Who waits is ready to take over once it is known from whom.
        standing_by = (lambda: bool(elector.holder)) if options.leader_elect else (lambda: False)
        operator = Operator(options, transport, metrics, leads, standing_by)
        probes = Probes(operator.healthy, operator.ready, metrics.expose)
        try:
            await _open("--health-probe-bind-address", options.health_probe_bind_address, probes.serve_health)
            await _open("--metrics-bind-address", options.metrics_bind_address, probes.serve_metrics)
            work = elector.lead(operator.run) if options.leader_elect else operator.run()
            await _until(stop, asyncio.ensure_future(work))
        finally:
            await probes.close()


class Operator:
    """Caches, queue, workers, events.

    Args:
        options: see there.
        transport: to the API server.
        metrics: of the operator.
        leads: whether this instance may write at this moment.
        standing_by: whether this instance, while it does not work, knows that another one does.
    """

    def __init__(
        self,
        options: Options,
        transport: Transport,
        metrics: Metrics,
        leads: Callable[[], bool],
        standing_by: Callable[[], bool],
    ) -> None:
        self._options = options
        self._metrics = metrics
        self._queue: KeyedQueue[str] = KeyedQueue()
        self._recorder = EventRecorder(transport, busy=lambda: len(self._queue) > 0)
        self._renderer = Renderer(options.job_construct, on_render=metrics.render)
        self._cluster = Cluster(transport, options.namespace, self._queue.add, self._gone)
        self._reconciler = Reconciler(transport, self._cluster, self._renderer, self._recorder, metrics, leads=leads)
        self._leads = leads
        self._standing_by = standing_by
        self._working = False
        metrics.queue_depth.set_function(lambda: len(self._queue))

    def healthy(self) -> bool:
        """Whether the event loop still answers; that this is called at all is the proof."""
        return True

    def ready(self) -> bool:
        """Whether the caches are filled and kept up to date, or another instance leads and this one stands by."""
        return self._cluster.ready if self._working else self._standing_by()

    async def run(self) -> None:
        """Work until cancelled."""
        self._working = True
        self._metrics.leader.set(1)
        telling = asyncio.create_task(self._recorder.run())
        try:
            async with asyncio.TaskGroup() as group:
                for informer in self._cluster.informers:
                    group.create_task(informer.run())
                await self._cluster.wait_synced()
                _log.info("operator.synced", jobs=len(self._cluster.jobs), pods=len(self._cluster.pods))
                group.create_task(clock.watch(self._look_at_timers))
                for _ in range(self._options.workers):
                    group.create_task(self._work())
        finally:
            self._metrics.leader.set(0)
            self._queue.shutdown()
            await self._recorder.flush(FLUSH_SECONDS)
            telling.cancel()
            await self._renderer.close()

    async def _work(self) -> None:
        while (key := await self._queue.get()) is not None:
            if not self._leads():
                # Frozen for a while. The elector finds out whether the Lease is still ours, and ends all if it is not.
                self._queue.add_after(key, LEASE_SECONDS)
                self._queue.done(key)
                continue
            started = time.monotonic()
            result = "ok"
            try:
                wait = await self._reconciler.reconcile(key)
            except (RetryLaterError, ApiError) as error:
                result = "retry"
                retries = self._queue.retries(key) + 1
                log = _log.warning if retries >= RETRIES_TO_WARN else _log.info
                log("job.retry", job=key, error=str(error), retries=retries)
                self._queue.add_rate_limited(key)
                if isinstance(error, RetryLaterError) and error.timer is not None:
                    # A deadline does not wait for the next try.
                    self._queue.add_after(key, error.timer)
            except LeadershipLost:
                raise
            except Exception:  # noqa: BLE001 - see below
                # A fault of ours in one job must not end the work on all others.
                result = "error"
                _log.exception("job.error", job=key)
                self._queue.add_rate_limited(key)
            else:
                self._queue.forget(key)
                if wait is not None:
                    self._queue.add_after(key, wait)
            finally:
                self._queue.done(key)
            self._metrics.reconciles.labels(result).observe(time.monotonic() - started)

    def _look_at_timers(self) -> None:
        for key, job in self._cluster.jobs.items():
            if clock.may_wait(job):
                self._queue.add(key)

    def _gone(self, job: dict[str, Any]) -> None:
        self._reconciler.forget(job)


async def _open(flag: str, value: str, serve_at: Callable[[str, int], Awaitable[None]]) -> None:
    """Open an endpoint, unless it is turned off.

    Raises:
        ConfigError: the address cannot be bound.
    """
    place = address(value)
    if place is None:
        return
    try:
        await serve_at(*place)
    except OSError as error:
        # Of a name that is not known the number is not one of the system's, and the text is its own.
        number = error.errno or 0
        said = os.strerror(number) if number > 0 else error.strerror or "cannot be bound"
        raise ConfigError(f"{flag} {value}: {said}; choose another address, or 0 for none") from error


async def _until(stop: asyncio.Event, work: "asyncio.Future[None]") -> None:
    """Wait for the end of the work or for the call to stop it, whichever is first."""
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait((stopping, work), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if work.done():
        work.result()
        return
    work.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await work
