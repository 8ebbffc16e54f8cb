"""The steps of `docs/migrating.md`, with the commands that stand there, in a cluster with the Go operator's objects."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from msjob.api.meta import CRD_NAME
from support.cli import msjob_call
from support.go_operator import NAMESPACE, crd, installation
from support.jobs import Json, msjob
from support.programs import ROOT
from support.testbed.client import MSJOBS
from support.testbed.controlplane import ControlPlane
from support.testbed.kubectl import Kubectl

PAGE = (ROOT / "docs" / "migrating.md").read_text(encoding="utf-8")
STEPS = PAGE.partition("\n## Step by step\n")[2].partition("\n## ")[0]
COMMANDS = [
    line.strip().removeprefix("$ ")
    for block in re.findall(r"```console\n(.*?)```", STEPS, re.DOTALL)
    for line in block.splitlines()
    if line.strip()
]
OLD = ("metrics-service", "manager-config", "proxy-role", "metrics-reader")
"""Parts of names of what only the Go operator installs."""


@pytest.fixture
def cluster() -> Iterator[ControlPlane]:
    """A cluster with the Go operator's installation and a job."""
    with ControlPlane() as control_plane:
        kubectl = control_plane.kubectl()
        for item in (crd(), *installation()):
            kubectl.run("apply", "-f", "-", stdin=json.dumps(item))
        kubectl.run("wait", "--for=condition=Established", f"crd/{CRD_NAME}")
        control_plane.admin.create(MSJOBS, msjob(namespace="default"), "default")
        yield control_plane


def call(kubectl: Kubectl, command: str, folder: Path) -> None:
    """Run a line of the page, in which a pipe or a file may stand at the end."""
    first, _, then = command.partition(" | ")
    line, _, target = first.partition(" > ")
    program, *arguments = shlex.split(line)
    given = [str(ROOT / "dist") if item == "dist/" else item for item in arguments]
    if program == ".venv/bin/msjob":
        done = msjob_call(*[str(folder / item) if item == "my-jobs" else item for item in given])
        assert done.code == 0, done
        return
    assert program == "kubectl"
    out = kubectl.run(*given)
    if target:
        (folder / target).write_text(out)
    if then:
        piped = msjob_call(*shlex.split(then)[1:], stdin=out)
        assert (piped.code, "is valid" in piped.out) == (0, True), piped


def installed(kubectl: Kubectl) -> list[str]:
    """Kinds and names of the objects of either operator."""
    kinds = "deployment,service,configmap,clusterrole,clusterrolebinding,role,rolebinding"
    lines = kubectl.run("get", kinds, "-A", "-o", "name").splitlines()
    return [line for line in lines if "ms-operator" in line]


def test_commands(cluster: ControlPlane, tmp_path: Path) -> None:
    """One after the other they put this operator in the place of the other; the job stays, and nothing old is left."""
    kubectl = cluster.kubectl()
    (tmp_path / "my-jobs").mkdir()
    (tmp_path / "my-jobs" / "train.yaml").write_text(json.dumps(msjob()))
    before = cluster.admin.get(MSJOBS, "train", "default")["metadata"]["uid"]
    assert any(part in name for part in OLD for name in installed(kubectl))
    assert [line.split()[0] for line in COMMANDS].count("kubectl") > 5

    for command in COMMANDS:
        call(kubectl, command, tmp_path)

    assert cluster.admin.get(MSJOBS, "train", "default")["metadata"]["uid"] == before
    assert [name for name in installed(kubectl) if any(part in name for part in OLD)] == []
    assert kubectl.completed("diff", "-f", ROOT / "dist").returncode == 0
    saved: Json = yaml.safe_load((tmp_path / "old-crd.yaml").read_text())
    assert "scale" not in saved["spec"]["versions"][0]["subresources"]
    assert yaml.safe_load((tmp_path / "jobs.yaml").read_text())["items"][0]["metadata"]["name"] == "train"


def test_old_deployment_in_the_way(cluster: ControlPlane) -> None:
    """Without the step that deletes the old Deployment the new one is refused, and yet the old rights are gone.

    So the Go operator has to be stopped first.
    """
    kubectl = cluster.kubectl()

    done = kubectl.completed("apply", "-f", ROOT / "dist")

    assert done.returncode == 1
    assert "ms-operator-controller-manager" in done.stderr
    assert "field is immutable" in done.stderr
    role = cluster.admin.get("rbac.authorization.k8s.io/v1/clusterroles", "ms-operator-manager-role")
    verbs = {verb for rule in role["rules"] if "msjobs/status" in rule["resources"] for verb in rule["verbs"]}
    assert verbs == {"patch"}
    deployment = cluster.admin.get("apps/v1/deployments", "ms-operator-controller-manager", NAMESPACE)
    assert deployment["spec"]["selector"] == {"matchLabels": {"control-plane": "controller-manager"}}
