"""What truly becomes of pods and nodes in the simulation, whoever hears of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from msjob.api import Role


class Cause(StrEnum):
    """Why a process ended."""

    ITSELF = "itself"
    FOLLOWED = "followed"
    TOLD = "told"
    PUT_OUT = "put out"
    LOST = "lost"
    GAVE_UP = "gave up"


@dataclass
class Fate:
    """What truly befell a pod.

    Attributes:
        uid: of the pod.
        name: likewise.
        role: likewise.
        index: likewise.
        attempt: likewise.
        owner: uid of its job.
        node: where it is.
        blocked: why it cannot start.
        started: when its process started.
        ended: when its process ended.
        code: exit code of it.
        cause: of that end.
        asked: when its deletion was asked for.
        asked_by: who did.
        gone: when it was removed.
        leader: name of the pod that it followed.
    """

    uid: str
    name: str
    role: Role
    index: int
    attempt: int
    owner: str
    node: str = ""
    blocked: str = ""
    started: float | None = None
    ended: float | None = None
    code: int | None = None
    cause: Cause | None = None
    asked: float | None = None
    asked_by: str = ""
    gone: float | None = None
    leader: str = ""

    @property
    def runs(self) -> bool:
        """Whether its process runs."""
        return self.started is not None and self.ended is None

    @property
    def genuine(self) -> bool:
        """Whether its end, or its deletion, came from no other pod and not from the operator."""
        if self.asked_by and self.asked_by != "operator":
            return True
        return self.cause in (Cause.ITSELF, Cause.PUT_OUT, Cause.LOST)


@dataclass
class Node:
    """A node.

    Attributes:
        name: of it.
        silent: since when its kubelet does not answer.
        dead: nothing runs on it any more; else it is only cut off.
        epoch: how often it has gone.
        unsaid: what its kubelet could not tell or hear.
    """

    name: str
    silent: float | None = None
    dead: bool = False
    epoch: int = 0
    unsaid: list[Callable[[], None]] = field(default_factory=list)
