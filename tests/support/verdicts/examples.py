"""A job and statuses with every field."""

from support.jobs import Json, msjob
from support.verdicts.case import CPU_METRIC

FULL = msjob(
    "every-own-field",
    labels={"app": "x", "example.com/team": "A.b_c-1"},
    annotations={"example.com/Note": "any text: ü\n"},
    scheduler=1,
    ps=2,
    worker=3,
    run_policy={
        "cleanPodPolicy": "All",
        "ttlSecondsAfterFinished": 0,
        "activeDeadlineSeconds": 2**53,
        "startupDeadlineSeconds": 2**31 - 1,
        "backoffLimit": 2**31 - 1,
        "failurePolicy": {
            "rules": [
                {
                    "action": "FailJob",
                    "onExitCodes": {"containerName": "mindspore", "operator": "NotIn", "values": [0, 255]},
                    "onPodConditions": [{"type": "DisruptionTarget", "status": "False"}, {"type": "Ready"}],
                    "onPodReasons": ["Evicted"],
                    "replicaTypes": ["Scheduler", "ps", "WORKER"],
                },
                {"action": "Restart", "onExitCodes": {"operator": "In", "values": [1, 1, 255]}},
                {"action": "RestartIgnoringLimit", "onPodReasons": ["OOMKilled", "NodeLost"]},
                {"action": "IgnorePod", "replicaTypes": ["PS"]},
            ]
        },
        "forceDeleteAfterSeconds": 1,
        "schedulingPolicy": {
            "minAvailable": 6,
            "queue": "q",
            "minResources": {"cpu": 1, "memory": "1.5Gi", "example.com/gpu": "1e3", "ephemeral-storage": "+.5G"},
            "priorityClass": "p",
            "scheduleTimeoutSeconds": 1,
        },
        "suspend": True,
        "managedBy": "kueue.x-k8s.io/multikueue",
    },
    success_policy="AllWorkers",
    enable_dynamic_worker=True,
    launch_mode="DynamicCluster",
    proc_per_worker="auto",
    elastic_policy={
        "minReplicas": 3,
        "maxReplicas": 100_000,
        "metrics": [
            CPU_METRIC,
            {
                "type": "ContainerResource",
                "containerResource": {
                    "name": "memory",
                    "container": "mindspore",
                    "target": {"type": "AverageValue", "averageValue": 1},
                },
            },
            {
                "type": "Pods",
                "pods": {"metric": {"name": "queue"}, "target": {"type": "AverageValue", "averageValue": "500m"}},
            },
            {
                "type": "Object",
                "object": {
                    "describedObject": {"apiVersion": "v1", "kind": "Service", "name": "a"},
                    "metric": {"name": "requests"},
                    "target": {"type": "Value", "value": "2k"},
                },
            },
            {
                "type": "External",
                "external": {
                    "metric": {
                        "name": "queue",
                        "selector": {
                            "matchLabels": {"a": "b"},
                            "matchExpressions": [{"key": "c", "operator": "In", "values": ["d"]}],
                        },
                    },
                    "target": {"type": "Value", "value": "1.5"},
                },
            },
        ],
    },
    managed_by="kueue.x-k8s.io/multikueue",
)
FULL["spec"]["msReplicaSpecs"]["Worker"]["restartScope"] = "Pod"
FULL["spec"]["msReplicaSpecs"]["PS"]["restartScope"] = "Job"

GO_STATUS: Json = {
    "conditions": [
        {
            "type": "Running",
            "status": "True",
            "reason": "MSJobRunning",
            "message": "MSJob default/train is running.",
            "lastUpdateTime": "2022-08-10T01:02:03Z",
            "lastTransitionTime": "2022-08-10T01:02:03Z",
        }
    ],
    "replicaStatuses": {
        "Scheduler": {"active": 1},
        "Worker": {
            "active": 2,
            "labelSelector": {
                "matchLabels": {"training.kubeflow.org/job-name": "train", "job-name": "train"},
                "matchExpressions": [
                    {"key": "replica-type", "operator": "In", "values": ["worker"]},
                    {"key": "replica-index", "operator": "Exists"},
                ],
            },
        },
    },
    "startTime": "2022-08-10T01:02:03Z",
    "lastReconcileTime": "2022-08-10T01:02:03Z",
}
"""A status with every field that the Go operator (kubeflow/common v0.4.1, JobStatus) can write."""

OWN_STATUS: Json = {
    "conditions": [{"type": "Restarting", "status": "True", "reason": "MSJobRestarting"}],
    "replicaStatuses": {
        "Worker": {"active": 1, "succeeded": 2, "failed": 1, "selector": "a=b", "completedIndexes": "0,2-4"}
    },
    "startTime": "2026-01-02T03:04:05Z",
    "observedGeneration": 2,
    "workersReady": "1/4",
    "restarts": 2,
    "restartsCountTowardsLimit": 1,
    "attempt": 3,
    "readyAttempt": 2,
    "workerReplicas": 4,
    "nextRestartTime": "2026-01-02T03:04:05Z",
    "replacements": [{"pod": "train-worker-3", "uid": "u", "time": "2026-01-02T03:04:05Z"}],
    "lastFailure": {
        "pod": "train-worker-3",
        "role": "Worker",
        "index": 3,
        "container": "mindspore",
        "exitCode": 137,
        "reason": "OOMKilled",
        "message": "out of memory",
        "time": "2026-01-02T03:04:05Z",
        "node": "node-1",
        "attempt": 2,
        "countsTowardsLimit": True,
    },
}
"""A status with fields that this operator writes while a job is restarted."""
