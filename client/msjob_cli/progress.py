"""The lines that `msjob wait` shows of a job on its way: what changed, and nothing that did not."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msjob_cli.durations import short

if TYPE_CHECKING:
    from msjob_client import MSJob

_QUIET: Final = frozenset({"", "Created", "Running"})
"""States that say all by their name; the message of another one says why."""

_STATE: Final = max(map(len, ("Restarting", "Succeeded", "Suspended")))
"""Characters of the longest state."""


def line(before: "MSJob | None", after: "MSJob", now: float) -> str | None:
    """What to show of a change.

    Args:
        before: the job as it was shown last; None for the first time.
        after: the job as it is.
        now: seconds since the wait began.

    Returns:
        Seconds, state, Workers ready, restarts, and what happened. None if nothing of that changed.
    """
    if before is not None and _shown(before) == _shown(after):
        return None
    state = after.state or "-"
    parts = [f"{short(now):>6}  {state:<{_STATE}}"]
    if after.workers:
        parts.append(f"Workers {after.workers}")
    if after.restarts:
        parts.append(f"restarts {after.restarts}")
    parts += _news(before, after)
    return "  ".join(parts).rstrip()


def said(job: "MSJob") -> str:
    """The message of a job's state, without the name of the job, which its reader knows."""
    return job.message.removeprefix(f"MSJob {job.namespace}/{job.name} ")


def _shown(job: "MSJob") -> tuple[object, ...]:
    stalled = job.stalled
    told = job.message if job.state not in _QUIET else ""
    return (
        job.uid,
        job.deleting is None,
        job.state,
        job.workers,
        job.restarts,
        told,
        stalled and (stalled.reason, stalled.message),
        job.managed_by,
    )


def _news(before: "MSJob | None", after: "MSJob") -> Iterator[str]:
    """What happened since, in sentences."""
    if before is not None and before.uid != after.uid:
        yield "another job of this name"
        before = None
    if before is None and not after.state and not after.managed_by:
        yield "not seen by the operator yet"
    if after.managed_by and (before is None or before.managed_by != after.managed_by):
        yield f"run by {after.managed_by}"
    if after.state not in _QUIET and (before is None or (before.state, before.message) != (after.state, after.message)):
        yield said(after)
    stood, stands = before and before.stalled, after.stalled
    if stands and (not stood or (stood.reason, stood.message) != (stands.reason, stands.message)):
        # What the kubelet and the scheduler say begins with the reason.
        by = "" if stands.reason in stands.message else f" by {stands.reason}"
        yield f"stalled{by}: {stands.message}"
    if stood and not stands and not after.finished:
        yield "no longer stalled"
    if after.deleting and (before is None or not before.deleting):
        yield "being deleted"
