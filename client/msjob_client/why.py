"""Gather what an explanation is made of. Only the job has to be readable: what may not be seen is left out."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from msjob_client.errors import ForbiddenError, JobNotFoundError, NotInstalledError
from msjob_client.event import EventView, about, merged
from msjob_client.explain import Facts, Operator, explain
from msjob_client.explain.absent import unattended
from msjob_client.explain.facts import OPERATOR_LABEL
from msjob_client.explanation import Explanation
from msjob_client.faults import Doing, told
from msjob_client.server import Server
from msjob_controller.kube.paths import resource_path

T = TypeVar("T")
U = TypeVar("U")


async def why(server: Server, name: str, namespace: str, now: datetime) -> Explanation:
    """Explain a job, see `AsyncMSJobClient.why`."""
    try:
        job = await server.job(name, namespace)
    except NotInstalledError:
        return explain(Facts(name, namespace, installed=False), now)
    except JobNotFoundError:
        return explain(await _absent(server, name, namespace), now)
    pods, services, events = await asyncio.gather(
        _if_allowed(server.pods(job), ()),
        _if_allowed(server.services(job), ()),
        _if_allowed(server.events(namespace), ()),
    )
    facts = Facts(name, namespace, job, pods=tuple(pods), services=tuple(services), events=tuple(about(job, events)))
    if not job.finished and not job.managed_by and unattended(facts, job, now) is not None:
        facts = replace(facts, operators=await _if_allowed(_operators(server), None))
    return explain(facts, now)


async def _absent(server: Server, name: str, namespace: str) -> Facts:
    """What is known of a job that is not there."""
    events, elsewhere = await asyncio.gather(
        _if_allowed(server.events(namespace), ()),
        _if_allowed(server.namesakes(name), ()),
    )
    own = (EventView.read(item) for item in events)
    return Facts(
        name,
        namespace,
        events=tuple(merged(event for event in own if event.kind == "MSJob" and event.name == name)),
        elsewhere=tuple(elsewhere),
    )


async def _operators(server: Server) -> tuple[Operator, ...]:
    with told(Doing("the operator cannot be looked for")):
        found, _ = await server.transport.list(
            resource_path("apps/v1", "deployments"), {"labelSelector": OPERATOR_LABEL}
        )
    return tuple(map(Operator.read, found))


async def _if_allowed(asked: Awaitable[T], otherwise: U) -> T | U:
    try:
        return await asked
    except ForbiddenError:
        return otherwise
