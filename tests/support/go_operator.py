"""What the Go operator leaves behind in a cluster: its CRD, and its jobs with their pods, Services and status.

After mindspore-ai/ms-operator at e361e2b (2022-08-10) with kubeflow/common v0.4.1: labels in two spellings, no attempt,
`MS_NODE_ID` by the name of the pod, label selectors and `lastReconcileTime` in the status.
"""

from collections.abc import Sequence
from typing import Any, Final

from support.jobs import Json, msjob
from support.live_jobs import SERVICES, Jobs, moment
from support.testbed.client import PODS

CONTROLLER: Final = "msjob-controller"
GROUP: Final = "mindspore.gitee.com"
NAMESPACE: Final = "ms-operator-system"


def crd() -> Json:
    """The CRD of an operator that checks nothing: any spec and any status, and no scale subresource."""
    anything = {"x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": anything, "status": anything}}},
        "subresources": {"status": {}},
        "additionalPrinterColumns": [
            {"jsonPath": ".status.conditions[-1:].type", "name": "State", "type": "string"},
            {"jsonPath": ".metadata.creationTimestamp", "name": "Age", "type": "date"},
        ],
    }
    names = {"kind": "MSJob", "listKind": "MSJobList", "plural": "msjobs", "singular": "msjob"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"msjobs.{GROUP}"},
        "spec": {"group": GROUP, "names": names, "scope": "Namespaced", "versions": [version]},
    }


def installation() -> list[Json]:
    """What its manifest installs beside the CRD, as far as names, roles and the selector of its Deployment go."""
    role, account, pod = "ms-operator-manager-role", "ms-operator-controller-manager", "controller-manager"
    objects = [
        _object("v1", "Namespace", NAMESPACE, namespace=None),
        _object("v1", "ServiceAccount", account),
        _object("v1", "ConfigMap", "ms-operator-manager-config", data={"controller_manager_config.yaml": "{}"}),
        _object("v1", "Service", f"{account}-metrics-service", spec={"ports": [{"port": 8443, "name": "https"}]}),
        *_rights(role, "ms-operator-manager-rolebinding", account),
        *_rights("ms-operator-proxy-role", "ms-operator-proxy-rolebinding", account),
        _rights("ms-operator-metrics-reader", "", account)[0],
    ]
    container = {"name": "manager", "image": "example.com/ms-operator:latest", "args": ["--leader-elect"]}
    labels = {"control-plane": pod}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container], "serviceAccountName": account}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    return [*objects, _object("apps/v1", "Deployment", account, spec=spec)]


def _rights(role: str, binding: str, account: str) -> list[Json]:
    api = "rbac.authorization.k8s.io/v1"
    rules = [{"apiGroups": [GROUP], "resources": ["msjobs", "msjobs/status"], "verbs": ["get", "update"]}]
    target = {"apiGroup": api.partition("/")[0], "kind": "ClusterRole", "name": role}
    subjects = [{"kind": "ServiceAccount", "name": account, "namespace": NAMESPACE}]
    return [
        _object(api, "ClusterRole", role, namespace=None, rules=rules),
        _object(api, "ClusterRoleBinding", binding, namespace=None, roleRef=target, subjects=subjects),
    ]


def _object(api: str, kind: str, name: str, *, namespace: str | None = NAMESPACE, **fields: Any) -> Json:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **fields}


