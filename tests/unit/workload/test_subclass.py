"""A site's own construct: what it changes is in the operator's pods and in generated manifests alike."""

from typing import Any

import pytest

from msjob.api import Role
from msjob.cdk import ApiObject, App, Chart, Construct, JsonPatch
from msjob.render import RenderError, load_construct, render
from msjob.workload.construct import MSJobWorkload
from msjob.workload.environment import EnvVar
from support.jobs import UID, Json, msjob, role, template
from support.rendering import FACTS, objects, pods, variables


class SiteWorkload(MSJobWorkload):
    """Labels, a variable, a toleration, a Service annotation, a calmer autoscaler, and a ConfigMap of the site's."""

    def __init__(self, scope: Construct, id: str, **options: Any) -> None:  # noqa: A002 - the name in cdk8s
        self.pool = "training"
        super().__init__(scope, id, **options)
        self.add_object(
            "settings",
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": f"{self.job.name}-settings"},
                "data": {"scheduler": self.tokens.scheduler_ip},
            },
        )

    def labels(self, role: Role) -> dict[str, str]:
        """See the class."""
        return {**super().labels(role), "example.com/pool": self.pool}

    def environment(self, role: Role, *, host: bool) -> list[EnvVar]:
        """See the class."""
        return [*super().environment(role, host=host), {"name": "SITE_RANK", "value": f"r{self.tokens.index}"}]

    def pod(self, role: Role, *, host: bool) -> dict[str, Any]:
        """See the class."""
        pod = super().pod(role, host=host)
        pod["spec"].setdefault("tolerations", []).append({"key": "pool", "value": self.pool})
        return pod

    def service(self) -> dict[str, Any] | None:
        """See the class."""
        service = super().service()
        if service is not None:
            service["metadata"]["annotations"] = {"example.com/mesh": "off"}
        return service

    def autoscaler(self) -> dict[str, Any] | None:
        """See the class."""
        autoscaler = super().autoscaler()
        if autoscaler is not None:
            autoscaler["spec"]["behavior"] = {"scaleDown": {"stabilizationWindowSeconds": 900}}
            for metric in autoscaler["spec"].get("metrics", []):
                metric["resource"]["target"]["averageUtilization"] = 50
        return autoscaler


def test_overridden_methods_reach_every_pod() -> None:
    """Each overridden method is seen in the objects, with the index of each pod where a token stood."""
    rendered = pods(msjob(), FACTS, SiteWorkload)

    for name, pod in rendered.items():
        assert pod["metadata"]["labels"]["example.com/pool"] == "training"
        assert pod["spec"]["tolerations"] == [{"key": "pool", "value": "training"}]
        assert variables(pod)["SITE_RANK"] == f"r{name.rpartition('-')[2]}"
    assert objects(msjob(), FACTS, SiteWorkload)[0]["metadata"]["annotations"] == {"example.com/mesh": "off"}


def test_template_is_not_changed_by_a_subclass() -> None:
    """A method may change what it got in place: neither the job nor another role's pods see it."""
    pod = template(tolerations=[{"key": "gpu"}])
    job = msjob(scheduler=role(1, pod), worker=role(2, pod))

    rendered = pods(job, FACTS, SiteWorkload)

    assert {len(item["spec"]["tolerations"]) for item in rendered.values()} == {2}
    assert job["spec"]["msReplicaSpecs"]["Worker"]["template"]["spec"]["tolerations"] == [{"key": "gpu"}]


def test_variable_of_the_site_yields_to_the_users() -> None:
    """The user's template wins over a site's variable as it wins over the operator's."""
    worker = role(1, template(env=[{"name": "SITE_RANK", "value": "mine"}]))

    assert variables(pods(msjob(worker=worker), FACTS, SiteWorkload)["worker-0"])["SITE_RANK"] == "mine"


