"""`MSJobWorkload` in anyone's cdk8s app: plain API objects, the same ones that the operator creates."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given

from msjob.api import InvalidJobError, Job
from msjob.cdk import App, Chart
from msjob.render import render
from msjob.workload.construct import MSJobWorkload
from msjob.workload.tokens import Facts
from support.jobs import Json, jobs, msjob, role, template
from support.properties import few
from support.rendering import FACTS


def synthesized(job: Json, chart: Json | None = None, **options: Any) -> list[Json]:
    """The objects of a chart that holds nothing but the workload of a job.

    Args:
        job: the MSJob.
        chart: options of the chart.
        **options: of the workload.
    """
    scope = Chart(App(), "site", **(chart or {}))
    MSJobWorkload(scope, "workload", job=job, **options)
    objects: list[Json] = scope.to_json()
    return objects


def by_name(objects: Iterable[Json]) -> dict[tuple[str, str], Json]:
    """Objects by kind and name."""
    return {(item["kind"], item["metadata"]["name"]): item for item in objects}


@few
@given(job=jobs(max_workers=2))
def test_gives_what_the_operator_creates(job: Json) -> None:
    """The chart holds the objects of a render for the same facts."""
    assert synthesized(job, facts=FACTS) == render(job).objects(FACTS)


def test_unusual_templates_come_through_alike() -> None:
    """Null, empty and numeric values come through jsii as they do packed in a string, and so do placeholders."""
    pod = template(
        container={"env": None, "args": [], "resources": {"limits": {"cpu": 2, "memory": "1Gi"}}, "stdin": False},
        annotations={"empty": "", "number": "1.0", "yes": "yes", "quote": "\"'\\\n\t", "wide": "\U0001f600 ü"},
        security_context={},
        active_deadline_seconds=2**40,
        node_selector=None,
    )
    job = msjob(worker=role(2, pod))

    assert synthesized(job) == render(job).objects()


def test_several_jobs_in_one_chart() -> None:
    """Jobs stand side by side in a chart."""
    chart = Chart(App(), "site")
    for name in ("one", "two"):
        MSJobWorkload(chart, name, job=msjob(name))

    names = by_name(chart.to_json())
    assert ("Pod", "one-worker-0") in names
    assert ("Pod", "two-worker-0") in names


def test_chart_may_add_labels() -> None:
    """Labels of the chart join those of the objects; selectors still match."""
    pods = [item for item in synthesized(msjob(), {"labels": {"team": "a"}}) if item["kind"] == "Pod"]

    for pod in pods:
        assert pod["metadata"]["labels"]["team"] == "a"
        assert pod["metadata"]["labels"]["training.kubeflow.org/job-name"] == "train"


@pytest.mark.parametrize(
    ("of_job", "of_chart", "expected"),
    [("team-a", "team-b", "team-a"), (None, "team-b", "team-b"), (None, None, "default")],
)
def test_namespace(of_job: str | None, of_chart: str | None, expected: str) -> None:
    """The job's namespace counts, then the chart's, as cdk8s has it for every object."""
    chart = {"namespace": of_chart} if of_chart else {}

    found = {item["metadata"]["namespace"] for item in synthesized(msjob(namespace=of_job), chart)}

    assert found == {expected}


def test_parsed_job() -> None:
    """A job that was parsed already is taken as it is."""
    chart = Chart(App(), "site")
    workload = MSJobWorkload(chart, "workload", job=Job.parse(msjob()), facts=Facts("10.0.0.1"))

    assert workload.job.name == "train"
    assert chart.to_json() == render(msjob()).objects(Facts("10.0.0.1"))


def test_invalid_job_is_refused_where_it_is_given() -> None:
    """A job that the API server would refuse fails the synthesis with the field and what to do."""
    with pytest.raises(InvalidJobError, match=r"spec\.msReplicaSpecs.*PS needs a Scheduler"):
        synthesized(msjob(scheduler=None, ps=1))
    with pytest.raises(InvalidJobError, match=r"spec\.msReplicaSpecs\.Worker\.replicas"):
        synthesized(msjob(worker=role(1) | {"replicas": "many"}))
