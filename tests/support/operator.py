"""The operator as a program of its own, with its own ServiceAccount and no other rights, as in a cluster.

It runs as ``python -m msjob_controller.main``; its JSON log is beside those of the control plane. Most tests share one
operator. A test that kills operators, or gives them flags, starts its own, and the shared one rests meanwhile: two
operators without leader election would both do all the work.
"""

import base64
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from prometheus_client.parser import text_string_to_metric_families

from support.testbed.controlplane import ControlPlane
from support.testbed.errors import NotFoundError
from support.testbed.kubeconfig import write_kubeconfig
from support.testbed.serviceaccount import mint_token
from support.testbed.waiting import wait_for

NAMESPACE: Final = "ms-operator-system"
ACCOUNT: Final = "ms-operator-controller-manager"
USER: Final = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
"""The operator in the audit log."""

_TAIL: Final = 80
"""Lines of the log that a failed test shows."""


class Operator:
    """One run of the operator.

    Args:
        control_plane: to work for.
        name: of its log, which later runs of the same name go on with.
        arguments: more flags.
        env: more variables.
        account: its ServiceAccount, in the operator's namespace.
        kubeconfig: an account to use instead of a ServiceAccount, such as the administrator's.
        server: where it finds the API server; by default there, else at a `support.gate.Gate` before it.

    Attributes:
        credential: what the API server calls its token in the audit log, by which operators of one account are told
            apart; empty with a kubeconfig of the test's own.
    """

    def __init__(
        self,
        control_plane: ControlPlane,
        name: str = "operator",
        *arguments: str,
        env: Mapping[str, str] | None = None,
        account: str = ACCOUNT,
        kubeconfig: Path | None = None,
        server: str | None = None,
    ) -> None:
        self.credential = ""
        if kubeconfig is None:
            token = mint_token(control_plane.admin, NAMESPACE, account)
            self.credential = f"JTI={_claims(token)['jti']}"
            kubeconfig = write_kubeconfig(
                control_plane.folder / f"{name}.kubeconfig",
                server=server or control_plane.server,
                ca_file=control_plane.ca_file,
                token=token,
            )
        self._judged = 0
        self._health, self._metrics = free_port(), free_port()
        log = control_plane.logs / f"{name}.log"
        self._skip = log.stat().st_size if log.exists() else 0
        command = [
            *(sys.executable, "-m", "msjob_controller.main"),
            *("--kubeconfig", str(kubeconfig)),
            *("--health-probe-bind-address", f"127.0.0.1:{self._health}"),
            *("--metrics-bind-address", f"127.0.0.1:{self._metrics}"),
            *arguments,
        ]
        self._program = control_plane.programs.start(name, command, program_environment(env))

    # -- what it does ----------------------------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._program.process.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._program.running

    def text(self) -> str:
        """All that this run has printed."""
        with self._program.log.open("rb") as log:
            log.seek(self._skip)
            return log.read().decode(errors="replace")

    def tail(self, namespace: str | None) -> str:
        """The last lines of that.

        Args:
            namespace: leave out what is about jobs of other namespaces, which are on their way out.
        """
        lines = [line for line in self.text().splitlines() if '"job": "' not in line or f'"job": "{namespace}/' in line]
        return "\n".join(lines[-_TAIL:])

    def log(self, message: str | None = None) -> list[dict[str, Any]]:
        """The log of this run; all of it must be JSON.

        Args:
            message: only entries with this message, such as ``operator.synced``.
        """
        # Coverage, and nothing else, may write a line of its own when a process is killed.
        entries = [json.loads(line) for line in self.text().splitlines() if line]
        return [entry for entry in entries if message in (None, entry["msg"])]

    def faults(self) -> list[dict[str, Any]]:
        """What the log holds of faults that nobody provoked, each told once: a test must not pass over one."""
        lines = [line for line in self.text().splitlines() if line.startswith("{")][self._judged :]
        self._judged += len(lines)
        entries = [json.loads(line) for line in lines]
        return [
            entry for entry in entries if entry["level"] in ("error", "critical") and entry["msg"] != "operator.failed"
        ]

    def get(self, path: str) -> tuple[int, str]:
        """Ask one of its endpoints.

        Args:
            path: ``/healthz``, ``/readyz`` or ``/metrics``.

        Returns:
            Status code and body; 0 when nothing listens.
        """
        port = self._metrics if path == "/metrics" else self._health
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def metric(self, name: str, **labels: str) -> float:
        """The value of a metric, summed over all its series with these labels; 0 when there is none."""
        families = text_string_to_metric_families(self.get("/metrics")[1])
        samples = [sample for family in families for sample in family.samples if sample.name == name]
        return sum(sample.value for sample in samples if labels.items() <= sample.labels.items())

    def wait_ready(self, timeout: float = 30) -> "Operator":
        """Wait until it answers that it is ready, which as a leader it is with full caches only."""
        self._wait(lambda: self.get("/readyz")[0] == 200, timeout, "the operator to be ready")
        return self

    def wait_leading(self, timeout: float = 30) -> "Operator":
        """Wait until it has full caches and works."""
        self._wait(lambda: "operator.synced" in self.text(), timeout, "the operator to lead")
        return self.wait_ready(timeout)

    # -- its end ---------------------------------------------------------------------------------------------------

    def terminate(self, timeout: float = 20) -> tuple[int, float]:
        """Ask it to end, and wait.

        Returns:
            Exit code and the seconds that it took.
        """
        started = time.monotonic()
        self._program.send_signal(signal.SIGTERM)
        return self.wait_ended(timeout), time.monotonic() - started

    def wait_ended(self, timeout: float = 20) -> int:
        """Wait until it has ended by itself, and give its exit code."""
        return self._program.process.wait(timeout)

    def kill(self) -> None:
        """Kill it, as a crash of its node would, and wait until it has ended."""
        self._program.stop(kill=True)

    # -- its construct worker --------------------------------------------------------------------------------------

    def workers(self) -> list[int]:
        """Process ids of its construct workers: one at most, and none while there is nothing to render."""
        return [pid for pid, parent, _, command in processes() if parent == self.pid and "render_worker" in command]

    def nodes(self) -> list[int]:
        """Process ids of the Node processes of its construct workers."""
        groups = self.workers()
        return [pid for pid, _, group, command in processes() if group in groups and "node" in command.split()[0]]

    def _wait(self, true: Any, timeout: float, what: str) -> None:
        def look() -> bool:
            self._program.check()
            return bool(true())

        wait_for(look, timeout, what=what)


