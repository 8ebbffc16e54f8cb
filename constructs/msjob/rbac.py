"""What the operator, and the people who use it, may do.

The operator gets what it uses and no more: every verb below is one that the controller sends, and none is missing. It
reads no Secrets and no ConfigMaps, and changes nothing but jobs and what they own.
"""

from typing import Any, Final

from msjob.api.meta import GROUP, PLURAL
from msjob.cdk import Construct
from msjob.installed import CONTROLLER, LEADER_LEASE, WAVE_FOUNDATION, metadata
from msjob.placing import place
from msjob.settings import InstallSettings

MANAGER_ROLE: Final = "ms-operator-manager-role"
MANAGER_BINDING: Final = "ms-operator-manager-rolebinding"
LEADER_ROLE: Final = "ms-operator-leader-election-role"
LEADER_BINDING: Final = "ms-operator-leader-election-rolebinding"
VIEW_ROLE: Final = "ms-operator-msjob-view-role"
EDIT_ROLE: Final = "ms-operator-msjob-edit-role"

_API_VERSION = "rbac.authorization.k8s.io/v1"
_AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"
_READ = ["get", "list", "watch"]


def _rule(group: str, resource: str, verbs: list[str], names: list[str] | None = None) -> dict[str, Any]:
    rule: dict[str, Any] = {"apiGroups": [group], "resources": [resource], "verbs": sorted(verbs)}
    return rule | {"resourceNames": names} if names else rule


def manager_rules() -> list[dict[str, Any]]:
    """What the controller may do in all namespaces.

    Returns:
        Rules of a ClusterRole, one resource each.
    """
    return [
        # A finished job is deleted once its ttlSecondsAfterFinished is over.
        _rule(GROUP, PLURAL, ["delete", "list", "watch"]),
        # Conditions, counts and times go out as merge patches.
        _rule(GROUP, f"{PLURAL}/status", ["patch"]),
        # A pod whose owner reference blocks the owner's deletion: clusters with the admission plugin
        # OwnerReferencesPermissionEnforcement ask for this verb of whoever sets one.
        _rule(GROUP, f"{PLURAL}/finalizers", ["update"]),
        # `get` tells, when a create answers "already exists", whether the object in the way is the job's own.
        _rule("", "pods", ["create", "delete", *_READ]),
        _rule("", "services", ["create", "delete", *_READ]),
        _rule("autoscaling", "horizontalpodautoscalers", ["create", "delete", *_READ]),
        # Pods on a node that does not answer are neither waited for nor blamed. The operator works without this right,
        # and then takes no node for lost.
        _rule("", "nodes", ["list", "watch"]),
        # Events lie beside the job they tell of; a repeated one is counted up by a patch.
        _rule("", "events", ["create", "patch"]),
    ]


def leader_rules() -> list[dict[str, Any]]:
    """What the controller may do in its own namespace: take and keep the one Lease that makes it the leader.

    Returns:
        Rules of a Role. A create cannot be bound to a name, because the API server decides before it knows one.
    """
    group = "coordination.k8s.io"
    return [_rule(group, "leases", ["create"]), _rule(group, "leases", ["get", "update"], [LEADER_LEASE])]


def view_rules() -> list[dict[str, Any]]:
    """What who may view a namespace may do with its jobs.

    Returns:
        Rules of a ClusterRole.
    """
    return [
        _rule(GROUP, PLURAL, _READ),
        _rule(GROUP, f"{PLURAL}/status", ["get"]),
        _rule(GROUP, f"{PLURAL}/scale", ["get"]),
    ]


def edit_rules() -> list[dict[str, Any]]:
    """What who may edit a namespace may do with its jobs; the status stays the operator's.

    Returns:
        Rules of a ClusterRole.
    """
    return [
        _rule(GROUP, PLURAL, ["create", "delete", "deletecollection", "patch", "update", *_READ]),
        _rule(GROUP, f"{PLURAL}/status", ["get"]),
        _rule(GROUP, f"{PLURAL}/scale", ["get", "patch", "update"]),
    ]


def _role(
    name: str,
    rules: list[dict[str, Any]],
    *,
    namespace: str | None = None,
    aggregate_to: tuple[str, ...] = (),
) -> dict[str, Any]:
    return {
        "apiVersion": _API_VERSION,
        "kind": "Role" if namespace else "ClusterRole",
        "metadata": metadata(
            name,
            component="rbac",
            wave=WAVE_FOUNDATION,
            namespace=namespace,
            labels={f"{_AGGREGATE}{target}": "true" for target in aggregate_to},
        ),
        "rules": rules,
    }


def _binding(name: str, role: dict[str, Any], settings: InstallSettings) -> dict[str, Any]:
    return {
        "apiVersion": _API_VERSION,
        "kind": f"{role['kind']}Binding",
        "metadata": metadata(name, component="rbac", wave=WAVE_FOUNDATION, namespace=role["metadata"].get("namespace")),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role["kind"], "name": role["metadata"]["name"]},
        "subjects": [{"kind": "ServiceAccount", "name": CONTROLLER, "namespace": settings.namespace}],
    }


def service_account_manifest(settings: InstallSettings) -> dict[str, Any]:
    """The ServiceAccount of the operator. Its token is mounted only where a pod asks for it.

    Args:
        settings: give the namespace.

    Returns:
        The manifest.
    """
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata(CONTROLLER, component="rbac", wave=WAVE_FOUNDATION, namespace=settings.namespace),
        "automountServiceAccountToken": False,
    }


class OperatorRBAC(Construct):
    """ServiceAccount, roles and bindings of the operator, and the roles that let users view and edit jobs.

    The last two are aggregated: whoever is `view`, `edit` or `admin` in a namespace is so for its MSJobs too.

    Args:
        scope: parent construct.
        id: construct id, unique in its scope.
        settings: give the namespace.
    """

    def __init__(self, scope: Construct, id: str, settings: InstallSettings) -> None:  # noqa: A002 - cdk8s names it so
        super().__init__(scope, id)
        place(self, "service-account", service_account_manifest(settings))
        manager = _role(MANAGER_ROLE, manager_rules())
        leader = _role(LEADER_ROLE, leader_rules(), namespace=settings.namespace)
        place(self, "manager-role", manager)
        place(self, "manager-binding", _binding(MANAGER_BINDING, manager, settings))
        place(self, "leader-role", leader)
        place(self, "leader-binding", _binding(LEADER_BINDING, leader, settings))
        # The role `edit` holds what `view` holds, and `admin` what `edit` holds, in every cluster that left them alone.
        # The roles here are whole in themselves, for the others.
        place(self, "view-role", _role(VIEW_ROLE, view_rules(), aggregate_to=("view",)))
        place(self, "edit-role", _role(EDIT_ROLE, edit_rules(), aggregate_to=("edit", "admin")))
