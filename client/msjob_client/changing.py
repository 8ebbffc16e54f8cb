"""Changes to jobs that are there, and the reasons for which one is refused."""

import asyncio
import secrets
from collections.abc import Mapping
from typing import Any

from msjob.api import Problem, Role
from msjob_client import waiting
from msjob_client.errors import InvalidJobError, JobExistsError, JobFinishedError, JobSuspendedError, MSJobError
from msjob_client.faults import Doing, told
from msjob_client.job import MSJob, Until
from msjob_client.pod import PodView
from msjob_client.reading import mapping, text
from msjob_client.server import Server
from msjob_controller.kube.errors import Conflict, NotFound
from msjob_controller.kube.paths import resource_path

_AT_ONCE = 32
"""Deletions in flight."""


async def submit(server: Server, job: Mapping[str, Any], namespace: str, *, replace: bool, dry_run: bool) -> MSJob:
    """Create a job, see `AsyncMSJobClient.submit`."""
    name = text(mapping(job.get("metadata")).get("name"))
    try:
        return await server.create(job, namespace, dry_run=dry_run)
    except JobExistsError as error:
        before = await server.job(name, namespace)
        if not before.finished:
            raise JobExistsError(
                f"MSJob {name} exists already in namespace {namespace} and has not ended ({before.state or 'new'}): "
                f"wait for it, or delete it with `msjob delete {name}`",
                name=name,
                namespace=namespace,
            ) from error
        if not replace:
            raise JobExistsError(
                f"MSJob {name} exists already in namespace {namespace} and has ended ({before.state}): `msjob submit "
                "--replace` deletes it and submits it anew",
                name=name,
                namespace=namespace,
            ) from error
    if dry_run:
        return _renamed(await server.create(_named(job, _other_name(name)), namespace, dry_run=True), name)
    await server.delete(before.name, before.namespace, uid=before.uid, foreground=True)
    await gone(server, before)
    return await server.create(job, namespace)


async def gone(server: Server, job: MSJob) -> None:
    """Wait until a job that is being deleted, and all it owns, are gone."""
    async for seen in waiting.states(server, job.name, job.namespace, Until.DELETED):
        if seen.uid != job.uid:
            return


async def suspend(server: Server, job: MSJob, *, wanted: bool) -> MSJob:
    """Suspend a job, or resume it.

    Raises:
        JobFinishedError: It has ended.
    """
    if job.finished:
        _refuse(job, "suspended" if wanted else "resumed")
    if job.suspend is wanted:
        return job
    return await server.change(job, {"runPolicy": {"suspend": wanted}}, "suspended" if wanted else "resumed")


async def restart(server: Server, job: MSJob) -> MSJob:
    """Delete the pods of a job that have not ended.

    Raises:
        JobFinishedError: It has ended.
        JobSuspendedError: It is suspended.
        MSJobError: Another controller runs it.
    """
    if job.finished:
        _refuse(job, "restarted")
    if job.suspend or job.suspended:
        raise JobSuspendedError(
            f"MSJob {job.name} is suspended, so that there is nothing to restart: `msjob resume {job.name}` lets it "
            "run again",
            job,
        )
    if job.managed_by:
        raise MSJobError(f"MSJob {job.name} is left to {job.managed_by}, which has its pods: restart it there")
    slots = asyncio.Semaphore(_AT_ONCE)

    async def delete(pod: PodView) -> None:
        path = resource_path("v1", "pods", pod.namespace, pod.name)
        async with slots:
            with told(Doing(f"MSJob {job.name} cannot be restarted")):
                try:
                    await server.transport.delete(path, uid=pod.uid)
                except (NotFound, Conflict):
                    # Gone by itself; one of its name is the next attempt's already.
                    return

    alive = [pod for pod in await server.pods(job) if not pod.ended and pod.deleting is None]
    await asyncio.gather(*map(delete, alive))
    return await server.job(job.name, job.namespace)


async def scale(server: Server, job: MSJob, replicas: int) -> MSJob:
    """Set the number of Workers.

    Raises:
        JobFinishedError: It has ended.
        InvalidJobError: It has no Workers.
    """
    if job.finished:
        _refuse(job, "scaled")
    workers = job.roles.get(Role.WORKER)
    if workers is None:
        problem = Problem(
            ("spec", "msReplicaSpecs"), "there is no role Worker, the only one that can be scaled", "scale"
        )
        raise InvalidJobError(f"MSJob {job.name} cannot be scaled: {problem}", (problem,))
    if workers.replicas == replicas:
        return job
    return await server.change(job, {"msReplicaSpecs": {workers.key: {"replicas": replicas}}}, "scaled")


def _refuse(job: MSJob, verb: str) -> None:
    raise JobFinishedError(
        f"MSJob {job.name} has {waiting.ended_how(job)} and cannot be {verb} any more: `msjob submit --replace` runs "
        "it anew",
        job,
    )


def _other_name(name: str) -> str:
    """A name of the same length that is most likely free, for a trial."""
    return ("x" + secrets.token_hex(len(name)))[: len(name)]


def _named(job: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {**job, "metadata": {**mapping(job.get("metadata")), "name": name}}


def _renamed(job: MSJob, name: str) -> MSJob:
    return MSJob.read(_named(job.raw, name))
