"""Constructs that misbehave, for tests of the construct worker. What one does depends on the name of the job."""

import os
import subprocess
import sys
import time
from typing import Any

from msjob.api import Role
from msjob.workload.construct import MSJobWorkload


class OddWorkload(MSJobWorkload):
    """Well-behaved but for jobs of certain names."""

    def pod(self, role: Role, *, host: bool) -> dict[str, Any]:
        """Do what the name of the job says."""
        match self.job.name:
            case "hangs":
                time.sleep(600)
            case "raises":
                raise LookupError("no such pool")
            case "raises-much":
                raise LookupError("x" * 1_000_000 + "\udcff")
            case "exits":
                sys.exit(3)
            case "exits-hard":
                os._exit(3)
            case "prints":
                print("hello from the construct")  # noqa: T201 - a construct that prints
                print("and its errors \u00fc", file=sys.stderr)  # noqa: T201 - a construct that prints
                os.write(1, b"\x00\x00\x00\x02{}")
                print("x" * 100_000, file=sys.stderr)  # noqa: T201 - a construct that prints
            case "reads":
                sys.stdin.read()
            case "leaves-a-child":
                # Out of the process group, with the streams of the worker.
                subprocess.Popen(["/bin/sleep", "5"], start_new_session=True)
            case "slow":
                time.sleep(0.4)
        return super().pod(role, host=host)


class NotAWorkload:
    """Not what `--job-construct` takes."""
