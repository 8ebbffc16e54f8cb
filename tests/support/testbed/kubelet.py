"""The test as the kubelet: it reports what pods do, at the test's command or by itself.

How pods behave here is how they behave on a node:

- A pod that is reported on is bound to a Node first, since a pod without one neither runs nor ends.
- A pod that has no Node, or has ended, vanishes as soon as it is deleted: the API server does that by itself.
- A pod on a Node that is deleted stays, with a ``deletionTimestamp``, until its kubelet has stopped it. The kubelet
  reports it as failed first (exit code 143, SIGTERM) and removes it then; a watcher sees both. ``play`` does so at
  once and by itself; without it such a pod stays until ``terminate``, as on a node that hangs.
"""

import contextlib
import itertools
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Literal, Self

from support.testbed import podstatus
from support.testbed.client import PODS, Client, Object
from support.testbed.errors import ApiError, ConflictError, NotFoundError, UnreachableError
from support.testbed.nodes import create_node, delete_node
from support.testbed.podstatus import ContainerState, Report, Time
from support.testbed.waiting import wait_for
from support.testbed.watch import Watch

Phase = Literal["Pending", "Running", "Succeeded", "Failed", "Unknown"]

_SIGTERM_EXIT = 143
_ENDED = ("Succeeded", "Failed")


