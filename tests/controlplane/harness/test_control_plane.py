"""The control plane of the tests is a real one."""

import os

import pytest

from support.testbed import builder
from support.testbed.client import PODS, Client, Object
from support.testbed.controlplane import ControlPlane
from support.testbed.errors import (
    AlreadyExistsError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    UnauthorizedError,
    UnreachableError,
    WaitTimeoutError,
)
from support.testbed.kubectl import Kubectl, KubectlError
from support.testbed.pins import OLDEST_MODULE, read_pins
from support.testbed.serviceaccount import service_account_client, service_account_kubeconfig


def pod(name: str, owner: Object | None = None) -> Object:
    """Give a small pod."""
    metadata: Object = {"name": name, "labels": {"app": name}}
    if owner is not None:
        metadata["ownerReferences"] = [
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"],
            }
        ]
    return {"metadata": metadata, "spec": {"containers": [{"name": "mindspore", "image": "example.com/a"}]}}


def config_map(name: str) -> Object:
    """Give a ConfigMap."""
    return {"metadata": {"name": name}, "data": {"a": "b"}}


def test_versions_are_the_pinned_ones(admin: Client, kubectl: Kubectl) -> None:
    """API server and kubectl are of the version that go.mod pins; with `make test-oldest`, of that of the oldest."""
    oldest = read_pins(OLDEST_MODULE)
    pins = oldest if os.environ.get("KUBEBUILDER_ASSETS") == str(builder.cache_folder(oldest)) else read_pins()
    versions = kubectl.json("version")

    assert {versions["clientVersion"]["gitVersion"], versions["serverVersion"]["gitVersion"]} == {pins.kubernetes}
    assert admin.request("GET", "/readyz") == b"ok"


def test_garbage_collection_is_real(admin: Client, namespace: str) -> None:
    """A pod goes when its owner goes, and one without an owner stays."""
    owner = admin.create("v1/configmaps", config_map("owner"), namespace)
    admin.create(PODS, pod("owned", owner), namespace)
    admin.create(PODS, pod("free"), namespace)

    admin.delete("v1/configmaps", "owner", namespace, propagation="Background")

    admin.wait_gone(PODS, "owned", namespace, timeout=15)
    assert [item["metadata"]["name"] for item in admin.pods(namespace)] == ["free"]


def test_service_account_has_its_own_rights_only(admin: Client, namespace: str) -> None:
    """What runs with the token of a ServiceAccount may do what RBAC grants that account, and nothing else."""
    admin.create("v1/serviceaccounts", {"metadata": {"name": "reader"}}, namespace)
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]
    admin.create("rbac.authorization.k8s.io/v1/roles", {"metadata": {"name": "reader"}, "rules": rules}, namespace)
    binding = {
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": namespace}],
    }
    admin.create("rbac.authorization.k8s.io/v1/rolebindings", binding, namespace)

    with service_account_client(admin, namespace, "reader") as reader:
        reader.wait_for(lambda: may_list_pods(reader, namespace), what="the role to count")
        with pytest.raises(ForbiddenError) as refused:
            reader.list("v1/secrets", namespace)

    assert f"system:serviceaccount:{namespace}:reader" in refused.value.message


def may_list_pods(client: Client, namespace: str) -> bool:
    """Tell whether a client may list pods."""
    try:
        client.pods(namespace)
    except ForbiddenError:
        return False
    return True


def test_kubeconfig_of_a_service_account(control_plane: ControlPlane, namespace: str) -> None:
    """A kubeconfig of a ServiceAccount makes kubectl act as that account, in that account's namespace."""
    path = service_account_kubeconfig(control_plane.admin, namespace, "default", control_plane.folder / namespace)
    kubectl = control_plane.kubectl(path)

    assert (
        kubectl.json("auth", "whoami")["status"]["userInfo"]["username"] == f"system:serviceaccount:{namespace}:default"
    )
    with pytest.raises(KubectlError, match="Forbidden"):
        kubectl.run("get", "secrets")
    assert path.stat().st_mode & 0o077 == 0


