"""Jobs in the network of their nodes: ports that do not collide, and Workers that do not share a host name."""

from collections import Counter

import pytest

from msjob.api import Job, Role
from msjob.workload.tokens import Facts
from support.jobs import Json, msjob, role, template
from support.rendering import main_container, pods, service, variables

HOST = template(host_network=True)
WORKERS = {
    "training.kubeflow.org/job-name": "train",
    "training.kubeflow.org/operator-name": "msjob-controller",
    "training.kubeflow.org/replica-type": "worker",
}
APART = {"labelSelector": {"matchLabels": WORKERS}, "topologyKey": "kubernetes.io/hostname"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def port(job: Json) -> int:
    """The port of a job's MindSpore Scheduler."""
    return Job.parse(job).port


def affinity(job: Json) -> list[Json | None]:
    """Affinity of each Worker."""
    return [pod["spec"].get("affinity") for name, pod in pods(job).items() if name.startswith("worker-")]


@pytest.mark.parametrize(
    ("job", "host"),
    [
        (msjob(scheduler=role(1, HOST)), "scheduler-0"),
        (msjob(scheduler=role(1, HOST), ps=1, pod=HOST), "scheduler-0"),
        (msjob(scheduler=None, launch_mode="Msrun", pod=HOST), "worker-0"),
    ],
)
def test_everybody_knows_the_port(job: Json, host: str) -> None:
    """The port is none that others use; the host alone declares it, the Service leads to it, all processes are told."""
    number = port(job)
    rendered = pods(job)
    front = service(job)

    assert 17000 <= number <= 29999
    assert front is not None
    assert front["spec"]["ports"] == [{"name": "msjob-port", "port": number, "targetPort": number, "protocol": "TCP"}]
    assert {variables(pod)["MS_SCHED_PORT"] for pod in rendered.values()} == {str(number)}
    declared = {name: main_container(pod).get("ports") for name, pod in rendered.items()}
    assert declared.pop(host) == [{"name": "msjob-port", "containerPort": number, "protocol": "TCP"}]
    assert not any(declared.values())


def test_the_port_stays() -> None:
    """A job has one port in all attempts and on all machines: it follows from namespace and name alone."""
    job = msjob("train", namespace="team-a", scheduler=role(1, HOST))

    assert port(job) == 26424
    assert {variables(pod)["MS_SCHED_PORT"] for pod in pods(job, Facts(attempt=3)).values()} == {"26424"}


def test_jobs_differ_in_their_ports() -> None:
    """A thousand jobs spread over the range; the same name in another namespace is another port."""
    found = Counter(port(msjob(f"job-{number}", scheduler=role(1, HOST))) for number in range(1000))

    assert set(found) <= set(range(17000, 30000))
    assert len(found) > 900
    assert port(msjob(namespace="a", scheduler=role(1, HOST))) != port(msjob(namespace="b", scheduler=role(1, HOST)))


def test_port_that_the_template_declares_for_something_else() -> None:
    """A port that a container of the host has for itself is not given to the MindSpore Scheduler."""
    plain = port(msjob(scheduler=role(1, HOST)))
    logs = {"name": "logs", "ports": [{"containerPort": plain}]}
    metrics = [{"name": "metrics", "containerPort": plain + 1}]

    found = port(msjob(scheduler=role(1, template(host_network=True, ports=metrics, containers=[logs]))))

    assert found == plain + 2


def test_port_of_the_user() -> None:
    """A port that the template names is the one, on the network of the node as well."""
    ports = [{"name": "msjob-port", "containerPort": 8118}]

    assert port(msjob(scheduler=role(1, template(host_network=True, ports=ports)))) == 8118


@pytest.mark.parametrize(
    "job",
    [
        msjob(worker=role(2, HOST)),
        msjob(scheduler=role(1, template(host_network=False))),
        msjob(scheduler=role(1, HOST), launch_mode="None"),
        msjob(scheduler=None, pod=HOST),
    ],
)
def test_port_elsewhere(job: Json) -> None:
    """A Scheduler with an address of its own keeps 2222; so does one whose port nobody would be told."""
    assert port(job) == 2222


@pytest.mark.parametrize(
    "fields", [{}, {"launch_mode": "Msrun"}, {"scheduler": None, "launch_mode": "Msrun"}, {"launch_mode": "None"}]
)
def test_workers_are_kept_apart(fields: Json) -> None:
    """Workers of a job never meet on a node, whose host name they would share."""
    assert affinity(msjob(worker=role(2, HOST), **fields)) == [{"podAntiAffinity": {REQUIRED: [APART]}}] * 2


def test_workers_are_kept_apart_by_labels_that_they_have() -> None:
    """The rule selects the Workers of the job, and no other pod of it."""
    rendered = pods(msjob(ps=1, worker=3))

    selected = [name for name, pod in rendered.items() if WORKERS.items() <= pod["metadata"]["labels"].items()]

    assert selected == ["worker-0", "worker-1", "worker-2"]


@pytest.mark.parametrize("empty", [None, []])
def test_affinity_of_the_user_is_kept(empty: object) -> None:
    """The rule joins what the template says about its place, and nothing of it is lost."""
    preferred = [{"weight": 1, "podAffinityTerm": {"topologyKey": "rack"}}]
    nodes = {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [{"key": "npu", "operator": "Exists"}]}]}}
    given = {"nodeAffinity": nodes, "podAntiAffinity": {PREFERRED: preferred, REQUIRED: empty}}

    found = affinity(msjob(worker=role(2, template(host_network=True, affinity=given))))

    anti_affinity = {PREFERRED: preferred, REQUIRED: [APART]}
    assert found == [{"nodeAffinity": nodes, "podAntiAffinity": anti_affinity}] * 2


