"""A rendered container as a process: what a kubelet makes of command, environment and volumes."""

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from support.jobs import Json
from support.programs import ROOT, run_program
from support.rendering import main_container

POD_IP = "127.0.0.1"
"""The address of every pod. msrun starts a MindSpore Scheduler where the address in its command line is its own one."""

_REFERENCE = re.compile(r"\$\$|\$\(([\w.-]+)\)")


@dataclass(frozen=True, slots=True)
class Started:
    """What to start for a pod.

    Attributes:
        command: program and arguments.
        env: all variables of the pod; a container has no other but those of its image.
        volumes: folder of each volume by its name.
    """

    command: list[str]
    env: dict[str, str]
    volumes: dict[str, Path]


def rendered_sample(sample: str, address: str, attempt: int = 0) -> dict[str, list[Json]]:
    """Give the objects that ``msjob render`` prints for a sample, by kind.

    Args:
        sample: name of the file in ``samples``, without its ending.
        address: cluster IP of the Service.
        attempt: number of the attempt.
    """
    file = ROOT / "samples" / f"{sample}.yaml"
    facts = ("--scheduler-ip", address, "--attempt", str(attempt))
    result = run_program(sys.executable, "-m", "msjob", "render", "-f", file, "-o", "json", *facts)
    assert result.returncode == 0, result.stderr
    found: dict[str, list[Json]] = {}
    for line in result.stdout.splitlines():
        item = json.loads(line)
        found.setdefault(item["kind"], []).append(item)
    return found


def started(pod: Json, claims: Path, own: Path) -> Started:
    """Give what a kubelet would start for the container `mindspore` of a pod.

    As there is no mount, the path at which a volume is mounted is replaced by the folder that stands for the volume.

    Args:
        pod: as rendered.
        claims: has a folder for each PersistentVolumeClaim, which outlives the pod.
        own: has a folder for each emptyDir, and ends with the pod.
    """
    container = main_container(pod)
    env = environment_of(pod)
    command = command_of(pod, env)

    volumes = {volume["name"]: _folder(volume, claims, own) for volume in pod["spec"].get("volumes", [])}
    for folder in volumes.values():
        folder.mkdir(parents=True, exist_ok=True)
    for mount in container.get("volumeMounts", []):
        place = re.compile(rf"(?<![\w/]){re.escape(mount['mountPath'])}(?=/|$)")
        target = str(volumes[mount["name"]])
        command = [place.sub(target, part) for part in command]
    return Started(command, env, volumes)


def environment_of(pod: Json) -> dict[str, str]:
    """The variables of the container `mindspore` of a pod, those that name others filled in."""
    env: dict[str, str] = {}
    for item in main_container(pod).get("env", []):
        env[item["name"]] = _expand(item["value"], env) if "value" in item else _field(pod, item["valueFrom"])
    return env


def command_of(pod: Json, env: dict[str, str]) -> list[str]:
    """Program and arguments of that container, with its variables filled in."""
    container = main_container(pod)
    return [_expand(part, env) for part in (*container["command"], *container.get("args", []))]


def _expand(text: str, env: dict[str, str]) -> str:
    """Replace `$(NAME)` by the value of a variable that is there, and `$$` by `$`, as Kubernetes does."""

    def value(match: re.Match[str]) -> str:
        return "$" if match[0] == "$$" else env.get(match[1], match[0])

    return _REFERENCE.sub(value, text)


def _field(pod: Json, source: Json) -> str:
    values = {"status.podIP": POD_IP, "metadata.name": str(pod["metadata"]["name"])}
    return values[source["fieldRef"]["fieldPath"]]


def _folder(volume: Json, claims: Path, own: Path) -> Path:
    if "emptyDir" in volume:
        return own / "volumes" / str(volume["name"])
    return claims / str(volume["persistentVolumeClaim"]["claimName"])
