"""What a standing cluster has on the machine, and what of it is left."""

import contextlib
import subprocess
from pathlib import Path
from typing import Final

from support.cluster import standing
from support.cluster.places import INSIDE

_CONTROL_GROUPS: Final = Path("/sys/fs/cgroup")
_NAMESPACES: Final = ("net", "pid", "mnt")


class Traces:
    """The machine as it is when this is made, and from `note` on what a cluster has on it."""

    def __init__(self) -> None:
        self._before = _machine()
        self._works: set[Path] = set()
        self._namespaces: set[str] = set()

    def note(self) -> bool:
        """Note what the cluster that runs has; tell whether one does."""
        with contextlib.suppress(OSError, ValueError):
            shell = int((standing.kubeconfig().parent / "pid").read_text())
            own = _namespaces("self")
            for process in _descendants(shell):
                work = _environment(process).get(INSIDE)
                if work is not None and (found := _namespaces(process) - own):
                    self._works.add(Path(work))
                    self._namespaces |= found
        return bool(self._works)

    def server(self) -> int:
        """The process id of the first process in the namespaces of the cluster."""
        inside = {name for name in self._namespaces if name.startswith("pid:")}
        return min(process for process in _processes() if _namespaces(process) & inside)

    def left(self) -> list[str]:
        """What there is of the clusters that were noted: processes, files, control groups."""
        groups = {work.name for work in self._works}
        found = [f"folder {work}" for work in self._works if work.exists()]
        for folder in (_CONTROL_GROUPS, *_CONTROL_GROUPS.iterdir()):
            found += [f"control group {folder / group}" for group in groups if (folder / group).exists()]
        for process in _processes():
            with contextlib.suppress(OSError):
                group = Path(f"/proc/{process}/cgroup").read_text()
                if _namespaces(process) & self._namespaces or any(name in group for name in groups):
                    found.append(f"process {process}")
        return found

    def changed(self) -> list[str]:
        """What the machine has now that it had not before, or the other way round."""
        now = _machine()
        return sorted(f"+ {item}" for item in now - self._before) + sorted(f"- {item}" for item in self._before - now)


def _machine() -> set[str]:
    """Mounts, network devices, named network namespaces, firewall rules, and folders of kubelet, containerd and CNI."""
    found = {f"mount {line.split()[1]}" for line in Path("/proc/self/mounts").read_text().splitlines()}
    folders = (
        "/sys/class/net",
        "/run/netns",
        "/run",
        "/var/lib",
        "/var/log",
        "/etc",
        str(standing.kubeconfig().parent),
    )
    for folder in map(Path, folders):
        found |= {str(path) for path in folder.iterdir()} if folder.is_dir() else set()
    for program in ("iptables-save", "ip6tables-save"):
        with contextlib.suppress(FileNotFoundError):
            listed = subprocess.run([program], check=False, capture_output=True, text=True).stdout
            found |= {f"{program}: {line}" for line in listed.splitlines() if line.startswith("-A")}
    return found


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()]


def _descendants(ancestor: int) -> list[int]:
    parents = {}
    for process in _processes():
        with contextlib.suppress(OSError):
            parents[process] = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    found = [ancestor]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found


def _namespaces(process: int | str) -> set[str]:
    with contextlib.suppress(OSError):
        return {str(Path(f"/proc/{process}/ns/{kind}").readlink()) for kind in _NAMESPACES}
    return set()


def _environment(process: int) -> dict[str, str]:
    with contextlib.suppress(OSError):
        items = Path(f"/proc/{process}/environ").read_text(errors="replace").split("\0")
        return dict(item.split("=", 1) for item in items if "=" in item)
    return {}
