"""The samples that train with the image of ``samples/training``, as rendered."""

import re
from collections import Counter
from typing import Any

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

FOLDER = ROOT / "samples"
SAMPLES = {path.stem.removeprefix("train_"): path for path in sorted(FOLDER.glob("train_*.yaml"))}

ON_CPU = {
    "cpu": {"scheduler": 1, "worker": 2},
    "msrun": {"worker": 2},
    "retry": {"scheduler": 1, "worker": 2},
    "suspended": {"worker": 1},
}
"""Pods of each sample by role; these are run in ``tests/training``."""

NOT_RUN = {"ascend": {"worker": 2}, "gpu": {"scheduler": 1, "worker": 2}}
"""Those that nobody here has the devices for."""

ALL = {**ON_CPU, **NOT_RUN}

NUMBERS = {"a quarter of a CPU": 0.25, "half a CPU": 0.5}
"""How the samples write what they need."""


def sample(name: str) -> Json:
    """A sample as its file has it."""
    job: Json = yaml.safe_load(SAMPLES[name].read_text())
    return job


def head(name: str) -> str:
    """The comment at the top of a sample, as one line."""
    lines = SAMPLES[name].read_text().partition("apiVersion")[0].splitlines()
    return " ".join(line.removeprefix("#").strip() for line in lines)


def pods(name: str) -> list[Json]:
    """The pods of a sample as rendered."""
    return [item for item in render(sample(name)).objects() if item["kind"] == "Pod"]


def workers(name: str) -> list[Json]:
    """The Workers among them."""
    return [pod for pod in pods(name) if pod["metadata"]["labels"]["replica-type"] == "worker"]


def test_the_samples() -> None:
    """There is a file for each shape; with those of the other module and its folder, there is no other."""
    assert SAMPLES.keys() == ALL.keys()
    others = [path.name for path in FOLDER.glob("*") if not path.name.startswith(("train_", "ms_wide_deep_"))]
    assert others == ["training"]


@pytest.mark.parametrize("name", ALL)
def test_as_rendered(name: str, snapshot: SnapshotAssertion) -> None:
    """Each sample is rendered as reviewed, and each of its objects keeps the published schema of Kubernetes."""
    objects = render(sample(name)).objects()

    assert objects == snapshot
    for item in objects:
        check_schema(item)


@pytest.mark.parametrize("name", ALL)
def test_is_valid_without_surprises(name: str) -> None:
    """A sample has no problem and no warning."""
    job = sample(name)

    assert validate(job) == []
    assert notices(Job.parse(job)) == []


@pytest.mark.parametrize("name", ALL)
def test_shape(name: str) -> None:
    """Its name is that of its file, it has the pods that it says, and all Workers have to succeed."""
    job = sample(name)

    assert job["metadata"] == {"name": f"train-{name}"}
    assert job["spec"]["successPolicy"] == "AllWorkers"
    assert Counter(pod["metadata"]["labels"]["replica-type"] for pod in pods(name)) == ALL[name]
    assert ("suspend" in job["spec"]["runPolicy"]) == (name == "suspended")


@pytest.mark.parametrize("name", ALL)
def test_head(name: str) -> None:
    """The first line is a sentence about what it shows; what it needs and how to try it follow, with its own name."""
    first = SAMPLES[name].read_text().splitlines()[0]

    assert re.fullmatch(r"# [A-Z].*\.", first)
    assert ("Not run by this project" in first) == (name in NOT_RUN)
    assert "Needs: " in head(name)
    assert f"To try it: kubectl apply -f train_{name}.yaml" in re.sub(" +", " ", head(name))
    assert f"kubectl get msjob train-{name}" in head(name)
    images = {main_container(pod)["image"] for pod in pods(name)}
    assert all(f"in place of {image}" in head(name) or f"place of {image}" in head(name) for image in images)


@pytest.mark.parametrize("name", ON_CPU)
def test_needs(name: str) -> None:
    """On CPU, what the head says it needs is the sum of what its pods request."""
    requests = [main_container(pod)["resources"]["requests"] for pod in pods(name)]
    cpu = sum(int(item["cpu"].removesuffix("m")) for item in requests) / 1000
    memory = sum(mebibytes(item["memory"]) for item in requests) / 1024

    assert [text for text, number in NUMBERS.items() if number == cpu and text in head(name)]
    assert f"{memory:g} GiB" in head(name)
    assert "Restricted" in head(name)
    assert ("samples/training/claim.yaml" in head(name)) == (name != "cpu")


def mebibytes(text: str) -> int:
    """Read an amount of memory."""
    return int(text[:-2]) * {"Mi": 1, "Gi": 1024}[text[-2:]]


