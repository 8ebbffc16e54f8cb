"""What `why` answers."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What an explanation is about, for programs."""

    NOT_FOUND = "NotFound"
    NOT_INSTALLED = "NotInstalled"
    NO_OPERATOR = "NoOperator"
    MANAGED_ELSEWHERE = "ManagedElsewhere"
    DELETING = "Deleting"
    SUSPENDING = "Suspending"
    SUSPENDED = "Suspended"
    WAITING = "Waiting"
    """The operator has seen the job and its pods are not there yet."""
    STALLED = "Stalled"
    """Something keeps pods from being made or from running."""
    STARTING = "Starting"
    """Pods are there and not all of them run yet."""
    RUNNING = "Running"
    RESTARTING = "Restarting"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a job is where it is.

    Attributes:
        job: Name of the job.
        namespace: Its namespace.
        kind: What the explanation is about.
        state: Type of the job's last condition, empty if it has none.
        reason: The reason behind it: of a condition, a container or a pod.
        verdict: One sentence.
        because: More sentences that bear it out, the weightiest first.
        advice: What to do, the likeliest help first; empty if nothing is to be done.
        pod: Name of the pod that it is about, if it is about one.
        node: Where that pod is or was.
        exit_code: Of the container that is to blame.
        next_time: When something is due to happen by itself.
    """

    job: str
    namespace: str
    kind: Kind
    verdict: str
    because: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    state: str = ""
    reason: str = ""
    pod: str = ""
    node: str = ""
    exit_code: int | None = None
    next_time: datetime | None = None

    def to_json(self) -> dict[str, Any]:
        """The explanation as JSON: keys in camelCase, times as Kubernetes writes them, nothing that is empty."""
        values: dict[str, Any] = {
            "job": self.job,
            "namespace": self.namespace,
            "kind": self.kind.value,
            "state": self.state,
            "reason": self.reason,
            "verdict": self.verdict,
            "because": list(self.because),
            "advice": list(self.advice),
            "pod": self.pod,
            "node": self.node,
            "exitCode": self.exit_code,
            "nextTime": None if self.next_time is None else self.next_time.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        return {key: value for key, value in values.items() if value not in ("", None, [])}
