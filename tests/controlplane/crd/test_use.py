"""What users see of MSJobs through kubectl and the API: help, columns, scaling, what is stored."""

import json
import re
from typing import Any

import pytest
import yaml

from msjob.validation import admit
from support.jobs import msjob, role
from support.programs import ROOT
from support.testbed.client import MSJOBS, Client
from support.testbed.errors import ApiError
from support.testbed.kubectl import Kubectl
from support.verdicts import GO_STATUS, OWN_STATUS, VERDICTS, Verdict

SEED_ERA = sorted((ROOT / "tests" / "support" / "seed_era").glob("*.yaml"))


def normal(text: str) -> str:
    """A text without its line breaks."""
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("msjob", "A MindSpore training job"),
        ("msjob.spec.runPolicy.backoffLimit", "How many counted restarts the job may have,"),
        ("msj.spec.msReplicaSpecs", "Keys are matched without regard to case."),
        ("msjobs.spec.msReplicaSpecs.replicas", "How many pods the role has."),
        ("msjobs.spec.runPolicy.failurePolicy.rules.onExitCodes", "The exit code of a container."),
        ("msjobs.spec.elasticPolicy.metrics.resource.target", "averageUtilization"),
        ("msjobs.status.lastFailure", "The last pod that was to blame."),
        ("msjobs.spec.launchMode", "Standalone (default without a Scheduler)"),
        ("msjobs.status.conditions.reason", "Reason for the last transition"),
        ("msjobs.spec.msReplicaSpecs.template.spec.containers.image", "<string>"),
    ],
)
def test_explain(kubectl: Kubectl, field: str, expected: str) -> None:
    """`kubectl explain` has words for own fields and types for those of the pod template."""
    assert expected in normal(kubectl.run("explain", field))


@pytest.mark.parametrize("case", [case for case in VERDICTS if case.good], ids=str)
def test_stored(admin: Client, shared_namespace: str, case: Verdict) -> None:
    """What the API server stores of a good job is what `admit` gives: labels of templates, defaults, nulls and all."""
    job = json.loads(json.dumps(case.job))
    job["metadata"]["namespace"] = shared_namespace

    stored = admin.create(MSJOBS, job, dryRun="All", fieldValidation="Strict")

    admitted, problems = admit(job)
    assert problems == []
    assert admitted["spec"] == stored["spec"]
    for key in ("labels", "annotations", "ownerReferences"):
        assert admitted["metadata"].get(key) == stored["metadata"].get(key)


@pytest.mark.parametrize("path", SEED_ERA, ids=lambda path: path.stem)
@pytest.mark.parametrize("options", [("apply",), ("create",)], ids=["apply", "create"])
def test_seed_era(kubectl: Kubectl, namespace: str, path: Any, options: tuple[str, ...]) -> None:
    """Manifests written for the Go operator are taken as they stand, under the strict validation of kubectl."""
    job = yaml.safe_load(path.read_text())
    job["metadata"].pop("namespace", None)

    kubectl.run(*options, "-n", namespace, "-f", "-", stdin=yaml.safe_dump(job))

    assert kubectl.json("get", "msjob", "-n", namespace, job["metadata"]["name"])["spec"]["msReplicaSpecs"]


@pytest.mark.parametrize("options", [(), ("--server-side",)], ids=["plain", "server-side"])
def test_apply_twice(admin: Client, kubectl: Kubectl, namespace: str, options: tuple[str, ...]) -> None:
    """Applying a job a second time changes nothing: no default that the user left out shows as a difference."""
    job = msjob("train", namespace=namespace, scheduler=role(None), worker=role(2), run_policy={"backoffLimit": 3})
    text = json.dumps(job)

    kubectl.run("apply", *options, "-f", "-", stdin=text)
    kubectl.run("apply", *options, "-f", "-", stdin=text)

    assert admin.get(MSJOBS, "train", namespace)["metadata"]["generation"] == 1
    assert kubectl.completed("diff", *options, "-f", "-", stdin=text).stdout == ""