def test_client_speaks_every_verb(admin: Client, namespace: str) -> None:
    """Objects can be created, read, replaced, patched in each way, listed by label and deleted."""
    maps = "v1/configmaps"
    first = admin.create(maps, config_map("a"), namespace)
    replaced = admin.replace(maps, {**first, "data": {"a": "c"}}, namespace)
    admin.patch(maps, "a", {"metadata": {"labels": {"x": "y"}}}, namespace)
    admin.patch(maps, "a", [{"op": "add", "path": "/data/n", "value": "1"}], namespace, kind="json")
    admin.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b", "namespace": namespace}})

    assert replaced["data"] == {"a": "c"}
    assert [item["data"] for item in admin.list(maps, namespace, labels="x=y")] == [{"a": "c", "n": "1"}]
    assert admin.exists(maps, "b", namespace)
    admin.delete(maps, "b", namespace, uid=admin.get(maps, "b", namespace)["metadata"]["uid"])
    admin.wait_gone(maps, "b", namespace)


def test_errors_say_what_the_api_server_said(control_plane: ControlPlane, admin: Client, namespace: str) -> None:
    """Each refusal is an error of its own type, with the status code and the words of the API server."""
    maps = "v1/configmaps"
    first = admin.create(maps, config_map("a"), namespace)
    admin.patch(maps, "a", {"data": {"a": "c"}}, namespace)

    with pytest.raises(NotFoundError, match=r'404 NotFound: configmaps "none" not found'):
        admin.get(maps, "none", namespace)
    with pytest.raises(AlreadyExistsError):
        admin.create(maps, config_map("a"), namespace)
    with pytest.raises(ConflictError, match="has been modified"):
        admin.replace(maps, first, namespace)
    with pytest.raises(InvalidError, match=r"metadata\.name"):
        admin.create(maps, config_map("A_B"), namespace)
    nobody = "no token of anybody"
    stranger = Client(control_plane.server, ca_file=control_plane.ca_file, token=nobody)
    with stranger, pytest.raises(UnauthorizedError):
        stranger.list(maps, namespace)


def test_waiting_in_vain_shows_the_object(admin: Client, namespace: str) -> None:
    """A wait that ends in vain tells how the object was last."""
    admin.create("v1/configmaps", config_map("a"), namespace)

    with pytest.raises(WaitTimeoutError, match=r"waited 0.1 s for the moon .*(\n.*)*\"a\": \"b\""):
        admin.wait_until("v1/configmaps", "a", namespace, lambda _: False, 0.1, what="the moon")


def test_audit_log_tells_who_did_what(control_plane: ControlPlane, admin: Client, namespace: str) -> None:
    """The audit log names user, verb and resource of a request, and tells tests and controllers apart."""
    admin.create("v1/configmaps", config_map("audited"), namespace)

    def verbs(user: str) -> set[str]:
        events = control_plane.audit_events(user)
        references = [(event["verb"], event.get("objectRef", {})) for event in events]
        return {
            verb for verb, ref in references if (ref.get("namespace"), ref.get("resource")) == (namespace, "configmaps")
        }

    admin.wait_for(lambda: "create" in verbs("admin"), what="the audit log")
    assert "create" in verbs("system:kube-controller-manager"), "the root certificate of the namespace"


def test_api_server_stops_and_comes_back() -> None:
    """Data, address and tokens outlive a stop and a crash of the API server; meanwhile nothing answers."""
    with ControlPlane() as control_plane:
        admin = control_plane.admin
        namespace = control_plane.create_namespace("kept")
        with service_account_client(admin, namespace, "default") as account:
            for kill in (False, True):
                control_plane.stop_apiserver(kill=kill)
                with pytest.raises(UnreachableError):
                    admin.list(PODS)
                control_plane.start_apiserver()

                assert admin.exists("v1/namespaces", namespace)
                with pytest.raises(ForbiddenError):
                    account.list(PODS)
        control_plane.create_namespace("controllers-work-again")


def test_kinds_installed_at_the_start_are_collected() -> None:
    """The garbage collector knows the kinds that the control plane began with: no wait for its next look at the API."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    crd: Object = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "owners.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"plural": "owners", "singular": "owner", "kind": "Owner"},
            "scope": "Namespaced",
            "versions": [version],
        },
    }
    with ControlPlane(manifests=[crd]) as control_plane:
        admin = control_plane.admin
        resource = "example.com/v1/owners"
        owner = admin.create(
            resource, {"apiVersion": "example.com/v1", "kind": "Owner", "metadata": {"name": "o"}}, "default"
        )
        dependent = pod("owned")
        dependent["metadata"]["ownerReferences"] = [
            {"apiVersion": "example.com/v1", "kind": "Owner", "name": "o", "uid": owner["metadata"]["uid"]}
        ]
        admin.create(PODS, dependent, "default")

        admin.delete(resource, "o", "default")

        admin.wait_gone(PODS, "owned", "default", timeout=15)
