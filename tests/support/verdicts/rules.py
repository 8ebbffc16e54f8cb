"""Each rule that needs one state of a job only: jobs that keep it and jobs that break it."""

from support.jobs import Json, msjob, role, template
from support.verdicts.case import CPU_METRIC, EVICTED, FAILURE_RULE, WORKER, changed, failing, on_codes

_ROLES = "spec.msReplicaSpecs"
_OTHER = {"spec": {"containers": [{"name": "main", "image": "example.com/a:1"}]}}
_SIDECAR = {"name": "logs", "image": "example.com/logs:1"}
_ON_NODE = template(host_network=True, node_name="node-1")
_NODE_NAME = f"{WORKER}.template.spec.nodeName"

RULES_GOOD: dict[str, dict[str, Json]] = {
    "name": {
        "shortest": msjob("a"),
        "digits-and-dashes": msjob("a0-b1"),
        "generated": changed("metadata", {"generateName": "a"}),
    },
    "name-length": {
        "longest": msjob("n" * 51, worker=10),
        "longest-of-many": msjob("n" * 51, worker=10, scheduler=1),
        "worker-alone": msjob("n" * 54, worker=10, scheduler=None),
        "no-pods-of-a-role": msjob("n" * 54, worker=10, scheduler=None, ps=None),
    },
    "roles-present": {"one": msjob(scheduler=None, worker=1)},
    "roles-known": {
        "lower-case": changed(_ROLES, {"scheduler": role(), "ps": role(), "worker": role()}),
        "upper-case": changed(_ROLES, {"SCHEDULER": role(), "PS": role(), "WORKER": role()}),
    },
    "roles-unique": {"all-three": msjob(ps=1)},
    "scheduler-single": {"replicas-left-out": msjob(scheduler=role(None))},
    "some-pod": {"no-workers": msjob(worker=0), "default-replicas": msjob(scheduler=None, worker=role(None))},
    "container": {
        "second": msjob(pod={"spec": {"containers": [_SIDECAR, {"name": "mindspore", "image": "example.com/a:1"}]}})
    },
    "ps-scheduler": {"both": msjob(ps=1), "both-lower-case": changed(_ROLES, {"ps": role(), "scheduler": role()})},
    "launch-dynamic": {"scheduler": msjob(launch_mode="DynamicCluster")},
    "launch-standalone": {"workers": msjob(launch_mode="Standalone", scheduler=None)},
    "launch-msrun": {
        "workers": msjob(launch_mode="Msrun", scheduler=None),
        "scheduler-and-workers": msjob(launch_mode="Msrun"),
    },
    "host-network-node": {
        "one-worker": msjob(worker=role(1, _ON_NODE)),
        "default-replicas": msjob(worker=role(None, _ON_NODE)),
        "no-workers": msjob(worker=role(0, _ON_NODE)),
        "one-worker-at-most": msjob(worker=role(1, _ON_NODE), elastic_policy={"maxReplicas": 1}),
        "any-node": msjob(worker=role(2, template(host_network=True))),
        "node-name-empty": msjob(worker=role(2, template(host_network=True, node_name=""))),
        "network-of-the-pod": msjob(worker=role(2, template(host_network=False, node_name="node-1"))),
        "network-left-out": msjob(worker=role(2, template(node_name="node-1"))),
        "other-roles": msjob(scheduler=role(1, _ON_NODE), ps=role(2, _ON_NODE)),
        "standalone": msjob(scheduler=None, worker=role(2, _ON_NODE), launch_mode="Standalone"),
        "standalone-by-default": msjob(scheduler=None, worker=role(2, _ON_NODE), elastic_policy={"maxReplicas": 4}),
        "none": msjob(worker=role(2, _ON_NODE), launch_mode="None"),
    },
    "managed-by-agrees": {
        "same": msjob(managed_by="kueue.x-k8s.io/multikueue", run_policy={"managedBy": "kueue.x-k8s.io/multikueue"}),
        "only-inner": msjob(run_policy={"managedBy": "mindspore.gitee.com/ms-operator"}),
        "only-outer": msjob(managed_by="mindspore.gitee.com/ms-operator", run_policy={"suspend": False}),
    },
    "failure-rule-names": {
        "codes": on_codes([1]),
        "conditions": failing({"action": "Restart", "onPodConditions": [{"type": "DisruptionTarget"}]}),
        "reasons": failing(EVICTED),
        "roles": failing({"action": "IgnorePod", "replicaTypes": ["Worker"]}),
    },
    "failure-rule-codes": {"not-zero": on_codes([0], "NotIn"), "twice": on_codes([1, 1])},
    "failure-rule-roles": {
        "any-spelling": failing({"action": "Restart", "replicaTypes": ["worker", "SCHEDULER"]}),
        "twice": failing({"action": "Restart", "replicaTypes": ["Worker", "worker"]}),
        "key-in-lower-case": changed(
            _ROLES,
            {"worker": role()},
            failing({"action": "Restart", "replicaTypes": ["Worker"]}),
        ),
    },
    "elastic-bounds": {
        "equal": msjob(elastic_policy={"minReplicas": 2, "maxReplicas": 2}),
        "minimum-left-out": msjob(worker=1, elastic_policy={"maxReplicas": 1}),
    },
    "elastic-worker": {
        "with-scheduler": msjob(elastic_policy={"maxReplicas": 2}),
        "standalone": msjob(scheduler=None, launch_mode="Standalone", elastic_policy={"maxReplicas": 2}),
    },
    "elastic-replicas": {
        "least": msjob(worker=2, elastic_policy={"minReplicas": 2, "maxReplicas": 4}),
        "most": msjob(worker=4, elastic_policy={"minReplicas": 2, "maxReplicas": 4}),
        "left-out": msjob(worker=role(None), elastic_policy={"maxReplicas": 4}),
    },
    "elastic-metrics": {"resource": msjob(elastic_policy={"maxReplicas": 2, "metrics": [CPU_METRIC]})},
    "elastic-name": {"longest": msjob("n" * 52, scheduler=None, elastic_policy={"maxReplicas": 1000})},
}

