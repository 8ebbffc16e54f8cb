"""What is stored of a job: nulls, unknown fields, defaults, numbers."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings

from msjob.validation import admit, validate
from support.jobs import Json, jobs, msjob
from support.verdicts import changed


def admitted(job: Json, **options: Any) -> Json:
    """The job as stored; it must be a good one."""
    stored, problems = admit(job, **options)
    assert problems == []
    return stored


def worker(job: Json) -> Any:
    """The Worker of a job."""
    return job["spec"]["msReplicaSpecs"]["Worker"]


def test_nulls() -> None:
    """A null counts as a field left out, in maps too, except where the schema has a word for it."""
    job = changed("W.template.metadata", {"creationTimestamp": None, "labels": {"a": None, "b": "c"}})
    job = changed("C.resources", None, changed("spec.runPolicy", None, job))

    stored = admitted(job)

    assert "runPolicy" not in stored["spec"]
    assert "resources" not in worker(stored)["template"]["spec"]["containers"][0]
    assert worker(stored)["template"]["metadata"] == {"creationTimestamp": None, "labels": {"b": "c"}}


def test_defaults() -> None:
    """Replicas and the protocol of a port are filled in, a null included."""
    job = changed(
        "C.ports", [{"containerPort": 1}, {"containerPort": 2, "protocol": None}], changed("W.replicas", None)
    )

    stored = admitted(job)

    assert worker(stored)["replicas"] == 1
    assert worker(stored)["template"]["spec"]["containers"][0]["ports"] == [
        {"containerPort": 1, "protocol": "TCP"},
        {"containerPort": 2, "protocol": "TCP"},
    ]


def test_numbers() -> None:
    """A whole number written with a point is stored as an integer, as JSON does not tell them apart."""
    stored = admitted(changed("W.replicas", 2.0))

    assert isinstance(worker(stored)["replicas"], int)


def test_unknown_fields() -> None:
    """Unknown fields are problems with a hint, or are left out where that is asked for."""
    job = changed("C.comand", ["x"], changed("spec.extra", {"deep": {"er": 1}}))

    assert [str(problem) for problem in validate(job)] == [
        "spec.msReplicaSpecs.Worker.template.spec.containers[0].comand: unknown field; did you mean command?",
        "spec.extra: unknown field",
    ]
    assert admitted(job, unknown="ignore") == admitted(msjob())


def test_status_left_out() -> None:
    """Status is the operator's: it is not judged and not kept, as on create."""
    assert "status" not in admitted(msjob(status={"conditions": 5}))


def test_managed_fields() -> None:
    """A job read from a cluster passes as it is, with all that the API server added."""
    job = msjob(uid="0c5e6f3a-8f0e-4f8e-9d39-6f1f5d1f7a10", generation=3)
    job["metadata"] |= {
        "creationTimestamp": "2026-01-02T03:04:05Z",
        "resourceVersion": "12",
        "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:spec": {".": {}}}}],
        "finalizers": ["example.com/hold"],
    }

    assert admitted(job)["metadata"]["uid"] == job["metadata"]["uid"]


@given(job=jobs())
@settings(max_examples=50)
def test_settled(job: Json) -> None:
    """What was stored once is stored again without a change, and the job handed in is left as it was."""
    before = deepcopy(job)

    stored = admitted(job)

    assert before == job
    assert stored == admitted(stored)


@pytest.mark.parametrize("obj", [None, [], "text", 5, b"bytes", float("nan")])
def test_no_object(obj: object) -> None:
    """What is no object at all is told so."""
    assert [str(problem) for problem in validate(obj)] == ["must be an object with apiVersion, kind, metadata and spec"]


def test_other_kind() -> None:
    """An object of another kind gets one answer, not a hundred about its fields."""
    job = {"apiVersion": "batch/v1", "kind": "Job", "spec": {"parallelism": 1}}

    assert [str(problem) for problem in validate(job)] == [
        "apiVersion: must be mindspore.gitee.com/v1",
        "kind: must be MSJob",
    ]
