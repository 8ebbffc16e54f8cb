"""The MSJob CRD as plain data: its schema and the whole manifest. Needs no Node.js.

The schema is made of the pydantic models of `msjob.api`, of the rules of `msjob.api.rules` and of the pod template
schema of one Kubernetes version (`data/pod-template.schema.json`, written by `tools/generate_pod_template.py`). All
roles share one template schema and only own fields carry descriptions: so the whole stays small enough for the
annotation that a plain `kubectl apply` writes (262,144 bytes).
"""

import json
from copy import deepcopy
from functools import cache
from importlib.resources import files
from typing import Any, Final

from msjob import installed
from msjob.api import meta, rules
from msjob.api.kubernetes import MetricSpec
from msjob.api.status import MSJobStatus
from msjob.api.types import MSJobSpec
from msjob.structural import EACH, structural

TEMPLATE: Final = ("msReplicaSpecs", EACH, "template")
"""Where the pod template stands in `spec`."""

METRIC: Final = ("elasticPolicy", "metrics", EACH)
"""Where a metric of the HorizontalPodAutoscaler stands in `spec`; the operator hands it on as it is."""

COLUMNS: Final[tuple[dict[str, Any], ...]] = (
    {
        "name": "State",
        "type": "string",
        "description": "The condition that holds now.",
        "jsonPath": ".status.conditions[-1:].type",
    },
    {
        "name": "Age",
        "type": "date",
        "description": "Time since the job was created.",
        "jsonPath": ".metadata.creationTimestamp",
    },
    {
        "name": "Workers",
        "type": "string",
        "description": "Running Workers of those wanted.",
        "jsonPath": ".status.workersReady",
        "priority": 1,
    },
    {
        "name": "Restarts",
        "type": "integer",
        "description": "How often the job was restarted.",
        "jsonPath": ".status.restarts",
        "priority": 1,
    },
    {
        "name": "Reason",
        "type": "string",
        "description": "Why the job is in that state.",
        "jsonPath": ".status.conditions[-1:].reason",
        "priority": 1,
    },
)
"""What `kubectl get msjobs` prints; columns of priority 1 with `-o wide` only."""

_SYNC_OPTIONS: Final = {"argocd.argoproj.io/sync-options": "ServerSideApply=true,Prune=confirm,Delete=confirm"}
"""For Argo CD: removing the CRD, which removes every job of the cluster, waits for a person to confirm."""


@cache
def pod_template() -> tuple[str, dict[str, Any]]:
    """The committed schema of a pod template.

    Returns:
        The Kubernetes version it was made from, such as `v1.36.3`, and the structural schema, to be left unchanged.
    """
    data = json.loads(files("msjob").joinpath("data/pod-template.schema.json").read_text(encoding="utf-8"))
    return data["kubernetes"], data["schema"]


@cache
def _schema() -> dict[str, Any]:
    spec = structural(MSJobSpec, {TEMPLATE: pod_template()[1], METRIC: structural(MetricSpec)})
    return {
        "description": "A MindSpore training job: pods in roles, started as one cluster, run to an end.",
        "properties": {
            "apiVersion": {"description": f"Version of this API: {meta.API_VERSION}.", "type": "string"},
            "kind": {"description": f"Kind of this object: {meta.KIND}.", "type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
            "status": structural(MSJobStatus),
        },
        "type": "object",
        "x-kubernetes-validations": rules.cel(),
    }


def openapi_schema() -> dict[str, Any]:
    """The structural schema of an MSJob: `spec.versions[0].schema.openAPIV3Schema` of the CRD.

    Nothing is required at the root: an object that was stored without a spec must keep its status writable. Rules,
    which let an update of such an object pass, ask for it instead.

    Returns:
        A copy that the caller may change.
    """
    return deepcopy(_schema())


def crd_manifest() -> dict[str, Any]:
    """The CustomResourceDefinition of MSJob.

    Returns:
        The manifest as `dist/` holds it, about 115 KB as compact JSON.
    """
    metadata = installed.metadata(meta.CRD_NAME, component="crd", wave=installed.WAVE_CRD)
    metadata["annotations"] |= _SYNC_OPTIONS
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {
            "group": meta.GROUP,
            "names": {
                "categories": ["all"],
                "kind": meta.KIND,
                "listKind": meta.LIST_KIND,
                "plural": meta.PLURAL,
                "shortNames": [meta.SHORT_NAME],
                "singular": meta.SINGULAR,
            },
            "scope": "Namespaced",
            "versions": [
                {
                    "name": meta.VERSION,
                    "served": True,
                    "storage": True,
                    "additionalPrinterColumns": deepcopy(list(COLUMNS)),
                    "schema": {"openAPIV3Schema": openapi_schema()},
                    "subresources": {
                        "scale": {
                            "labelSelectorPath": ".status.replicaStatuses.Worker.selector",
                            "specReplicasPath": ".spec.msReplicaSpecs.Worker.replicas",
                            "statusReplicasPath": ".status.replicaStatuses.Worker.active",
                        },
                        "status": {},
                    },
                }
            ],
        },
    }
