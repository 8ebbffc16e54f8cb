"""What a container is to be, as an OCI runtime takes it: as containerd makes it for a pod of the Restricted profile."""

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]

SECCOMP: Final = Path("/usr/share/containers/seccomp.json")
"""The default profile of podman and buildah, which is Docker's and containerd's: what RuntimeDefault means."""

_ARCHITECTURES: Final = {
    "x86_64": ("amd64", ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"]),
    "aarch64": ("arm64", ["SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM"]),
}
_MASKED: Final = (
    "acpi",
    "asound",
    "kcore",
    "keys",
    "latency_stats",
    "sched_debug",
    "scsi",
    "timer_list",
    "timer_stats",
)
_READ_ONLY: Final = ("bus", "fs", "irq", "sys", "sysrq-trigger")


@dataclass(frozen=True, slots=True)
class Mount:
    """Something that a container finds at a path.

    Attributes:
        destination: the path.
        source: a folder of this machine; None for an empty file system in memory.
        size: how big that may get, such as `64Mi`.
        read_only: whether it cannot be written to.
    """

    destination: str
    source: Path | None = None
    size: str = "64Mi"
    read_only: bool = False

    def render(self) -> Json:
        """As OCI has it."""
        mode = "ro" if self.read_only else "rw"
        if self.source is None:
            options = ["nosuid", "nodev", "mode=1777", f"size={self.size.removesuffix('i').lower()}", mode]
            return {"destination": self.destination, "type": "tmpfs", "source": "tmpfs", "options": options}
        return {
            "destination": self.destination,
            "type": "bind",
            "source": str(self.source),
            "options": ["bind", "nosuid", "nodev", mode],
        }


def config(
    rootfs: Path,
    args: Sequence[str],
    *,
    env: Mapping[str, str],
    user: tuple[int, int],
    mounts: Sequence[Mount] = (),
    network: str | None = None,
    memory: int | None = None,
) -> Json:
    """Give the configuration: a read-only root, no capabilities, no new privileges, the default seccomp profile.

    Args:
        rootfs: file system of the image.
        args: program and arguments.
        env: environment.
        user: numeric ids of user and group.
        mounts: in the order in which they are made.
        network: path of a network namespace; None for one with nothing in it.
        memory: bytes it may use; None for no limit.
    """
    uid, gid = user
    none: Json = {kind: [] for kind in ("bounding", "effective", "inheritable", "permitted", "ambient")}
    namespaces: list[Json] = [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")]
    namespaces.append({"type": "network", "path": network} if network else {"type": "network"})
    resources: Json = {"devices": [{"allow": False, "access": "rwm"}]}
    if memory is not None:
        resources["memory"] = {"limit": memory}
    return {
        "ociVersion": "1.0.0",
        "process": {
            "terminal": False,
            "user": {"uid": uid, "gid": gid},
            "args": list(args),
            "env": [f"{name}={value}" for name, value in env.items()],
            "cwd": "/",
            "capabilities": none,
            "noNewPrivileges": True,
        },
        "root": {"path": str(rootfs), "readonly": True},
        "hostname": "container",
        "mounts": [*_system_mounts(), *(mount.render() for mount in mounts)],
        "linux": {
            "namespaces": namespaces,
            "resources": resources,
            "maskedPaths": [f"/proc/{name}" for name in _MASKED] + ["/sys/firmware"],
            "readonlyPaths": [f"/proc/{name}" for name in _READ_ONLY],
            "seccomp": seccomp(json.loads(SECCOMP.read_text()), platform.machine()),
        },
    }


def seccomp(profile: Json, machine: str) -> Json:
    """Give what a profile of the containers project comes to, for a container without capabilities.

    Args:
        profile: as the file has it: rules with conditions.
        machine: architecture, as the kernel calls it.
    """
    name, architectures = _ARCHITECTURES[machine]
    rules: list[Json] = [
        {key: rule[key] for key in ("names", "action", "args", "errnoRet") if rule.get(key) is not None}
        for rule in profile["syscalls"]
        if _applies(rule.get("includes") or {}, name, otherwise=True)
        and not _applies(rule.get("excludes") or {}, name, otherwise=False)
    ]
    kept: Json = {key: profile[key] for key in ("defaultAction", "defaultErrnoRet") if key in profile}
    return {**kept, "architectures": architectures, "syscalls": rules}


def _applies(condition: Json, architecture: str, *, otherwise: bool) -> bool:
    """Whether a condition holds; without capabilities, one that names some never does."""
    if "caps" in condition:
        return False
    return architecture in condition["arches"] if "arches" in condition else otherwise


def _system_mounts() -> list[Json]:
    def mount(kind: str, destination: str, *options: str) -> Json:
        return {"destination": destination, "type": kind, "source": kind, "options": ["nosuid", *options]}

    return [
        mount("proc", "/proc", "noexec", "nodev"),
        mount("tmpfs", "/dev", "strictatime", "mode=755", "size=65536k"),
        mount("devpts", "/dev/pts", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"),
        mount("tmpfs", "/dev/shm", "noexec", "nodev", "mode=1777", "size=65536k"),  # noqa: S108 - of the container
        mount("mqueue", "/dev/mqueue", "noexec", "nodev"),
        mount("sysfs", "/sys", "noexec", "nodev", "ro"),
    ]
