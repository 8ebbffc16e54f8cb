"""The network policy that the docs recommend for a job, against the pods that jobs have."""

import yaml

from msjob.api import meta
from support.jobs import Json, msjob, role
from support.programs import ROOT
from support.rendering import check_schema, pods

EXAMPLE = ROOT / "docs" / "examples" / "network-policy" / "train-cpu.yaml"
DENY, ALLOW = yaml.safe_load_all(EXAMPLE.read_text(encoding="utf-8"))


def selects(selector: Json, pod: Json) -> bool:
    """Whether a label selector takes a pod; one with expressions is none that this knows."""
    assert not selector.keys() - {"matchLabels"}
    return bool(selector.get("matchLabels", {}).items() <= pod["metadata"]["labels"].items())


def selectors(policy: Json) -> list[Json]:
    """All pod selectors of a policy: whose it is, who comes in, where it goes."""
    peers = [peer for rule in policy["spec"]["ingress"] for peer in rule["from"]]
    peers += [peer for rule in policy["spec"]["egress"] for peer in rule["to"]]
    # Without a namespaceSelector a peer is of the policy's own namespace.
    assert all(peer.keys() == {"podSelector"} for peer in peers)
    return [policy["spec"]["podSelector"], *(peer["podSelector"] for peer in peers)]


def test_it_is_valid() -> None:
    """Both objects keep the schema of their kind."""
    check_schema(DENY)
    check_schema(ALLOW)


def test_exactly_the_jobs_pods() -> None:
    """It selects all pods of its job, of every role and shape, and none of a job whose name is like its own."""
    mine = [
        yaml.safe_load((ROOT / "samples" / "train_cpu.yaml").read_text(encoding="utf-8")),
        msjob("train-cpu", scheduler=1, ps=2, worker=3),
        msjob("train-cpu", scheduler=None, worker=role(2), launch_mode="Msrun"),
    ]
    others = [msjob(name) for name in ("train-cpu-2", "train", "cpu", "train-cpu-worker")]

    assert len(selectors(ALLOW)) == 3
    for selector in selectors(ALLOW):
        assert all(selects(selector, pod) for job in mine for pod in pods(job).values())
        assert not any(selects(selector, pod) for job in others for pod in pods(job).values())


def test_all_jobs_of_a_namespace() -> None:
    """The label that the docs name for all jobs is on every pod."""
    label = "training.kubeflow.org/operator-name: msjob-controller"
    name, value = label.split(": ")

    assert label in (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert name == meta.LABEL_OPERATOR_NAME
    assert all(pod["metadata"]["labels"][name] == value for pod in pods(msjob("train-cpu", ps=1)).values())


def test_what_passes() -> None:
    """In and out, all TCP between them; without it, nothing: the other policy selects every pod and allows none."""
    assert ALLOW["spec"]["policyTypes"] == DENY["spec"]["policyTypes"] == ["Ingress", "Egress"]
    for rule in (*ALLOW["spec"]["ingress"], *ALLOW["spec"]["egress"]):
        assert rule["ports"] == [{"protocol": "TCP"}]
    assert DENY["spec"].keys() == {"podSelector", "policyTypes"}
    assert DENY["spec"]["podSelector"] == {}
