"""What the operator and its users may do: complete lists, so that a wider right cannot come in unseen."""

from typing import Any

import pytest

from msjob.install import installation
from msjob.settings import InstallSettings


@pytest.fixture(scope="module")
def objects() -> dict[str, dict[str, Any]]:
    """The objects of the RBAC file, by kind and name."""
    return {
        f"{item['kind']}/{item['metadata']['name']}": item
        for item in installation(InstallSettings(namespace="ops"))["0002-rbac.yaml"]
    }


def _granted(role: dict[str, Any]) -> dict[str, list[str]]:
    """Verbs by `group/resource`, with the names they are bound to in brackets."""
    grants = {}
    for rule in role["rules"]:
        assert set(rule) <= {"apiGroups", "resources", "verbs", "resourceNames"}
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                names = f"[{','.join(rule['resourceNames'])}]" if "resourceNames" in rule else ""
                grants[f"{group or 'core'}/{resource}{names}"] = rule["verbs"]
    return grants


def test_operator_in_all_namespaces(objects: dict[str, dict[str, Any]]) -> None:
    """This is all the operator may do in the cluster: its jobs and what they own, their events, a look at nodes."""
    assert _granted(objects["ClusterRole/ms-operator-manager-role"]) == {
        "mindspore.gitee.com/msjobs": ["delete", "list", "watch"],
        "mindspore.gitee.com/msjobs/status": ["patch"],
        "mindspore.gitee.com/msjobs/finalizers": ["update"],
        "core/pods": ["create", "delete", "get", "list", "watch"],
        "core/services": ["create", "delete", "get", "list", "watch"],
        "autoscaling/horizontalpodautoscalers": ["create", "delete", "get", "list", "watch"],
        "core/nodes": ["list", "watch"],
        "core/events": ["create", "patch"],
    }


def test_operator_in_its_own_namespace(objects: dict[str, dict[str, Any]]) -> None:
    """This is all it may do at home: keep the one Lease of the leader. Only a create cannot be bound to a name."""
    role = objects["Role/ms-operator-leader-election-role"]

    assert role["metadata"]["namespace"] == "ops"
    assert _granted(role) == {
        "coordination.k8s.io/leases": ["create"],
        "coordination.k8s.io/leases[ms-operator-leader]": ["get", "update"],
    }


def test_no_wide_rights(objects: dict[str, dict[str, Any]]) -> None:
    """No role has a wildcard, reads Secrets, runs commands in pods, or may give rights to itself."""
    for item in objects.values():
        for rule in item.get("rules", []):
            assert "*" not in rule["apiGroups"] + rule["resources"] + rule["verbs"]
            assert not {"secrets", "pods/exec", "serviceaccounts", "serviceaccounts/token"} & {*rule["resources"]}
            assert not {"escalate", "bind", "impersonate"} & {*rule["verbs"]}


@pytest.mark.parametrize(
    ("binding", "role"),
    [
        ("ClusterRoleBinding/ms-operator-manager-rolebinding", "ClusterRole/ms-operator-manager-role"),
        ("RoleBinding/ms-operator-leader-election-rolebinding", "Role/ms-operator-leader-election-role"),
    ],
)
def test_bindings(objects: dict[str, dict[str, Any]], binding: str, role: str) -> None:
    """Each role of the operator is bound to its ServiceAccount and to nobody else."""
    reference = objects[binding]["roleRef"]

    assert f"{reference['kind']}/{reference['name']}" == role
    assert role in objects
    assert reference["apiGroup"] == "rbac.authorization.k8s.io"
    assert objects[binding]["metadata"].get("namespace") == objects[role]["metadata"].get("namespace")
    assert objects[binding]["subjects"] == [
        {"kind": "ServiceAccount", "name": "ms-operator-controller-manager", "namespace": "ops"}
    ]


def test_service_account(objects: dict[str, dict[str, Any]]) -> None:
    """The ServiceAccount lies in the operator's namespace and hands its token to no pod that does not ask."""
    account = objects["ServiceAccount/ms-operator-controller-manager"]

    assert account["metadata"]["namespace"] == "ops"
    assert account["automountServiceAccountToken"] is False


def test_viewers(objects: dict[str, dict[str, Any]]) -> None:
    """Whoever may view a namespace may read its jobs, and change nothing."""
    role = objects["ClusterRole/ms-operator-msjob-view-role"]

    assert _aggregated_to(role) == {"view"}
    assert _granted(role) == {
        "mindspore.gitee.com/msjobs": ["get", "list", "watch"],
        "mindspore.gitee.com/msjobs/status": ["get"],
        "mindspore.gitee.com/msjobs/scale": ["get"],
    }


def test_editors(objects: dict[str, dict[str, Any]]) -> None:
    """Whoever may edit a namespace may make, change, scale and delete its jobs; the status stays the operator's."""
    role = objects["ClusterRole/ms-operator-msjob-edit-role"]

    assert _aggregated_to(role) == {"edit", "admin"}
    assert _granted(role) == {
        "mindspore.gitee.com/msjobs": [
            "create",
            "delete",
            "deletecollection",
            "get",
            "list",
            "patch",
            "update",
            "watch",
        ],
        "mindspore.gitee.com/msjobs/status": ["get"],
        "mindspore.gitee.com/msjobs/scale": ["get", "patch", "update"],
    }


def test_the_operators_roles_are_nobody_elses(objects: dict[str, dict[str, Any]]) -> None:
    """The operator's own rights are not aggregated to any user."""
    assert not _aggregated_to(objects["ClusterRole/ms-operator-manager-role"])


def _aggregated_to(role: dict[str, Any]) -> set[str]:
    prefix = "rbac.authorization.k8s.io/aggregate-to-"
    return {
        key.removeprefix(prefix)
        for key, value in role["metadata"]["labels"].items()
        if key.startswith(prefix) and value == "true"
    }
