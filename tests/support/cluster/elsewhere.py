"""Somebody else's cluster: that of the kubeconfig, with images that its nodes have or can pull (``make test-e2e``).

The tests log in as kubectl does, with whatever program or certificate the kubeconfig names: kubectl does it for them
(``kubectl proxy``, on a socket that only this user can reach).
"""

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from support.cluster.installation import CONTROLLER, CRD, CRDS, DEPLOYMENT, NAMESPACE
from support.cluster.pulling import pull
from support.cluster.site import Site
from support.cluster.witnesses import ask
from support.programs import ROOT, run_program
from support.testbed.client import ProxiedClient
from support.testbed.errors import ApiError, HarnessError, UnreachableError, WaitTimeoutError
from support.testbed.kubectl import Kubectl, KubectlError
from support.testbed.processes import ProgramGroup
from support.testbed.progress import Progress
from support.testbed.waiting import wait_for

CHOSEN: Final = "MSJOB_E2E"
"""Set to test on the cluster of the kubeconfig."""

MANIFESTS: Final = ROOT / "build" / "e2e" / "manifests"

_IMAGES: Final = {"operator": "OPERATOR_IMAGE", "training": "TRAINING_IMAGE", "training-ps": "TRAINING_PS_IMAGE"}
_SECONDS_TO_ANSWER: Final = 30.0


@dataclass(frozen=True, slots=True)
class Given:
    """What a user says of a cluster.

    Attributes:
        images: As of `support.cluster.site.Site`.
        installed: Whether the operator is there already, and is left alone.
        kubeconfig: One file, or several as in `KUBECONFIG`.
        kubectl: The program, and options such as `--context=test`.
    """

    images: dict[str, str]
    installed: bool
    kubeconfig: str
    kubectl: tuple[str, ...]


def read(environ: Mapping[str, str]) -> Given | None:
    """Read what a user says; None where the tests are to make a cluster of their own.

    Args:
        environ: The environment.

    Raises:
        HarnessError: Something is missing; the message names it.
    """
    if not _yes(environ.get(CHOSEN)):
        return None
    installed = _yes(environ.get("INSTALLED"))
    images = {name: environ[variable] for name, variable in _IMAGES.items() if environ.get(variable)}
    needed = ["training"] if installed else ["operator", "training"]
    missing = [_IMAGES[name] for name in needed if name not in images]
    if missing:
        raise HarnessError(
            f"{' and '.join(missing)} must name an image that the cluster's nodes have or can pull.\n"
            "What to do: make test-e2e OPERATOR_IMAGE=… TRAINING_IMAGE=… (docs/cluster.md says how to build them)."
        )
    kubeconfig = environ.get("KUBECONFIG") or str(Path(environ.get("HOME", "~"), ".kube", "config").expanduser())
    return Given(images, installed, kubeconfig, tuple(shlex.split(environ.get("KUBECTL", ""))) or ("kubectl",))


