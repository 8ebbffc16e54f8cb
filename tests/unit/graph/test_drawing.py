"""What a picture of a job shows: its objects, who calls whom, and what its pods need."""

from typing import Any

import pytest

from msjob.api import Job
from msjob.graph import Graph, Node, Shape, draw
from msjob.graph.references import references
from msjob.render import render
from msjob.workload.construct import MSJobWorkload
from support.jobs import Json, msjob, role, template

NEEDY = template(
    env=[{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "tracker", "key": "token"}}}],
    image_pull_secrets=[{"name": "registry"}],
    volumes=[
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "code", "configMap": {"name": "code"}},
    ],
)


def picture(*jobs: Json, construct: type[MSJobWorkload] = MSJobWorkload) -> Graph:
    """The picture of jobs."""
    return draw((Job.parse(job), render(job, construct)) for job in jobs)


def names(graph: Graph) -> dict[str, str]:
    """The second line of each node, which names the object, by its id."""
    return {node.id: node.lines[1] for node in graph.nodes()}


def arrows(graph: Graph) -> list[tuple[str, str, str]]:
    """Source, label and target of each call, by names."""
    named = names(graph)
    return [(named[edge.source], edge.label, named[edge.target]) for edge in graph.edges if not edge.uses]


def needs(graph: Graph) -> list[tuple[str, str]]:
    """Who needs what, by names."""
    named = names(graph)
    return [(named[edge.source], named[edge.target]) for edge in graph.edges if edge.uses]


def node(graph: Graph, id_: str) -> Node:
    """A node by its id."""
    return next(item for item in graph.nodes() if item.id == id_)


def test_cluster() -> None:
    """Workers and PS call the Service with the address in MS_SCHED_HOST, and the Service leads to the Scheduler."""
    graph = picture(msjob(ps=2, worker=4))

    assert [frame.title for frame in graph.frames] == ["MSJob default/train owns"]
    assert arrows(graph) == [
        ("train-worker-0", "MS_SCHED_HOST", "train-scheduler-0"),
        ("train-ps-0", "MS_SCHED_HOST", "train-scheduler-0"),
        ("train-scheduler-0", "", "train-scheduler-0"),
    ]
    assert (node(graph, "service1").lines[0], node(graph, "scheduler1").lines[0]) == ("Service", "Scheduler, 1 Pod")
    assert graph.edges[-1].source == "service1"
    assert graph.edges[-1].target == "scheduler1"


@pytest.mark.parametrize(
    ("count", "lines", "shape"),
    [
        (1, ("Worker, 1 Pod", "train-worker-0"), Shape.PLAIN),
        (2, ("Worker, 2 Pods", "train-worker-0", "train-worker-1"), Shape.SEVERAL),
        (64, ("Worker, 64 Pods", "train-worker-0", "… train-worker-63"), Shape.SEVERAL),
    ],
)
def test_pods_of_a_role_are_one_node(count: int, lines: tuple[str, ...], shape: Shape) -> None:
    """However many pods a role has, it is one node, with the first and the last name."""
    found = node(picture(msjob(worker=count)), "worker1")

    assert (found.lines, found.shape) == (lines, shape)


def test_standalone() -> None:
    """A Worker alone calls nobody."""
    graph = picture(msjob(scheduler=None, worker=1))

    assert names(graph) == {"worker1": "train-worker-0"}
    assert graph.edges == ()


def test_msrun_without_scheduler() -> None:
    """Worker 0 stands alone behind the Service of its name; the others call it, and they are those that are scaled."""
    job = msjob(scheduler=None, worker=3, launch_mode="Msrun", proc_per_worker=8, elastic_policy={"maxReplicas": 4})
    graph = picture(job)

    assert arrows(graph) == [
        ("train", "scales, through the MSJob", "train-worker-1"),
        ("train-worker-1", "MS_SCHED_HOST", "train-worker-0"),
        ("train-worker-0", "", "train-worker-0"),
    ]
    assert node(graph, "worker2").lines == ("Worker, 2 Pods", "train-worker-1", "train-worker-2", "8 processes each")
    assert node(graph, "worker1").lines == ("Worker, 1 Pod", "train-worker-0", "8 processes")


def test_msrun_with_scheduler() -> None:
    """With a Scheduler all Workers are one node and call it."""
    graph = picture(msjob(worker=3, launch_mode="Msrun"))

    assert arrows(graph)[0] == ("train-worker-0", "MS_SCHED_HOST", "train-scheduler-0")
    assert {item.id for item in graph.nodes()} == {"worker1", "service1", "scheduler1"}


def test_no_environment() -> None:
    """Where the operator tells nobody an address, no call is drawn: what is drawn is read from the pods."""
    graph = picture(msjob(launch_mode="None"))

    assert arrows(graph) == [("train-scheduler-0", "", "train-scheduler-0")]


def test_address_of_the_user() -> None:
    """Workers whose template says another address call that one, so no call is drawn."""
    graph = picture(msjob(worker=role(2, template(env=[{"name": "MS_SCHED_HOST", "value": "10.0.0.1"}]))))

    assert [edge.source for edge in graph.edges] == ["service1"]


def test_port_of_the_job() -> None:
    """The Service has the port that its template names."""
    scheduler = role(1, template(ports=[{"name": "msjob-port", "containerPort": 8118}]))

    assert node(picture(msjob(scheduler=scheduler)), "service1").lines[2] == "port 8118"


