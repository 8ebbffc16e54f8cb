"""What the operator may do is what it does: the shipped RBAC against the audit log of the whole run."""

import pytest

from msjob.rbac import MANAGER_ROLE
from support.audit import Request, denied, requests, verbs
from support.live_jobs import SETTLED, Jobs
from support.operator import ACCOUNT, NAMESPACE, Operators
from support.rights import AUTOSCALERS, RBAC, UNUSED, granted, make_strangers
from support.testbed.client import PODS, Client
from support.testbed.controlplane import ControlPlane
from support.testbed.errors import ForbiddenError
from support.testbed.serviceaccount import service_account_client

NODE = ("v1/nodes", None)


@pytest.mark.timeout(90)
def test_verbs(own_operators: Operators, jobs: Jobs, control_plane: ControlPlane) -> None:
    """After a life with every turn the operator has used each verb it has, and has asked for none it has not."""
    make_strangers(jobs.client, jobs.namespace)
    own_operators.start("--leader-elect").wait_leading()
    jobs.create(run_policy={"cleanPodPolicy": "All", "ttlSecondsAfterFinished": 5}, elastic_policy={"maxReplicas": 4})
    jobs.wait_event("FailedCreateService")
    jobs.client.delete("v1/services", "train-scheduler-0", jobs.namespace)
    event = jobs.wait_event("FailedCreatePod")
    jobs.client.wait_until(
        "v1/events",
        event["metadata"]["name"],
        jobs.namespace,
        lambda item: item["count"] > 1,
        what="the event to repeat",
    )
    jobs.client.delete(PODS, "train-worker-0", jobs.namespace)
    jobs.run(3, timeout=30)
    jobs.wait_event("FailedCreateAutoscaler")
    jobs.client.delete(AUTOSCALERS, "train", jobs.namespace)
    jobs.wait_event("SuccessfulCreateAutoscaler", timeout=30)
    jobs.finish("worker-0")
    jobs.wait_state("Succeeded")
    jobs.client.wait_for(lambda: not jobs.pods() and not jobs.services(), SETTLED, what="all to go")
    jobs.wait_event("SuccessfulDeleteAutoscaler")
    jobs.wait_event("SuccessfulDeleteJob")

    allowed = granted(jobs.client)
    own_operators.end_own()  # watches are in the log once they have ended

    def seen() -> list[Request]:
        # Not what tests try with the operator's account.
        return [item for item in requests(control_plane) if item.credential in own_operators.credentials]

    jobs.client.wait_for(lambda: verbs(seen()) >= allowed - UNUSED, what="the audit log")
    assert verbs(seen()) == allowed - UNUSED
    assert denied(seen(), control_plane.starts) == []


@pytest.mark.usefixtures("operators")
def test_nothing_else(admin: Client) -> None:
    """With the operator's token nobody reads a Secret or a ConfigMap, or changes a spec, a node or a role."""
    with service_account_client(admin, NAMESPACE, ACCOUNT) as account:
        for resource in ("v1/secrets", "v1/configmaps", f"{RBAC}/clusterroles", "apps/v1/deployments"):
            with pytest.raises(ForbiddenError):
                account.list(resource)
        for resource, namespace in (("v1/nodes", None), ("v1/secrets", NAMESPACE)):
            with pytest.raises(ForbiddenError):
                account.delete(resource, "any", namespace)
        for resource, namespace in (("mindspore.gitee.com/v1/msjobs", "default"), (AUTOSCALERS, "default"), NODE):
            with pytest.raises(ForbiddenError):
                account.patch(resource, "any", {"spec": {}}, namespace)


def test_in_one_namespace(own_operators: Operators, jobs: Jobs) -> None:
    """An operator that may act in its namespace alone does so, and says once that it knows nothing of nodes."""
    name = f"limited-{jobs.namespace}"[:63].strip("-")
    jobs.client.create("v1/serviceaccounts", {"metadata": {"name": name}}, NAMESPACE)
    binding = {
        "metadata": {"name": "operator"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": MANAGER_ROLE},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}],
    }
    jobs.client.create(f"{RBAC}/rolebindings", binding, jobs.namespace)
    operator = own_operators.start("--namespace", jobs.namespace, account=name).wait_leading()
    jobs.create(restart_policy="OnFailure")
    jobs.run(3)
    # Without the right on nodes a lost one is not noticed, and pods are judged by what they say themselves.
    jobs.finish("worker-1", code=1)
    jobs.client.wait_for(lambda: jobs.status().get("restarts") == 1, what="the restart")
    jobs.run(3)
    (refused,) = operator.log("informer.refused")
    assert refused["level"] == "warning"
    assert "nodes" in refused["error"]
    assert operator.get("/readyz")[0] == 200


@pytest.mark.usefixtures("operator")
def test_owner_references_are_enforced_here(admin: Client, jobs: Jobs) -> None:
    """This API server refuses owner references that block to who may not set finalizers, so the operator may."""
    job = jobs.create()
    owner = jobs.wait_pods(3)["worker-0"]["metadata"]["ownerReferences"][0]
    assert owner["blockOwnerDeletion"]
    admin.create("v1/serviceaccounts", {"metadata": {"name": "podder"}}, jobs.namespace)
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["create"]}]
    admin.create(f"{RBAC}/roles", {"metadata": {"name": "podder"}, "rules": rules}, jobs.namespace)
    binding = {
        "metadata": {"name": "podder"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "podder"},
        "subjects": [{"kind": "ServiceAccount", "name": "podder", "namespace": jobs.namespace}],
    }
    admin.create(f"{RBAC}/rolebindings", binding, jobs.namespace)
    pod = {"metadata": {"name": "mine"}, "spec": {"containers": [{"name": "a", "image": "example.com/a"}]}}
    owned = {**pod, "metadata": {"name": "owned", "ownerReferences": [owner]}}
    assert owner["uid"] == job["metadata"]["uid"]

    def may_create(account: Client) -> bool:
        try:
            account.create(PODS, pod, jobs.namespace)
        except ForbiddenError:
            return False
        return True

    with service_account_client(admin, jobs.namespace, "podder") as account:
        account.wait_for(lambda: may_create(account), what="the role to count")
        with pytest.raises(ForbiddenError, match="cannot set blockOwnerDeletion"):
            account.create(PODS, owned, jobs.namespace)
