"""`msjob` as people call it, who may do in one namespace what `edit` or `view` allows."""

from collections.abc import Callable
from pathlib import Path

import pytest

from support.msjob_program import MsjobProgram
from support.operator import Operators
from support.testbed.client import Client
from support.testbed.controlplane import ControlPlane
from support.testbed.kubeconfig import write_kubeconfig
from support.testbed.serviceaccount import bound_account, service_account_kubeconfig

User = Callable[[str], MsjobProgram]


@pytest.fixture
def user(admin: Client, namespace: str, operators: Operators, tmp_path: Path) -> User:
    """Gives `msjob` for a user who is bound to a ClusterRole in the test's namespace, and to nothing else."""
    assert operators  # the installation, whose roles join those of the cluster

    def bound(role: str) -> MsjobProgram:
        name = f"user-{role}"
        bound_account(admin, namespace, name, role, may="patch" if role == "edit" else "get")
        path = service_account_kubeconfig(admin, namespace, name, tmp_path / f"{name}.kubeconfig")
        return MsjobProgram(path, tmp_path)

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
