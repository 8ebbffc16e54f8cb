"""The pods of a sample as processes: started, watched, signalled and ended as by a kubelet and the operator."""

import contextlib
import os
import re
import shutil
import signal
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from support.jobs import Json
from support.testbed.processes import Program, ProgramGroup
from support.testbed.waiting import wait_for
from support.training.containers import POD_IP, rendered_sample, started
from support.training.environment import SOURCE
from support.training.proxy import cluster_ip, forwarded

LONGEST = 300.0
"""Seconds that a start, and the end after a failure, may take: minutes only where other things run on the machine."""

_STEP = re.compile(r"\[rank (\d+) of \d+\] epoch \S+ step (\d+)/\d+ loss (\S+)")
_MARK = "MSJOB_TRAINING_POD"


class Pod:
    """A running pod.

    Attributes:
        name: as in the cluster, without the name of the job: `worker-0`.
        program: its first process.
        volumes: folder of each of its volumes.
    """

    def __init__(self, name: str, mark: str, program: Program, logs: Path, volumes: dict[str, Path]) -> None:
        self.name = name
        self.program = program
        self.volumes = volumes
        self._mark = mark
        self._logs = logs

    @property
    def code(self) -> int | None:
        """Exit code as a container's, None while it runs."""
        code = self.program.process.poll()
        return code if code is None or code >= 0 else 128 - code

    @property
    def log(self) -> str:
        """What it has printed, with the files that msrun writes for its processes."""
        files = [self.program.log, *sorted(self._logs.glob("*.log"))]
        return "".join(path.read_text(errors="replace") for path in files)

    def losses(self) -> dict[int, dict[int, str]]:
        """The losses that were printed, by rank and step."""
        found: dict[int, dict[int, str]] = {}
        for rank, step, loss in _STEP.findall(self.log):
            found.setdefault(int(rank), {})[int(step)] = loss
        return found

    def last_step(self) -> int:
        """The last step that any of its ranks has printed, 0 before the first."""
        return max((step for steps in self.losses().values() for step in steps), default=0)

    def process_ids(self, program: str = "") -> list[int]:
        """Ids of all its processes that run, those that left its process group too.

        Args:
            program: part of the command line of those that are meant.
        """
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if f"{_MARK}={self._mark}\0".encode() in (folder / "environ").read_bytes():
                    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    if program in command:
                        found.append(int(folder.name))
        return sorted(found)

    def kill(self) -> None:
        """End all its processes at once, as a container ends with its first one."""
        self.program.stop(kill=True)
        for number in self.process_ids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)

    def delete(self, grace: float) -> None:
        """End it as a pod that is deleted: SIGTERM, and SIGKILL once the grace period is over."""
        self.program.stop(timeout=grace)
        self.kill()


class TrainingJob:
    """The pods of one attempt, all started.

    Attributes:
        pods: by name.
    """

    def __init__(self, pods: dict[str, Pod]) -> None:
        self.pods = pods

    def workers(self) -> list[Pod]:
        """The Workers, in their order."""
        return [pod for name, pod in sorted(self.pods.items()) if name.startswith("worker-")]

    def codes(self) -> dict[str, int]:
        """Wait until all pods have ended, and give their exit codes."""
        wait_for(self._ended, LONGEST, what=f"all of {', '.join(self.pods)} to end\n{self.tails()}", interval=0.2)
        return {name: pod.code or 0 for name, pod in self.pods.items()}

    def wait_step(self, step: int) -> None:
        """Wait until every Worker has made so many steps; that a pod ends before is a failure."""

        def there() -> bool:
            return all(pod.last_step() >= step for pod in self.workers()) or self._ended(any)

        wait_for(there, LONGEST, what=f"step {step}", interval=0.1)
        assert not self._ended(any), f"a pod ended before step {step}:\n{self.tails()}"

    def code_of(self, pod: Pod) -> int | None:
        """Wait until a pod has ended, and give its exit code."""
        wait_for(lambda: pod.code is not None, LONGEST, what=f"{pod.name} to end", interval=0.2)
        return pod.code

    def final_losses(self) -> dict[int, float]:
        """The loss on all data that each rank printed in the end."""
        logs = "".join(pod.log for pod in self.workers())
        return {int(rank): float(loss) for rank, loss in re.findall(r"\[rank (\d+) of .*\] finished, loss (\S+)", logs)}

    def tails(self) -> str:
        """The last lines of all logs, for messages."""
        return "\n".join(f"--- {name}: exit code {pod.code}\n{pod.log[-1500:]}" for name, pod in self.pods.items())

    def _ended(self, of_them: Callable[[Iterable[bool]], bool] = all) -> bool:
        return of_them(pod.code is not None for pod in self.pods.values())


@contextlib.contextmanager
def training_job(
    sample: str, environment: Path, claims: Path, *, attempt: int = 0, env: Mapping[str, str] | None = None
) -> Iterator[TrainingJob]:
    """Start all pods of a sample as ``msjob render`` prints them, and end them in the end.

    Args:
        sample: name of the file in ``samples``, without its ending.
        environment: see ``training_environment``.
        claims: has a folder for each PersistentVolumeClaim.
        attempt: number of the attempt.
        env: variables to set besides those of the container.
    """
    address = cluster_ip()
    objects = rendered_sample(sample, address, attempt)
    names = [item["metadata"]["name"].removeprefix(f"{sample.replace('_', '-')}-") for item in objects["Pod"]]
    with ProgramGroup("ms-operator-training-") as group, contextlib.ExitStack() as stack:
        for service in objects.get("Service", []):
            port = service["spec"]["ports"][0]["port"]
            _check_free(port)
            stack.enter_context(forwarded(address, port, POD_IP))
        pods: dict[str, Pod] = {}
        for name, pod in zip(names, objects["Pod"], strict=True):
            pods[name] = _start(name, pod, group, environment, claims, env or {})
            stack.callback(pods[name].kill)
        yield TrainingJob(pods)


def _check_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((POD_IP, port))
        except OSError as error:
            raise AssertionError(
                f"port {port} of {POD_IP} is taken, and the sample's Scheduler listens there: {error}"
            ) from error


def _start(name: str, pod: Json, group: ProgramGroup, environment: Path, claims: Path, env: Mapping[str, str]) -> Pod:
    own = group.folder / name
    own.mkdir()
    shutil.copy(SOURCE / "train.py", own)  # the working folder of the image
    wanted = started(pod, claims, own)
    mark = str(own)
    image = {"PATH": f"{environment / 'bin'}:/usr/bin:/bin", "HOME": str(own), "LANG": "C.UTF-8", _MARK: mark}
    program = group.start(name, wanted.command, {**image, **wanted.env, **env}, cwd=own)
    return Pod(name, mark, program, wanted.volumes.get("logs", own / "nowhere"), wanted.volumes)
