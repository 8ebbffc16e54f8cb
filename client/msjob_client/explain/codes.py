"""What an exit code means, and what to do about it.

Signals and the codes of shells are those of every Linux container. What MindSpore does was measured with 2.10: a
process whose peer or Scheduler is lost signals itself (143), or ends with 1 where it is process 1 of its container; one
that waits for others in vain ends with 1 after MS_TOPO_TIMEOUT.
"""

import signal
from collections.abc import Mapping
from typing import Final

from msjob_client.job import LastFailure

_OOM: Final = "OOMKilled"
_SIGNAL: Final = 128
_MEANINGS: Final[Mapping[int, str]] = {
    0: "it ended well",
    1: "an error that its program did not handle; its log says which",
    2: "wrong use of its program, or a script that Python cannot open",
    126: "its command is there and cannot be executed",
    127: "its command is not in the image",
    128: "the container could not be started",
    134: "it aborted itself (SIGABRT), mostly after a failed check in native code",
    135: "a bus error (SIGBUS), mostly shared memory that is full: /dev/shm has 64 MiB unless a volume says otherwise",
    137: "it was killed (SIGKILL)",
    139: "it crashed in native code (SIGSEGV)",
    143: "it was told to stop (SIGTERM): by the kubelet, or by MindSpore once it had lost its Scheduler or a peer",
    255: "its program ended with -1",
}
_ADVICE: Final[Mapping[int, str]] = {
    2: "check command and args of container mindspore, and that the script is in the image or mounted",
    126: "make the command executable, or run it with its interpreter",
    127: "check command and args of container mindspore against the image",
    128: "check command and args of container mindspore against the image",
    134: "read the end of the log; native code says there what it checked",
    135: "mount an emptyDir with medium Memory at /dev/shm",
    139: "check that driver, CANN or CUDA and MindSpore of the image fit together",
}


def meaning(code: int, reason: str = "") -> str:
    """What an exit code says.

    Args:
        code: Of a container.
        reason: That the kubelet gives with it.

    Returns:
        Half a sentence.
    """
    if reason == _OOM:
        return "it used more memory than its limit and was killed (SIGKILL)"
    if code in _MEANINGS:
        return _MEANINGS[code]
    try:
        return f"signal {signal.Signals(code - _SIGNAL).name}"
    except ValueError:
        return "a code of its own program"


def advice(failure: LastFailure) -> str:
    """What to do about a failure; empty if nothing can be said that would fit all."""
    match failure.reason:
        case "OOMKilled":
            return "raise the memory limit of container mindspore, or lower batch size or workers of the data set"
        case "Evicted":
            return "ask for what the pod needs in resources.requests: nodes evict those first that use more"
        case "NodeLost" | "NodeShutdown" | "Deleted" | "Preempting" | "Preempted":
            return "with restartPolicy OnFailure such a job goes on by itself, as disruptions do not count"
    return _ADVICE.get(failure.exit_code or 0, "")
