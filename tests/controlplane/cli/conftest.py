"""`msjob` as people call it, who may do in one namespace what `edit` or `view` allows."""

from collections.abc import Callable
from pathlib import Path

import pytest

from msjob.api.meta import GROUP
from support.msjob_program import MsjobProgram
from support.operator import Operators
from support.testbed.client import Client
from support.testbed.controlplane import ControlPlane
from support.testbed.kubeconfig import write_kubeconfig
from support.testbed.serviceaccount import service_account_kubeconfig
from support.testbed.waiting import wait_for

RBAC = "rbac.authorization.k8s.io/v1"
User = Callable[[str], MsjobProgram]


@pytest.fixture
def user(admin: Client, namespace: str, operators: Operators, tmp_path: Path) -> User:
    """Gives `msjob` for a user who is bound to a ClusterRole in the test's namespace, and to nothing else."""
    assert operators  # the installation, whose roles join those of the cluster

    def bound(role: str) -> MsjobProgram:
        name = f"user-{role}"
        admin.create("v1/serviceaccounts", {"metadata": {"name": name}}, namespace)
        binding = {
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
        }
        admin.create(f"{RBAC}/rolebindings", binding, namespace)
        _wait_joined(admin, role)
        path = service_account_kubeconfig(admin, namespace, name, tmp_path / f"{name}.kubeconfig")
        program = MsjobProgram(path, tmp_path)
        # The API server takes note of a binding by a watch of its own.
        wait_for(lambda: program("get").code == 0, 20, what=f"the rights of {role}")
        return program

    return bound


@pytest.fixture
def msjob(user: User) -> MsjobProgram:
    """`msjob` for a user who is bound to `edit` in the test's namespace."""
    return user("edit")


@pytest.fixture
def admin_msjob(control_plane: ControlPlane, admin: Client, namespace: str, tmp_path: Path) -> MsjobProgram:
    """`msjob` for the administrator."""
    path = write_kubeconfig(
        tmp_path / "admin.kubeconfig",
        server=control_plane.server,
        ca_file=control_plane.ca_file,
        token=admin.token,
        namespace=namespace,
    )
    return MsjobProgram(path, tmp_path)


def _wait_joined(admin: Client, role: str) -> None:
    """Wait until a ClusterRole of the cluster has the rights on MSJobs that the installation adds to it."""

    def joined() -> bool:
        rules = admin.get(f"{RBAC}/clusterroles", role).get("rules") or []
        return any(GROUP in rule.get("apiGroups", []) for rule in rules)

    wait_for(joined, 20, what=f"the rules on MSJobs in {role}")