RULES_BAD: dict[str, dict[str, tuple[Json, str]]] = {
    "name": {
        "missing": (changed("metadata", {}), "metadata.name"),
        "upper-case": (msjob("Train"), "metadata.name"),
        "digit-first": (msjob("1train"), "metadata.name"),
        "dash-last": (msjob("train-"), "metadata.name"),
        "dot": (msjob("train.v1"), "metadata.name"),
        "underscore": (msjob("my_train"), "metadata.name"),
        "generated": (changed("metadata", {"generateName": "1-"}), "metadata.name"),
    },
    "name-length": {
        "one-too-many": (msjob("n" * 52), "metadata.name"),
        "two-digits": (msjob("n" * 55, scheduler=None, worker=11), "metadata.name"),
        "generated": (changed("metadata", {"generateName": "n" * 60}), "metadata.name"),
    },
    "roles-present": {
        "no-spec": (changed("spec", ...), _ROLES),
        "spec-null": (changed("spec", None), _ROLES),
        "none": (changed(_ROLES, {}), _ROLES),
        "null": (changed(_ROLES, None), _ROLES),
        "only-null": (changed(_ROLES, {"Worker": None}), _ROLES),
    },
    "roles-known": {
        "unknown": (changed(f"{_ROLES}.Master", role()), f"{_ROLES}.Master"),
        "plural": (changed(_ROLES, {"Workers": role()}), f"{_ROLES}.Workers"),
    },
    "roles-unique": {"twice": (changed(f"{_ROLES}.worker", role()), f"{_ROLES}.worker")},
    "scheduler-single": {
        "two": (msjob(scheduler=2), f"{_ROLES}.Scheduler.replicas"),
        "none": (msjob(scheduler=0), f"{_ROLES}.Scheduler.replicas"),
    },
    "some-pod": {"all-zero": (msjob(scheduler=None, worker=0), _ROLES)},
    "container": {
        "other-name": (msjob(worker=role(1, _OTHER)), f"{WORKER}.template.spec.containers"),
        "none": (changed("W.template.spec.containers", []), f"{WORKER}.template.spec.containers"),
        "no-template": (changed("W.template", ...), f"{WORKER}.template.spec.containers"),
        "no-pod-spec": (changed("W.template", {}), f"{WORKER}.template.spec.containers"),
    },
    "ps-scheduler": {"no-scheduler": (msjob(scheduler=None, ps=1), _ROLES)},
    "launch-dynamic": {"no-scheduler": (msjob(scheduler=None, launch_mode="DynamicCluster"), "spec.launchMode")},
    "launch-standalone": {"scheduler": (msjob(launch_mode="Standalone"), "spec.launchMode")},
    "launch-msrun": {
        "ps": (msjob(ps=1, launch_mode="Msrun"), "spec.launchMode"),
        "no-workers": (msjob(worker=0, launch_mode="Msrun"), "spec.launchMode"),
    },
    "host-network-node": {
        "two-workers": (msjob(worker=role(2, _ON_NODE)), _NODE_NAME),
        "dynamic-cluster": (msjob(worker=role(2, _ON_NODE), launch_mode="DynamicCluster"), _NODE_NAME),
        "msrun": (msjob(scheduler=None, worker=role(2, _ON_NODE), launch_mode="Msrun"), _NODE_NAME),
        "elastic": (msjob(worker=role(1, _ON_NODE), elastic_policy={"maxReplicas": 2}), _NODE_NAME),
        "lower-case": (
            changed(_ROLES, {"scheduler": role(), "worker": role(2, _ON_NODE)}),
            f"{_ROLES}.worker.template.spec.nodeName",
        ),
    },
    "managed-by-agrees": {
        "differ": (
            msjob(managed_by="kueue.x-k8s.io/multikueue", run_policy={"managedBy": "mindspore.gitee.com/ms-operator"}),
            "spec.managedBy",
        )
    },
    "failure-rule-names": {"nothing": (failing({"action": "Restart"}), FAILURE_RULE)},
    "failure-rule-codes": {
        "zero": (on_codes([1, 0]), f"{FAILURE_RULE}.onExitCodes.values"),
        "second-rule": (
            failing(
                EVICTED,
                {"action": "Restart", "onExitCodes": {"operator": "In", "values": [0]}, "replicaTypes": ["Worker"]},
            ),
            "spec.runPolicy.failurePolicy.rules[1].onExitCodes.values",
        ),
    },
    "failure-rule-roles": {
        "unknown": (failing({**EVICTED, "replicaTypes": ["Chief"]}), f"{FAILURE_RULE}.replicaTypes[0]"),
        "not-of-the-job": (failing({**EVICTED, "replicaTypes": ["Worker", "PS"]}), f"{FAILURE_RULE}.replicaTypes[1]"),
        "empty": (failing({**EVICTED, "replicaTypes": [""]}), f"{FAILURE_RULE}.replicaTypes[0]"),
    },
    "elastic-bounds": {
        "crossed": (
            msjob(worker=3, elastic_policy={"minReplicas": 3, "maxReplicas": 2}),
            "spec.elasticPolicy.minReplicas",
        )
    },
    "elastic-worker": {
        "lower-case": (
            changed(_ROLES, {"worker": role()}, msjob(elastic_policy={"maxReplicas": 2})),
            "spec.elasticPolicy",
        ),
        "no-workers": (msjob(worker=None, elastic_policy={"maxReplicas": 2}), "spec.elasticPolicy"),
    },
    "elastic-replicas": {
        "too-few": (msjob(worker=1, elastic_policy={"minReplicas": 2, "maxReplicas": 4}), f"{WORKER}.replicas"),
        "too-many": (msjob(worker=5, elastic_policy={"minReplicas": 2, "maxReplicas": 4}), f"{WORKER}.replicas"),
        "none": (msjob(worker=0, elastic_policy={"maxReplicas": 4}), f"{WORKER}.replicas"),
        "left-out": (
            msjob(worker=role(None), elastic_policy={"minReplicas": 2, "maxReplicas": 4}),
            f"{WORKER}.replicas",
        ),
    },
    "elastic-metrics": {
        "nothing": (
            msjob(elastic_policy={"maxReplicas": 2, "metrics": [CPU_METRIC, {"type": "Resource"}]}),
            "spec.elasticPolicy.metrics[1]",
        ),
        "other": (
            msjob(elastic_policy={"maxReplicas": 2, "metrics": [{**CPU_METRIC, "type": "Pods"}]}),
            "spec.elasticPolicy.metrics[0]",
        ),
        "two": (
            msjob(
                elastic_policy={
                    "maxReplicas": 2,
                    "metrics": [{**CPU_METRIC, "containerResource": {**CPU_METRIC["resource"], "container": "a"}}],
                }
            ),
            "spec.elasticPolicy.metrics[0]",
        ),
    },
    "elastic-name": {
        "too-long": (msjob("n" * 53, scheduler=None, elastic_policy={"maxReplicas": 1000}), "metadata.name")
    },
}