class GoOperator:
    """Makes what the Go operator would have made.

    Args:
        jobs: of the namespace.
    """

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    def run(
        self, name: str, states: Sequence[str] = ("Created", "Running"), *, pods: bool = True, **fields: Any
    ) -> Json:
        """Have a job with Service, pods and status.

        Args:
            name: of the job.
            states: types of its conditions; the last one is True, and so is Created.
            pods: whether its pods are still there.
            fields: as for `support.jobs.msjob`.

        Returns:
            The job.
        """
        job = self._jobs.create(msjob(name, **fields))
        roles: dict[str, Json] = job["spec"]["msReplicaSpecs"]
        address = self._service(job) if "Scheduler" in roles else ""
        for role, spec in roles.items():
            for index in range(spec["replicas"] if pods else 0):
                self._pod(job, role, index, address)
        running = {role: spec["replicas"] for role, spec in roles.items()}
        self._jobs.set_status(name, **self._status(job, states, running))
        return job

    def _service(self, job: Json) -> str:
        body = self._child(job, "Scheduler", 0)
        selector = {key: body["metadata"]["labels"][key] for key in _labels(job, "Scheduler")}
        selector["training.kubeflow.org/replica-index"] = "0"
        body["spec"] = {"selector": selector, "ports": [{"name": "msjob-port", "port": 2222}]}
        created = self._jobs.client.create(SERVICES, body, self._jobs.namespace)
        return str(created["spec"]["clusterIP"])

    def _pod(self, job: Json, role: str, index: int, address: str) -> None:
        spec = job["spec"]["msReplicaSpecs"][role]
        body = self._child(job, role, index)
        container = dict(spec["template"]["spec"]["containers"][0])
        if address:
            container["env"] = self._environment(job, role, address)
        policy = spec.get("restartPolicy", "Never")
        restart = "Never" if policy == "ExitCode" else policy
        body["spec"] = {**spec["template"]["spec"], "containers": [container], "restartPolicy": restart}
        self._jobs.client.create(PODS, body, self._jobs.namespace)

    def _environment(self, job: Json, role: str, address: str) -> list[Json]:
        roles = job["spec"]["msReplicaSpecs"]
        host: Json = {"name": "MS_SCHED_HOST", "value": address}
        if role == "Scheduler":
            host = {"name": "MS_SCHED_HOST", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
        names = {"Scheduler": "MS_SCHED", "PS": "MS_PSERVER", "Worker": "MS_WORKER"}
        return [
            host,
            {"name": "MS_NODE_ID", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "MS_SCHED_PORT", "value": "2222"},
            {"name": "MS_SERVER_NUM", "value": str(roles.get("PS", {}).get("replicas", 0))},
            {"name": "MS_WORKER_NUM", "value": str(roles.get("Worker", {}).get("replicas", 0))},
            {"name": "MS_ROLE", "value": names[role]},
        ]

    def _child(self, job: Json, role: str, index: int) -> Json:
        name, uid = job["metadata"]["name"], job["metadata"]["uid"]
        labels = _labels(job, role)
        number = str(index)
        labels |= {"training.kubeflow.org/replica-index": number, "replica-index": number}
        if role == "Scheduler":
            labels["training.kubeflow.org/job-role"] = "master"
        owner = {
            "apiVersion": f"{GROUP}/v1",
            "kind": "MSJob",
            "name": name,
            "uid": uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
        return {"metadata": {"name": f"{name}-{role.lower()}-{index}", "labels": labels, "ownerReferences": [owner]}}

    def _status(self, job: Json, states: Sequence[str], running: dict[str, int]) -> Json:
        name, at = job["metadata"]["name"], moment(-60)
        conditions = [
            {
                "type": state,
                "status": "True" if state in ("Created", states[-1]) else "False",
                "reason": f"MSJob{state}",
                "message": f"MSJob {name} is {state.lower()}.",
                "lastUpdateTime": at,
                "lastTransitionTime": at,
            }
            for state in states
        ]
        ended = states[-1] in ("Succeeded", "Failed")
        counts = {
            role: {"active": 0 if ended else count, "labelSelector": {"matchLabels": _labels(job, role)}}
            for role, count in running.items()
        }
        return {
            "conditions": conditions,
            "replicaStatuses": counts,
            "startTime": at,
            "lastReconcileTime": at,
            **({"completionTime": moment(-30)} if ended else {}),
        }


def _labels(job: Json, role: str) -> Json:
    name, slug = job["metadata"]["name"], role.lower()
    return {
        "group-name": GROUP,
        "job-name": name,
        "controller-name": CONTROLLER,
        "replica-type": slug,
        "training.kubeflow.org/job-name": name,
        "training.kubeflow.org/operator-name": CONTROLLER,
        "training.kubeflow.org/replica-type": slug,
    }
