"""The logs of a job: as they are, or as they are written."""

import contextlib
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from msjob_client.faults import Doing, told
from msjob_client.job import MSJob
from msjob_client.line import LogLine
from msjob_client.logs.following import Following
from msjob_client.logs.merging import merged, unreadable
from msjob_client.logs.source import Source, Start
from msjob_client.logs.wanted import Wanted
from msjob_client.pod import PodView
from msjob_client.server import Server

if TYPE_CHECKING:
    from msjob_controller.kube.errors import ApiError


async def lines_of(
    server: Server, job: MSJob, pods: list[PodView], wanted: Wanted, start: Start, *, follow: bool
) -> AsyncGenerator[LogLine]:
    """Read, see `AsyncMSJobClient.logs`.

    Args:
        server: The API server.
        job: The job.
        pods: Its pods as they are.
        wanted: Which of them, and of their containers.
        start: Where to begin.
        follow: Go on until the job is over.

    Raises:
        MSJobError: Logs cannot be read; without `follow` what can be is read first.
    """
    broken: dict[str, ApiError] = {}
    if follow:
        lines = Following(server, job, wanted, start).lines(pods)
    else:
        sources = [Source(server.transport, pod, name, start) for pod in pods for name in wanted.containers(pod)]
        lines = merged([source for source in sources if source.readable], broken)
    with told(Doing(f"the logs of MSJob {job.name} cannot be read")):
        async with contextlib.aclosing(lines) as found:
            async for line in found:
                yield line
    if broken:
        raise unreadable(broken)
