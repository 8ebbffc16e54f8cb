"""Jobs and statuses that only a CRD without a schema lets in."""

from typing import Any, Final

from support.jobs import Json, msjob


def job(name: str, **spec: Any) -> Json:
    """A job with some fields of its spec replaced."""
    found = msjob(name)
    found["spec"].update(spec)
    return found


def without_spec(name: str) -> Json:
    """A job with nothing but a name."""
    found = msjob(name)
    del found["spec"]
    return found


def with_template(name: str, template: Any) -> Json:
    """A job whose Workers have a template of any kind."""
    found = msjob(name)
    found["spec"]["msReplicaSpecs"]["Worker"]["template"] = template
    return found


def with_container(name: str, **fields: Any) -> Json:
    """A job whose Workers' container has fields of any kind."""
    found = msjob(name)
    found["spec"]["msReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0].update(fields)
    return found


BAD: Final[list[tuple[Json, str]]] = [
    (without_spec("no-spec"), "spec"),
    (job("null-roles", msReplicaSpecs=None), "msReplicaSpecs"),
    (job("empty-roles", msReplicaSpecs={}), "msReplicaSpecs"),
    (job("list-of-roles", msReplicaSpecs=["Worker"]), "msReplicaSpecs"),
    (job("null-role", msReplicaSpecs={"Scheduler": None, "Worker": None}), "msReplicaSpecs"),
    (job("unknown-role", msReplicaSpecs={"Chief": {"replicas": 1}}), "Chief"),
    (with_template("null-template", None), "template"),
    (with_template("template-is-a-number", 7), "template"),
    (with_template("template-is-a-list", [{"spec": {}}]), "template"),
    (with_template("no-containers", {"spec": {"containers": None}}), "container"),
    (with_template("containers-of-text", {"spec": {"containers": ["mindspore"]}}), "container"),
    (with_container("env-is-a-map", env={"A": "b"}), "env"),
    (with_container("env-of-nulls", env=[None]), "env"),
    (with_container("port-of-text", ports=[{"name": "msjob-port", "containerPort": "http"}]), "containerPort"),
    (with_container("limits-are-a-list", resources={"limits": ["4"]}), "limits"),
    (job("replicas-of-text", msReplicaSpecs={"Worker": {"replicas": "two", "template": {}}}), "replicas"),
    (job("policy-is-text", runPolicy="fast"), "runPolicy"),
    (job("deadline-of-text", runPolicy={"activeDeadlineSeconds": "1h"}), "activeDeadlineSeconds"),
    (job("two-schedulers", msReplicaSpecs=msjob(scheduler=2)["spec"]["msReplicaSpecs"]), "Scheduler"),
]

"""Each with a word that tells what is wrong with it."""

STATUSES: Final[dict[str, Any]] = {
    "null-conditions": {"conditions": None, "replicaStatuses": None},
    "conditions-of-text": {"conditions": "Running"},
    "conditions-of-nulls": {"conditions": [None, {"status": "True"}, "Created"]},
    "times-that-are-none": {"startTime": "yesterday", "completionTime": 7},
    "counts-of-text": {"replicaStatuses": {"Worker": "two", "Scheduler": None}},
    "numbers-of-text": {"restarts": "many", "attempt": "second"},
    "status-of-text": "Running",
    "status-is-a-list": ["Running"],
}
"""By the name of the job that has it, which is a good one."""