class Operators:
    """The operators of a test run.

    Args:
        control_plane: to work for; ``dist/`` is installed in it.

    Attributes:
        credentials: those of all operators so far, see `Operator`.
    """

    def __init__(self, control_plane: ControlPlane) -> None:
        self.credentials: set[str] = set()
        self._control_plane = control_plane
        self._shared: Operator | None = None
        self._own: list[Operator] = []

    def shared(self) -> Operator:
        """The operator that tests share, running and ready."""
        if self._shared is None or not self._shared.running:
            self._shared = Operator(self._control_plane)
            self.credentials.add(self._shared.credential)
            self._shared.wait_leading()
        return self._shared

    def rest(self) -> None:
        """End the operator that tests share, for a test that starts one in a way of its own."""
        if self._shared is not None:
            self._shared.terminate()
            self._shared = None

    def start(
        self,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        account: str = ACCOUNT,
        kubeconfig: Path | None = None,
        server: str | None = None,
    ) -> Operator:
        """Start an operator for one test, which need not be ready yet; the shared one ends first. See `Operator`."""
        self.rest()
        name = f"operator-{len(self._own) + 1}"
        operator = Operator(
            self._control_plane, name, *arguments, env=env, account=account, kubeconfig=kubeconfig, server=server
        )
        self._own.append(operator)
        self.credentials.add(operator.credential)
        return operator

    def end_own(self) -> None:
        """End the operators of a test, which may have ended already, and free the Lease that one may have left."""
        for operator in self._own:
            if operator.running:
                operator.terminate()
        self._own.clear()
        with contextlib.suppress(NotFoundError):
            self._control_plane.admin.delete("coordination.k8s.io/v1/leases", "ms-operator-leader", NAMESPACE)

    def faults(self) -> list[dict[str, Any]]:
        """See `Operator.faults`."""
        used = [*self._own, *([self._shared] if self._shared else [])]
        return [fault for operator in used for fault in operator.faults()]

    def close(self) -> None:
        """End all, in order, so that what they measured of themselves (coverage) is written."""
        self.end_own()
        if self._shared is not None and self._shared.running:
            self._shared.terminate()

    def bring_back_apiserver(self) -> None:
        """Start the API server again, and kube-controller-manager afresh, which would take half a minute to notice.

        Until then no namespace would get its ServiceAccount, and so no test its namespace.
        """
        self._control_plane.start_apiserver()
        self._control_plane.restart_controller_manager()

    def tails(self, namespace: str | None) -> str:
        """The last lines of the logs of all that have run in this test, see `Operator.tail`."""
        used = [*self._own, *([self._shared] if self._shared else [])]
        return "\n\n".join(operator.tail(namespace) for operator in used)


def program_environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for programs of this checkout: this process's, without what steers kubeconfigs and imports.

    Args:
        env: variables to add.
    """
    steering = ("JSII_", "KUBE", "POD_", "PYTEST_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(steering)}
    return {**kept, "PYTHONUNBUFFERED": "1", **(env or {})}


def processes() -> list[tuple[int, int, int, str]]:
    """All processes of this machine that have not ended: id, id of the parent, of the group, and command line."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,pgid=,args="],  # noqa: S607 - ps is where the system has it
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    rows = (line.split(None, 3) for line in listed)
    # One that has ended is listed until its parent has taken note.
    return [
        (int(row[0]), int(row[1]), int(row[2]), row[3]) for row in rows if len(row) > 3 and "<defunct>" not in row[3]
    ]


def free_port() -> int:
    """A TCP port of this machine that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _claims(token: str) -> dict[str, Any]:
    """What a token says; the API server checks it, a test need not."""
    payload = token.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims
