"""The rights that the installation gives the operator, and what makes it use each of them."""

from typing import Final

from support.operator import ACCOUNT, NAMESPACE
from support.testbed.client import PODS, Client

RBAC: Final = "rbac.authorization.k8s.io/v1"
AUTOSCALERS: Final = "autoscaling/v2/horizontalpodautoscalers"
SERVICES: Final = "v1/services"

UNUSED: Final = {("mindspore.gitee.com", "msjobs/finalizers", "update")}
"""Asked by an admission plugin of who sets owner references that block; no request names it."""


def granted(admin: Client) -> set[tuple[str, str, str]]:
    """Group, resource and verb of all that the bindings of the installation grant the operator.

    Args:
        admin: a client that may read bindings and roles.
    """
    rules = []
    for kind, namespace in (("clusterrole", None), ("role", NAMESPACE)):
        for binding in admin.list(f"{RBAC}/{kind}bindings", namespace):
            if any(item["name"] == ACCOUNT for item in binding.get("subjects", [])):
                rules += admin.get(f"{RBAC}/{kind}s", binding["roleRef"]["name"], namespace)["rules"]
    return {
        (group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def make_strangers(client: Client, namespace: str) -> None:
    """Make a pod, a Service and an autoscaler with names that the job `train` needs, and that are not its own.

    The operator looks at each, and tells of it in an event that repeats, until it is deleted. No node takes the pod.
    """
    container = {
        "name": "a",
        "image": "example.com/a",
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    pod = {
        "containers": [container],
        "nodeSelector": {"example.com/no": "node"},
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    }
    client.create(PODS, {"metadata": {"name": "train-worker-0"}, "spec": pod}, namespace)
    service = {"metadata": {"name": "train-scheduler-0"}, "spec": {"ports": [{"port": 1}]}}
    client.create(SERVICES, service, namespace)
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "mine"}
    scaler = {"metadata": {"name": "train"}, "spec": {"scaleTargetRef": target, "maxReplicas": 2}}
    client.create(AUTOSCALERS, scaler, namespace)
