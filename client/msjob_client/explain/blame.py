"""Whom the last failure is blamed on, in words."""

from collections.abc import Iterator

from msjob_client.explain import codes, words
from msjob_client.explain.facts import Facts
from msjob_client.job import LastFailure, MSJob
from msjob_client.pod import PodView

_LOST = "NodeLost"
_DELETED = "Deleted"


def what(failure: LastFailure) -> str:
    """What happened to the pod that is to blame, as the rest of a sentence.

    Returns:
        For example `container mindspore of pod train-worker-2 ended with exit code 137 (OOMKilled)`.
    """
    pod = failure.pod or "a pod"
    if failure.exit_code is not None:
        reason = f" ({failure.reason})" if failure.reason and failure.reason != "Error" else ""
        container = f"container {failure.container} of " if failure.container else ""
        return f"{container}pod {pod} ended with exit code {failure.exit_code}{reason}"
    if failure.reason == _LOST:
        return f"pod {pod} was lost with node {failure.node}" if failure.node else f"pod {pod} was lost with its node"
    if failure.reason == _DELETED:
        return f"pod {pod} was deleted"
    return f"pod {pod} failed ({failure.reason})" if failure.reason else f"pod {pod} failed"


def because(failure: LastFailure) -> Iterator[str]:
    """What is known of it besides."""
    if failure.exit_code is not None:
        yield f"Exit code {failure.exit_code}: {codes.meaning(failure.exit_code, failure.reason)}."
    if failure.message:
        yield words.sentence(f"It said: {failure.message}")
    place = f" on node {failure.node}" if failure.node and failure.reason != _LOST else ""
    if place or failure.attempt:
        yield f"That was in attempt {failure.attempt}{place}."


def advice(facts: Facts, job: MSJob, failure: LastFailure) -> Iterator[str]:
    """What to do about it."""
    yield codes.advice(failure)
    pod = next((pod for pod in facts.pods if pod.name == failure.pod and pod.attempt == failure.attempt), None)
    if pod is not None:
        yield f"read its log with `{log_of(job, pod)}`"


def log_of(job: MSJob, pod: PodView) -> str:
    """The command that shows the log of a pod."""
    where = f" --role {pod.role.lower()} --index {pod.index}" if pod.role else ""
    return f"msjob logs {job.name} -n {job.namespace}{where}"
