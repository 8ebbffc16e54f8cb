"""What became of the pods and the status of the jobs of a namespace, seen from the first moment to the last."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Self

from support.jobs import Json
from support.testbed.client import MSJOBS, PODS, Client
from support.testbed.waiting import wait_for

ATTEMPT: Final = "mindspore.gitee.com/restart-attempt"
_JOB: Final = "training.kubeflow.org/job-name"


@dataclass
class Life:
    """The life of one pod.

    Attributes:
        job: name of its job.
        name: of the pod.
        uid: of the pod.
        attempt: of the job, that it was created in.
        created: when, as the API server says: RFC 3339, whole seconds.
        beside: names of the job's pods of earlier attempts that were still there when it was created.
        started: whether its container has ever run.
        gone: whether it is gone.
    """

    job: str
    name: str
    uid: str
    attempt: int
    created: str
    beside: list[str]
    started: bool = False
    gone: bool = False


@dataclass
class History:
    """Follows a namespace by two watches. Use it with `with`, before the first job is there.

    Attributes:
        pods: all pods of jobs that have been, in the order of their creation.
        statuses: each status that a job has had, in order, by the name of the job.
    """

    client: Client
    namespace: str
    pods: list[Life] = field(default_factory=list)
    statuses: dict[str, list[Json]] = field(default_factory=dict)

    def __enter__(self) -> Self:
        self._watches = [
            (self.client.watch(PODS, self.namespace), self._pod),
            (self.client.watch(MSJOBS, self.namespace), self._job),
        ]
        self._threads = [
            threading.Thread(target=self._follow, args=pair, name="history", daemon=True) for pair in self._watches
        ]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for watch, _ in self._watches:
            watch.close()
        for thread in self._threads:
            thread.join(10)

    def settle(self, name: str) -> None:
        """Wait until it knows the present status of a job and its present pods."""

        def told() -> bool:
            stored = self.client.get(MSJOBS, name, self.namespace).get("status") or {}
            known = {life.uid for life in self.pods if life.job == name and not life.gone}
            pods = {pod["metadata"]["uid"] for pod in self.client.pods(self.namespace, f"{_JOB}={name}")}
            return self.statuses[name][-1] == stored and known == pods

        wait_for(told, what="the watches to have told all")

    # -- what it saw -----------------------------------------------------------------------------------------------

    def of(self, name: str) -> list[Life]:
        """All pods that a job has ever had, in the order of their creation."""
        return [life for life in self.pods if life.job == name]

    def twins(self, name: str) -> list[tuple[str, int]]:
        """Name and attempt of the pods of a job that were created again although the one before had started."""
        lives = self.of(name)
        return [
            (first.name, first.attempt)
            for number, first in enumerate(lives)
            for second in lives[number + 1 :]
            if (first.name, first.attempt) == (second.name, second.attempt) and first.started
        ]

    def beside_old(self, name: str) -> list[tuple[str, list[str]]]:
        """Pods of a job that were created while pods of an earlier attempt were still there, and which."""
        return [(life.name, life.beside) for life in self.of(name) if life.beside]

    def values(self, name: str, key: str, default: Any = 0) -> list[Any]:
        """The values that a field of the status of a job went through, each told once in a row."""
        found = [status.get(key, default) for status in self.statuses.get(name, [])]
        return [value for number, value in enumerate(found) if number == 0 or found[number - 1] != value]

    # -- in its threads --------------------------------------------------------------------------------------------

    @staticmethod
    def _follow(watch: Any, note: Callable[[str, Json], None]) -> None:
        for kind, item in watch:
            note(kind, item)

    def _pod(self, kind: str, pod: Json) -> None:
        metadata = pod["metadata"]
        labels = metadata.get("labels") or {}
        job = labels.get(_JOB)
        if job is None:
            return
        life = next((life for life in self.pods if life.uid == metadata["uid"]), None)
        if life is None:
            attempt = int(labels.get(ATTEMPT) or 0)
            old = [other.name for other in self.of(job) if other.attempt < attempt and not other.gone]
            life = Life(job, metadata["name"], metadata["uid"], attempt, metadata["creationTimestamp"], old)
            self.pods.append(life)
        states = [item.get("state") or {} for item in pod["status"].get("containerStatuses") or []]
        life.started |= any("running" in state or "terminated" in state for state in states)
        life.gone |= kind == "DELETED"

    def _job(self, kind: str, job: Json) -> None:
        if kind != "DELETED":
            self.statuses.setdefault(job["metadata"]["name"], []).append(dict(job.get("status") or {}))
