"""The simulated nodes: every pod of the sample fits on one of them."""

from typing import Any

import pytest
import yaml

from demo.nodes import nodes
from msjob.api import Job
from support.jobs import Json
from support.programs import ROOT


def parse(*workers: Json, **spec: Any) -> Job:
    """Give a job, whose roles have these pod specs: Scheduler, PS, Worker, as far as given."""
    roles = ("Worker", "Scheduler", "PS")[: len(workers)]
    specs = {role: {"replicas": 3, "template": {"spec": pod}} for role, pod in zip(roles, workers, strict=True)}
    return Job.parse({"metadata": {"name": "a"}, "spec": {"msReplicaSpecs": specs, **spec}})


def pod(limits: Json | None = None, **spec: Any) -> Json:
    """Give the spec of a pod."""
    return {"containers": [{"name": "mindspore", "resources": {"limits": limits or {}}}], **spec}


def labels(node: Json) -> Json:
    """Give the labels of a node."""
    found: Json = node["metadata"]["labels"]
    return found


def test_one_node_for_a_usual_job() -> None:
    """One node offers accelerators, asked for or not, and calls itself what the usual selectors look for."""
    (node,) = nodes([parse(pod())])

    assert node["status"]["capacity"].items() >= {"nvidia.com/gpu": "1k", "huawei.com/Ascend910": "1k"}.items()
    assert node["status"]["allocatable"] == node["status"]["capacity"]
    assert labels(node)["kubernetes.io/hostname"] == node["metadata"]["name"] == "demo-node-0"
    assert labels(node)["kubernetes.io/arch"] == "amd64"


def test_node_offers_what_is_asked_for() -> None:
    """Extended resources of any name are there, in requests and limits, of init containers too."""
    init = {"containers": [], "initContainers": [{"name": "i", "resources": {"requests": {"example.com/nic": 1}}}]}

    (node,) = nodes([parse(pod({"huawei.com/Ascend310P": 8, "cpu": 4, "hugepages-2Mi": "1Gi"}), init)])

    offered = node["status"]["allocatable"]
    assert offered.items() >= {"huawei.com/Ascend310P": "1k", "example.com/nic": "1k", "hugepages-2Mi": "1Ti"}.items()
    assert offered["cpu"] == "1k"


@pytest.mark.parametrize(
    ("spec", "label"),
    [
        ({"nodeSelector": {"accelerator": "huawei-Ascend910"}}, ("accelerator", "huawei-Ascend910")),
        ({"nodeSelector": {"kubernetes.io/arch": "arm64"}}, ("kubernetes.io/arch", "arm64")),
        (("In", ["b", "c"]), ("k", "b")),
        (("Exists", None), ("k", "true")),
        (("Gt", ["7"]), ("k", "8")),
        (("Lt", ["7"]), ("k", "6")),
        (("DoesNotExist", None), ("k", None)),
        ({"topologySpreadConstraints": [{"topologyKey": "example.com/rack"}]}, ("example.com/rack", "demo")),
    ],
)
def test_node_has_the_labels_that_are_asked_for(spec: Any, label: tuple[str, str | None]) -> None:
    """Node selectors, required affinity and keys of topologies are met."""
    if isinstance(spec, tuple):
        operator, values = spec
        terms = [{"matchExpressions": [{"key": "k", "operator": operator, "values": values}]}]
        affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        spec = {"affinity": {"nodeAffinity": affinity}}

    (node,) = nodes([parse(pod(**spec))])

    assert labels(node).get(label[0]) == label[1]


def test_roles_on_different_kinds_of_nodes() -> None:
    """Labels that contradict each other make two kinds of nodes; those that do not, one."""
    two = nodes([parse(pod(nodeSelector={"type": "gpu"}), pod(nodeSelector={"type": "cpu"}))])
    one = nodes([parse(pod(nodeSelector={"type": "gpu"}), pod(nodeSelector={"zone": "a"}))])

    assert [labels(node)["type"] for node in two] == ["cpu", "gpu"]
    assert [(labels(node)["type"], labels(node)["zone"]) for node in one] == [("gpu", "a")]


def test_pods_that_cannot_share_a_node() -> None:
    """With `hostNetwork` each Worker has a node of its own, up to the largest size of an elastic job."""
    assert len(nodes([parse(pod(hostNetwork=True))])) == 3
    assert len(nodes([parse(pod(hostNetwork=True), elasticPolicy={"minReplicas": 1, "maxReplicas": 5})])) == 5


def test_pods_that_name_their_node() -> None:
    """A node that a template names is there by that name."""
    assert [node["metadata"]["name"] for node in nodes([parse(pod(nodeName="n7"))])] == ["demo-node-0", "n7"]


@pytest.mark.parametrize("path", sorted((ROOT / "samples").glob("*.yaml")), ids=lambda path: path.stem)
def test_samples_fit(path: Any) -> None:
    """Whatever a sample selects or asks for, one node has it all."""
    (item,) = yaml.safe_load_all(path.read_text())
    job = Job.parse(item)

    found = nodes([job])

    for role in job.roles.values():
        spec = role.template["spec"]
        selector = spec.get("nodeSelector") or {}
        asked = {name for c in spec["containers"] for name in (c.get("resources") or {}).get("limits") or {}}
        assert any(
            labels(node).items() >= selector.items() and asked <= node["status"]["allocatable"].keys() for node in found
        )
