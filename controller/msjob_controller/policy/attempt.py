"""The present attempt of a job: which pods belong to it, and what they have come to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from msjob.api import Job, LaunchMode, Role, meta
from msjob_controller.policy import indexes
from msjob_controller.policy.observed import Observed, Outcome, Pod, PodKey


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a job.

    Attributes:
        number: from 0.
        wanted: the pods that make it up, in the order in which they are created.
        pods: those of them that are there.
        old: pods of earlier attempts. Nothing that becomes of them counts any more.
        surplus: pods of this attempt that are not wanted (any more).
        completed: pods that have succeeded, whether they are still there or not.
        ignored: pods that have failed and that the job goes on without, as the status remembers them.
        ran: all its pods have run. From then on a missing pod is a loss, and no pod that was never made.
    """

    number: int
    wanted: tuple[PodKey, ...]
    pods: Mapping[PodKey, Pod]
    old: tuple[Pod, ...]
    surplus: tuple[Pod, ...]
    completed: frozenset[PodKey]
    ignored: frozenset[PodKey]
    ran: bool

    def outcome(self, key: PodKey) -> Outcome:
        """What a pod of the attempt has come to; Pending for one that is not there."""
        if key in self.completed:
            return Outcome.SUCCEEDED
        return self.pods[key].outcome if key in self.pods else Outcome.PENDING

    def of(self, role: Role) -> tuple[PodKey, ...]:
        """The wanted pods of a role."""
        return tuple(key for key in self.wanted if key[0] is role)

    def missing(self) -> tuple[PodKey, ...]:
        """Wanted pods that are not there, have not succeeded, and are not left out."""
        there = self.pods.keys() | self.completed | self.ignored
        return tuple(key for key in self.wanted if key not in there)


def present(job: Job, status: Mapping[str, Any], observed: Observed) -> Attempt:
    """The present attempt.

    A status that knows less than the pods (it was restored from a backup, or edited) takes their number over, so that
    no number is given twice.

    Args:
        job: the job.
        status: its stored status.
        observed: what it owns.
    """
    known = max(0, status.get("attempt") or 0)
    number = max([known, *(pod.attempt for pod in observed.pods.values())])
    wanted = tuple((role, index) for role in job.roles for index in range(_size(job, role, status)))
    own = status if number == known else {}
    of_it = {key: pod for key, pod in observed.pods.items() if pod.attempt == number}
    chosen = set(wanted)
    pods = {key: pod for key, pod in of_it.items() if key in chosen}
    done = {key for key, pod in pods.items() if pod.outcome is Outcome.SUCCEEDED}
    return Attempt(
        number=number,
        wanted=wanted,
        pods=pods,
        old=tuple(pod for pod in observed.pods.values() if pod.attempt != number),
        surplus=tuple(pod for key, pod in of_it.items() if key not in chosen),
        completed=frozenset(done | (_stored(own, "completedIndexes") & chosen)),
        ignored=frozenset(key for key in _stored(own, "ignoredIndexes") & chosen if not _lives(pods.get(key))),
        ran=status.get("readyAttempt") == number,
    )


def coordinated(job: Job) -> bool:
    """Whether the Workers know how many they are, so that another number of them means another attempt."""
    return job.launch_mode is not LaunchMode.STANDALONE and Role.WORKER in job.roles


def is_old(pod: Pod, status: Mapping[str, Any]) -> bool:
    """Whether a pod belongs to an attempt that the status has left behind."""
    return pod.attempt < (status.get("attempt") or 0)


def _size(job: Job, role: Role, status: Mapping[str, Any]) -> int:
    made_with = status.get("workerReplicas")
    if role is Role.WORKER and isinstance(made_with, int) and coordinated(job):
        return min(made_with, meta.MAX_REPLICAS)
    return job.replicas(role)


def _lives(pod: Pod | None) -> bool:
    """Whether a pod is there that has not failed: the successor of one that had."""
    return pod is not None and pod.outcome is not Outcome.FAILED


def _stored(status: Mapping[str, Any], field: str) -> frozenset[PodKey]:
    """Pods that the status remembers, by role and index."""
    found: list[PodKey] = []
    for name, count in (status.get("replicaStatuses") or {}).items():
        role = Role.parse(name)
        if role is not None:
            found += [(role, index) for index in indexes.parse((count or {}).get(field))]
    return frozenset(found)


def keys(pods: Iterable[Pod]) -> tuple[PodKey, ...]:
    """Role and index of pods that are not yet being deleted."""
    return tuple(pod.key for pod in pods if not pod.deleting)
