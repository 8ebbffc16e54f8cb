"""A typed Python client for MSJobs: `MSJobClient`, and `AsyncMSJobClient` for programs with an event loop.

>>> with MSJobClient.connect() as client:  # doctest: +SKIP
...     client.submit(job)
...     for line in client.logs("train", follow=True):
...         print(line.label, line.text)

docs/reference/client.md has all of it.
"""

from msjob_client.background import Stream
from msjob_client.client import AsyncMSJobClient
from msjob_client.errors import (
    ClusterUnreachableError,
    ForbiddenError,
    InvalidJobError,
    JobExistsError,
    JobFinishedError,
    JobNotFoundError,
    JobSuspendedError,
    JobWaitTimeoutError,
    MSJobError,
    NotInstalledError,
    RequestFailedError,
    UnauthorizedError,
)
from msjob_client.event import EventView
from msjob_client.explanation import Explanation, Kind
from msjob_client.job import Condition, LastFailure, MSJob, MSJobEvent, RoleCounts, Until
from msjob_client.line import LogLine
from msjob_client.pod import ContainerView, PodView
from msjob_client.sync import MSJobClient
from msjob_client.table import Column, Row, Table

__all__ = [
    "AsyncMSJobClient",
    "ClusterUnreachableError",
    "Column",
    "Condition",
    "ContainerView",
    "EventView",
    "Explanation",
    "ForbiddenError",
    "InvalidJobError",
    "JobExistsError",
    "JobFinishedError",
    "JobNotFoundError",
    "JobSuspendedError",
    "JobWaitTimeoutError",
    "Kind",
    "LastFailure",
    "LogLine",
    "MSJob",
    "MSJobClient",
    "MSJobError",
    "MSJobEvent",
    "NotInstalledError",
    "PodView",
    "RequestFailedError",
    "RoleCounts",
    "Row",
    "Stream",
    "Table",
    "UnauthorizedError",
    "Until",
]
