"""The pods of a job: the user's template kept whole, plus what makes them members of the job."""

from copy import deepcopy

import pytest

from msjob.api import Job
from msjob.workload.tokens import Facts
from support.jobs import UID, Json, msjob, role, template
from support.rendering import FACTS, main_container, objects, pods


def worker(job: Json) -> Json:
    """The pod of Worker 0."""
    return pods(job)["worker-0"]


def test_names_in_order_of_creation() -> None:
    """Pods are named `<job>-<role>-<index>`; Scheduler, PS and Workers come in that order, whatever the user's was."""
    job = msjob("train", worker=2, ps=1)
    job["spec"]["msReplicaSpecs"] = dict(reversed(job["spec"]["msReplicaSpecs"].items()))

    names = [(item["kind"], item["metadata"]["name"]) for item in objects(job)]

    assert names == [
        ("Service", "train-scheduler-0"),
        ("Pod", "train-scheduler-0"),
        ("Pod", "train-ps-0"),
        ("Pod", "train-worker-0"),
        ("Pod", "train-worker-1"),
    ]


def test_labels() -> None:
    """Pods carry the labels of the operator this one is compatible with, old and new, and the number of the attempt."""
    rendered = pods(msjob("train", ps=1), Facts("10.96.0.7", UID, attempt=2))

    assert rendered["ps-0"]["metadata"]["labels"] == {
        "training.kubeflow.org/job-name": "train",
        "training.kubeflow.org/operator-name": "msjob-controller",
        "training.kubeflow.org/replica-type": "ps",
        "training.kubeflow.org/replica-index": "0",
        "group-name": "mindspore.gitee.com",
        "job-name": "train",
        "controller-name": "msjob-controller",
        "replica-type": "ps",
        "replica-index": "0",
        "mindspore.gitee.com/restart-attempt": "2",
    }
    assert rendered["worker-1"]["metadata"]["labels"]["training.kubeflow.org/replica-index"] == "1"


