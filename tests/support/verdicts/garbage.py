"""Jobs of wrong types, as they could be stored under a CRD without a schema."""

from support.jobs import Json
from support.verdicts.case import changed

FROZEN: dict[str, Json] = {
    "spec-text": changed("spec", "train.py"),
    "spec-list": changed("spec", []),
    "roles-text": changed("spec.msReplicaSpecs", "Worker"),
    "role-text": changed("spec.msReplicaSpecs.Worker", "2"),
    "replicas-text": changed("W.replicas", "two"),
    "container-text": changed("W.template.spec.containers", ["mindspore"]),
}
"""The API server refuses to change these: it cannot read the number of Workers, which the scale subresource gives, or
the key of an item of a list."""

SPEC_GARBAGE: dict[str, Json] = FROZEN | {
    "no-spec": changed("spec", ...),
    "spec-null": changed("spec", None),
    "roles-null": changed("spec.msReplicaSpecs", None),
    "role-null": changed("spec.msReplicaSpecs.Worker", None),
    "role-empty": changed("spec.msReplicaSpecs.Worker", {}),
    "replicas-of-scheduler-text": changed("spec.msReplicaSpecs.Scheduler.replicas", "one"),
    "restart-policy-number": changed("W.restartPolicy", 1),
    "template-null": changed("W.template", None),
    "template-text": changed("W.template", "pod"),
    "pod-spec-null": changed("W.template.spec", None),
    "pod-spec-text": changed("W.template.spec", "pod"),
    "containers-null": changed("W.template.spec.containers", None),
    "containers-text": changed("W.template.spec.containers", "mindspore"),
    "container-name-number": changed("C.name", 1),
    "command-text": changed("C.command", "python train.py"),
    "env-number": changed("C.env", [{"name": "A", "value": 1}]),
    "ports-text": changed("C.ports", "2222"),
    "policy-text": changed("spec.runPolicy", "Never"),
    "policy-null": changed("spec.runPolicy", None),
    "suspend-text": changed("spec.runPolicy", {"suspend": "true"}),
    "backoff-text": changed("spec.runPolicy", {"backoffLimit": "3"}),
    "failure-policy-text": changed("spec.runPolicy", {"failurePolicy": "Restart"}),
    "success-policy-number": changed("spec.successPolicy", 1),
    "dynamic-worker-text": changed("spec.enableDynamicWorker", "yes"),
    "launch-mode-number": changed("spec.launchMode", 1),
    "managed-by-number": changed("spec.managedBy", 1),
    "elastic-policy-text": changed("spec.elasticPolicy", "2-4"),
    "unknown-field": changed("spec.extra", 1),
}
"""What is wrong is in the spec: the operator calls such a job invalid. By name."""

STATUS_GARBAGE: dict[str, Json] = {
    "conditions-null": changed("status", {"conditions": None, "replicaStatuses": None}),
    "conditions-text": changed("status", {"conditions": "Running"}),
    "condition-null": changed("status", {"conditions": [None]}),
    "condition-empty": changed("status", {"conditions": [{}]}),
    "status-text": changed("status", "Running"),
    "status-numbers-text": changed(
        "status",
        {"restarts": "3", "attempt": "x", "startTime": 5, "replicaStatuses": {"Worker": {"active": "1"}}},
    ),
}
"""The spec is good and the status is not: the job runs as any other."""

GARBAGE: dict[str, Json] = SPEC_GARBAGE | STATUS_GARBAGE
