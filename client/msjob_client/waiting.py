"""Wait for a job: the judgement of what was waited for, and the states on the way there."""

import contextlib
from collections.abc import AsyncGenerator
from typing import Final

from msjob_client.errors import JobFinishedError, JobNotFoundError, JobWaitTimeoutError
from msjob_client.job import MSJob, Until
from msjob_client.server import Server

_GOALS: Final = {
    Until.FINISHED: "finished",
    Until.SUCCEEDED: "succeeded",
    Until.RUNNING: "run",
    Until.SUSPENDED: "been suspended",
    Until.DELETED: "been deleted",
}
_NEVER: Final = {Until.SUCCEEDED: "succeed", Until.RUNNING: "run", Until.SUSPENDED: "be suspended"}


def reached(job: MSJob, until: Until) -> bool:
    """Whether a job is where it is wanted.

    Args:
        job: A job that is there.
        until: What is waited for.

    Raises:
        JobFinishedError: It has ended, so that this can never come.
    """
    match until:
        case Until.FINISHED:
            return job.finished
        case Until.SUCCEEDED if job.succeeded:
            return True
        case Until.RUNNING if job.running:
            return True
        case Until.SUSPENDED if job.suspended:
            return True
        case Until.DELETED:
            return False
    if job.finished:
        raise JobFinishedError(
            f"MSJob {job.name} has {ended_how(job)}, so that it cannot {_NEVER[until]} any more: {job.message}", job
        )
    return False


def ended_how(job: MSJob) -> str:
    """`succeeded` or `failed`, of a job that has ended."""
    return "succeeded" if job.succeeded else "failed"


async def states(server: Server, name: str, namespace: str, until: Until) -> AsyncGenerator[MSJob]:
    """Follow one job until it is where it is wanted.

    Args:
        server: The API server.
        name: Of the job.
        namespace: Its namespace.
        until: What is waited for.

    Yields:
        The job at the start and after each change; the last one is the answer.

    Raises:
        JobFinishedError: What is waited for can never come.
        JobNotFoundError: There is no such job, or it was deleted.
    """
    last = await _first(server, name, namespace, until)
    if not last.uid:
        yield last
        return
    told = False
    async with contextlib.aclosing(server.job_changes(namespace, name)) as news:
        async for batch in news:
            found = [MSJob.read(change.new) for change in batch if change.new is not None]
            for job in found:
                if job.uid != last.uid:
                    break
                told = True
                yield (last := job)
                if reached(job, until):
                    return
            else:
                if found:
                    continue
            # It is gone, and perhaps another one of its name is there.
            if until is Until.DELETED:
                if not told:
                    yield last
                return
            raise JobNotFoundError(name, namespace, f"MSJob {name} was deleted meanwhile: submit it again to run it")


async def _first(server: Server, name: str, namespace: str, until: Until) -> MSJob:
    """The job, read by itself: that tells one that is missing from a CRD that is."""
    try:
        return await server.job(name, namespace)
    except JobNotFoundError:
        if until is Until.DELETED:
            return MSJob(name=name, namespace=namespace)
        raise


def out_of_time(name: str, until: Until, seconds: float, job: MSJob | None) -> JobWaitTimeoutError:
    """The error when time is up.

    Args:
        name: Of the job.
        until: What was waited for.
        seconds: For how long.
        job: The job as it was seen last.
    """
    where = ""
    if job is not None:
        ready = f", {job.workers} Workers ready" if job.workers and not job.finished else ""
        unseen = f"left to {job.managed_by}" if job.managed_by else "not looked at by an operator yet"
        where = f"; it is {job.state or unseen}{ready}"
    return JobWaitTimeoutError(
        f"MSJob {name} has not {_GOALS[until]} within {seconds:g} s{where}: see `msjob why {name}`", job
    )
