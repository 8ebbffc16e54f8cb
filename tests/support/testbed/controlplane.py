"""A control plane: etcd, kube-apiserver and kube-controller-manager, started and stopped as a test wants."""

import json
import random
import secrets
import shutil
import signal
import socket
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from support.testbed import flags
from support.testbed.binaries import Binaries, find_binaries
from support.testbed.client import Client, Object
from support.testbed.errors import ApiError, HarnessError, UnreachableError, WaitTimeoutError
from support.testbed.kubeconfig import write_kubeconfig
from support.testbed.kubectl import Kubectl
from support.testbed.processes import Program, ProgramGroup
from support.testbed.waiting import wait_for

ADMIN = "admin"
"""The user of the tests, who may do everything."""

CONTROLLER_MANAGER = "system:kube-controller-manager"
"""The user of kube-controller-manager, told apart from the tests in the audit log."""

_PORTS = range(20000, 32000)
"""Below the ports that systems hand out for outgoing connections: the port of a stopped API server stays free."""

_ATTEMPTS = 5
_SECONDS_TO_START = 60.0


class ControlPlane:
    """One control plane on this machine, for this process alone.

    It ends with this process, however that ends, and leaves no file; ``keep_logs`` saves the logs.

    Args:
        binaries: The programs; found or built by default.
        manifests: Cluster-wide objects, such as CRDs, to apply before kube-controller-manager starts. The garbage
            collector looks for new kinds every 30 s only; kinds that are there when it starts it knows at once.
        audit: Write an audit log, see ``audit_events``.
        apiserver_flags: More flags for kube-apiserver; a flag given twice counts as the last one says.
        controller_manager_flags: Likewise for kube-controller-manager.
        address: Where the API server listens.
        users: More users who may do everything, see ``kubeconfig_of``.

    Attributes:
        folder: All files of the control plane.
        logs: The folder of the logs.
        server: The address of the API server.
        ca_file: The certificate of the API server.
        kubeconfig: The kubeconfig of the administrator.
        admin: A client that may do everything.
        starts: When the API server was started again, from and until, in RFC 3339: until it has read the roles, it
            refuses what they allow.
    """

    folder: Path
    logs: Path
    server: str
    ca_file: Path
    kubeconfig: Path
    admin: Client

    def __init__(
        self,
        *,
        binaries: Binaries | None = None,
        manifests: Iterable[Object] = (),
        audit: bool = False,
        apiserver_flags: Sequence[str] = (),
        controller_manager_flags: Sequence[str] = (),
        address: str = flags.LOOPBACK,
        users: Iterable[str] = (),
    ) -> None:
        self._binaries = binaries
        self._manifests = list(manifests)
        self._audit = audit
        self._apiserver_flags = list(apiserver_flags)
        self._controller_manager_flags = list(controller_manager_flags)
        self._programs = ProgramGroup()
        self._tokens = {user: secrets.token_hex(16) for user in (ADMIN, CONTROLLER_MANAGER, *users)}
        self.starts: list[tuple[str, str]] = []
        self._address = address
        self._port = 0
        self._apiserver: Program | None = None
        self._controller_manager: Program | None = None

    # -- start and stop --------------------------------------------------------------------------------------------

    def start(self) -> Self:
        """Start it and wait until pods can be created in the namespace ``default``.

        After an error the logs are still there, and ``stop`` is still to be called; ``with`` does that by itself.

        Raises:
            HarnessError: A program is missing, ends while it starts, or is not ready within 60 s.
        """
        binaries = self._binaries = self._binaries or find_binaries()
        self._programs.open()
        self._start(binaries)
        return self

    def stop(self) -> None:
        """End all programs and remove all files; does nothing when that is done."""
        if hasattr(self, "admin"):
            self.admin.close()
        self._programs.close()
        self._apiserver = self._controller_manager = None

    def start_apiserver(self) -> None:
        """Start the API server and wait until it is ready; at the port, and with the data, that it had before."""
        begin = _now()
        self._run_apiserver()
        self._wait_ready()
        self.starts.append((begin, _now()))

    def stop_apiserver(self, *, kill: bool = False) -> None:
        """Stop the API server and wait until it has ended.

        Args:
            kill: Let it crash, without a word to those that are connected.
        """
        if self._apiserver is not None:
            self._apiserver.stop(kill=kill)
            self._apiserver = None

    def freeze_apiserver(self) -> None:
        """Let the API server hang: it takes connections and answers nothing, until it is thawed."""
        if self._apiserver is not None:
            self._apiserver.send_signal(signal.SIGSTOP)

    def thaw_apiserver(self) -> None:
        """Let a frozen API server go on where it was."""
        if self._apiserver is not None:
            self._apiserver.send_signal(signal.SIGCONT)

    def start_controller_manager(self) -> None:
        """Start kube-controller-manager and wait until it gives namespaces their ServiceAccount."""
        self._controller_manager = self._programs.start(
            "kube-controller-manager",
            [
                *flags.controller_manager_command(self.binaries, self._files, self._controller_manager_kubeconfig),
                *self._controller_manager_flags,
            ],
        )
        _wait_started(self._controller_manager, self._controllers_work)

    def stop_controller_manager(self) -> None:
        """Stop kube-controller-manager: no garbage is collected, and no namespace gets its ServiceAccount."""
        if self._controller_manager is not None:
            self._controller_manager.stop(kill=True)
            self._controller_manager = None

    def restart_controller_manager(self) -> None:
        """Start kube-controller-manager afresh, so that the garbage collector knows new kinds at once."""
        self.stop_controller_manager()
        self.start_controller_manager()

    # -- what tests use --------------------------------------------------------------------------------------------

    @property
    def binaries(self) -> Binaries:
        """The programs in use."""
        if self._binaries is None:
            raise HarnessError("the control plane has not been started")
        return self._binaries

    @property
    def programs(self) -> ProgramGroup:
        """The programs; one that a test adds, such as the operator, ends with them and has its log beside theirs."""
        return self._programs

    def kubectl(self, kubeconfig: Path | None = None) -> Kubectl:
        """Give kubectl, as administrator unless another kubeconfig is given."""
        return Kubectl(self.binaries.kubectl, kubeconfig or self.kubeconfig, self.folder / "kubectl-cache")

    def kubeconfig_of(self, user: str) -> Path:
        """Give the kubeconfig of one of the ``users``."""
        return self._write_kubeconfig(user, f"{user.replace(':', '-')}.kubeconfig")

    def audit_events(self, user: str | None = None) -> list[Object]:
        """Give the audit log so far: an ``audit.k8s.io/v1`` Event for each answered request.

        An entry is written when the request ends, so the last one may come a moment after its answer.

        Args:
            user: Only requests of this user, such as ``system:serviceaccount:a:b``.
        """
        if not self._audit:
            raise HarnessError("this control plane writes no audit log.\nWhat to do: start it with audit=True.")
        lines = self._files.audit_log.read_text().splitlines()
        events: list[Object] = [json.loads(line) for line in lines if line.endswith("}")]
        return [event for event in events if user in (None, event["user"].get("username"))]

    def create_namespace(self, name: str) -> str:
        """Create a namespace in which pods can be created at once.

        Returns:
            Its name.
        """
        self.admin.create("v1/namespaces", {"metadata": {"name": name}})
        # The admission of pods needs the ServiceAccount, which kube-controller-manager makes.
        self.admin.wait_until("v1/serviceaccounts", "default", name, bool, timeout=20)
        return name

    def keep_logs(self, folder: Path) -> Path:
        """Copy the logs to a folder that stays.

        Returns:
            The folder.
        """
        return Path(shutil.copytree(self.logs, folder, dirs_exist_ok=True))

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # -- within ----------------------------------------------------------------------------------------------------

    def _start(self, binaries: Binaries) -> None:
        self.folder, self.logs = self._programs.folder, self._programs.logs
        self._files = flags.Files(self.folder)
        self._files.write(self._tokens)
        etcd = self._programs.start("etcd", flags.etcd_command(binaries, self._files))
        _wait_started(etcd, self._files.etcd_socket.exists, interval=0.01)

        self.ca_file = self._files.certificate
        self._start_apiserver_on_free_port()
        self.kubeconfig = self._write_kubeconfig(ADMIN, "kubeconfig")
        self._controller_manager_kubeconfig = self._write_kubeconfig(
            CONTROLLER_MANAGER, "controller-manager.kubeconfig"
        )

        self._apply_manifests()
        self.start_controller_manager()

    def _start_apiserver_on_free_port(self) -> None:
        """Start the API server for the first time, at another port when somebody was faster with the first one."""
        for attempt in reversed(range(_ATTEMPTS)):
            self._port = _free_port()
            self.server = f"https://{self._address}:{self._port}"
            apiserver = self._run_apiserver()
            _wait_started(apiserver, self._certificate_written)
            self.admin = Client(self.server, ca_file=self.ca_file, token=self._tokens[ADMIN])
            try:
                self._wait_ready()
            except HarnessError:
                self.admin.close()
                if attempt == 0 or "address already in use" not in apiserver.tail():
                    raise
            else:
                return

    def _run_apiserver(self) -> Program:
        command = flags.apiserver_command(
            self.binaries, self._files, self._port, audit=self._audit, address=self._address
        )
        self._apiserver = self._programs.start("kube-apiserver", [*command, *self._apiserver_flags])
        return self._apiserver

    def _write_kubeconfig(self, user: str, name: str) -> Path:
        path = self.folder / name
        return write_kubeconfig(path, server=self.server, ca_file=self.ca_file, token=self._tokens[user])

    def _wait_ready(self) -> None:
        if self._apiserver is None:
            raise HarnessError("the API server has not been started")
        _wait_started(self._apiserver, self._ready)

    def _certificate_written(self) -> bool:
        certificate = self._files.certificate
        return certificate.exists() and "END CERTIFICATE" in certificate.read_text()

    def _ready(self) -> bool:
        try:
            return self.admin.request("GET", "/readyz") == b"ok"
        except (ApiError, UnreachableError):
            return False

    def _controllers_work(self) -> bool:
        return self.admin.exists("v1/serviceaccounts", "default", "default")

    def _apply_manifests(self) -> None:
        for manifest in self._manifests:
            # As kubectl does it, so that a later `kubectl apply --server-side` meets fields of its own.
            self.admin.apply(manifest, field_manager="kubectl", force=True)
        for manifest in self._manifests:
            if manifest["kind"] == "CustomResourceDefinition":
                name = manifest["metadata"]["name"]
                self.admin.wait_until("apiextensions.k8s.io/v1/customresourcedefinitions", name, None, _established)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _established(crd: Object) -> bool:
    conditions = crd.get("status", {}).get("conditions") or []
    return any(condition["type"] == "Established" and condition["status"] == "True" for condition in conditions)


def _wait_started(program: Program, started: Callable[[], bool], *, interval: float = 0.03) -> None:
    """Wait until a program does its work; ends at once when the program does."""

    def look() -> bool:
        program.check()
        return started()

    try:
        wait_for(look, _SECONDS_TO_START, interval=interval)
    except WaitTimeoutError:
        raise HarnessError(
            f"{program.name} is not ready after {_SECONDS_TO_START:.0f} s. The last lines of its log ({program.log}):\n"
            f"{program.tail()}"
        ) from None


def _free_port() -> int:
    for _ in range(100):
        port = random.choice(_PORTS)  # noqa: S311 - not for secrets
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise HarnessError(f"no port of {_PORTS.start}-{_PORTS.stop - 1} on 127.0.0.1 is free for the API server")
