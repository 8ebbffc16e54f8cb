"""End with the process that started this one, also when that is killed and can tell nobody."""

import os
import signal
import threading
import time

_EVERY = 0.3


def end_with(parent: int) -> None:
    """Send this process SIGTERM once its parent is gone.

    A process whose parent ends gets another one, and is told by nobody. That is looked at again and again, and not left
    to ``PR_SET_PDEATHSIG``, which exists on Linux alone.

    Args:
        parent: The process id of the parent as the parent itself knows it: it may be gone already.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_EVERY)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="owner", daemon=True).start()
