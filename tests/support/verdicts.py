"""Jobs and what to think of them: each rule by jobs that keep it and jobs that break it.

`msjob.validation` is held to this table without a cluster, and the API server with the shipped CRD is held to the same
table, so neither can drift from the other.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from support.jobs import Json, msjob, role, template


@dataclass(frozen=True)
class Verdict:
    """A job and the judgement on it.

    Attributes:
        name: of the case.
        rule: the rule it is about: the id of a rule of `msjob.api.rules`, `schema` or `metadata`.
        job: the job.
        field: the field at fault; empty for a good job.
    """

    name: str
    rule: str
    job: Json
    field: str = ""

    @property
    def good(self) -> bool:
        """Whether the job is to be accepted."""
        return not self.field

    def __str__(self) -> str:
        """The case as an id of a test."""
        return f"{self.rule}-{self.name}"


def changed(path: str, value: Any, job: Json | None = None) -> Json:
    """A job with one field set to something else.

    Args:
        path: keys and indices with dots between, from the root; `W` stands for the Worker and `C` for its container.
        value: what to put there; `...` takes the field away.
        job: the job to begin with, by default one with a Scheduler and Workers.
    """
    result = deepcopy(job or msjob())
    path = path.replace("C.", "W.template.spec.containers.0.", 1) if path.startswith("C.") else path
    path = path.replace("W.", "spec.msReplicaSpecs.Worker.", 1) if path.startswith("W.") else path
    *above, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place: Any = result
    for part in above:
        place = place.setdefault(part, {}) if isinstance(place, dict) else place[part]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return result


WORKER = "spec.msReplicaSpecs.Worker"
CONTAINER = f"{WORKER}.template.spec.containers[0]"

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
        "backoffLimit": 2**31 - 1,
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
    managed_by="kueue.x-k8s.io/multikueue",
)

_SCHEMA_GOOD: dict[str, Json] = {
    "plain": msjob(),
    "every-own-field": FULL,
    "empty-enums": changed("spec.runPolicy", {"cleanPodPolicy": ""}, msjob(success_policy="", restart_policy="")),
    "proc-per-worker-lowest": msjob(proc_per_worker=1),
    "proc-per-worker-highest": msjob(proc_per_worker=1024),
    "replicas-null": changed("W.replicas", None),
    "replicas-left-out": changed("W.replicas", ...),
    "replicas-highest": changed("W.replicas", 100_000),
    "policy-null": changed("spec.runPolicy", None),
    "policy-empty": changed("spec.runPolicy", {}),
    "template-metadata": changed("W.template", template(labels={"a": "b"}, annotations={"c": "d"})),
    "template-creation-timestamp-null": changed("W.template.metadata", {"creationTimestamp": None}),
    "template-label-null": changed("W.template.metadata", {"labels": {"a": None}}),
    "resources-null": changed("C.resources", None),
    "env-twice": changed("C.env", [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]),
    "image-pull-secret-twice": changed("W.template.spec.imagePullSecrets", [{"name": "a"}, {"name": "a"}, {}]),
    "ports-of-two-protocols": changed("C.ports", [{"containerPort": 1}, {"containerPort": 1, "protocol": "UDP"}]),
    "quantity-number": changed("C.resources", {"limits": {"cpu": 2}}),
    "quantity-null": changed("C.resources", {"limits": {"cpu": None}}),
    "port-name": changed("C.livenessProbe", {"httpGet": {"port": "http"}}),
    "port-number": changed("C.livenessProbe", {"httpGet": {"port": 80}}),
    "owner": changed("metadata.ownerReferences", [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "b"}]),
    "whole-float": changed("spec.runPolicy", {"backoffLimit": 3.0}),
    "status-of-any-kind": changed("status", {"conditions": "not looked at on create", "startTime": 3}),
    "generate-name": changed("metadata", {"generateName": "train-"}),
}

_SCHEMA_BAD: dict[str, tuple[Json, str]] = {
    "kind": (changed("kind", "Job"), "kind"),
    "api-version": (changed("apiVersion", "mindspore.gitee.com/v2"), "apiVersion"),
    "unknown-at-root": (changed("extra", 1), "extra"),
    "unknown-in-metadata": (changed("metadata.label", {}), "metadata.label"),
    "unknown-in-spec": (changed("spec.replicas", 2), "spec.replicas"),
    "unknown-in-role": (changed("W.replica", 2), f"{WORKER}.replica"),
    "unknown-in-template": (changed("C.comand", ["a"]), f"{CONTAINER}.comand"),
    "unknown-null": (changed("spec.extra", None), "spec.extra"),
    "unknown-in-status": (changed("status", {"phase": "Running"}), "status.phase"),
    "name-number": (changed("metadata.name", 5), "metadata.name"),
    "label-boolean": (changed("metadata.labels", {"a": True}), "metadata.labels.a"),
    "labels-list": (changed("metadata.labels", ["a"]), "metadata.labels"),
    "annotation-number": (changed("metadata.annotations", {"a": 1}), "metadata.annotations.a"),
    "finalizers-text": (changed("metadata.finalizers", "a"), "metadata.finalizers"),
    "metadata-list": (changed("metadata", []), "metadata"),
    "spec-list": (changed("spec", []), "spec"),
    "roles-list": (changed("spec.msReplicaSpecs", [role()]), "spec.msReplicaSpecs"),
    "role-text": (changed("spec.msReplicaSpecs.Worker", "2"), WORKER),
    "roles-four": (
        changed("spec.msReplicaSpecs", {key: role() for key in ("Worker", "worker", "WORKER", "wORKER")}),
        "spec.msReplicaSpecs",
    ),
    "replicas-text": (changed("W.replicas", "2"), f"{WORKER}.replicas"),
    "replicas-negative": (changed("W.replicas", -1), f"{WORKER}.replicas"),
    "replicas-fraction": (changed("W.replicas", 1.5), f"{WORKER}.replicas"),
    "replicas-boolean": (changed("W.replicas", value=True), f"{WORKER}.replicas"),
    "replicas-too-many": (changed("W.replicas", 100_001), f"{WORKER}.replicas"),
    "restart-policy": (changed("W.restartPolicy", "Sometimes"), f"{WORKER}.restartPolicy"),
    "restart-policy-case": (changed("W.restartPolicy", "never"), f"{WORKER}.restartPolicy"),
    "clean-pod-policy": (changed("spec.runPolicy", {"cleanPodPolicy": "Some"}), "spec.runPolicy.cleanPodPolicy"),
    "success-policy": (msjob(success_policy="Any"), "spec.successPolicy"),
    "launch-mode": (msjob(launch_mode="Torch"), "spec.launchMode"),
    "dynamic-worker-text": (msjob(enable_dynamic_worker="true"), "spec.enableDynamicWorker"),
    "proc-per-worker-zero": (msjob(proc_per_worker=0), "spec.procPerWorker"),
    "proc-per-worker-too-many": (msjob(proc_per_worker=1025), "spec.procPerWorker"),
    "proc-per-worker-word": (msjob(proc_per_worker="automatic"), "spec.procPerWorker"),
    "proc-per-worker-line": (msjob(proc_per_worker="auto\n"), "spec.procPerWorker"),
    "proc-per-worker-fraction": (msjob(proc_per_worker=1.5), "spec.procPerWorker"),
    "managed-by": (msjob(managed_by="someone.example.com/else"), "spec.managedBy"),
    "suspend-number": (changed("spec.runPolicy", {"suspend": 1}), "spec.runPolicy.suspend"),
    "deadline-zero": (changed("spec.runPolicy", {"activeDeadlineSeconds": 0}), "spec.runPolicy.activeDeadlineSeconds"),
    "ttl-negative": (
        changed("spec.runPolicy", {"ttlSecondsAfterFinished": -1}),
        "spec.runPolicy.ttlSecondsAfterFinished",
    ),
    "backoff-beyond-int32": (changed("spec.runPolicy", {"backoffLimit": 2**31}), "spec.runPolicy.backoffLimit"),
    "backoff-beyond-int64": (changed("spec.runPolicy", {"backoffLimit": 2**63}), "spec.runPolicy.backoffLimit"),
    "queue-long": (
        changed("spec.runPolicy", {"schedulingPolicy": {"queue": "q" * 254}}),
        "spec.runPolicy.schedulingPolicy.queue",
    ),
    "min-resources-fraction": (
        changed("spec.runPolicy", {"schedulingPolicy": {"minResources": {"cpu": 0.5}}}),
        "spec.runPolicy.schedulingPolicy.minResources.cpu",
    ),
    "template-text": (changed("W.template", "pod"), f"{WORKER}.template"),
    "template-label-number": (
        changed("W.template.metadata", {"labels": {"a": 1}}),
        f"{WORKER}.template.metadata.labels.a",
    ),
    "template-timestamp": (
        changed("W.template.metadata", {"creationTimestamp": "yesterday"}),
        f"{WORKER}.template.metadata.creationTimestamp",
    ),
    "containers-missing": (changed("W.template.spec", {}), f"{WORKER}.template.spec.containers"),
    "containers-null": (changed("W.template.spec.containers", None), f"{WORKER}.template.spec.containers"),
    "containers-mapping": (changed("W.template.spec.containers", {}), f"{WORKER}.template.spec.containers"),
    "container-null": (changed("W.template.spec.containers", [None]), CONTAINER),
    "container-unnamed": (changed("C.name", ...), f"{CONTAINER}.name"),
    "container-twice": (
        changed("W.template.spec.containers", [{"name": "mindspore"}, {"name": "mindspore"}]),
        f"{WORKER}.template.spec.containers[1]",
    ),
    "port-twice": (
        changed("C.ports", [{"containerPort": 1, "protocol": "TCP"}, {"containerPort": 1}]),
        f"{CONTAINER}.ports[1]",
    ),
    "port-text": (changed("C.ports", [{"containerPort": "2222"}]), f"{CONTAINER}.ports[0].containerPort"),
    "exit-code-twice": (
        changed("C.restartPolicyRules", [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1, 1]}}]),
        f"{CONTAINER}.restartPolicyRules[0].exitCodes.values[1]",
    ),
    "command-text": (changed("C.command", "python train.py"), f"{CONTAINER}.command"),
    "env-number": (changed("C.env", [{"name": "A", "value": 1}]), f"{CONTAINER}.env[0].value"),
    "quantity-word": (changed("C.resources", {"limits": {"cpu": "two"}}), f"{CONTAINER}.resources.limits.cpu"),
    "quantity-empty": (changed("C.resources", {"limits": {"cpu": ""}}), f"{CONTAINER}.resources.limits.cpu"),
    "quantity-unit": (changed("C.resources", {"limits": {"memory": "2GB"}}), f"{CONTAINER}.resources.limits.memory"),
    "quantity-line": (changed("C.resources", {"limits": {"cpu": "1\n"}}), f"{CONTAINER}.resources.limits.cpu"),
    "grace-text": (
        changed("W.template.spec.terminationGracePeriodSeconds", "30"),
        f"{WORKER}.template.spec.terminationGracePeriodSeconds",
    ),
}

_METADATA_GOOD: dict[str, Json] = {
    "label-longest": msjob(labels={"k" * 63: "v" * 63, "empty": ""}),
    "annotation-upper-case-domain": msjob(annotations={"Example.COM/A": ""}),
    "annotations-largest": msjob(annotations={"k": "v" * (256 * 1024 - 1)}),
}

_METADATA_BAD: dict[str, tuple[Json, str]] = {
    "label-space": (msjob(labels={"a": "b c"}), "metadata.labels.a"),
    "label-long": (msjob(labels={"a": "b" * 64}), "metadata.labels.a"),
    "label-dash-at-end": (msjob(labels={"a": "b-"}), "metadata.labels.a"),
    "label-line": (msjob(labels={"a": "b\n"}), "metadata.labels.a"),
    "label-key-empty": (msjob(labels={"": "b"}), "metadata.labels."),
    "label-key-long": (msjob(labels={"k" * 64: ""}), f"metadata.labels.{'k' * 64}"),
    "label-key-two-slashes": (msjob(labels={"a/b/c": ""}), "metadata.labels.a/b/c"),
    "label-key-upper-case-domain": (msjob(labels={"Example.com/a": ""}), "metadata.labels.Example.com/a"),
    "annotation-key-space": (msjob(annotations={"a b": ""}), "metadata.annotations.a b"),
    "annotations-too-large": (msjob(annotations={"k": "v" * 256 * 1024}), "metadata.annotations"),
}

_ROLES = "spec.msReplicaSpecs"
_OTHER = {"spec": {"containers": [{"name": "main", "image": "example.com/a:1"}]}}
_SIDECAR = {"name": "logs", "image": "example.com/logs:1"}

_RULES_GOOD: dict[str, dict[str, Json]] = {
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
    "managed-by-agrees": {
        "same": msjob(managed_by="kueue.x-k8s.io/multikueue", run_policy={"managedBy": "kueue.x-k8s.io/multikueue"}),
        "only-inner": msjob(run_policy={"managedBy": "mindspore.gitee.com/ms-operator"}),
        "only-outer": msjob(managed_by="mindspore.gitee.com/ms-operator", run_policy={"suspend": False}),
    },
}

_RULES_BAD: dict[str, dict[str, tuple[Json, str]]] = {
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
    "managed-by-agrees": {
        "differ": (
            msjob(managed_by="kueue.x-k8s.io/multikueue", run_policy={"managedBy": "mindspore.gitee.com/ms-operator"}),
            "spec.managedBy",
        )
    },
}

VERDICTS: tuple[Verdict, ...] = (
    *(Verdict(name, "schema", job) for name, job in _SCHEMA_GOOD.items()),
    *(Verdict(name, "schema", job, at) for name, (job, at) in _SCHEMA_BAD.items()),
    *(Verdict(name, "metadata", job) for name, job in _METADATA_GOOD.items()),
    *(Verdict(name, "metadata", job, at) for name, (job, at) in _METADATA_BAD.items()),
    *(Verdict(name, rule, job) for rule, jobs in _RULES_GOOD.items() for name, job in jobs.items()),
    *(Verdict(name, rule, job, at) for rule, jobs in _RULES_BAD.items() for name, (job, at) in jobs.items()),
)
"""What the API server and `msjob.validation` must judge alike."""

STRICTER: tuple[Verdict, ...] = (
    Verdict(
        "template-label-space", "metadata", changed("W.template.metadata", {"labels": {"a": "b c"}}),
        f"{WORKER}.template.metadata.labels.a",
    ),
    Verdict(
        "template-annotation-key", "metadata", changed("W.template.metadata", {"annotations": {"a b": "c"}}),
        f"{WORKER}.template.metadata.annotations.a b",
    ),
)  # fmt: skip
"""What the API server stores, but of which it would refuse every pod."""


@dataclass(frozen=True)
class Update:
    """A change of a stored job and the judgement on it.

    Attributes:
        name: of the case.
        rule: id of the rule that looks at the change.
        change: makes the change.
        before: the job as stored.
        good: whether it is to be accepted.
    """

    name: str
    rule: str
    change: Callable[[Json], None]
    before: Json
    good: bool

    def __str__(self) -> str:
        """The case as an id of a test."""
        return f"{self.rule}-{self.name}"


def set_to(path: str, value: Any) -> Callable[[Json], None]:
    """A change that sets one field; see `changed`."""

    def change(job: Json) -> None:
        result = changed(path, value, job)
        job.clear()
        job.update(result)

    return change


def all_of(*changes: Callable[[Json], None]) -> Callable[[Json], None]:
    """Several changes in one update."""

    def change(job: Json) -> None:
        for one in changes:
            one(job)

    return change


_SELF, _KUEUE = "mindspore.gitee.com/ms-operator", "kueue.x-k8s.io/multikueue"
_SUSPEND = set_to("spec.runPolicy", {"suspend": True})
_RESUME = set_to("spec.runPolicy", {"suspend": False})
_IMAGE = set_to("C.image", "example.com/other:2")

_UPDATES_GOOD: tuple[tuple[str, str, Callable[[Json], None], Json], ...] = (
    ("say-the-default", "managed-by-immutable", set_to("spec.managedBy", _SELF), msjob()),
    ("no-longer-say-it", "managed-by-immutable", set_to("spec.managedBy", ...), msjob(managed_by=_SELF)),
    ("say-the-default", "mode-immutable", set_to("spec.successPolicy", ""), msjob()),
    ("while-suspended", "roles-immutable", _IMAGE, msjob(suspend=True)),
    ("and-resume", "roles-immutable", all_of(_IMAGE, _RESUME), msjob(suspend=True)),
    ("and-suspend", "roles-immutable", all_of(_IMAGE, _SUSPEND), msjob()),
    ("policy", "roles-immutable", set_to("spec.runPolicy", {"backoffLimit": 1}), msjob()),
    ("workers-while-suspended", "roles-fixed", set_to("W.replicas", 5), msjob(suspend=True)),
)

_UPDATES_BAD: tuple[tuple[str, str, Callable[[Json], None], Json], ...] = (
    ("to-another", "managed-by-immutable", set_to("spec.managedBy", _KUEUE), msjob()),
    ("to-self", "managed-by-immutable", set_to("spec.managedBy", ...), msjob(managed_by=_KUEUE)),
    ("launch-mode", "mode-immutable", set_to("spec.launchMode", "Msrun"), msjob()),
    ("success-policy", "mode-immutable", set_to("spec.successPolicy", "AllWorkers"), msjob()),
    ("dynamic-worker", "mode-immutable", set_to("spec.enableDynamicWorker", value=True), msjob()),
    ("processes", "mode-immutable", set_to("spec.procPerWorker", 2), msjob(proc_per_worker=1)),
    ("while-running", "roles-immutable", _IMAGE, msjob()),
    ("one-more", "roles-fixed", set_to("spec.msReplicaSpecs.PS", role()), msjob(suspend=True)),
    ("one-less", "roles-fixed", set_to("spec.msReplicaSpecs.PS", ...), msjob(suspend=True, ps=1)),
    ("restart-policy", "roles-fixed", set_to("W.restartPolicy", "Always"), msjob(suspend=True)),
    ("ps", "roles-fixed", set_to("spec.msReplicaSpecs.PS.replicas", 2), msjob(suspend=True, ps=1)),
)

UPDATES: tuple[Update, ...] = (
    *(Update(name, rule, change, before, good=True) for name, rule, change, before in _UPDATES_GOOD),
    *(Update(name, rule, change, before, good=False) for name, rule, change, before in _UPDATES_BAD),
)
"""Updates that only the API server judges, because only it knows both states."""
