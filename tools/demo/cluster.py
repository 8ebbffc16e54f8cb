"""All programs of the demo: the control plane, kube-scheduler, kwok and the operator. They end with this process."""

import json
import queue
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from demo import operator, scheduling, stages
from demo.nodes import nodes
from demo.operator import Installed
from demo.sample import Sample
from demo.screen import Screen
from demo.stages import Fault
from support.testbed.binaries import find_all
from support.testbed.controlplane import ControlPlane
from support.testbed.progress import Progress
from support.testbed.waiting import wait_for

if TYPE_CHECKING:
    from support.testbed.processes import Program

_LOG_LINE: Final = "This pod is simulated: nothing runs in it, and so it prints nothing else."

_RUNS_KEPT: Final = 10
"""Runs whose logs are kept."""

_SECONDS_TO_STOP: Final = 5.0
"""For the operator, which has a Node.js to end."""


class Cluster:
    """A cluster with simulated nodes.

    Args:
        sample: What is to fit on its nodes.
        faults: Pods that fail.
        progress: Is told what is being built.

    Attributes:
        node_names: The nodes.
        control_plane: The control plane, see there.
    """

    def __init__(self, sample: Sample, faults: Iterable[Fault], progress: Progress) -> None:
        self._sample = sample
        self._faults = list(faults)
        binaries, self._simulators = find_all(progress)
        # By the address of the Node: its name is known to nobody.
        self.control_plane = ControlPlane(
            binaries=binaries, apiserver_flags=["--kubelet-preferred-address-types=InternalIP"]
        )
        self._operator: Program | None = None
        self.node_names: list[str] = []

    def start(self) -> None:
        """Start the control plane and all that plays nodes; they need not be ready yet.

        Raises:
            HarnessError: A program ends.
        """
        self.control_plane.start()
        folder, kubeconfig = self.control_plane.folder, self.control_plane.kubeconfig
        for node in nodes(self._sample.jobs):
            self.control_plane.admin.create("v1/nodes", node)
            self.node_names.append(node["metadata"]["name"])

        config = folder / "scheduler.json"
        config.write_text(scheduling.configuration(kubeconfig, self._sample.schedulers))
        self._run("kube-scheduler", [self._simulators.kube_scheduler, f"--config={config}", "--secure-port=0"])

        port = _free_port()
        log = folder / "simulated.log"
        log.write_text(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} stdout F {_LOG_LINE}\n")
        config = folder / "kwok.yaml"
        config.write_text(stages.configuration(self._faults, longest=self._sample.longest) + stages.logs(log))
        kwok: list[str | Path] = [
            self._simulators.kwok,
            f"--kubeconfig={kubeconfig}",
            f"--config={config}",
            "--manage-all-nodes=true",
        ]
        kwok += ["--node-ip=127.0.0.1", f"--node-port={port}", f"--server-address=127.0.0.1:{port}"]
        self._run("kwok", kwok)

    def wait_ready(self) -> None:
        """Wait until pods can be put on the nodes.

        Raises:
            HarnessError: A program ended.
        """

        def ready() -> bool:
            self.check()
            return all(not node["spec"].get("taints") for node in self.control_plane.admin.list("v1/nodes"))

        wait_for(ready, 60, what="the simulated nodes to be ready")

    def start_operator(self, installed: Installed) -> None:
        """Start the operator and wait until it works.

        Raises:
            HarnessError: It ends.
        """
        self._operator = operator.start(self.control_plane, installed)
        operator.wait_works(self._operator)

    def check(self) -> None:
        """Check that all programs run.

        Raises:
            HarnessError: One has ended.
        """
        self.control_plane.programs.check()

    @property
    def operator_ended(self) -> bool:
        """Whether the operator has ended by itself, as it does when somebody uninstalls it.

        Raises:
            HarnessError: Another program has ended.
        """
        self.control_plane.programs.check(but=operator.NAME)
        return self._operator is not None and self._operator.process.poll() is not None

    def create(self, item: dict[str, Any]) -> None:
        """Apply any object."""
        self.control_plane.admin.apply(item, field_manager="demo", force=True)

    def run(
        self,
        screen: Screen,
        *command: str,
        stdin: str | None = None,
        limit: float = 60,
        meanwhile: Callable[[str], None] = lambda _: None,
    ) -> int:
        """Show a command and what it prints, as it prints it.

        Args:
            screen: Where to show it.
            command: ``kubectl`` or ``msjob``, with arguments.
            stdin: What it reads.
            limit: Seconds after which it is killed.
            meanwhile: Called with each line that it has printed.

        Returns:
            Its exit code; 124 if it was killed.

        Raises:
            HarnessError: A program of the cluster has ended meanwhile.
        """
        screen.command(command)
        with self._popen(command, stdin) as process:
            try:
                return self._show(screen, process, time.monotonic() + limit, meanwhile)
            except BaseException:
                process.kill()
                raise

    def read(self, *command: str, stdin: str | None = None) -> tuple[int, str, str]:
        """Run a command without showing it; its exit code, standard output and standard error."""
        with self._popen(command, stdin, stderr=subprocess.PIPE) as process:
            try:
                out, err = process.communicate(timeout=60)
            except BaseException:
                process.kill()
                raise
            return process.returncode, out, err

    def keep_logs(self, folder: Path) -> str:
        """Copy the logs to a folder of their own in a folder that stays.

        Returns:
            A sentence that says where they are, or why nowhere; empty if there are none.
        """
        if not hasattr(self.control_plane, "logs"):
            return ""
        try:
            logs = self.control_plane.keep_logs(folder / time.strftime("%Y%m%d-%H%M%S"))
        except OSError as error:  # a read-only checkout, a full disk: what led here is of more interest
            return f"The logs of all programs cannot be kept in {folder}: {error.strerror or 'not all can be copied'}."
        for old in sorted(folder.iterdir())[:-_RUNS_KEPT]:
            shutil.rmtree(old, ignore_errors=True)
        return f"The logs of all programs are in {logs}."

    def close(self) -> None:
        """End all programs and remove all files; nothing cuts that short."""
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        if self._operator is not None:
            # In order: it has processes of its own.
            self._operator.stop(timeout=_SECONDS_TO_STOP)
        self.control_plane.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, name: str, command: Sequence[str | Path]) -> None:
        self.control_plane.programs.start(name, command)

    def _popen(
        self, command: Sequence[str], stdin: str | None, *, stderr: int = subprocess.STDOUT
    ) -> subprocess.Popen[str]:
        """Start a command that ends with the programs of the cluster, at the latest."""
        programs = {"kubectl": self.control_plane.binaries.kubectl, "msjob": Path(sys.executable).with_name("msjob")}
        process = subprocess.Popen(
            [programs[command[0]], *command[1:]],
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            errors="replace",
            env={
                **operator.environment(self.control_plane),
                "KUBECONFIG": str(self.control_plane.kubeconfig),
                "KUBECACHEDIR": str(self.control_plane.folder / "kubectl-cache"),
                "KUBERC": "off",
            },
            process_group=self.control_plane.programs.process_group,
        )
        if stdin is not None and process.stdin is not None:
            with process.stdin as pipe:
                pipe.write(stdin)
            process.stdin = None
        return process

    def _show(
        self, screen: Screen, process: subprocess.Popen[str], until: float, meanwhile: Callable[[str], None]
    ) -> int:
        lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()

        def read() -> None:
            for line in process.stdout or ():
                lines.put(line)
            lines.put(None)

        threading.Thread(target=read, daemon=True).start()
        while True:
            try:
                line = lines.get(timeout=0.5)
            except queue.Empty:
                self.check()
                if time.monotonic() > until:
                    process.kill()
                    return 124
                continue
            if line is None:
                return process.wait()
            screen.line(line.rstrip("\n"))
            meanwhile(line)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def to_json(items: Iterable[dict[str, Any]]) -> str:
    """Objects as text that kubectl reads."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)})