def test_server_side_apply_merges_containers(admin: Client, namespace: str) -> None:
    """Two owners may each bring a container: lists of a template are merged by their keys."""
    admin.apply(msjob("train", namespace=namespace, suspend=True), field_manager="user")
    sidecar = {"spec": {"containers": [{"name": "logs", "image": "example.com/logs:1"}]}}
    patch = msjob("train", namespace=namespace, scheduler=None, worker={"template": sidecar})

    merged = admin.apply(patch, field_manager="site")

    containers = merged["spec"]["msReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]
    assert {one["name"] for one in containers} == {"mindspore", "logs"}


def test_columns(admin: Client, kubectl: Kubectl, namespace: str) -> None:
    """State and age are always shown, more with `-o wide`; the short name and `all` find jobs."""
    admin.create(MSJOBS, msjob("train", namespace=namespace))
    conditions = [
        {"type": "Created", "status": "True", "reason": "MSJobCreated"},
        {"type": "Running", "status": "True", "reason": "MSJobRunning"},
    ]
    status = {"conditions": conditions, "workersReady": "3/4", "restarts": 2}
    admin.patch(MSJOBS, "train", {"status": status}, namespace, subresource="status")

    plain = [line.split() for line in kubectl.run("get", "msj", "-n", namespace).splitlines()]
    wide = [line.split() for line in kubectl.run("get", "msjobs", "-o", "wide", "-n", namespace).splitlines()]

    assert plain[0] == ["NAME", "STATE", "AGE"]
    assert plain[1][:2] == ["train", "Running"]
    assert wide[0] == ["NAME", "STATE", "AGE", "WORKERS", "RESTARTS", "REASON"]
    assert wide[1][:2] + wide[1][3:] == ["train", "Running", "3/4", "2", "MSJobRunning"]
    assert "msjob.mindspore.gitee.com/train" in kubectl.run("get", "all", "-n", namespace)


def test_status_apart(admin: Client, namespace: str) -> None:
    """A status in a manifest is left out, a write to it leaves the spec alone, and its types are checked."""
    admin.create(MSJOBS, msjob("train", namespace=namespace, status={"restarts": 9}))
    assert "status" not in admin.get(MSJOBS, "train", namespace)

    patch = {"spec": {"successPolicy": "AllWorkers"}, "status": {"restarts": 1}}
    patched = admin.patch(MSJOBS, "train", patch, namespace, subresource="status")

    assert patched["status"] == {"restarts": 1}
    assert "successPolicy" not in patched["spec"]
    with pytest.raises(ApiError, match=r"status\.restarts"):
        admin.patch(MSJOBS, "train", {"status": {"restarts": "many"}}, namespace, subresource="status")


@pytest.mark.parametrize("suspended", [True, False])
@pytest.mark.parametrize("replicas", [2, None], ids=["said", "left-out"])
def test_scale(admin: Client, kubectl: Kubectl, namespace: str, replicas: int | None, *, suspended: bool) -> None:
    """The Workers of a job, running or not, are read and set by kubectl scale, also where replicas were left out."""
    admin.create(MSJOBS, msjob("train", namespace=namespace, worker=role(replicas), suspend=suspended))
    status = {"replicaStatuses": {"Worker": {"active": 1, "selector": "a=b"}}}
    admin.patch(MSJOBS, "train", {"status": status}, namespace, subresource="status")

    scale = admin.get(MSJOBS, "train", namespace, subresource="scale")
    assert scale["spec"]["replicas"] == (replicas or 1)
    assert scale["status"] == {"replicas": 1, "selector": "a=b"}

    kubectl.run("scale", "msjob/train", "--replicas=5", "-n", namespace)
    assert admin.get(MSJOBS, "train", namespace)["spec"]["msReplicaSpecs"]["Worker"]["replicas"] == 5


def test_scale_of_another_key(admin: Client, kubectl: Kubectl, namespace: str, kubernetes: tuple[int, int]) -> None:
    """A role key in another spelling cannot be scaled: kubectl says what docs/reference/fields.md quotes.

    An older API server names the type of the whole spec before each message.
    """
    job = msjob("train", namespace=namespace, scheduler=None, worker=None)
    job["spec"]["msReplicaSpecs"] = {"worker": role(2)}
    admin.create(MSJOBS, job)

    done = kubectl.completed("scale", "msjob/train", "--replicas=5", "-n", namespace)

    assert done.returncode == 1
    message = "\n".join(line.rstrip() for line in done.stderr.splitlines())
    if kubernetes < (1, 35):
        assert message.count(': Invalid value: "object": ') == 3
        message = message.replace(': Invalid value: "object": ', ": Invalid value: ")
    assert f"```text\n{message}\n```" in (ROOT / "docs" / "reference" / "fields.md").read_text()
    assert admin.get(MSJOBS, "train", namespace)["spec"] == job["spec"]


def test_scale_after_the_end(admin: Client, kubectl: Kubectl, namespace: str) -> None:
    """A finished job is not scaled, and kubectl says why."""
    admin.create(MSJOBS, msjob("train", namespace=namespace))
    status = {"conditions": [{"type": "Succeeded", "status": "True", "reason": "MSJobSucceeded"}]}
    admin.patch(MSJOBS, "train", {"status": status}, namespace, subresource="status")

    done = kubectl.completed("scale", "msjob/train", "--replicas=5", "-n", namespace)

    assert done.returncode == 1
    assert "the job has finished, its Workers cannot be scaled any more" in done.stderr


@pytest.mark.parametrize("status", [GO_STATUS, OWN_STATUS, {"conditions": None, "replicaStatuses": None}])
def test_export_applied_again(admin: Client, kubectl: Kubectl, namespace: str, status: Any) -> None:
    """A job exported with its status, the Go operator's or this one's, is applied by a strict client and kept whole."""
    job = msjob("train", namespace=namespace, status=status)
    text = json.dumps(job)

    kubectl.run("apply", "--validate=strict", "-f", "-", stdin=text)
    stored = admin.get(MSJOBS, "train", namespace)
    written = admin.replace(MSJOBS, {**stored, "status": status}, subresource="status", fieldValidation="Strict")

    assert written["status"] == {key: value for key, value in status.items() if value is not None}
    kubectl.run("apply", "--server-side", "--validate=strict", "-f", "-", stdin=text)
