"""What a kubelet reports about a pod: pure functions from a pod and the wanted state to its status."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

Object = dict[str, Any]
Time = datetime | str
"""A moment; as text in RFC 3339."""

MAIN_CONTAINER = "mindspore"
"""The container whose exit is the outcome of the pod."""

_SIGNALS = 128


@dataclass(frozen=True)
class ContainerState:
    """The state of one container.

    Attributes:
        state: ``waiting``, ``running`` or ``terminated``.
        exit_code: The exit code of a terminated container; above 128 it also tells the signal.
        reason: ``Completed`` or ``Error`` when terminated and ``ContainerCreating`` when waiting, unless given.
        message: The message for people.
        ready: By default a container is ready while it runs.
        restart_count: How often it was restarted.
        started: When it was started; the time of the report by default.
        finished: When it ended; the time of the report by default.
    """

    state: Literal["waiting", "running", "terminated"]
    exit_code: int = 0
    reason: str | None = None
    message: str | None = None
    ready: bool | None = None
    restart_count: int = 0
    started: Time | None = None
    finished: Time | None = None


def waiting(reason: str = "ContainerCreating", message: str | None = None) -> ContainerState:
    """Give the state of a container that has not started, such as ``waiting("ImagePullBackOff")``."""
    return ContainerState("waiting", reason=reason, message=message)


def running(*, ready: bool = True, restart_count: int = 0, started: Time | None = None) -> ContainerState:
    """Give the state of a container that runs."""
    return ContainerState("running", ready=ready, restart_count=restart_count, started=started)


def ended(
    exit_code: int,
    reason: str | None = None,
    *,
    message: str | None = None,
    started: Time | None = None,
    finished: Time | None = None,
) -> ContainerState:
    """Give the state of a container that has ended, such as ``ended(137, "OOMKilled")``."""
    return ContainerState(
        "terminated", exit_code=exit_code, reason=reason, message=message, started=started, finished=finished
    )


@dataclass(frozen=True)
class Report:
    """What the kubelet reports.

    Attributes:
        phase: The phase of the pod.
        exit_code: The exit code of the main container; while the pod still runs, it means that only sidecars do.
        reason: The pod's own reason, such as ``Evicted``.
        message: The message for people.
        ready: Whether the pod is ready; by default as its containers are.
        container_reason: The reason of the main container, such as ``OOMKilled``.
        started: When pod and containers were started.
        finished: When containers ended.
        containers: States of containers by name, which win over all above.
    """

    phase: str
    exit_code: int | None = None
    reason: str | None = None
    message: str | None = None
    ready: bool | None = None
    container_reason: str | None = None
    started: Time | None = None
    finished: Time | None = None
    containers: Mapping[str, ContainerState] | None = None


def main_container(pod: Object) -> str:
    """Name the container whose exit counts: ``mindspore``, or the first one where there is none of that name."""
    names = [container["name"] for container in pod["spec"]["containers"]]
    return MAIN_CONTAINER if MAIN_CONTAINER in names else names[0]


def pod_status(pod: Object, report: Report, *, pod_ip: str | None, host_ip: str | None, now: datetime) -> Object:
    """Make the status of a pod.

    A pod that ends has all its containers ended, the others with 0. Init containers have ended with 0 once it runs;
    those that are sidecars (``restartPolicy: Always``) are in the state of the pod.

    Args:
        pod: The pod.
        report: The wanted state.
        pod_ip: Its address; None for a pod that has none yet.
        host_ip: The address of its node.
        now: The time of the report.
    """
    unknown = set(report.containers or ()) - {container["name"] for container in _all_containers(pod)}
    if unknown:
        raise ValueError(f"pod {pod['metadata']['name']} has no container {', '.join(sorted(unknown))}")
    before = pod.get("status", {})
    started = report.started or before.get("startTime") or now
    statuses = {
        field: [_container_status(container, pod, report, started, now) for container in pod["spec"].get(spec, [])]
        for field, spec in (("initContainerStatuses", "initContainers"), ("containerStatuses", "containers"))
    }
    ready = report.ready
    if ready is None:
        ready = report.phase == "Running" and all(status["ready"] for status in statuses["containerStatuses"])
    status: Object = {
        "phase": report.phase,
        "reason": report.reason,
        "message": report.message,
        "startTime": None if report.phase == "Pending" and report.started is None else _text(started),
        "hostIP": host_ip,
        "hostIPs": [{"ip": host_ip}] if host_ip else None,
        "podIP": pod_ip,
        "podIPs": [{"ip": pod_ip}] if pod_ip else None,
        "conditions": _conditions(before.get("conditions", []), report, ready=ready, now=now),
        **statuses,
    }
    return status


def _all_containers(pod: Object) -> list[Object]:
    return [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]


def _wanted_state(container: Object, pod: Object, report: Report) -> ContainerState:
    name = container["name"]
    is_init = name in {init["name"] for init in pod["spec"].get("initContainers", [])}
    given = (report.containers or {}).get(name)
    if given is not None:
        return given
    if report.phase == "Pending":
        return waiting("PodInitializing" if pod["spec"].get("initContainers") and not is_init else "ContainerCreating")
    if is_init and container.get("restartPolicy") != "Always":
        return ended(0, finished=report.started)
    if name == main_container(pod) and (report.exit_code is not None or report.phase == "Failed"):
        code = 1 if report.exit_code is None else report.exit_code
        return ended(code, report.container_reason, finished=report.finished)
    if report.phase == "Running":
        return running(ready=report.ready is not False)
    return ended(0, finished=report.finished)


def _container_status(container: Object, pod: Object, report: Report, started: Time, now: datetime) -> Object:
    state = _wanted_state(container, pod, report)
    is_running = state.state == "running"
    status: Object = {
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "ready": is_running if state.ready is None else state.ready,
        "started": is_running,
        "restartCount": state.restart_count,
        "state": {state.state: _details(state, started, now)},
    }
    if state.state != "waiting":
        status["containerID"] = f"testbed://{pod['metadata']['uid']}/{container['name']}/{state.restart_count}"
    return status


def _details(state: ContainerState, started: Time, now: datetime) -> Object:
    if state.state == "waiting":
        details: Object = {"reason": state.reason or "ContainerCreating", "message": state.message}
    elif state.state == "running":
        details = {"startedAt": _text(state.started or started)}
    else:
        details = {
            "exitCode": state.exit_code,
            "signal": state.exit_code - _SIGNALS if state.exit_code > _SIGNALS else None,
            "reason": state.reason or ("Completed" if state.exit_code == 0 else "Error"),
            "message": state.message,
            "startedAt": _text(state.started or started),
            "finishedAt": _text(state.finished or now),
        }
    return {key: value for key, value in details.items() if value is not None}


def _conditions(before: list[Object], report: Report, *, ready: bool, now: datetime) -> list[Object]:
    """Give the conditions, with the times of those that did not change."""
    has_ended = report.phase in ("Succeeded", "Failed")
    not_ready = {"reason": "PodCompleted"} if report.phase == "Succeeded" else {"reason": "ContainersNotReady"}
    wanted: list[Object] = [
        {"type": "PodScheduled", "status": "True"},
        {"type": "Initialized", "status": "True" if report.phase == "Running" or has_ended else "False"},
        {"type": "ContainersReady", "status": "True" if ready else "False", **({} if ready else not_ready)},
        {"type": "Ready", "status": "True" if ready else "False", **({} if ready else not_ready)},
    ]
    by_type = {condition["type"]: condition for condition in before}
    for condition in wanted:
        old = by_type.pop(condition["type"], {})
        same = old.get("status") == condition["status"]
        condition["lastTransitionTime"] = old.get("lastTransitionTime") if same else _text(now)
        condition["lastProbeTime"] = None
    return [*wanted, *by_type.values()]


def _text(moment: Time) -> str:
    """Write a moment as Kubernetes does: in whole seconds."""
    if isinstance(moment, str):
        return moment
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
