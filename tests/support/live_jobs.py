"""MSJobs in a real API server, as a user and as the kubelet of their pods."""

import json
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from msjob.api import AUXILIARY, meta
from msjob_controller.policy.settle import SETTLE_SECONDS
from support.jobs import Json, msjob
from support.testbed.client import MSJOBS, PODS, Client
from support.testbed.errors import WaitTimeoutError
from support.testbed.kubelet import Kubelet
from support.testbed.waiting import wait_for

SERVICES = "v1/services"
SETTLED = SETTLE_SECONDS + 10
"""Seconds to wait for the end of pods that run when their job succeeds."""


class Jobs:
    """The MSJobs of one namespace.

    Args:
        client: a client that may do everything.
        namespace: the namespace.
        kubelet: plays the kubelet of the namespace.
    """

    def __init__(self, client: Client, namespace: str, kubelet: Kubelet) -> None:
        self.client = client
        self.namespace = namespace
        self.kubelet = kubelet

    # -- jobs ------------------------------------------------------------------------------------------------------

    def create(self, job: Json | None = None, **fields: Any) -> Json:
        """Create a job.

        Args:
            job: the job, in whatever namespace; by default `support.jobs.msjob` with the fields given.
            fields: see there.

        Returns:
            The job as it is stored.
        """
        body = msjob(namespace=self.namespace, **fields) if job is None else job
        body["metadata"]["namespace"] = self.namespace
        return self.client.create(MSJOBS, body)

    def get(self, name: str = "train") -> Json:
        """The job as it is stored."""
        return self.client.get(MSJOBS, name, self.namespace)

    def patch(self, spec: Json, name: str = "train") -> Json:
        """Change fields of its spec, by a merge patch."""
        return self.client.patch(MSJOBS, name, {"spec": spec}, self.namespace)

    def suspend(self, name: str = "train", *, suspend: bool = True) -> None:
        """Suspend a job, or resume it."""
        self.patch({"runPolicy": {"suspend": suspend}}, name)

    def delete(self, name: str = "train") -> None:
        """Delete a job, as ``kubectl delete --wait=false`` does."""
        self.client.delete(MSJOBS, name, self.namespace, propagation="Background")

    # -- their status ----------------------------------------------------------------------------------------------

    def status(self, name: str = "train") -> Json:
        """The status of a job, empty when it has none."""
        return dict(self.get(name).get("status") or {})

    def conditions(self, name: str = "train") -> dict[str, Json]:
        """The conditions of a job by type, in their order."""
        return {item["type"]: item for item in self.status(name).get("conditions") or []}

    def true(self, name: str = "train") -> list[str]:
        """Types of the conditions that are True, in their order; without PodsReady and Stalled, which are no states."""
        found = self.conditions(name)
        return [kind for kind, item in found.items() if item["status"] == "True" and kind not in AUXILIARY]

    def state(self, name: str = "train") -> str:
        """What the column State shows: the type of the last condition."""
        return next(reversed(self.conditions(name)), "")

    def wait_state(self, state: str, name: str = "train", timeout: float = 15) -> Json:
        """Wait until a job is in a state.

        Returns:
            Its last condition.
        """
        found = self.client.wait_until(
            MSJOBS, name, self.namespace, lambda job: _state(job) == state, timeout, what=state
        )
        last: Json = found["status"]["conditions"][-1]
        return last

    def set_status(self, name: str = "train", **fields: Any) -> None:
        """Change fields of the status of a job, such as a time, as if the clock had been another one."""
        self.client.patch(MSJOBS, name, {"status": fields}, self.namespace, subresource="status")

    def wait_status(self, name: str = "train", timeout: float = 15, **fields: Any) -> Json:
        """Wait until fields of the status of a job have these values, and give the status."""
        found = self.client.wait_until(
            MSJOBS,
            name,
            self.namespace,
            lambda job: all((job.get("status") or {}).get(key) == value for key, value in fields.items()),
            timeout,
            what=f"{fields} of {name}",
        )
        return dict(found["status"])

    def wait_stalled(self, name: str = "train", timeout: float = 15) -> Json:
        """Wait until a job is stalled, and give the condition."""
        return (
            wait_for(
                lambda: next((item for item in self.conditions(name).values() if _is_true(item, "Stalled")), None),
                timeout,
                what=f"{name} to be stalled",
            )
            or {}
        )

    def counts(self, name: str = "train") -> dict[str, tuple[int, int, int]]:
        """Active, succeeded and failed pods of each role as the status counts them."""
        numbers = self.status(name).get("replicaStatuses") or {}
        return {role: (item["active"], item["succeeded"], item["failed"]) for role, item in numbers.items()}

    def events(self, name: str = "train") -> list[tuple[str, str]]:
        """Type and reason of the events about a job, in the order in which the operator reported them.

        It writes several at once, so that a later one may be stored first; their names tell the order.
        """
        found = self.client.events(self.namespace, about=name)
        found.sort(key=lambda event: int(event["metadata"]["name"].rpartition(".")[2], 16))
        return [(event["type"], event["reason"]) for event in found]

    def wait_event(self, reason: str, name: str = "train", timeout: float = 15) -> Json:
        """Wait for an event about a job, and give the last one of that reason."""
        found = wait_for(
            lambda: self.client.events(self.namespace, about=name, reason=reason),
            timeout,
            what=f"an event {reason} about {name}",
        )
        return found[-1]

    # -- their children --------------------------------------------------------------------------------------------

    def pods(self, name: str = "train") -> dict[str, Json]:
        """The pods of a job by role and index, such as `worker-0`; those that are being deleted, too."""
        found = self.client.pods(self.namespace, f"training.kubeflow.org/job-name={name}")
        return {pod["metadata"]["name"].removeprefix(f"{name}-"): pod for pod in found}

    def services(self) -> list[str]:
        """Names of the Services of the namespace."""
        return [item["metadata"]["name"] for item in self.client.list(SERVICES, self.namespace)]

    def wait_pods(self, count: int, name: str = "train", timeout: float = 15) -> dict[str, Json]:
        """Wait until a job has exactly so many pods that are not being deleted, and give all its pods."""

        def there() -> bool:
            alive = [pod for pod in self.pods(name).values() if "deletionTimestamp" not in pod["metadata"]]
            return len(alive) == count

        try:
            wait_for(there, timeout)
        except WaitTimeoutError:
            raise WaitTimeoutError(
                f"waited {timeout:g} s for {count} pods of {name}; they are {', '.join(self.pods(name)) or 'none'}; "
                f"status: {json.dumps(self.status(name), indent=1)}"
            ) from None
        return self.pods(name)

    def attempts(self, name: str = "train") -> dict[str, int]:
        """The attempts that the pods of a job were made for, by their label; 0 for pods of the Go operator's."""
        label = meta.LABEL_RESTART_ATTEMPT
        return {pod: int(item["metadata"]["labels"].get(label, 0)) for pod, item in self.pods(name).items()}

    def wait_attempt(self, attempt: int, count: int, name: str = "train", timeout: float = 15) -> dict[str, Json]:
        """Wait until a job has exactly so many pods, all of one attempt, and give them."""
        try:
            wait_for(lambda: list(self.attempts(name).values()) == [attempt] * count, timeout)
        except WaitTimeoutError:
            raise WaitTimeoutError(
                f"waited {timeout:g} s for {count} pods of attempt {attempt} of {name}; they are of "
                f"{self.attempts(name)}; status: {json.dumps(self.status(name), indent=1)}"
            ) from None
        return self.pods(name)

    def run(self, count: int, name: str = "train", timeout: float = 15) -> None:
        """Wait for the pods of a job, let them run, and wait until the job does."""
        self.wait_pods(count, name, timeout)
        for pod in self.pods(name):
            self.set(pod, name=name)
        self.wait_state("Running", name, timeout)

    def set(self, pod: str, phase: Any = "Running", *, name: str = "train", **report: Any) -> None:
        """Report the state of a pod, see `Kubelet.set_pod`."""
        self.kubelet.set_pod(self.namespace, f"{name}-{pod}", phase=phase, **report)

    def finish(self, *pods: str, code: int = 0, name: str = "train", **report: Any) -> None:
        """Let the `mindspore` containers of pods end, see `Kubelet.finish`."""
        for pod in pods:
            self.kubelet.finish(self.namespace, f"{name}-{pod}", code, **report)

    def delete_pods(self, pods: Iterable[str], name: str = "train") -> None:
        """Remove pods at once."""
        for pod in pods:
            self.client.delete(PODS, f"{name}-{pod}", self.namespace, grace=0)

    def evict(self, pod: str, name: str = "train") -> None:
        """Ask for the eviction of a pod, as ``kubectl drain`` does."""
        full = f"{name}-{pod}"
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": full}}
        self.client.create(PODS, body, self.namespace, name=full, subresource="eviction")

    def settle(self) -> None:
        """Wait until the operator has dealt with all that has happened in this namespace and to nodes.

        A job of its own goes through its whole life. The operator hears of each kind of object in order and looks at
        jobs in order, so it has looked at all that came before, and the answers to what it wrote are in.
        """
        name = f"settle-{secrets.token_hex(3)}"
        self.create(name=name, scheduler=None, worker=1)
        self.wait_pods(1, name)
        self.finish("worker-0", name=name)
        self.wait_state("Succeeded", name)
        self.delete(name)


def moment(seconds: float) -> str:
    """The moment so many seconds from now, as Kubernetes writes it."""
    return (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _state(job: Json) -> str:
    conditions = (job.get("status") or {}).get("conditions") or [{"type": ""}]
    return str(conditions[-1]["type"])


def _is_true(condition: Json, kind: str) -> bool:
    return (condition["type"], condition["status"]) == (kind, "True")
