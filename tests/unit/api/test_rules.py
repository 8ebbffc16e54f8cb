"""The Python side of each rule, by a job that keeps it and a job that breaks it."""

import pytest
from hypothesis import given

from msjob.api import Problem
from msjob.api.rules import RULES, cel, check
from support.jobs import Json, jobs, msjob, role, template
from support.properties import few
from support.verdicts.case import CPU_METRIC, failing, on_codes

NO_MINDSPORE = {"spec": {"containers": [{"name": "main"}]}}
ON_NODE = template(host_network=True, node_name="node-1")

EXAMPLES: list[tuple[str, Json, Json, str]] = [
    ("name", msjob("a-1"), msjob("a.b"), "metadata.name"),
    ("name", msjob("a"), msjob("1a"), "metadata.name"),
    ("name", msjob("a--b"), msjob("Train"), "metadata.name"),
    ("name", msjob("a1"), msjob("train-"), "metadata.name"),
    ("name-length", msjob("a" * 51), msjob("a" * 52), "metadata.name"),
    ("name-length", msjob("a" * 51, worker=1000), msjob("a" * 51, worker=100_000), "metadata.name"),
    ("name-length", msjob("a" * 54, scheduler=None), msjob("a" * 54, scheduler=None, worker=11), "metadata.name"),
    ("roles-present", msjob(), msjob(scheduler=None, worker=None), "spec.msReplicaSpecs"),
    ("roles-known", msjob(), msjob() | {"spec": {"msReplicaSpecs": {"Chief": role(1)}}}, "spec.msReplicaSpecs.Chief"),
    (
        "roles-unique",
        msjob(),
        msjob() | {"spec": {"msReplicaSpecs": {"Worker": role(1), "worker": role(1)}}},
        "spec.msReplicaSpecs.worker",
    ),
    ("scheduler-single", msjob(), msjob(scheduler=2), "spec.msReplicaSpecs.Scheduler.replicas"),
    ("scheduler-single", msjob(scheduler=role(None)), msjob(scheduler=0), "spec.msReplicaSpecs.Scheduler.replicas"),
    ("some-pod", msjob(scheduler=None, worker=1), msjob(scheduler=None, worker=0), "spec.msReplicaSpecs"),
    (
        "container",
        msjob(worker=role(1, template(containers=[{"name": "logs"}]))),
        msjob(worker=role(1, NO_MINDSPORE)),
        "spec.msReplicaSpecs.Worker.template.spec.containers",
    ),
    ("ps-scheduler", msjob(ps=1), msjob(scheduler=None, ps=1), "spec.msReplicaSpecs"),
    (
        "launch-dynamic",
        msjob(launch_mode="DynamicCluster"),
        msjob(scheduler=None, launch_mode="DynamicCluster"),
        "spec.launchMode",
    ),
    (
        "launch-standalone",
        msjob(scheduler=None, launch_mode="Standalone"),
        msjob(launch_mode="Standalone"),
        "spec.launchMode",
    ),
    (
        "launch-msrun",
        msjob(scheduler=None, launch_mode="Msrun"),
        msjob(ps=1, launch_mode="Msrun"),
        "spec.launchMode",
    ),
    ("launch-msrun", msjob(launch_mode="Msrun"), msjob(worker=0, launch_mode="Msrun"), "spec.launchMode"),
    (
        "host-network-node",
        msjob(worker=role(1, ON_NODE)),
        msjob(worker=role(2, ON_NODE)),
        "spec.msReplicaSpecs.Worker.template.spec.nodeName",
    ),
    (
        "managed-by-agrees",
        msjob(managed_by="kueue.x-k8s.io/multikueue", run_policy={"managedBy": "kueue.x-k8s.io/multikueue"}),
        msjob(managed_by="kueue.x-k8s.io/multikueue", run_policy={"managedBy": "mindspore.gitee.com/ms-operator"}),
        "spec.managedBy",
    ),
    (
        "failure-rule-names",
        failing({"action": "IgnorePod", "replicaTypes": ["worker"]}),
        failing({"action": "IgnorePod"}),
        "spec.runPolicy.failurePolicy.rules[0]",
    ),
    (
        "failure-rule-codes",
        on_codes([0, 1], "NotIn"),
        on_codes([0, 1], "In"),
        "spec.runPolicy.failurePolicy.rules[0].onExitCodes.values",
    ),
    (
        "failure-rule-roles",
        failing({"action": "Restart", "replicaTypes": ["PS"]}, ps=1),
        failing({"action": "Restart", "replicaTypes": ["PS"]}),
        "spec.runPolicy.failurePolicy.rules[0].replicaTypes[0]",
    ),
    (
        "elastic-bounds",
        msjob(elastic_policy={"minReplicas": 2, "maxReplicas": 2}),
        msjob(elastic_policy={"minReplicas": 2, "maxReplicas": 1}),
        "spec.elasticPolicy.minReplicas",
    ),
    (
        "elastic-worker",
        msjob(elastic_policy={"maxReplicas": 2}),
        msjob(worker=None, elastic_policy={"maxReplicas": 2}),
        "spec.elasticPolicy",
    ),
    (
        "elastic-replicas",
        msjob(worker=role(None), elastic_policy={"maxReplicas": 2}),
        msjob(worker=3, elastic_policy={"maxReplicas": 2}),
        "spec.msReplicaSpecs.Worker.replicas",
    ),
    (
        "elastic-metrics",
        msjob(elastic_policy={"maxReplicas": 2, "metrics": [CPU_METRIC]}),
        msjob(elastic_policy={"maxReplicas": 2, "metrics": [CPU_METRIC, {**CPU_METRIC, "type": "Pods"}]}),
        "spec.elasticPolicy.metrics[1]",
    ),
    (
        "elastic-name",
        msjob("a" * 54, scheduler=None, elastic_policy={"maxReplicas": 10}),
        msjob("a" * 54, scheduler=None, elastic_policy={"maxReplicas": 11}),
        "metadata.name",
    ),
]


@pytest.mark.parametrize(("rule", "good", "bad", "field"), EXAMPLES)
def test_rule(rule: str, good: Json, bad: Json, field: str) -> None:
    """The good job keeps every rule; the bad one breaks this one, at this field."""
    assert check(good) == []
    assert (rule, field) in [(problem.rule, problem.field) for problem in check(bad)]


def test_every_rule_has_examples() -> None:
    """No rule that can be judged without the cluster is left without examples."""
    assert {example[0] for example in EXAMPLES} == {rule.id for rule in RULES if rule.check is not None}


@few
@given(job=jobs())
def test_jobs_of_every_mode_are_good(job: Json) -> None:
    """Jobs as people write them, in any spelling and order of roles, keep every rule."""
    assert check(job) == []


def test_all_problems_are_told() -> None:
    """A job that breaks several rules is told all of them at once, in the order of the rules."""
    job = msjob("Not.Good", scheduler=2, worker=role(1, NO_MINDSPORE), launch_mode="Standalone")

    assert [problem.rule for problem in check(job)] == ["name", "scheduler-single", "container", "launch-standalone"]
    assert all(isinstance(problem, Problem) and problem.message for problem in check(job))


def test_every_rule_is_in_the_schema() -> None:
    """The API server is given each rule once, with its message, in a form that sees the old object."""
    entries = cel()

    assert sorted(entry["message"] for entry in entries) == sorted(rule.message for rule in RULES)
    assert all(entry["optionalOldSelf"] is True and "oldSelf" in entry["rule"] for entry in entries)
    assert len({rule.id for rule in RULES}) == len(RULES)
