"""What a render gives: templates that facts fill in, and their way through the pipe to the controller."""

import gc
import json
import random
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msjob.api import Job, Role
from msjob.render import render
from msjob.rendered import Rendered
from msjob.workload.tokens import Facts
from support.jobs import Json, jobs, msjob, role, template, tricky_texts
from support.properties import few
from support.rendering import FACTS


def shuffled(value: Json, source: random.Random) -> Json:
    """The same JSON with the keys of all objects in another order."""

    def turn(item: object) -> object:
        if isinstance(item, dict):
            keys = [*item]
            source.shuffle(keys)
            return {key: turn(item[key]) for key in keys}
        return [turn(part) for part in item] if isinstance(item, list) else item

    result = turn(value)
    assert isinstance(result, dict)
    return result


@few
@given(job=jobs(), source=st.randoms(use_true_random=False))
def test_renders_are_equal_bytes(job: Json, source: random.Random) -> None:
    """Two renders of one job are the same bytes, in whatever order its fields were written."""
    first = [*render(job).bodies(FACTS)]
    second = [*render(shuffled(job, source)).bodies(FACTS)]

    assert first == second


@few
@given(job=jobs())
def test_wire_round_trip(job: Json) -> None:
    """A render survives its way through JSON, as between the construct worker and the controller."""
    rendered = render(job)

    assert Rendered.from_wire(json.loads(json.dumps(rendered.to_wire()))) == rendered


@few
@given(job=jobs(), text=tricky_texts)
def test_text_of_the_user_survives(job: Json, text: str) -> None:
    """Any text in a template reaches the pod as it was written, although it resembles a token."""
    worker = next(value for key, value in job["spec"]["msReplicaSpecs"].items() if key.lower() == "worker")
    worker["template"].setdefault("metadata", {})["annotations"] = {"note": text}
    worker["template"]["spec"]["containers"][0]["args"] = [text]

    found = [item for item in render(job).objects(FACTS) if "-worker-" in item["metadata"]["name"]]

    for pod in (item for item in found if item["kind"] == "Pod"):
        assert pod["metadata"]["annotations"] == {"note": text}
        assert pod["spec"]["containers"][0]["args"] == [text]


def test_bodies_are_the_objects() -> None:
    """The text that is sent and the objects that are printed are the same, and facts reach both."""
    rendered = render(msjob(ps=1, elastic_policy={"maxReplicas": 3}))
    facts = Facts("10.0.0.9", "uid-1", 4)

    assert [json.loads(body) for body in rendered.bodies(facts)] == rendered.objects(facts)
    assert "10.0.0.9" in rendered.pod(Role.WORKER, 0, facts)
    assert "SCHEDULER_CLUSTER_IP" in rendered.pod(Role.WORKER, 0, Facts())


def test_pod_by_role_and_index() -> None:
    """One pod is the body of the same pod among all; one that the job does not have is an error."""
    rendered = render(msjob("train", scheduler=None, worker=3, launch_mode="Msrun"))

    for index in range(3):
        assert json.loads(rendered.pod(Role.WORKER, index, FACTS))["metadata"]["name"] == f"train-worker-{index}"
    for missing in ((Role.WORKER, 3), (Role.WORKER, -1), (Role.SCHEDULER, 0)):
        with pytest.raises(KeyError):
            rendered.pod(*missing, FACTS)


def test_pods_that_differ_only_in_facts_share_a_template() -> None:
    """The number of pods does not change the number of templates: a thousand Workers are rendered as one."""
    pod = template(env=[{"name": f"VARIABLE_{number}", "value": "x" * 60} for number in range(85)])

    rendered = render(msjob(worker=role(1000, pod)))

    assert [(part.role, part.first, part.count) for part in rendered.pods] == [
        (Role.SCHEDULER, 0, 1),
        (Role.WORKER, 0, 1000),
    ]
    assert len({*rendered.bodies(FACTS)}) == 1002


def test_nothing_of_a_job_is_kept() -> None:
    """A job that was rendered can be forgotten, although jsii keeps every construct: a worker renders hundreds."""
    job = Job.parse(msjob())
    kept = weakref.ref(job)

    render(job)
    del job
    gc.collect()

    assert kept() is None
