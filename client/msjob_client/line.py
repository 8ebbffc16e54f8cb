"""One line of a container's log."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line that a process of a job has written.

    Attributes:
        pod: Name of the pod.
        role: Of the pod: `Scheduler`, `PS` or `Worker`.
        index: Replica index of the pod.
        rank: MindSpore rank of the pod's first process, see `PodView.rank`.
        attempt: The attempt that the pod belonged to.
        container: Which container wrote it.
        time: When the container runtime took it in; None for what the kubelet itself says in place of a log.
        text: The line without its end; bytes that are no UTF-8 are replaced.
    """

    pod: str
    role: str
    index: int | None
    rank: int | None
    attempt: int
    container: str
    time: datetime | None
    text: str

    @property
    def label(self) -> str:
        """Role and index of the pod in short, such as `worker-0`."""
        return self.pod if self.index is None else f"{self.role.lower()}-{self.index}"
