"""Let all nodes of a cluster pull an image before it is needed, so that no test counts the minutes that this takes."""

import time
from typing import Final

from support.testbed.client import Client, Object
from support.testbed.errors import HarnessError, WaitTimeoutError
from support.testbed.progress import Progress

_NAMESPACE: Final = "default"
_DAEMON_SETS: Final = "apps/v1/daemonsets"
_MINUTES: Final = 20


def pull(client: Client, name: str, image: str, progress: Progress) -> None:
    """Let each node that takes pods run the image once.

    Args:
        client: Of an administrator.
        name: What the image is called here, such as `training`.
        image: The image, which has Python.
        progress: Is told what takes long.

    Raises:
        HarnessError: A node cannot run it.
    """
    start = time.monotonic()
    progress(f"each node pulls {image}")
    name = f"msjob-e2e-{name}"
    if client.exists(_DAEMON_SETS, name, _NAMESPACE):
        _remove(client, name)  # a run that was killed left it
    client.create(_DAEMON_SETS, _daemon_set(name, image), _NAMESPACE)
    try:
        client.wait_until(_DAEMON_SETS, name, _NAMESPACE, _everywhere, _MINUTES * 60)
    except WaitTimeoutError as error:
        waiting = [
            f"{pod['spec'].get('nodeName')}: {_why(pod)}"
            for pod in client.pods(_NAMESPACE, f"app={name}")
            if not _ready(pod)
        ]
        raise HarnessError(
            f"{image} does not run on every node after {_MINUTES} min: {'; '.join(waiting)}.\n"
            "What to do: push it to where the nodes can pull it without a secret, or load it into them."
        ) from error
    finally:
        _remove(client, name)
    progress(f"they have it after {time.monotonic() - start:.0f} s")


def _remove(client: Client, name: str) -> None:
    client.delete(_DAEMON_SETS, name, _NAMESPACE, propagation="Foreground")
    client.wait_gone(_DAEMON_SETS, name, _NAMESPACE, timeout=120)


def _daemon_set(name: str, image: str) -> Object:
    container = {
        "name": "pull",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python", "-c", "import time; time.sleep(86400)"],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    spec = {
        "containers": [container],
        "terminationGracePeriodSeconds": 0,
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    }
    labels = {"app": name}
    return {
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }


def _everywhere(item: Object) -> bool:
    status = item.get("status", {})
    wanted, ready = (int(status.get(key, 0)) for key in ("desiredNumberScheduled", "numberReady"))
    return bool(status.get("observedGeneration") == item["metadata"]["generation"] and 0 < wanted == ready)


def _ready(pod: Object) -> bool:
    conditions = pod.get("status", {}).get("conditions") or []
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)


def _why(pod: Object) -> str:
    for status in pod.get("status", {}).get("containerStatuses") or []:
        waiting = (status.get("state") or {}).get("waiting")
        if waiting:
            return f"{waiting.get('reason', '')} {waiting.get('message', '')}".strip()
    return str(pod.get("status", {}).get("phase", "not there"))