@pytest.mark.parametrize("name", ON_CPU)
def test_of_one_image(name: str) -> None:
    """All pods run ``train.py`` of one image, without a privilege, and with a limit to their memory."""
    for pod in pods(name):
        container = main_container(pod)
        assert container["image"] == "registry.example/training:1"
        assert "train.py" in [*container["command"], *container.get("args", [])]
        assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
        assert mebibytes(container["resources"]["limits"]["memory"]) >= 1024


@pytest.mark.parametrize("name", ALL)
def test_checkpoints(name: str) -> None:
    """They are in the claim that ``claim.yaml`` makes, in a folder of the job's own; only train_cpu has an emptyDir."""
    claim = yaml.safe_load((FOLDER / "training" / "claim.yaml").read_text())
    check_schema(claim)

    for pod in workers(name):
        volume = next(item for item in pod["spec"]["volumes"] if item["name"] == "checkpoints")
        argument = next(item for item in main_container(pod)["args"] if item.startswith("--checkpoints="))
        if name == "cpu":
            assert volume["emptyDir"] == {}
        else:
            assert volume["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
            assert argument == f"--checkpoints=/checkpoints/train-{name}"


@pytest.mark.parametrize("name", ALL)
def test_options(name: str) -> None:
    """The script knows each option and variable that a sample gives it."""
    known = re.findall(r'add\("(\w+)"', (FOLDER / "training" / "train.py").read_text())
    assert len(known) > 5

    for pod in pods(name):
        words = [*main_container(pod)["command"], *main_container(pod).get("args", [])]
        given = [word.partition("=")[0].removeprefix("--") for word in words[words.index("train.py") + 1 :]]
        assert set(given) <= set(known)
        assert {item for item in variables(pod) if item.startswith("TRAIN_")} <= {f"TRAIN_{x.upper()}" for x in known}


@pytest.mark.parametrize(("name", "processes"), [("msrun", 2), ("ascend", 8)])
def test_msrun(name: str, processes: int) -> None:
    """Each msrun is told all it needs by variables that its container has, and waits for its processes."""
    for index, pod in enumerate(workers(name)):
        env = variables(pod)
        args = main_container(pod)["args"]
        assert {ref for arg in args for ref in re.findall(r"\$\((\w+)\)", arg)} <= env.keys()
        assert "--join=True" in args
        assert (env["MS_WORKER_NUM"], env["MS_LOCAL_WORKER"]) == (str(2 * processes), str(processes))
        assert env["MS_NODE_RANK"] == str(index)


@pytest.mark.parametrize("name", ["cpu", "retry", "gpu"])
def test_ranks(name: str) -> None:
    """With a Scheduler, Worker i is rank i."""
    assert [variables(pod)["MS_NODE_ID"] for pod in workers(name)] == ["0", "1"]
    assert {variables(pod)["MS_WORKER_NUM"] for pod in pods(name)} == {"2"}


def test_standalone() -> None:
    """The suspended one is alone: it forms no cluster."""
    assert [name for pod in pods("suspended") for name in variables(pod) if name.startswith("MS_")] == []


def test_retry() -> None:
    """It has limits to restarts, start-up and the whole, and MindSpore knows of the second."""
    policy = sample("retry")["spec"]["runPolicy"]

    assert policy["backoffLimit"] == 3
    assert policy["activeDeadlineSeconds"] > policy["startupDeadlineSeconds"]
    assert {variables(pod)["MS_TOPO_TIMEOUT"] for pod in pods("retry")} == {str(policy["startupDeadlineSeconds"])}


def test_accelerators() -> None:
    """A GPU for each Worker and none for the Scheduler; 8 NPUs for each Worker, asked for as the limit."""
    limits: dict[str, Any] = {
        pod["metadata"]["name"]: main_container(pod)["resources"].get("limits") for pod in pods("gpu")
    }
    gpu = {"nvidia.com/gpu": 1}
    assert limits == {"train-gpu-scheduler-0": None, "train-gpu-worker-0": gpu, "train-gpu-worker-1": gpu}

    for pod in pods("ascend"):
        resources = main_container(pod)["resources"]
        assert resources["limits"] == {"huawei.com/Ascend910": 8}
        assert resources["requests"]["huawei.com/Ascend910"] == 8
        assert pod["spec"]["nodeSelector"]["accelerator"] == "huawei-Ascend910"


def test_folders_of_a_node() -> None:
    """Only the Ascend sample reaches into a node: for the driver, read-only."""
    assert [name for name, path in SAMPLES.items() if "hostPath" in path.read_text()] == ["ascend"]

    for pod in pods("ascend"):
        from_node = {volume["name"] for volume in pod["spec"]["volumes"] if "hostPath" in volume}
        mounts = [item for item in main_container(pod)["volumeMounts"] if item["name"] in from_node]
        assert len(mounts) == len(from_node) == 4
        assert all(mount["readOnly"] for mount in mounts)
