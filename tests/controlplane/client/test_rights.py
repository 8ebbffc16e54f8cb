"""What a user needs: the rights that docs/reference/client.md names suffice, and without them errors say so."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from msjob.api import meta
from msjob_client import (
    ClusterUnreachableError,
    ForbiddenError,
    JobExistsError,
    Kind,
    MSJobClient,
    NotInstalledError,
    UnauthorizedError,
    Until,
)
from support.jobs import msjob
from support.live_jobs import Jobs
from support.testbed.client import Client
from support.testbed.controlplane import ControlPlane
from support.testbed.kubeconfig import write_kubeconfig
from support.testbed.logs import LogServer
from support.testbed.serviceaccount import bound_account, service_account_kubeconfig

OLD = "of-yesterday"
"""A token that no API server accepts."""


@pytest.fixture
def user(admin: Client, namespace: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[MSJobClient]:
    """A client of a ServiceAccount that is bound, in its namespace alone, to the ClusterRole that the test names."""
    if request.param:
        bound_account(admin, namespace, "user", request.param, may="patch" if request.param == "edit" else "get")
    else:
        admin.create("v1/serviceaccounts", {"metadata": {"name": "user"}}, namespace)
    kubeconfig = service_account_kubeconfig(admin, namespace, "user", tmp_path / "user.kubeconfig")
    with MSJobClient.connect(kubeconfig=kubeconfig) as client:
        yield client


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize("user", ["edit"], indirect=True)
def test_edit_suffices_for_everything(user: MSJobClient, jobs: Jobs, logs: LogServer) -> None:
    """Each method, as somebody who may edit this one namespace."""
    user.submit(msjob(namespace=None, worker=1, restart_policy="OnFailure"))
    jobs.run(2)
    logs.write("train-worker-0", "hello")
    assert user.wait("train", until=Until.RUNNING, timeout=20).running
    assert [line.text for line in user.logs("train")] == ["hello"]
    assert user.why("train").kind is Kind.RUNNING
    assert [job.name for job in user.list()] == ["train"]
    assert len(user.table().rows) == 1
    assert len(user.pods("train")) == 2
    assert user.events("train")
    with user.watch("train") as watch:
        assert next(watch).type == "ADDED"
    user.restart("train")
    jobs.wait_attempt(1, 2)
    user.scale("train", 2)
    user.suspend("train")
    user.wait("train", until=Until.SUSPENDED, timeout=20)
    user.resume("train")
    with pytest.raises(JobExistsError):
        user.submit(msjob(namespace=None), replace=True)
    user.delete("train", wait=True, timeout=20)
    assert user.why("train").kind is Kind.NOT_FOUND


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize("user", ["view"], indirect=True)
def test_view_suffices_to_read(user: MSJobClient, jobs: Jobs, logs: LogServer) -> None:
    """And for nothing else; the error names the right that is missing, and whom to ask for it."""
    jobs.create(worker=1)
    jobs.run(2)
    logs.write("train-worker-0", "hello")
    assert [line.text for line in user.logs("train", tail=1)] == ["hello"]
    assert user.why("train").kind is Kind.RUNNING
    said = r'MSJob train cannot be suspended: .*User "system:serviceaccount:.*" cannot patch .*; ask an administrator'
    with pytest.raises(ForbiddenError, match=said):
        user.suspend("train")
    with pytest.raises(ForbiddenError, match=r"MSJob train cannot be restarted: .*pods"):
        user.restart("train")
    with pytest.raises(ForbiddenError, match="MSJobs of all namespaces cannot be listed"):
        user.list(all_namespaces=True)


@pytest.mark.usefixtures("operators")
@pytest.mark.parametrize("user", [None], indirect=True)
def test_nothing_without_rights(user: MSJobClient, jobs: Jobs) -> None:
    """Each way in says so."""
    jobs.create()
    for call in (user.get, user.why, user.wait, user.pods, user.delete):
        with pytest.raises(ForbiddenError, match=r"MSJob train .*cannot be (read|deleted)"):
            call("train")
    with pytest.raises(ForbiddenError):
        next(user.logs("train", follow=True))
    with pytest.raises(ForbiddenError):
        next(user.watch())


def test_a_token_that_is_not_accepted(control_plane: ControlPlane, tmp_path: Path) -> None:
    """Log in again."""
    path = write_kubeconfig(tmp_path / "config", server=control_plane.server, ca_file=control_plane.ca_file, token=OLD)
    with MSJobClient.connect(kubeconfig=path) as client, pytest.raises(UnauthorizedError, match="log in again"):
        client.get("train")


def test_no_cluster_there(control_plane: ControlPlane, tmp_path: Path) -> None:
    """A kubeconfig that is missing, one that is none, and an address at which nobody listens."""
    with pytest.raises(ClusterUnreachableError, match=r"missing"):
        MSJobClient.connect(kubeconfig=tmp_path / "missing")
    (tmp_path / "odd").write_text("[]")
    with pytest.raises(ClusterUnreachableError, match=r"odd"):
        MSJobClient.connect(kubeconfig=tmp_path / "odd")
    path = write_kubeconfig(tmp_path / "config", server="https://127.0.0.1:1", ca_file=control_plane.ca_file, token=OLD)
    with (
        MSJobClient.connect(kubeconfig=path) as client,
        pytest.raises(ClusterUnreachableError, match=r"the API server does not answer .*is the cluster running"),
    ):
        client.get("train")


def test_a_cluster_without_msjobs(client: MSJobClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """How to install them is told: a version that the API server does not serve is what it is like without the CRD."""
    monkeypatch.setattr(meta, "API_VERSION", f"{meta.GROUP}/v0")
    with pytest.raises(NotInstalledError, match=r"install the operator with `kubectl apply -f dist/`"):
        client.get("train")
    assert client.why("train").kind is Kind.NOT_INSTALLED
