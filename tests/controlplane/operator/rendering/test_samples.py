"""The samples, applied to a cluster: live objects, environment and outcome."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from support.live_jobs import Jobs
from support.live_render import check_same, rendered
from support.programs import ROOT
from support.rendering import variables
from support.testbed.kubectl import Kubectl

pytestmark = pytest.mark.usefixtures("operator")

PODS = {
    "dataparallel": {"scheduler": 1, "worker": 4},
    "ps_distribute": {"scheduler": 1, "ps": 2, "worker": 4},
    "ps_standalone": {"scheduler": 1, "ps": 2, "worker": 1},
    "standalone": {"worker": 1},
}


def apply(kubectl: Kubectl, sample: str, jobs: Jobs, folder: Path) -> tuple[str, Path]:
    """Apply a sample in the namespace of the test.

    Returns:
        The name of the job, and a file of it that names its namespace.
    """
    source = ROOT / "samples" / f"ms_wide_deep_{sample}.yaml"
    kubectl.run("apply", "-n", jobs.namespace, "-f", source)
    job: Any = yaml.safe_load(source.read_text())
    job["metadata"]["namespace"] = jobs.namespace
    file = folder / source.name
    file.write_text(yaml.safe_dump(job))
    return job["metadata"]["name"], file


@pytest.mark.parametrize("sample", PODS)
def test_sample(jobs: Jobs, kubectl: Kubectl, sample: str, tmp_path: Path, elsewhere: str) -> None:
    """Pods, Service and environment are what ``msjob render`` prints, nothing more; finished, the job Succeeded."""
    name, file = apply(kubectl, sample, jobs, tmp_path)
    names = [f"{role}-{index}" for role, count in PODS[sample].items() for index in range(count)]

    jobs.wait_pods(len(names), name)
    assert sorted(jobs.pods(name)) == sorted(names)
    assert jobs.services() == ([f"{name}-scheduler-0"] if "scheduler" in PODS[sample] else [])
    check_same(jobs, name, rendered(file, jobs, name), elsewhere)

    jobs.run(len(names), name)
    jobs.finish(*reversed(names), name=name)
    jobs.wait_state("Succeeded", name)
    assert jobs.true(name) == ["Created", "Succeeded"]


@pytest.mark.parametrize("sample", ["dataparallel", "ps_distribute"])
def test_ranks(jobs: Jobs, kubectl: Kubectl, sample: str, tmp_path: Path) -> None:
    """A process is the node of its index without PS and of its pod's name with PS, and all know of each other."""
    name, _ = apply(kubectl, sample, jobs, tmp_path)
    wanted = PODS[sample]
    pods = jobs.wait_pods(sum(wanted.values()), name)
    address = jobs.client.get("v1/services", f"{name}-scheduler-0", jobs.namespace)["spec"]["clusterIP"]

    for pod, manifest in pods.items():
        env = variables(manifest)
        role, _, index = pod.rpartition("-")
        own = role == "scheduler"
        assert env["MS_ROLE"] == {"scheduler": "MS_SCHED", "ps": "MS_PSERVER", "worker": "MS_WORKER"}[role]
        assert env["MS_SCHED_HOST"] == ("<status.podIP>" if own else address)
        assert env["MS_SCHED_PORT"] == "2222"
        assert env["MS_WORKER_NUM"] == str(wanted["worker"])
        assert env["MS_SERVER_NUM"] == str(wanted.get("ps", 0))
        node = "<metadata.name>" if "ps" in wanted else index
        assert env.get("MS_NODE_ID") == (None if own else node)
        assert env.get("MS_WORKER_IP") == (None if own else "<status.podIP>")
