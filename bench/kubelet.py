"""What the benchmark, as the kubelet, reports of pods."""

import time
from typing import Any


def running() -> dict[str, Any]:
    """The status of a pod whose container runs."""
    return {"phase": "Running", "containerStatuses": [_container({"running": {"startedAt": _now()}})]}


def succeeded() -> dict[str, Any]:
    """The status of a pod that has done its work."""
    return {"phase": "Succeeded", "containerStatuses": [_container(_ended(0, "Completed"))]}


def failed() -> dict[str, Any]:
    """The status of a pod whose container ended with exit code 1."""
    return {"phase": "Failed", "containerStatuses": [_container(_ended(1, "Error"))]}


def _ended(code: int, reason: str) -> dict[str, Any]:
    return {"terminated": {"exitCode": code, "reason": reason, "startedAt": _now(), "finishedAt": _now()}}


def _container(state: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": "mindspore",
        "image": "mindspore:test",
        "imageID": "",
        "ready": "running" in state,
        "restartCount": 0,
        "state": state,
    }


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