class Elsewhere:
    """The way to such a cluster, and the operator's manifests for it.

    Args:
        given: What the user says.
        progress: Is told what takes long.
    """

    def __init__(self, given: Given, progress: Progress) -> None:
        self._given = given
        self._progress = progress
        self._programs = ProgramGroup(prefix="ms-operator-e2e-")

    def open(self) -> Site:
        """Find the cluster, and let its nodes pull the images.

        Raises:
            HarnessError: It cannot be reached, is not as the user says, or an image cannot be pulled.
        """
        name, *_ = self._given.kubectl
        program = shutil.which(name)
        if program is None:
            raise HarnessError(f"{name} is not on PATH.\nWhat to do: install it, or name it: KUBECTL=/path/to/kubectl")
        self._programs.open()
        cache = self._programs.folder / "kubectl-cache"
        kubectl = Kubectl(Path(program), self._one_kubeconfig(program), cache, dict(os.environ))
        try:
            client = self._connect(kubectl)
            self._check(client)
            manifests = None if self._given.installed else self._render()
            for name, image in self._given.images.items():
                if name != "operator":
                    pull(client, name, image, self._progress)
        except (ApiError, UnreachableError, WaitTimeoutError) as error:
            raise HarnessError(
                f"the cluster of {self._given.kubeconfig} cannot be used: {error}\n"
                "What to do: use a context of an administrator, of a cluster that answers."
            ) from error
        return Site(client, kubectl, dict(self._given.images), manifests=manifests)

    def close(self) -> None:
        """End it."""
        self._programs.close()

    # -- within ----------------------------------------------------------------------------------------------------

    def _one_kubeconfig(self, program: str) -> Path:
        """One file for all that the user names; a copy of the context, for this user alone, if that is more."""
        given = self._given
        if len(given.kubectl) == 1 and os.pathsep not in given.kubeconfig:
            path = Path(given.kubeconfig)
            if not path.is_file():
                raise HarnessError(f"there is no kubeconfig {path}.\nWhat to do: set KUBECONFIG.")
            return path
        view = [program, *given.kubectl[1:], "config", "view", "--minify", "--raw", "--flatten"]
        copied = run_program(*view, env={"KUBECONFIG": given.kubeconfig})
        if copied.returncode:
            raise HarnessError(f"{' '.join(given.kubectl)}, KUBECONFIG={given.kubeconfig}: {copied.stderr.strip()}")
        path = self._programs.folder / "kubeconfig"
        path.touch(mode=0o600)
        path.write_text(copied.stdout)
        return path

    def _connect(self, kubectl: Kubectl) -> ProxiedClient:
        try:
            version = kubectl.json("version")["serverVersion"]["gitVersion"]
            server = kubectl.run("config", "view", "--minify", "--output=jsonpath={.clusters[0].cluster.server}")
        except KubectlError as error:
            raise HarnessError(
                f"the cluster of {self._given.kubeconfig} cannot be used: {error.stderr.strip()}"
            ) from error
        self._progress(f"testing on {server}, Kubernetes {version}")
        path = self._programs.folder / "api"
        proxy = self._programs.start(
            "kubectl-proxy", [kubectl.program, f"--kubeconfig={kubectl.kubeconfig}", "proxy", f"--unix-socket={path}"]
        )
        client = ProxiedClient(path)

        def answers() -> bool:
            proxy.check()
            return path.exists() and _asked(lambda: client.request("GET", "/version"))

        wait_for(answers, _SECONDS_TO_ANSWER, what="kubectl proxy to answer")
        return client

    def _check(self, client: ProxiedClient) -> None:
        there = client.exists(CRDS, CRD)
        if there and not self._given.installed:
            raise HarnessError(
                "the cluster has MSJobs already, and the tests would put another operator in the place of theirs.\n"
                "What to do: INSTALLED=1 tests the operator that is there; make undeploy removes it, and every MSJob."
            )
        if self._given.installed and not (there and client.exists("apps/v1/deployments", DEPLOYMENT, NAMESPACE)):
            raise HarnessError(
                f"INSTALLED=1, and there is no Deployment {DEPLOYMENT} in namespace {NAMESPACE}.\n"
                "What to do: leave INSTALLED= out, and the tests install the operator."
            )

    def _render(self) -> Path:
        """The manifests with the image given, and all else as in `dist/`."""
        shutil.rmtree(MANIFESTS, ignore_errors=True)
        done = run_program(
            Path(sys.executable).with_name("msjob"),
            "synth",
            f"--image={self._given.images['operator']}",
            f"--output={MANIFESTS}",
        )
        if done.returncode:
            raise HarnessError(f"OPERATOR_IMAGE={self._given.images['operator']}: {done.stderr.strip()}")
        return MANIFESTS


def witnesses(site: Site) -> list[tuple[str, str]]:
    """What helps to see why a test failed there, by title: jobs, pods, events, and the last that the operator said."""
    logs = ("logs", f"--namespace={NAMESPACE}", f"--selector={CONTROLLER}", "--prefix", "--tail=60")
    return ask(site.kubectl, {"the operator": logs})


def _yes(value: str | None) -> bool:
    return value not in (None, "", "0", "no")


def _asked(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except (ApiError, UnreachableError):
        return False
    return True
