"""The operator beside the simulated cluster: the program, flags, ServiceAccount and namespace that ``dist/`` names."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import yaml

from support.testbed.controlplane import ControlPlane
from support.testbed.processes import Program
from support.testbed.serviceaccount import service_account_kubeconfig
from support.testbed.waiting import wait_for

NAME: Final = "ms-operator"
"""Of the program, and of its log."""

_DAYS_30: Final = 30 * 86400
"""Seconds that its token is good for: a demo that stays up is not cut short."""

_SECONDS_TO_START: Final = 60.0

_ADDRESSES: Final = ("--metrics-bind-address", "--health-probe-bind-address")
"""Flags that name a port of the pod. Here it would be one of the machine, and nobody asks there."""

_STEERING: Final = ("JSII_", "KUBE", "POD_", "PYTHON")


@dataclass(frozen=True, slots=True)
class Installed:
    """The operator as its Deployment has it.

    Attributes:
        namespace: In which it runs.
        account: Its ServiceAccount.
        name: Of the Deployment.
        command: Of its container, with arguments.
    """

    namespace: str
    account: str
    name: str
    command: list[str]

    @classmethod
    def read(cls, dist: Path) -> Self:
        """Find the Deployment in a folder of manifests.

        Raises:
            ValueError: There is none.
        """
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        for file in sorted(dist.glob("*operator*.yaml")):
            for item in yaml.load_all(file.read_text(), loader):
                if item and item["kind"] == "Deployment":
                    return cls._of(item)
        raise ValueError(f"{dist} holds no Deployment of the operator: run make synth")

    @classmethod
    def _of(cls, deployment: Mapping[str, Any]) -> Self:
        spec = deployment["spec"]["template"]["spec"]
        container = spec["containers"][0]
        metadata = deployment["metadata"]
        command = [*container.get("command", []), *container.get("args", [])]
        return cls(metadata["namespace"], spec["serviceAccountName"], metadata["name"], command)


def start(control_plane: ControlPlane, installed: Installed) -> Program:
    """Start it; it need not work yet.

    Args:
        control_plane: With ``dist/`` applied.
        installed: How it runs.

    Raises:
        HarnessError: It cannot be started.
    """
    kubeconfig = service_account_kubeconfig(
        control_plane.admin,
        installed.namespace,
        installed.account,
        control_plane.folder / "operator.kubeconfig",
        seconds=_DAYS_30,
    )
    program, *arguments = installed.command
    kept = [item for item in arguments if not item.startswith(_ADDRESSES)]
    command: list[str | Path] = [Path(sys.executable).with_name(program), *kept, f"--kubeconfig={kubeconfig}"]
    command += [f"{flag}=0" for flag in _ADDRESSES]
    own = {
        "POD_NAME": f"{installed.name}-demo",
        "POD_NAMESPACE": installed.namespace,
        "JSII_RUNTIME_PACKAGE_CACHE": "disabled",
    }
    return control_plane.programs.start(NAME, command, {**environment(control_plane), **own})


def environment(control_plane: ControlPlane) -> dict[str, str]:
    """Give the environment of a program of the demo: that of this process, without what would steer it.

    Args:
        control_plane: Its folder takes the program's files: they go with it, however the demo ends.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_STEERING)}
    return {**kept, "PYTHONUNBUFFERED": "1", "TMPDIR": str(control_plane.folder)}


def wait_works(program: Program) -> None:
    """Wait until it works.

    Raises:
        HarnessError: It ended.
        WaitTimeoutError: It does not begin to work.
    """

    def works() -> bool:
        program.check()
        return "operator.synced" in program.log.read_text(errors="replace")

    wait_for(works, _SECONDS_TO_START, what="ms-operator to work")