def test_owner() -> None:
    """Every object is owned by the job, so that the garbage collector removes it with it."""
    for item in objects(msjob("train", namespace="team-a")):
        assert item["metadata"]["namespace"] == "team-a"
        assert item["metadata"]["ownerReferences"] == [
            {
                "apiVersion": "mindspore.gitee.com/v1",
                "kind": "MSJob",
                "name": "train",
                "uid": UID,
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ]


def test_template_is_kept_whole() -> None:
    """What the user put into the template is in the pod: metadata, volumes, sidecars, placement, any field of a pod."""
    spec: Json = {
        "node_selector": {"disk": "ssd"},
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "affinity": {"podAntiAffinity": {}},
        "volumes": [{"name": "data", "emptyDir": {}}],
        "init_containers": [{"name": "fetch", "image": "example.com/fetch:1"}],
        "containers": [{"name": "logs", "image": "example.com/logs:1", "env": [{"name": "MS_ROLE", "value": "mine"}]}],
        "scheduler_name": "volcano",
        "service_account_name": "trainer",
        "priority_class_name": "high",
        "host_network": True,
        "dns_policy": "ClusterFirstWithHostNet",
        "security_context": {"runAsUser": 1000},
        "scheduling_gates": [{"name": "example.com/wait"}],
    }
    pod_template = template(
        labels={"team": "a"},
        annotations={"note": "keep"},
        container={"volumeMounts": [{"name": "data", "mountPath": "/data"}], "workingDir": "/data"},
        **spec,
    )
    pod_template["metadata"]["finalizers"] = ["example.com/hold"]

    pod = worker(msjob(worker=role(1, pod_template)))

    assert pod["metadata"]["labels"]["team"] == "a"
    assert pod["metadata"]["annotations"] == {"note": "keep"}
    assert pod["metadata"]["finalizers"] == ["example.com/hold"]
    written = pod_template["spec"]
    assert {key: pod["spec"][key] for key in written if key != "containers"} == {
        key: value for key, value in written.items() if key != "containers"
    }
    assert pod["spec"]["containers"][1:] == written["containers"][1:]
    container = written["containers"][0]
    assert {key: pod["spec"]["containers"][0][key] for key in container} == container


def test_operators_labels_win() -> None:
    """A template cannot take a pod out of its job by a label that selectors rely on."""
    pod = worker(msjob("train", worker=role(1, template(labels={"training.kubeflow.org/job-name": "other"}))))

    assert pod["metadata"]["labels"]["training.kubeflow.org/job-name"] == "train"


def test_metadata_of_the_job_stays_with_the_job() -> None:
    """No label or annotation of the MSJob is on its children: tools that track the MSJob by it would claim them."""
    annotations = {
        "argocd.argoproj.io/tracking-id": "app:mindspore.gitee.com/MSJob:default/train",
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
    }
    job = msjob(labels={"app.kubernetes.io/instance": "app"}, annotations=annotations)

    for item in objects(job):
        assert "annotations" not in item["metadata"]
        assert "app.kubernetes.io/instance" not in item["metadata"]["labels"]


def test_identity_in_the_template_is_the_operators() -> None:
    """A name, namespace or owner in the template's metadata does not reach the pods, which would collide."""
    pod_template = template(labels={})
    pod_template["metadata"] |= {"name": "mine", "namespace": "other", "generateName": "x-"}

    pod = worker(msjob("train", worker=role(1, pod_template)))

    assert pod["metadata"]["name"] == "train-worker-0"
    assert pod["metadata"]["namespace"] == "default"
    assert "generateName" not in pod["metadata"]


@pytest.mark.parametrize(
    ("policy", "job", "expected"),
    [
        (None, {}, "Never"),
        ("OnFailure", {}, "Never"),
        ("Always", {}, "Never"),
        ("ExitCode", {}, "Never"),
        ("OnFailure", {"scheduler": None, "worker": 1}, "OnFailure"),
        ("Always", {"scheduler": None, "worker": 1}, "OnFailure"),
        ("ExitCode", {"scheduler": None, "worker": 1}, "Never"),
        ("Never", {"scheduler": None, "worker": 1}, "Never"),
        ("", {"scheduler": None, "worker": 1}, "Never"),
        ("Always", {"scheduler": None, "worker": 1, "run_policy": {"backoffLimit": 1}}, "Never"),
        ("Always", {"scheduler": None, "worker": 2}, "Never"),
        ("Always", {"scheduler": None, "worker": 1, "launch_mode": "None"}, "Never"),
        ("Always", {"scheduler": None, "worker": 1, "launch_mode": "Msrun"}, "Never"),
    ],
)
def test_restart_policy(policy: str | None, job: Json, expected: str) -> None:
    """The kubelet restarts nothing but the one Worker of a job without a cluster and without limits; never after 0."""
    rendered = pods(msjob(**{"worker": 2, **job}, restart_policy=policy))

    assert rendered["worker-0"]["spec"]["restartPolicy"] == expected


def test_restart_policy_of_the_template_is_replaced() -> None:
    """The role's policy decides, not the template's."""
    assert worker(msjob(worker=role(1, template(restart_policy="Always"))))["spec"]["restartPolicy"] == "Never"


@pytest.mark.parametrize(("asked", "expected"), [({}, 10), ({"termination_grace_period_seconds": 0}, 0)])
def test_grace_period(asked: Json, expected: int) -> None:
    """Python as PID 1 ignores SIGTERM, so the default is short; the user's value counts, even 0."""
    pod = worker(msjob(worker=role(1, template(**asked))))

    assert pod["spec"]["terminationGracePeriodSeconds"] == expected


def test_host_opens_the_port() -> None:
    """The pod of the MindSpore Scheduler states its port; the others state what their template says."""
    rendered = pods(msjob())

    assert main_container(rendered["scheduler-0"])["ports"] == [
        {"name": "msjob-port", "containerPort": 2222, "protocol": "TCP"}
    ]
    assert "ports" not in main_container(rendered["worker-0"])


@pytest.mark.parametrize(
    "ports",
    [
        [{"name": "msjob-port", "containerPort": 8118}],
        [{"containerPort": 2222}],
        [{"name": "mine", "containerPort": 2222, "protocol": "TCP"}],
    ],
)
def test_stated_port_is_not_stated_twice(ports: list[Json]) -> None:
    """A template that states the port, by its name or by its number alone, is left as it is."""
    pod = pods(msjob(scheduler=role(1, template(ports=ports))))["scheduler-0"]

    assert main_container(pod)["ports"] == [{"protocol": "TCP", **port} for port in ports]


def test_port_of_another_protocol_is_not_the_schedulers() -> None:
    """A UDP port of the same number does not stand for the TCP port that Workers dial."""
    pod = pods(msjob(scheduler=role(1, template(ports=[{"containerPort": 2222, "protocol": "UDP"}]))))["scheduler-0"]

    assert {port["protocol"] for port in main_container(pod)["ports"]} == {"TCP", "UDP"}


def test_file_and_stored_object_give_the_same() -> None:
    """The API server adds the protocol of a port and the number of replicas; a render does not depend on it."""
    from_file = msjob(worker=role(None, template(ports=[{"containerPort": 80}], container={"stdin": None})))
    stored = msjob(worker=role(1, template(ports=[{"containerPort": 80, "protocol": "TCP"}])))

    assert objects(from_file) == objects(stored)


def test_host_names_are_distinct() -> None:
    """One host name for several pods would mislead msrun, which groups processes by it: each pod keeps its own."""
    pod_template = template(hostname="trainer", subdomain="team")

    assert "hostname" not in worker(msjob(worker=role(2, pod_template)))["spec"]
    assert worker(msjob(worker=role(2, pod_template)))["spec"]["subdomain"] == "team"
    assert worker(msjob(scheduler=None, worker=role(1, pod_template)))["spec"]["hostname"] == "trainer"


@pytest.mark.parametrize(
    "unusual",
    [
        {"spec": {"containers": [{"name": "mindspore", "env": None, "ports": None, "resources": None}]}},
        {"metadata": None, "spec": {"containers": [{"name": "mindspore"}], "volumes": None}},
        {"metadata": {"labels": None, "annotations": None}, "spec": {"containers": [{"name": "mindspore"}]}},
        {"metadata": {}, "spec": {"containers": [{"name": "mindspore"}], "terminationGracePeriodSeconds": None}},
        {"metadata": {"creationTimestamp": None, "annotations": {}}, "spec": {"containers": [{"name": "mindspore"}]}},
    ],
)
def test_null_is_absent(unusual: Json) -> None:
    """A field written as null or left empty gives the same pod as a field left out."""
    plain = {"spec": {"containers": [{"name": "mindspore"}]}}

    unusual_pods = pods(msjob(scheduler=role(1, unusual), worker=role(1, unusual)))

    assert unusual_pods == pods(msjob(scheduler=role(1, plain), worker=role(1, plain)))


def test_first_mindspore_container_may_stand_anywhere() -> None:
    """The container is found by its name, not by its place."""
    pod_template = template()
    pod_template["spec"]["containers"].insert(0, {"name": "logs", "image": "example.com/logs:1"})

    pod = worker(msjob(worker=role(1, pod_template)))

    assert "env" not in pod["spec"]["containers"][0]
    assert main_container(pod)["env"]


def test_job_is_left_as_it_was() -> None:
    """A render changes nothing of the job it was given."""
    ports = [{"name": "msjob-port", "containerPort": 8118}]
    job = msjob(pod=template(env=[{"name": "A", "value": "1"}], ports=ports, hostname="x", labels={"a": "b"}))
    before = deepcopy(job)

    objects(job)
    objects(job, FACTS)

    assert job == before


def test_long_names_are_used_whole() -> None:
    """The longest name that validation lets through gives names and label values that Kubernetes takes."""
    name = "a" * (63 - len("-scheduler-0"))

    for item in objects(msjob(name)):
        assert len(item["metadata"]["name"]) <= 63
        assert all(len(value) <= 63 for value in item["metadata"]["labels"].values())


def test_replicas_of_the_job_are_the_pods() -> None:
    """A role of 0 replicas has no pods; many replicas cost one construct."""
    assert [*pods(msjob(worker=0))] == ["scheduler-0"]
    assert len(pods(msjob(worker=1000))) == 1001
    assert Job.parse(msjob(worker=1000)).roles
