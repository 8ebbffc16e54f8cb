"""containerd, which runs the containers of the node, and keeps their images from one run to the next."""

import contextlib
import fcntl
import subprocess
from pathlib import Path
from typing import Final, TextIO

from support.cluster.places import BRIDGE, PAUSE, POD_RANGE
from support.testbed.errors import HarnessError
from support.testbed.processes import Program, ProgramGroup
from support.testbed.waiting import wait_for

_CNI_PLUGINS: Final = "/usr/lib/cni"
"""Where Debian's containernetworking-plugins are."""

_SECONDS_TO_START: Final = 30.0

_CONFIG: Final = """\
version = 2
root = "{store}"
state = "{state}"
[grpc]
  address = "{socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  disable_apparmor = true
  # Who lacks CAP_SYS_RESOURCE, as a container may, cannot lower it; runc would fail.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{plugins}"
    conf_dir = "{network}"
"""

_NETWORK: Final = f"""\
{{"cniVersion": "0.4.0", "name": "pods", "plugins": [
  {{"type": "bridge", "bridge": "{BRIDGE}", "isGateway": true, "isDefaultGateway": true, "hairpinMode": true,
    "ipam": {{"type": "host-local", "ranges": [[{{"subnet": "{POD_RANGE}"}}]]}}}},
  {{"type": "portmap", "capabilities": {{"portMappings": true}}}}]}}
"""


class Containerd:
    """containerd of one node.

    Args:
        programs: To start it in.
        store: The folder of the images.

    Attributes:
        socket: Where it is asked.
    """

    def __init__(self, programs: ProgramGroup, store: Path) -> None:
        self._programs = programs
        self._store = store
        self._folder = programs.folder / "node"
        self.socket = self._folder / "containerd.sock"
        self._config = self._folder / "containerd.toml"
        self._program: Program | None = None
        self._lock: TextIO | None = None

    def prepare(self) -> None:
        """Write its files, and start it without a container of an earlier run.

        Raises:
            HarnessError: Another cluster uses the folder of the images, or it does not start.
        """
        network = self._folder / "network"
        network.mkdir(parents=True)
        (network / "10-pods.conflist").write_text(_NETWORK)
        self._config.write_text(
            _CONFIG.format(
                store=self._store,
                state=self._folder / "state",
                socket=self.socket,
                pause=PAUSE,
                plugins=_CNI_PLUGINS,
                network=network,
            )
        )
        self._store.mkdir(parents=True, exist_ok=True)
        self._lock = _held(self._store / "used.lock")
        self.start()
        if self.containers():
            # A run that was killed left them in the records.
            self.remove_containers()
            self.stop()
            self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._program = self._programs.start("containerd", ["containerd", "--config", self._config])
        program = self._program

        def answers() -> bool:
            program.check()
            return self.ctr("version", check=False).returncode == 0

        wait_for(answers, _SECONDS_TO_START, what="containerd to answer")

    def stop(self, *, kill: bool = False) -> None:
        """Stop it; containers go on."""
        if self._program is not None:
            self._program.stop(kill=kill)
            self._program = None

    def close(self) -> None:
        """End all containers and let others have the folder of the images."""
        if self._program is not None and self._program.running:
            self.remove_containers()
        self.stop()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    # -- containers ------------------------------------------------------------------------------------------------

    def containers(self) -> list[str]:
        """The ids of all containers, of pods too."""
        return self.ctr("containers", "list", "--quiet").stdout.split()

    def kill(self, container: str, signal: str = "SIGKILL") -> None:
        """Send the first process of a container a signal, as the kernel does."""
        self.ctr("tasks", "kill", "--signal", signal, container)

    def process_id(self, container: str) -> int:
        """The process id of the first process of a container."""
        found = self._running().get(container)
        if found is None:
            raise HarnessError(f"no container {container} runs")
        return found

    def runs(self, container: str) -> bool:
        """Whether the first process of a container has not ended."""
        return container in self._running()

    def remove_containers(self) -> None:
        """End all containers at once, and forget them."""
        with contextlib.suppress(HarnessError):
            for task in self.ctr("tasks", "list", "--quiet").stdout.split():
                self.ctr("tasks", "delete", "--force", task, check=False)
            for container in self.containers():
                self.ctr("containers", "delete", container, check=False)

    # -- images ----------------------------------------------------------------------------------------------------

    def images(self) -> set[str]:
        """The names of the images that are there."""
        return set(self.ctr("images", "list", "--quiet").stdout.split())

    def load(self, archive: Path) -> None:
        """Take an image from an archive, and unpack it, so that its first container starts at once."""
        self.ctr("images", "import", archive)

    def tag(self, image: str, name: str) -> None:
        """Give an image another name."""
        self.ctr("images", "tag", "--force", image, name)

    def remove_image(self, image: str) -> None:
        """Forget an image."""
        self.ctr("images", "delete", "--sync", image, check=False)

    def ctr(self, *arguments: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run ctr in the namespace of Kubernetes.

        Raises:
            HarnessError: It failed.
        """
        command: list[str | Path] = ["ctr", "--address", self.socket, "--namespace", "k8s.io", *arguments]
        done = subprocess.run(command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if check and done.returncode:
            raise HarnessError(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()}")
        return done

    def _running(self) -> dict[str, int]:
        lines = self.ctr("tasks", "list").stdout.splitlines()[1:]
        return {name: int(pid) for name, pid, status in map(str.split, lines) if status == "RUNNING"}


def _held(path: Path) -> TextIO:
    lock = path.open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise HarnessError(
            f"another cluster uses the images in {path.parent}.\n"
            "What to do: end it (make cluster-down), or set MSJOB_CLUSTER_STORE to another folder."
        ) from None
    return lock