def test_added_object_belongs_to_the_job() -> None:
    """An object that a site adds comes before the pods, in the job's namespace, owned by the job, facts filled in."""
    rendered = objects(msjob("train", namespace="team-a"), FACTS, SiteWorkload)

    assert [item["kind"] for item in rendered] == ["Service", "ConfigMap", "Pod", "Pod", "Pod"]
    assert rendered[1]["data"] == {"scheduler": "10.96.0.7"}
    metadata = rendered[1]["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("train-settings", "team-a")
    assert metadata["labels"] == {"training.kubeflow.org/job-name": "train"}
    assert [owner["uid"] for owner in metadata["ownerReferences"]] == [UID]


def test_autoscaler_of_the_site() -> None:
    """What a site changes in the autoscaler is in it, and the job's own policy is left as it was."""
    metric: Json = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization"}}}
    job = msjob(elastic_policy={"maxReplicas": 3, "metrics": [metric]})

    rendered = objects(job, FACTS, SiteWorkload)

    assert [item["kind"] for item in rendered][-1] == "HorizontalPodAutoscaler"
    assert rendered[-1]["spec"]["behavior"] == {"scaleDown": {"stabilizationWindowSeconds": 900}}
    assert rendered[-1]["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 50
    assert "averageUtilization" not in metric["resource"]["target"]


@pytest.mark.parametrize("fields", [{}, {"elastic_policy": {"maxReplicas": 3}}])
def test_same_in_a_foreign_app(fields: Json) -> None:
    """The subclass gives the same objects in an app of its own as through the operator."""
    chart, job = Chart(App(), "site"), msjob(**fields)
    SiteWorkload(chart, "workload", job=job, facts=FACTS)

    def names(item: Json) -> tuple[str, str]:
        return item["kind"], item["metadata"]["name"]

    assert sorted(chart.to_json(), key=names) == sorted(objects(job, FACTS, SiteWorkload), key=names)


class WithApiObject(MSJobWorkload):
    """Adds a plain cdk8s object, without a name."""

    def __init__(self, scope: Construct, id: str, **options: Any) -> None:  # noqa: A002 - the name in cdk8s
        super().__init__(scope, id, **options)
        settings = ApiObject(self, "settings", api_version="v1", kind="ConfigMap")
        settings.add_json_patch(JsonPatch.add("/data", {"a": "b"}))


def test_api_object_belongs_to_the_job_too() -> None:
    """A plain cdk8s object of a subclass gets namespace and owner; its made-up name differs from job to job."""
    first, second = (
        next(item for item in objects(msjob(name, namespace="team-a"), FACTS, WithApiObject) if "data" in item)
        for name in ("one", "two")
    )

    assert first["data"] == {"a": "b"}
    assert first["metadata"]["namespace"] == "team-a"
    assert first["metadata"]["ownerReferences"][0]["uid"] == UID
    assert first["metadata"]["name"] != second["metadata"]["name"]


class Renames(MSJobWorkload):
    """Gives its pods a name that the operator does not look for."""

    def pod(self, role: Role, *, host: bool) -> dict[str, Any]:
        """See the class."""
        pod = super().pod(role, host=host)
        pod["metadata"]["name"] = "mine"
        return pod


class Relabels(MSJobWorkload):
    """Drops the labels that selectors rely on."""

    def labels(self, role: Role) -> dict[str, str]:
        """See the class."""
        return {"example.com/pool": role.slug}


class Disowns(MSJobWorkload):
    """Takes the owner from its pods."""

    def pod(self, role: Role, *, host: bool) -> dict[str, Any]:
        """See the class."""
        pod = super().pod(role, host=host)
        pod["metadata"]["ownerReferences"] = []
        return pod


class NoService(MSJobWorkload):
    """Leaves out the address that Workers dial."""

    def service(self) -> None:
        """See the class."""
        return


class NoAutoscaler(MSJobWorkload):
    """Leaves out what the job asks to be scaled by."""

    def autoscaler(self) -> None:
        """See the class."""
        return


class Patches(MSJobWorkload):
    """Patches the object of a Service, which is not what the operator creates from."""

    def __init__(self, scope: Construct, id: str, **options: Any) -> None:  # noqa: A002 - the name in cdk8s
        super().__init__(scope, id, **options)
        service = self.node.find_child("service")
        assert isinstance(service, ApiObject)
        service.metadata.add_label("example.com/pool", "training")


class Raises(MSJobWorkload):
    """Looks up what is not there."""

    def environment(self, role: Role, *, host: bool) -> list[EnvVar]:
        """See the class."""
        by_pod: dict[str, list[EnvVar]] = {}
        return by_pod[f"{role}-{host}"]


class Nameless(MSJobWorkload):
    """Adds an object without a name."""

    def __init__(self, scope: Construct, id: str, **options: Any) -> None:  # noqa: A002 - the name in cdk8s
        super().__init__(scope, id, **options)
        self.add_object("settings", {"apiVersion": "v1", "kind": "ConfigMap"})


class Elsewhere(MSJobWorkload):
    """Adds an object to another namespace."""

    def __init__(self, scope: Construct, id: str, **options: Any) -> None:  # noqa: A002 - the name in cdk8s
        super().__init__(scope, id, **options)
        metadata = {"name": "shared", "namespace": "other"}
        self.add_object("settings", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})


class Taken(MSJobWorkload):
    """Uses a construct id twice."""

    def __init__(self, scope: Construct, id: str, **options: Any) -> None:  # noqa: A002 - the name in cdk8s
        super().__init__(scope, id, **options)
        ApiObject(self, "service", api_version="v1", kind="ConfigMap")


@pytest.mark.parametrize(
    ("construct", "message"),
    [
        (Renames, r"pod\(\) must keep metadata.name train-scheduler-<index>"),
        (Relabels, r"pod\(\) must keep label training.kubeflow.org/job-name=train"),
        (Disowns, r"pod\(\) must keep the owner reference"),
        (NoService, r"service\(\) must keep metadata.name train-scheduler-0"),
        (NoAutoscaler, r"autoscaler\(\) must keep metadata.name train"),
        (Patches, r"patches on the Service .* override its method"),
        (Raises, r"KeyError: 'Scheduler-True'"),
        (Nameless, r"needs apiVersion, kind and metadata.name"),
        (Elsewhere, r"ConfigMap shared: an object of a job must be in its namespace team-a"),
        (Taken, r"already a Construct with name 'service'"),
    ],
)
def test_construct_that_fails(construct: type[MSJobWorkload], message: str) -> None:
    """A construct that fails, or loses what the operator needs, is named with the job and the reason."""
    with pytest.raises(RenderError, match=rf"^{construct.__name__} failed on team-a/train: .*{message}"):
        render(msjob(namespace="team-a", elastic_policy={"maxReplicas": 3}), construct)


def test_failure_does_not_hurt_the_next_job() -> None:
    """After a failed render the next one gives what it always gives."""
    expected = objects(msjob())

    with pytest.raises(RenderError):
        render(msjob(), Raises)

    assert objects(msjob()) == expected


@pytest.fixture
def site_module(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A folder on the import path for the modules of a site."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_load_construct(site_module: Any) -> None:
    """A construct is loaded by the path of its module and its name."""
    (site_module / "acme_jobs.py").write_text(
        "from msjob.workload.construct import MSJobWorkload\nclass Acme(MSJobWorkload):\n    pass\n"
    )

    loaded = load_construct("acme_jobs:Acme")

    assert objects(msjob(), FACTS, loaded) == objects(msjob())


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("acme_missing:Acme", "No module named 'acme_missing'"),
        ("msjob.render:Missing", "has no attribute 'Missing'"),
        ("msjob.render:render", "not a subclass of msjob.workload.construct.MSJobWorkload"),
        ("msjob.api:Job", "not a subclass"),
        ("msjob.render", "write it as package.module:Class"),
        (":Acme", "write it as"),
        ("", "write it as"),
        (".relative:Acme", "TypeError"),
        ("acme_broken:Acme", "SyntaxError"),
        ("acme_failing:Acme", "RuntimeError: no licence"),
    ],
)
def test_load_construct_errors(path: str, message: str, site_module: Any) -> None:
    """Whatever is wrong with the flag's value or the site's module is told with the flag, in one line."""
    (site_module / "acme_broken.py").write_text("class\n")
    (site_module / "acme_failing.py").write_text("raise RuntimeError('no licence')\n")

    with pytest.raises(RenderError, match=rf"^--job-construct {path}: .*{message}") as caught:
        load_construct(path)

    assert "\n" not in str(caught.value)