def term(selector: Json | None, topology: str = "kubernetes.io/hostname", **more: object) -> Json:
    """A term of an anti-affinity."""
    return {**({} if selector is None else {"labelSelector": selector}), "topologyKey": topology, **more}


def one_of(key: str, operator: str, *values: str) -> Json:
    """A label selector of one expression."""
    return {"matchExpressions": [{"key": key, "operator": operator, **({"values": [*values]} if values else {})}]}


def required(*terms: Json) -> list[Json]:
    """The required terms of a Worker with these of its own; its template has the label `team: vision`."""
    pod = template(host_network=True, labels={"team": "vision"}, affinity={"podAntiAffinity": {REQUIRED: [*terms]}})
    first, second = affinity(msjob(namespace="lab", worker=role(2, pod)))
    assert first is not None
    assert first == second
    found: list[Json] = first["podAntiAffinity"][REQUIRED]
    return found


INDEX = "training.kubeflow.org/replica-index"


@pytest.mark.parametrize(
    "own",
    [
        term({}),
        term({"matchLabels": {"team": "vision"}}),
        term({"matchLabels": {"job-name": "train", "training.kubeflow.org/replica-type": "worker"}}),
        term(one_of("team", "In", "speech", "vision")),
        term(one_of("team", "NotIn", "speech")),
        term(one_of("app", "NotIn", "web")),
        term(one_of("team", "Exists")),
        term(one_of(INDEX, "Exists")),
        term(one_of("app", "DoesNotExist")),
        term({}, namespaces=["lab"]),
        term({}, namespaceSelector={}),
        term({}, namespaceSelector={"matchLabels": {"a": "b"}}, namespaces=["web", "lab"]),
    ],
)
def test_terms_of_the_user_that_keep_workers_apart(own: Json) -> None:
    """A term of the template that selects all Workers of the job, by node, is enough."""
    assert required(term({}, "example.com/rack"), own) == [term({}, "example.com/rack"), own]


@pytest.mark.parametrize(
    "own",
    [
        term(None),
        term({}, "example.com/rack"),
        term({"matchLabels": {"team": "speech"}}),
        term({"matchLabels": {"team": "vision", "app": "web"}}),
        term({"matchLabels": {"team": "vision"}, **one_of("app", "Exists")}),
        term(one_of("team", "In", "speech")),
        term(one_of("team", "NotIn", "vision")),
        term(one_of("team", "DoesNotExist")),
        term(one_of("team", "Gt", "1")),
        term({"matchLabels": {INDEX: "0"}}),
        term(one_of(INDEX, "NotIn", "0")),
        term(one_of("mindspore.gitee.com/restart-attempt", "In", "0")),
        term({}, matchLabelKeys=[INDEX]),
        term({}, mismatchLabelKeys=["team"]),
        term({}, namespaces=["web"]),
        term({}, namespaceSelector={"matchLabels": {"a": "b"}}),
    ],
)
def test_terms_of_the_user_that_do_not(own: Json) -> None:
    """Any other term stands as it is, and the operator's joins it."""
    assert required(own) == [own, APART]


OWN = {"podAntiAffinity": {REQUIRED: [term({})]}}


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (msjob(worker=role(2, template(host_network=True, affinity=OWN))), OWN),
        (msjob(worker=role(2, template(host_network=True, node_name="node-1")), launch_mode="None"), None),
        (msjob(worker=role(2, template(host_network=False))), None),
        (msjob(worker=2, scheduler=role(1, HOST)), None),
        (msjob(worker=role(1, HOST)), None),
        (msjob(scheduler=None, worker=role(2, HOST)), None),
    ],
    ids=["own-rule", "own-node", "own-network", "scheduler-only", "one-worker", "standalone"],
)
def test_workers_go_where_they_like(job: Json, expected: Json | None) -> None:
    """No rule where the user has one, where each has its own host name, or where no process knows of another."""
    assert affinity(job) == [expected] * Job.parse(job).replicas(Role.WORKER)


def test_other_roles_go_where_they_like() -> None:
    """Scheduler and PS use no devices: they may share a node with anything."""
    rendered = pods(msjob(ps=2, pod=HOST))

    assert [name for name, pod in rendered.items() if "affinity" in pod["spec"]] == ["worker-0", "worker-1"]
