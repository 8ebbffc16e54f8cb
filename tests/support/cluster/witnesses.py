"""What helps to see why a test failed: what the cluster says of jobs and pods."""

from collections.abc import Mapping, Sequence
from typing import Final

from support.testbed.kubectl import Kubectl

_ASKED: Final[Mapping[str, Sequence[str]]] = {
    "jobs": ("get", "msjobs", "--all-namespaces", "--output=yaml"),
    "pods": ("get", "pods", "--all-namespaces", "--output=wide"),
    "events": ("get", "events", "--all-namespaces", "--sort-by=.metadata.creationTimestamp"),
}
_LINES_SHOWN: Final = 60


def ask(kubectl: Kubectl, more: Mapping[str, Sequence[str]] | None = None) -> list[tuple[str, str]]:
    """Give the last of what kubectl prints of jobs, pods and events, by title.

    Args:
        kubectl: Of an administrator.
        more: More arguments, by title.
    """
    found = []
    for title, arguments in {**_ASKED, **(more or {})}.items():
        done = kubectl.completed(*arguments)
        found.append((title, last(done.stdout + done.stderr)))
    return found


def last(text: str) -> str:
    """The last lines of a text."""
    return "\n".join(text.splitlines()[-_LINES_SHOWN:])
