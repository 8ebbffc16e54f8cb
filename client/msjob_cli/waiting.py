"""Waiting for a job while its progress is shown."""

import time
from typing import TYPE_CHECKING

from msjob_cli import terminal
from msjob_cli.cluster import tell
from msjob_cli.exits import ExitCode
from msjob_cli.progress import line, said

if TYPE_CHECKING:
    from msjob_client import MSJob, MSJobClient


class Deadline:
    """A limit for several waits that come one after the other.

    Args:
        timeout: seconds from now; None for no limit.
    """

    def __init__(self, timeout: float | None) -> None:
        self._end = None if timeout is None else time.monotonic() + timeout

    def left(self) -> float | None:
        """Seconds that are left, not below zero; None for no limit."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())


class _Progress:
    """Shows each change as a line."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._started = time.monotonic()
        self._shown: MSJob | None = None

    def __call__(self, job: "MSJob") -> None:
        """Show what has changed since the last call."""
        if not job.uid:  # there is none, as it is wanted
            return
        text = line(self._shown, job, time.monotonic() - self._started)
        if text is not None:
            self._shown = job
            terminal.note(f"{self._label}{text}")


def wait_for(
    client: "MSJobClient",
    name: str,
    *,
    until: str = "finished",
    timeout: float | None = None,
    quiet: bool = False,
    namespace: str | None = None,
    label: str = "",
) -> ExitCode:
    """Wait until a job is as it is wanted, and tell what came of it.

    Args:
        client: of the cluster.
        name: of the job.
        until: a value of `msjob_client.Until`.
        timeout: seconds; None for no limit.
        quiet: show no progress.
        namespace: None for that of the client.
        label: what to put before each line of the progress.

    Returns:
        Whether it is so.

    Raises:
        MSJobError: it cannot be waited for any more.
    """
    from msjob_client import JobFinishedError, Until  # noqa: PLC0415 - takes time, which the help has not

    progress = None if quiet else _Progress(label)
    try:
        job = client.wait(name, until=Until(until), timeout=timeout, on_change=progress, namespace=namespace)
    except JobFinishedError as error:
        terminal.error(str(error))
        return ExitCode.PROBLEMS
    if until == Until.FINISHED and job.failed:
        text = said(job)
        tell(name, f"failed: {text}".removesuffix(": ") if text == job.message else text)
        return ExitCode.PROBLEMS
    tell(name, "succeeded" if until == Until.FINISHED else until)
    return ExitCode.GOOD