class Kubelet:
    """Plays the kubelet of a Node, and of any other that a test binds pods to.

    Args:
        client: A client that may do everything with pods and Nodes.
        node: The Node to bind pods to; created when it is first needed.
        namespace: The namespace whose pods ``play`` looks after; all by default.

    Attributes:
        node: The Node that pods are bound to.
        port: Where on 127.0.0.1 the API server finds logs; None for nowhere. Set it before the first pod is bound.
    """

    def __init__(self, client: Client, *, node: str = "node-1", namespace: str | None = None) -> None:
        self.node = node
        self.port: int | None = None
        self._client = client
        self._namespace = namespace
        self._ips = itertools.count(1)
        self._nodes: set[str] = set()
        self._watch: Watch | None = None
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()

    # -- one pod, at the test's command ----------------------------------------------------------------------------

    def set_pod(  # noqa: PLR0913 - a report has many parts, and all but two have a default
        self,
        namespace: str,
        name: str,
        *,
        phase: Phase = "Running",
        exit_code: int | None = None,
        reason: str | None = None,
        message: str | None = None,
        container_reason: str | None = None,
        ready: bool | None = None,
        pod_ip: str | None = None,
        started: Time | None = None,
        finished: Time | None = None,
        containers: Mapping[str, ContainerState] | None = None,
        node: str | None = None,
        uid: str | None = None,
    ) -> Object:
        """Report the state of a pod; binds it to a Node where it has none.

        Args:
            namespace: The namespace.
            name: The pod.
            phase: Its phase.
            exit_code: The exit code of its ``mindspore`` container (of its first one where there is none of that name).
                With the phase Running, that container has ended and the sidecars still run. 1 by default when Failed.
            reason: The reason of the pod itself, such as ``Evicted``.
            message: The message of the pod.
            container_reason: The reason of the ``mindspore`` container, such as ``OOMKilled``.
            ready: Whether the pod is ready; by default when all its containers run.
            pod_ip: Its address; it keeps the one that it has, or gets a new one unless it is Pending.
            started: When it was started.
            finished: When its containers ended; now by default. Kubernetes keeps whole seconds.
            containers: States of containers by name, sidecars and init containers too, which win over all above:
                see ``podstatus.waiting``, ``running`` and ``ended``.
            node: The Node to bind it to.
            uid: Report it only when it is that very pod, and no successor of its name.

        Returns:
            The pod.

        Raises:
            ConflictError: The pod has another uid.
        """
        pod = self._client.get(PODS, name, namespace)
        if not pod["spec"].get("nodeName"):
            self.bind(namespace, name, node)
        report = Report(phase, exit_code, reason, message, ready, container_reason, started, finished, containers)
        ip = pod_ip or pod.get("status", {}).get("podIP") or (None if phase == "Pending" else self._new_ip())
        status = podstatus.pod_status(pod, report, pod_ip=ip, host_ip="10.0.0.1", now=datetime.now(UTC))
        change = {"metadata": {"uid": uid or pod["metadata"]["uid"]}, "status": status}
        return self._client.patch(PODS, name, change, namespace, subresource="status")

    def bind(self, namespace: str, name: str, node: str | None = None) -> None:
        """Bind a pod to a Node, as the scheduler does; the Node is created when there is none."""
        target = node or self.node
        if target not in self._nodes:
            create_node(self._client, target, ip="10.0.0.1" if self.port is None else "127.0.0.1", port=self.port)
            self._nodes.add(target)
        binding = {"metadata": {"name": name}, "target": {"apiVersion": "v1", "kind": "Node", "name": target}}
        self._client.create(PODS, binding, namespace, name=name, subresource="binding")

    def find_no_place(self, namespace: str, name: str, message: str) -> None:
        """Say of a pod that no Node can take it, as the scheduler does."""
        self.set_condition(namespace, name, "PodScheduled", "False", "Unschedulable", message)

    def set_condition(self, namespace: str, name: str, kind: str, status: str, reason: str, message: str = "") -> None:
        """Set a condition of a pod, such as ``DisruptionTarget``, as of now: one of long ago is taken back."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        condition = {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": now}
        change = {"status": {"conditions": [condition]}}
        self._client.patch(PODS, name, change, namespace, kind="strategic", subresource="status")

    def finish(
        self,
        namespace: str,
        name: str,
        exit_code: int = 0,
        *,
        sidecars: Literal["end", "run"] = "end",
        container_reason: str | None = None,
        finished: Time | None = None,
        uid: str | None = None,
    ) -> Object:
        """Let the ``mindspore`` container of a pod end.

        Args:
            namespace: The namespace.
            name: The pod.
            exit_code: Its exit code; the pod is then Succeeded or Failed.
            sidecars: ``run`` lets the other containers run on, so that the pod stays Running.
            container_reason: The reason, such as ``OOMKilled``.
            finished: When it ended; now by default.
            uid: As in ``set_pod``.

        Returns:
            The pod.
        """
        phase: Phase = "Succeeded" if exit_code == 0 else "Failed"
        return self.set_pod(
            namespace,
            name,
            phase="Running" if sidecars == "run" else phase,
            exit_code=exit_code,
            container_reason=container_reason,
            finished=finished,
            uid=uid,
        )

    def terminate(self, namespace: str, name: str, exit_code: int = _SIGTERM_EXIT) -> None:
        """Stop and remove a pod that is being deleted: report how it ended, unless it had ended, then let it go."""
        pod = self._client.get(PODS, name, namespace)
        if "deletionTimestamp" not in pod["metadata"]:
            raise ValueError(f"pod {name} is not being deleted")
        self._stop(pod, exit_code)

    # -- many pods -------------------------------------------------------------------------------------------------

    def run_all(
        self, namespace: str, selector: str | None = None, *, count: int | None = None, timeout: float = 15
    ) -> list[Object]:
        """Let all pods run that have not ended and are not being deleted.

        Args:
            namespace: The namespace.
            selector: A label selector.
            count: Wait until there are this many of them.
            timeout: Seconds to wait for them.

        Returns:
            The pods, running.
        """

        def alive() -> list[Object]:
            pods = self._client.pods(namespace, selector)
            return [pod for pod in pods if not _is_going(pod)]

        if count is not None:
            wait_for(lambda: len(alive()) == count, timeout, what=f"{count} pods {selector or ''} in {namespace}")
        return [self.set_pod(namespace, pod["metadata"]["name"]) for pod in alive()]

    # -- by itself -------------------------------------------------------------------------------------------------

    def play(self, *, run: bool = True, terminate: bool = True) -> Self:
        """Play the node in a thread, from now on, instead of what was played before.

        Args:
            run: Bind each pod and let it run as soon as it is there.
            terminate: Stop and remove each pod as soon as it is deleted.
        """
        self.pause()
        self._stopping.clear()
        self._thread = threading.Thread(target=self._loop, args=(run, terminate), name="kubelet", daemon=True)
        self._thread.start()
        return self

    def pause(self) -> None:
        """Do nothing any more but what the test says; pods that are deleted now hang."""
        self._stopping.set()
        if self._watch is not None:
            self._watch.close()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def close(self) -> None:
        """Pause, and remove the Nodes and, at once, the pods on them."""
        self.pause()
        for node in sorted(self._nodes):
            for pod in self._client.list(PODS, self._namespace, fields=f"spec.nodeName={node}"):
                with contextlib.suppress(NotFoundError):
                    self._client.delete(PODS, pod["metadata"]["name"], pod["metadata"]["namespace"], grace=0)
            delete_node(self._client, node)
        self._nodes.clear()

    def __enter__(self) -> Self:
        return self.play()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _loop(self, run: bool, terminate: bool) -> None:  # noqa: FBT001 - called by the thread
        while not self._stopping.is_set():
            with contextlib.suppress(UnreachableError, ApiError):
                # Without a resource version a watch begins with all that is there.
                self._watch = watch = self._client.watch(PODS, self._namespace)
                with watch:
                    if not self._stopping.is_set():
                        self._follow(watch, run=run, terminate=terminate)
            self._stopping.wait(0.1)

    def _follow(self, watch: Watch, *, run: bool, terminate: bool) -> None:
        for kind, pod in watch:
            if self._stopping.is_set():
                return
            if kind != "DELETED":
                # Somebody else may change or delete the pod at the same time; the watch tells of that next.
                with contextlib.suppress(ConflictError, NotFoundError):
                    self._act(pod, run=run, terminate=terminate)

    def _act(self, pod: Object, *, run: bool, terminate: bool) -> None:
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        if "deletionTimestamp" in pod["metadata"]:
            if terminate:
                self._stop(pod, _SIGTERM_EXIT)
        elif run and pod["status"].get("phase") == "Pending" and not pod["spec"].get("schedulingGates"):
            self.set_pod(namespace, name)

    def _stop(self, pod: Object, exit_code: int) -> None:
        """Stop and remove a pod, and never a successor of its name."""
        namespace, name, uid = (pod["metadata"][key] for key in ("namespace", "name", "uid"))
        if pod["spec"].get("nodeName") and pod["status"].get("phase") not in _ENDED:
            self.finish(namespace, name, exit_code, uid=uid)
        self._client.delete(PODS, name, namespace, grace=0, uid=uid)

    def _new_ip(self) -> str:
        high, low = divmod(next(self._ips), 250)
        return f"10.244.{high}.{low + 1}"


def _is_going(pod: Object) -> bool:
    return "deletionTimestamp" in pod["metadata"] or pod["status"].get("phase") in _ENDED
