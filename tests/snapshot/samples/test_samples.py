"""The samples around Wide & Deep as rendered: what a user gets, with placeholders for what only a cluster knows."""

from collections import Counter
from pathlib import Path

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from msjob.api import Job
from msjob.render import render
from msjob.validation import validate
from msjob.workload.notices import notices
from support.jobs import Json
from support.programs import ROOT
from support.rendering import check_schema, main_container, variables

SAMPLES = {path.stem.removeprefix("ms_wide_deep_"): path for path in sorted((ROOT / "samples").glob("ms_*.yaml"))}

SHAPES = {
    "dataparallel": {"scheduler": 1, "worker": 4},
    "ps_distribute": {"scheduler": 1, "ps": 2, "worker": 4},
    "ps_standalone": {"scheduler": 1, "ps": 2, "worker": 1},
    "standalone": {"worker": 1},
}
"""Pods of each sample by role: those of the system whose samples these follow."""

OWN_SHAPES = {"elastic": {"scheduler": 1, "worker": 1}, "retry": {"scheduler": 1, "worker": 4}}
"""Pods of the samples of what that system does not have."""

ALL = {**SHAPES, **OWN_SHAPES}

CPU = "swr.cn-south-1.myhuaweicloud.com/mindspore/mindspore-cpu:2.2.14"
GPU = "swr.cn-south-1.myhuaweicloud.com/mindspore/mindspore-gpu-cuda11.6:2.2.14"


def sample(name: str) -> Json:
    """A sample as its file has it."""
    job: Json = yaml.safe_load(SAMPLES[name].read_text())
    return job


def rendered(name: str) -> list[Json]:
    """A sample as rendered, with placeholders."""
    return render(sample(name)).objects()


def pods(name: str) -> list[Json]:
    """The pods of a sample."""
    return [item for item in rendered(name) if item["kind"] == "Pod"]


def test_the_samples() -> None:
    """There is a file for each shape, and no other."""
    assert SAMPLES.keys() == ALL.keys()


@pytest.mark.parametrize("name", ALL)
def test_as_rendered(name: str, snapshot: SnapshotAssertion) -> None:
    """Each sample is rendered as reviewed."""
    assert rendered(name) == snapshot


@pytest.mark.parametrize("name", SHAPES)
def test_shape(name: str) -> None:
    """Names, policies and pods are those of the system whose samples these follow."""
    job = sample(name)

    assert job["metadata"] == {"name": f"ms-widedeep-{name.replace('_', '-')}"}
    assert job["spec"]["successPolicy"] == "AllWorkers"
    assert job["spec"]["runPolicy"] == {"cleanPodPolicy": "None"}
    assert {spec["restartPolicy"] for spec in job["spec"]["msReplicaSpecs"].values()} == {"Never"}
    assert Counter(pod["metadata"]["labels"]["replica-type"] for pod in pods(name)) == SHAPES[name]


@pytest.mark.parametrize("name", OWN_SHAPES)
def test_own_shape(name: str) -> None:
    """Name and pods of a sample of what is new; it is restarted after a failure, with its output in a claim."""
    job = sample(name)

    assert job["metadata"] == {"name": f"ms-widedeep-{name}"}
    assert {spec["restartPolicy"] for spec in job["spec"]["msReplicaSpecs"].values()} == {"OnFailure"}
    assert Counter(pod["metadata"]["labels"]["replica-type"] for pod in pods(name)) == OWN_SHAPES[name]
    volumes = job["spec"]["msReplicaSpecs"]["Worker"]["template"]["spec"]["volumes"]
    assert volumes[1] == {"name": "output", "persistentVolumeClaim": {"claimName": "wide-deep-output"}}


@pytest.mark.parametrize("name", ALL)
def test_starts_with_what_it_shows(name: str) -> None:
    """The first line of each sample says what it shows, in a comment."""
    first = SAMPLES[name].read_text().splitlines()[0]

    assert first.startswith("# ")
    assert first.endswith(".")


@pytest.mark.parametrize("name", ALL)
def test_is_valid_without_surprises(name: str) -> None:
    """A sample has no problem, and no warning but the one about parameter servers."""
    job = sample(name)

    reasons = [notice.reason for notice in notices(Job.parse(job))]
    assert validate(job) == []
    assert reasons == (["ParameterServerDeprecated"] if "PS" in job["spec"]["msReplicaSpecs"] else [])


@pytest.mark.parametrize("name", ALL)
def test_objects_are_of_kubernetes(name: str) -> None:
    """Every object keeps the published schema of Kubernetes, which allows no unknown field."""
    for item in rendered(name):
        check_schema(item)


def test_accelerators() -> None:
    """Data parallel: one GPU for each Worker, none for the Scheduler, which also runs a smaller image."""
    for pod in pods("dataparallel"):
        container = main_container(pod)
        worker = pod["metadata"]["labels"]["replica-type"] == "worker"
        assert container.get("resources") == ({"limits": {"nvidia.com/gpu": 1}} if worker else None)
        assert container["image"] == (GPU if worker else CPU)


@pytest.mark.parametrize("name", ["elastic", "ps_distribute", "ps_standalone", "standalone"])
def test_others_need_no_accelerator(name: str) -> None:
    """The other samples run on CPU."""
    assert {main_container(pod)["image"] for pod in pods(name)} == {CPU}


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("dataparallel", ["0", "1", "2", "3"]),
        ("elastic", ["0"]),
        ("retry", ["0", "1", "2", "3"]),
        ("ps_distribute", ["<metadata.name>"] * 6),
        ("ps_standalone", ["<metadata.name>"] * 3),
        ("standalone", []),
    ],
)
def test_ranks(name: str, ids: list[str]) -> None:
    """Worker i is rank i, but with PS, where ids are names of pods and ranks follow addresses."""
    found = [env["MS_NODE_ID"] for pod in pods(name) if "MS_NODE_ID" in (env := variables(pod))]

    assert found == ids


def test_no_folder_of_a_node() -> None:
    """No sample reaches into a node's file system."""
    text = "".join(Path(path).read_text() for path in SAMPLES.values())

    assert "hostPath" not in text
