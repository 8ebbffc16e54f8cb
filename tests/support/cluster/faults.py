"""Faults that are made through the API, and so on any cluster."""

from typing import Final

from support.cluster.live import Live

_KILL: Final = """\
import os, signal
killed = 0
for process in filter(str.isdigit, os.listdir("/proc")):
    try:
        command = open("/proc/" + process + "/cmdline", "rb").read().split(b"\\0")
    except OSError:
        continue
    if b"train.py" in command:
        os.kill(int(process), signal.SIGKILL)
        killed += 1
assert killed == 1, killed
"""


def kill_training(live: Live, pod: str, name: str = "train") -> None:
    """Kill the training in a pod such as `worker-1` with SIGKILL, by `kubectl exec`.

    The pod is made with `SHARED`.
    """
    live.kubectl("exec", f"{name}-{pod}", "--container=mindspore", "--", "python", "-c", _KILL)
