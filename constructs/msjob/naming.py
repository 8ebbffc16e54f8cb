"""A name for a job that has only `metadata.generateName`, of which an API server makes the name."""

from typing import Any, Final

from msjob.api import meta

PLACEHOLDER: Final = "xxxxx"
"""What stands for the five random characters that an API server adds."""


def named(job: dict[str, Any]) -> dict[str, Any]:
    """Give a job the name that an API server would, but for its last characters.

    Args:
        job: JSON of a valid MSJob.

    Returns:
        The job itself if it has a name; else one with a name such as an API server makes of `generateName`
        (k8s.io/apiserver, `SimpleNameGenerator`): cut to leave room for five characters, and `PLACEHOLDER`.
    """
    metadata = job.get("metadata") or {}
    if metadata.get("name") or not metadata.get("generateName"):
        return job
    stem = metadata["generateName"][: meta.MAX_NAME - len(PLACEHOLDER)]
    return {**job, "metadata": {**metadata, "name": f"{stem}{PLACEHOLDER}"}}
