"""The operator's parts put together: when it calls itself ready, and when it does not work."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest

from msjob_controller import clock
from msjob_controller import operator as module
from msjob_controller.kube import config
from msjob_controller.kube.connection import Connection
from msjob_controller.kube.leader import LeaderElector
from msjob_controller.kube.transport import Transport
from msjob_controller.metrics import Metrics
from msjob_controller.operator import Operator, serve
from msjob_controller.options import Options
from msjob_controller.probes import Probes
from support.apiserver import status
from support.jobs import msjob
from support.pods import at, stamp
from support.shell import JOBS, Api
from support.virtual_time import eventually

LEASES = "/apis/coordination.k8s.io/v1/namespaces/home/leases"


def options(**fields: Any) -> Options:
    """Flags of an operator that opens no port."""
    defaults = {
        "kubeconfig": None,
        "namespace": "default",
        "metrics_bind_address": "0",
        "health_probe_bind_address": "0",
        "leader_elect": False,
        "leader_election_namespace": "home",
        "kube_api_qps": None,
        "kube_api_burst": 30,
        "workers": 2,
        "job_construct": None,
        "log_level": "info",
    }
    return Options(**{**defaults, **fields})


@asynccontextmanager
async def working(api: Api, leads: Callable[[], bool] = lambda: True) -> AsyncIterator[Operator]:
    """An operator at work."""
    async with Transport(api.connection(), attempts=1) as transport:
        operator = Operator(options(), transport, Metrics(), leads, lambda: True)
        running = asyncio.create_task(operator.run())
        try:
            yield operator
        finally:
            running.cancel()
            await asyncio.wait((running,))
            if not running.cancelled():
                running.result()


@asynccontextmanager
async def served(api: Api, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Callable[[], bool]]:
    """An operator that wants to lead, as `serve` runs it; gives what `/readyz` would ask."""
    asked: list[Callable[[], bool]] = []

    class Asked(Probes):
        def __init__(self, healthy: Any, ready: Any, metrics: Any) -> None:
            super().__init__(healthy, ready, metrics)
            asked.append(ready)

    async def load(_: object) -> Connection:
        return api.connection()

    monkeypatch.setattr(config, "load", load)
    monkeypatch.setattr(module, "Probes", Asked)
    stop = asyncio.Event()
    serving = asyncio.create_task(serve(options(leader_elect=True), stop))
    await eventually(lambda: bool(asked))
    try:
        yield asked[0]
    finally:
        stop.set()
        await serving


class TestReady:
    """What `/readyz` answers."""

    async def test_at_work(self) -> None:
        """It is ready when all caches are filled, and not while one hears nothing."""
        async with Api() as api:
            slow = api.refuse("GET", "/pods", status(500, "InternalError", "down"))
            async with working(api) as operator:
                await eventually(lambda: len(slow.met) > 1)
                assert not operator.ready()
                slow.times = 0
                await eventually(operator.ready)
                slow.times = 1_000
                api.cut_watches()
                await eventually(lambda: not operator.ready())
                slow.times = 0
                await eventually(operator.ready)

    async def test_standing_by(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """One that waits for its turn is ready only once it has read who leads."""
        holder = {"holderIdentity": "somebody", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"}
        async with Api() as api:
            api.put(LEASES, {"metadata": {"name": "ms-operator-leader", "namespace": "home"}, "spec": holder})
            monkeypatch.setattr(module, "LeaderElector", partial(LeaderElector, retry=0.05))
            refusal = api.refuse("GET", "/ms-operator-leader", status(500, "InternalError", "down"))
            async with served(api, monkeypatch) as ready:
                await eventually(lambda: bool(refusal.met))
                assert not ready()
                refusal.times = 0
                await eventually(ready)
                assert api.count("POST") == 0

    async def test_the_first(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """One that leads at once is ready when its caches are."""
        async with Api() as api:
            slow = api.refuse("GET", "/msjobs", status(500, "InternalError", "down"))
            async with served(api, monkeypatch) as ready:
                await eventually(lambda: len(slow.met) > 1)
                assert not ready()
                slow.times = 0
                await eventually(ready)


async def test_no_pass_without_the_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    """One whose Lease may be another's begins no pass, and goes on where it was should the Lease be its own again."""
    monkeypatch.setattr(module, "LEASE_SECONDS", 0.05)
    leads = True
    async with Api() as api, working(api, lambda: leads) as operator:
        await eventually(operator.ready)
        leads = False
        api.put(JOBS, msjob(generation=1, suspend=True))
        await asyncio.sleep(0.2)
        assert [seen for seen in api.requests if seen.method != "GET"] == []
        leads = True
        await eventually(lambda: "PATCH msjobs/status" in api.writes())


async def test_a_clock_that_jumps(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the wall clock jumps, a job is looked at whose time has come, though it was not due by the other clock."""
    jumped = asyncio.Event()

    async def watch(on_jump: Callable[[], None]) -> None:
        await jumped.wait()
        on_jump()

    monkeypatch.setattr(clock, "watch", watch)
    async with Api() as api, working(api) as operator:
        await eventually(operator.ready)
        operator._reconciler._clock = lambda: at(50)
        ended = [{"type": kind, "status": "True", "lastTransitionTime": stamp(0)} for kind in ("Created", "Succeeded")]
        api.put(JOBS, msjob(generation=1, run_policy={"ttlSecondsAfterFinished": 100}, status={"conditions": ended}))
        await eventually(lambda: operator._queue.delayed == 1)
        assert api.writes() == []
        operator._reconciler._clock = lambda: at(101)
        jumped.set()
        await eventually(lambda: "DELETE msjobs" in api.writes())
