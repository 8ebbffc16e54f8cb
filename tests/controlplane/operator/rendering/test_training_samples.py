"""The samples that train, applied to a cluster: live objects, outcome, and the admission of Restricted namespaces."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from support.live_jobs import Jobs
from support.live_render import check_same, rendered
from support.programs import ROOT, run_program
from support.testbed.client import PODS, Client
from support.testbed.errors import ForbiddenError
from support.testbed.kubectl import Kubectl

SAMPLES = {
    "ascend": {"worker": 2},
    "cpu": {"scheduler": 1, "worker": 2},
    "gpu": {"scheduler": 1, "worker": 2},
    "msrun": {"worker": 2},
    "retry": {"scheduler": 1, "worker": 2},
    "suspended": {"worker": 1},
}
"""Pods of each sample by role."""

ON_CPU = ["cpu", "msrun", "retry", "suspended"]


@pytest.fixture
def restricted(namespace: str, admin: Client) -> str:
    """The namespace of the test, in which Pod Security Admission enforces the profile Restricted."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    admin.patch("v1/namespaces", namespace, {"metadata": {"labels": labels}})
    return namespace


def file_of(sample: str) -> Path:
    """The file of a sample."""
    return ROOT / "samples" / f"train_{sample}.yaml"


def pods_of(sample: str) -> Iterator[dict[str, object]]:
    """The pods of a sample as ``msjob render`` prints them."""
    file = str(file_of(sample))
    result = run_program(sys.executable, "-m", "msjob", "render", "-f", file, "-o", "json")
    assert result.returncode == 0, result.stderr
    for item in map(json.loads, result.stdout.splitlines()):
        if item["kind"] == "Pod":
            # An owner is looked up, and there is none.
            del item["metadata"]["ownerReferences"], item["metadata"]["namespace"]
            yield item


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize("sample", SAMPLES)
def test_sample(jobs: Jobs, kubectl: Kubectl, sample: str, tmp_path: Path, elsewhere: str) -> None:
    """Pods and Service are what ``msjob render`` prints; finished, the job Succeeded. One is released by hand first."""
    name = f"train-{sample}"
    kubectl.run("apply", "-n", jobs.namespace, "-f", file_of(sample))
    job = yaml.safe_load(file_of(sample).read_text())
    job["metadata"]["namespace"] = jobs.namespace
    file = tmp_path / "job.yaml"
    file.write_text(yaml.safe_dump(job))
    if sample == "suspended":
        jobs.wait_state("Suspended", name)
        assert jobs.pods(name) == {}
        jobs.suspend(name, suspend=False)
    names = [f"{role}-{index}" for role, count in SAMPLES[sample].items() for index in range(count)]

    jobs.wait_pods(len(names), name)
    assert sorted(jobs.pods(name)) == sorted(names)
    check_same(jobs, name, rendered(file, jobs, name), elsewhere)

    jobs.run(len(names), name)
    jobs.finish(*reversed(names), name=name)
    jobs.wait_state("Succeeded", name)


@pytest.mark.parametrize("sample", ON_CPU)
def test_restricted(admin: Client, restricted: str, sample: str) -> None:
    """The admission of Kubernetes lets all pods of a CPU sample into a Restricted namespace."""
    for pod in pods_of(sample):
        made = admin.create(PODS, pod, restricted, dryRun="All")
        assert made["spec"]["securityContext"]["runAsNonRoot"] is True


def test_restricted_is_enforced(admin: Client, restricted: str) -> None:
    """It is not that it lets everything in: the Ascend sample, which needs the driver of its node, is refused."""
    for pod in pods_of("ascend"):
        with pytest.raises(ForbiddenError, match=r"PodSecurity.*hostPath"):
            admin.create(PODS, pod, restricted, dryRun="All")


def test_claim(kubectl: Kubectl, namespace: str) -> None:
    """The claim that the samples mount is accepted as it stands."""
    file = ROOT / "samples" / "training" / "claim.yaml"

    assert "persistentvolumeclaim/training created" in kubectl.run("apply", "-n", namespace, "-f", file)