def test_elastic() -> None:
    """The autoscaler has its bounds, and scales the Workers."""
    graph = picture(msjob(elastic_policy={"minReplicas": 2, "maxReplicas": 8}))

    assert node(graph, "autoscaler1").lines == ("HorizontalPodAutoscaler", "train", "2 to 8 Workers")
    assert arrows(graph)[0] == ("train", "scales, through the MSJob", "train-worker-0")


def test_accelerators() -> None:
    """Devices and processes of a pod are told."""
    job = msjob(worker=role(2, template(limits={"huawei.com/Ascend910": 8, "cpu": 4})), proc_per_worker="auto")

    assert node(picture(job), "worker1").lines[3:] == ("8 huawei.com/Ascend910, 8 processes each",)


def test_suspended() -> None:
    """Nothing of a suspended job is there yet; what it needs has to be."""
    graph = picture(msjob(suspend=True, worker=role(2, NEEDY)))

    assert graph.frames[0].title == "MSJob default/train owns once it is resumed"
    assert {item.later for item in graph.frames[0].nodes} == {True}
    assert {item.later for item in graph.frames[1].nodes} == {False}


def test_what_pods_need() -> None:
    """Claims, ConfigMaps and Secrets that pods name stand in a frame of their namespace."""
    graph = picture(msjob(worker=role(2, NEEDY)))

    assert graph.frames[1].title == "has to be there in namespace default"
    assert [(item.lines, item.shape) for item in graph.frames[1].nodes] == [
        (("PersistentVolumeClaim", "data"), Shape.VOLUME),
        (("ConfigMap", "code"), Shape.SETTINGS),
        (("Secret", "registry"), Shape.SETTINGS),
        (("Secret", "tracker"), Shape.SETTINGS),
    ]
    assert needs(graph) == [("train-worker-0", name) for name in ("data", "code", "registry", "tracker")]


def test_jobs_that_share() -> None:
    """A claim of several jobs is one node; one of that name in another namespace is another."""
    needy = role(1, NEEDY)
    graph = picture(
        *(msjob(name, namespace=place, worker=needy) for name, place in (("a", "x"), ("b", "x"), ("c", "y")))
    )

    assert [frame.title for frame in graph.frames] == [
        "MSJob x/a owns",
        "MSJob x/b owns",
        "MSJob y/c owns",
        "has to be there in namespace x",
        "has to be there in namespace y",
    ]
    claims = [edge.target for edge in graph.edges if edge.target.startswith("claim")]
    assert claims == ["claim1", "claim1", "claim2"]
    assert len({item.id for item in graph.nodes()}) == len([*graph.nodes()])


def test_without_pods() -> None:
    """A job without pods is an empty frame."""
    graph = picture(msjob(scheduler=None, worker=0))

    assert [frame.nodes for frame in graph.frames] == [()]


class Tracked(MSJobWorkload):
    """Every pod reads a ConfigMap of the job's own, and a Service leads to all Workers."""

    def __init__(self, scope: Any, id_: str, **options: Any) -> None:
        super().__init__(scope, id_, **options)
        name = f"{self.job.name}-tracker"
        self.add_object("tracker", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
        selector = {"training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/job-name": self.job.name}
        spec = {"clusterIP": "None", "selector": selector}
        metadata = {"name": f"{self.job.name}-workers"}
        self.add_object("workers", {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})

    def pod(self, *args: Any, **options: Any) -> dict[str, Any]:
        """The pod with the ConfigMap as a volume."""
        pod = super().pod(*args, **options)
        pod["spec"]["volumes"] = [{"name": "tracker", "configMap": {"name": f"{self.job.name}-tracker"}}]
        return pod


def test_objects_of_a_site() -> None:
    """What a site's construct adds is the job's own: it does not have to be there before."""
    graph = picture(msjob(), construct=Tracked)

    assert [frame.title for frame in graph.frames] == ["MSJob default/train owns"]
    assert needs(graph) == [("train-worker-0", "train-tracker"), ("train-scheduler-0", "train-tracker")]
    assert ("train-workers", "", "train-worker-0") in arrows(graph)
    assert ("train-workers", "", "train-scheduler-0") not in arrows(graph)


def test_every_kind_of_reference() -> None:
    """A reference is found wherever a pod may have one, once."""
    spec = {
        "imagePullSecrets": [{"name": "pull"}],
        "initContainers": [{"env": [{"valueFrom": {"configMapKeyRef": {"name": "init-key", "key": "k"}}}]}],
        "containers": [
            {
                "envFrom": [{"configMapRef": {"name": "from-map"}}, {"secretRef": {"name": "from-secret"}}],
                "env": [{"valueFrom": {"secretKeyRef": {"name": "secret-key", "key": "k"}}}],
            }
        ],
        "volumes": [
            {"persistentVolumeClaim": {"claimName": "claim"}},
            {"persistentVolumeClaim": {"claimName": "claim", "readOnly": True}},
            {"configMap": {"name": "map"}},
            {"secret": {"secretName": "secret"}},
            {"azureFile": {"secretName": "azure"}},
            {"cephfs": {"secretRef": {"name": "ceph"}}},
            {"csi": {"nodePublishSecretRef": {"name": "csi"}}},
            {"projected": {"sources": [{"secret": {"name": "projected"}}, {"configMap": {"name": "projected-map"}}]}},
            {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
        ],
        "nodeSelector": {"secretRef": "no reference", "configMap": "none either"},
    }

    claims = [("PersistentVolumeClaim", "claim")]
    maps = [("ConfigMap", name) for name in ("from-map", "init-key", "map", "projected-map")]
    secrets = ["azure", "ceph", "csi", "from-secret", "projected", "pull", "secret", "secret-key"]
    assert references(spec) == claims + maps + [("Secret", name) for name in secrets]
