"""What the demo makes of a file, before it starts anything."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from demo.sample import SampleError, load
from support.jobs import Json


def job(name: str = "a", spec: Json | None = None, **metadata: Any) -> Json:
    """Give a job with one Worker, whose pod has more in its spec."""
    template = {
        "metadata": {"annotations": metadata.pop("annotations", {})},
        "spec": {"containers": [{"name": "mindspore", "image": "none"}], **(spec or {})},
    }
    return {
        "apiVersion": "mindspore.gitee.com/v1",
        "kind": "MSJob",
        "metadata": {"name": name, **metadata} if name else metadata,
        "spec": {"msReplicaSpecs": {"Worker": {"template": template}}},
    }


def write(folder: Path, *documents: Json) -> str:
    """Write these objects to a file, and give its path."""
    path = folder / "jobs.yaml"
    path.write_text(yaml.safe_dump_all(documents))
    return str(path)


def test_jobs_among_other_objects(tmp_path: Path) -> None:
    """Jobs are found between other objects and in lists; those whose name is generated are kept apart."""
    others = {"apiVersion": "v1", "kind": "List", "items": [job("b"), job("", generateName="c-")]}

    sample = load(write(tmp_path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}, job(), others))

    assert [item.name for item in sample.jobs][:2] == ["a", "b"]
    assert len(sample.jobs) == 3
    assert [item["metadata"]["generateName"] for item in sample.generated] == ["c-"]
    assert [(item["kind"], item["metadata"]["name"]) for item in sample.applied] == [
        ("ConfigMap", "x"),
        ("MSJob", "a"),
        ("MSJob", "b"),
    ]


def test_namespaces_that_have_to_be_made(tmp_path: Path) -> None:
    """Those that the file neither brings along nor finds in every cluster."""
    own = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mine"}}
    generated = job("", generateName="g-", namespace="team-b")

    sample = load(write(tmp_path, own, job(namespace="mine"), job("b", namespace="team-a"), job("c"), generated))

    assert sample.namespaces() == ["team-a", "team-b"]


def test_what_pods_name(tmp_path: Path) -> None:
    """Objects without which no pod can be created are made, unless the file brings them or each cluster has them."""
    spec = {"runtimeClassName": "nvidia", "priorityClassName": "high", "serviceAccountName": "trainer"}
    usual = {"priorityClassName": "system-node-critical", "serviceAccountName": "default"}
    own = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "trainer", "namespace": "team"}}

    sample = load(write(tmp_path, own, job(spec=spec, namespace="team"), job("b", spec), job("c", usual)))

    found = [(item["kind"], item["metadata"]["name"], item["metadata"].get("namespace")) for item in sample.expected()]
    assert found == [
        ("PriorityClass", "high", None),
        ("RuntimeClass", "nvidia", None),
        ("ServiceAccount", "trainer", "default"),
    ]


def test_times_and_schedulers(tmp_path: Path) -> None:
    """The longest Worker decides how long Schedulers stay; other schedulers are stood in for."""
    longest = job(annotations={"msjob-demo/seconds": "12.5"}, spec={"schedulerName": "volcano"})

    sample = load(write(tmp_path, longest, job("b")))

    assert sample.longest == 12.5
    assert sample.schedulers == {"volcano"}


@pytest.mark.parametrize(
    ("annotations", "said"),
    [
        ({"msjob-demo/seconds": "-1"}, "annotation msjob-demo/seconds is '-1': write a number from 0 to 86400"),
        ({"msjob-demo/seconds": "nan"}, "annotation msjob-demo/seconds is 'nan'"),
        (
            {"msjob-demo/exit-code": "1.5"},
            "annotation msjob-demo/exit-code is '1.5': write a whole number from 0 to 255",
        ),
        ({"msjob-demo/exit-code": "256"}, "annotation msjob-demo/exit-code is '256'"),
    ],
)
def test_wrong_annotations(tmp_path: Path, annotations: Json, said: str) -> None:
    """An annotation of the demo that makes no sense is told with job, role and what to write."""
    with pytest.raises(SampleError, match="default/a: Worker: ") as refused:
        load(write(tmp_path, job(annotations=annotations)))

    assert said in refused.value.lines[0]
    assert refused.value.readable


def test_a_job_that_is_there_twice(tmp_path: Path) -> None:
    """It is told, as `msjob validate` tells it."""
    assert load(write(tmp_path, job(), job("b"))).warnings == []
    (warning,) = load(write(tmp_path, job(), job("b"), job())).warnings
    assert "default/a is there twice" in warning


def test_what_can_be_read_once_more(tmp_path: Path) -> None:
    """Files and folders; not a pipe, whose objects are sent from memory."""
    assert load(write(tmp_path, job())).lasts
    assert load(str(tmp_path)).lasts
    reader, writer = os.pipe()
    os.write(writer, yaml.safe_dump(job()).encode())
    os.close(writer)
    piped = load(f"/dev/fd/{reader}")
    os.close(reader)
    assert not piped.lasts
    assert [item["metadata"]["name"] for item in piped.applied] == ["a"]


@pytest.mark.parametrize("other", [{"kind": "ConfigMap"}, {"apiVersion": "v1"}, {"apiVersion": 1, "kind": "x"}])
def test_what_is_no_object_of_kubernetes(tmp_path: Path, other: Json) -> None:
    """It is told with its place, and nothing is started for kubectl to refuse it."""
    with pytest.raises(
        SampleError, match=r"jobs.yaml:1[0-9]:1: (apiVersion|kind) is missing: expected an object"
    ) as caught:
        load(write(tmp_path, job(), other))
    assert not caught.value.readable
