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
CRDS = "apiextensions.k8s.io/v1/customresourcedefinitions"
OLD = ("metrics-service", "manager-config", "proxy-role", "metrics-reader")
"""Parts of names of what only the Go operator installs."""


def commands(heading: str) -> list[str]:
    """What stands to be typed below a heading of the page."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```console\n(.*?)```", section, re.DOTALL)
    return [line.strip().removeprefix("$ ") for block in blocks for line in block.splitlines() if line.strip()]


@pytest.fixture
def cluster() -> Iterator[ControlPlane]:
    """A cluster with the Go operator's installation and a job."""
    with ControlPlane() as control_plane:
        install(control_plane.kubectl())
        control_plane.admin.wait_until(CRDS, CRD_NAME, None, established, what="the CRD to be established")
        control_plane.admin.create(MSJOBS, msjob(namespace="default"), "default")
        yield control_plane


def install(kubectl: Kubectl) -> None:
    """Apply the manifest of the Go operator, as its users do."""
    for item in (crd(), *installation()):
        kubectl.run("apply", "-f", "-", stdin=json.dumps(item))


def established(item: Json) -> bool:
    """Whether a CRD is served."""
    found = item.get("status", {}).get("conditions", [])
    return any((one["type"], one["status"]) == ("Established", "True") for one in found)


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
    steps = commands("Step by step")
    assert [line.split()[0] for line in steps].count("kubectl") > 5

    for command in steps:
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


def test_way_back(cluster: ControlPlane, tmp_path: Path) -> None:
    """The commands for going back let the manifest of the Go operator apply again; the job stays."""
    kubectl = cluster.kubectl()
    kubectl.run("delete", "deployment", "ms-operator-controller-manager", "-n", NAMESPACE)
    kubectl.run("apply", "--server-side", "--force-conflicts", "-f", ROOT / "dist")
    stop, unlabel, *rest = commands("Going back")

    for command in (stop, unlabel):
        call(kubectl, command, tmp_path)
    install(kubectl)
    for command in rest:
        call(kubectl, command, tmp_path)

    assert cluster.admin.get(MSJOBS, "train", "default")
    assert "scale" not in cluster.admin.get(CRDS, CRD_NAME)["spec"]["versions"][0]["subresources"]
    labels = cluster.admin.get("v1/namespaces", NAMESPACE)["metadata"]["labels"]
    assert "pod-security.kubernetes.io/enforce" not in labels
    own = ("msjob-view-role", "msjob-edit-role", "manager-metrics")
    names = [name for name in installed(kubectl) if not name.endswith("metrics-service")]
    assert [name for name in names if any(part in name for part in own)] == []
