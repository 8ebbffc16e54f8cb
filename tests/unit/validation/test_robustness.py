"""Whatever a reader hands over: an answer, soon, and never an exception."""

import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msjob.api import Problem, meta
from msjob.validation import validate
from support.jobs import Json, msjob, template
from support.verdicts import changed
from support.verdicts.garbage import SPEC_GARBAGE, STATUS_GARBAGE

_scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**62)
    | st.floats()
    | st.text(st.characters())
    | st.binary(max_size=3)
    | st.dates()
    | st.complex_numbers()
)
_keys: st.SearchStrategy[Any] = (
    st.sampled_from(
        [
            "apiVersion",
            "containers",
            "env",
            "kind",
            "limits",
            "metadata",
            "maxReplicas",
            "metrics",
            "msReplicaSpecs",
            "name",
            "ports",
            "resources",
            "rules",
            "runPolicy",
            "spec",
            "Worker",
        ]
    )
    | st.text(st.characters(), max_size=5)
    | st.integers()
    | st.none()
    | st.booleans()
)
_anything = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_keys, inner, max_size=4) | st.tuples(inner),
    max_leaves=12,
)
_places = st.sampled_from(
    [
        "metadata",
        "metadata.labels",
        "metadata.name",
        "spec",
        "spec.runPolicy",
        "spec.msReplicaSpecs",
        "spec.procPerWorker",
        "spec.elasticPolicy",
        "spec.elasticPolicy.metrics",
        "spec.runPolicy.failurePolicy",
        "spec.runPolicy.failurePolicy.rules",
        "status",
        "W.replicas",
        "W.template",
        "W.template.metadata",
        "W.template.spec",
        "W.template.spec.containers",
        "C.env",
        "C.ports",
        "C.resources",
    ]
)


def nested(depth: int, *, lists: bool) -> Any:
    """A value within a value, many times."""
    value: Any = "end"
    for _ in range(depth):
        value = [value] if lists else {"spec": value}
    return value


@given(obj=_anything)
def test_any_object(obj: object) -> None:
    """Anything at all gets problems or none."""
    assert all(isinstance(problem, Problem) for problem in validate(obj))


@given(value=_anything, path=_places)
def test_any_value(value: object, path: str) -> None:
    """Anything at any place of a job gets problems or none, strict or not, and the fields can be shown."""
    job = changed(path, value)

    for problem in [*validate(job), *validate(job, unknown="ignore")]:
        assert str(problem)


@pytest.mark.parametrize("name", SPEC_GARBAGE)
def test_stored_garbage(name: str) -> None:
    """A job stored without a schema, with a spec of wrong types, gets problems that can be shown."""
    job = SPEC_GARBAGE[name]

    # A null counts as a field left out, and what nobody knows is dropped by an API server: those are good jobs.
    assert bool(validate(job, unknown="ignore")) == (name not in {"policy-null", "role-null", "unknown-field"})
    assert all(str(problem) for problem in validate(job, unknown="ignore"))


@pytest.mark.parametrize("name", STATUS_GARBAGE)
def test_stored_garbage_of_status(name: str) -> None:
    """Whatever its status holds, a job with a good spec is good."""
    assert validate(STATUS_GARBAGE[name], unknown="ignore") == []


@pytest.mark.parametrize("lists", [True, False])
@pytest.mark.parametrize("path", ["spec", "metadata", "W.template", "C.command", "extra", "metadata.managedFields"])
def test_depth(path: str, *, lists: bool) -> None:
    """A thousand levels are no trouble, because nothing is followed where the schema ends."""
    problems = validate(changed(path, nested(1000, lists=lists)))

    assert problems or path == "metadata.managedFields"


def test_recursion() -> None:
    """A value that holds itself, as YAML aliases can make it, ends too."""
    job = msjob()
    job["spec"]["msReplicaSpecs"]["Worker"] = job
    loop: list[Any] = []
    loop.append(loop)

    assert validate(job)
    assert validate(changed("C.command", loop))


def test_aliases() -> None:
    """A few aliases that stand for a thousand million values are too large: told without a look at all of them."""
    item = {"name": "A", "value": "b"}
    container = {"name": "mindspore", "env": [item] * 1000}
    job = changed("W.template.spec.containers", [container] * 1000)
    job["spec"]["msReplicaSpecs"]["Worker"]["template"]["spec"]["initContainers"] = [container] * 1000

    (problem,) = validate(job)

    assert problem.rule == "size"


@pytest.mark.parametrize(
    "job",
    [
        changed("C.args", ["x" * 2**20]),
        changed("C.args", ["\0" * 2**18]),
        changed("C.args", ["ü" * 2**19]),
        changed("C.args", ["x" * 2**20] * 2**10),
        changed("C.args", ["ü" * 2**20] * 2**10),
    ],
    ids=["long", "escaped", "wide", "aliased", "aliased-wide"],
)
def test_size(job: Json) -> None:
    """A job of more than a mebibyte as JSON is refused with advice."""
    (problem,) = validate(job)

    assert problem.rule == "size"
    assert "ConfigMap" in problem.message


def test_size_of_status() -> None:
    """What the operator and the API server add does not count: a stored job never grows too large by itself."""
    text = "x" * (meta.MAX_JOB_BYTES - 2000)
    job = changed(
        "C.args", [text], msjob(status={"conditions": [{"type": "A", "status": "True", "message": "y" * 10**6}]})
    )
    job["metadata"]["managedFields"] = [{"fieldsV1": {"z" * 10**6: {}}}]

    assert validate(job, unknown="ignore") == []


@pytest.mark.parametrize(
    "key", [10**5000, (10**5000,), None, float("inf"), "\ud800", "x" * 10**6, b"x"], ids=lambda key: type(key).__name__
)
@pytest.mark.parametrize("path", ["spec", "metadata.labels", "C.env.0"])
def test_keys(path: str, key: object) -> None:
    """Any key that Python can hold gives one problem that can be printed and is short."""
    places: dict[str, Any] = {"spec": msjob()["spec"], "metadata.labels": {}, "C.env.0": {"name": "A"}}
    job = changed("C.env", [{"name": "A"}], msjob(labels={}))

    (problem,) = validate(changed(path, {**places[path], key: "x"}, job))

    assert len(str(problem).encode()) < 500


class _Text(str):
    """A string of a YAML reader that knows its line."""

    __slots__ = ()


def test_subclasses() -> None:
    """Readers may hand over their own kinds of strings and mappings."""

    class Dictionary(dict[Any, Any]):
        """A mapping of a YAML reader."""

    def dressed(value: Any) -> Any:
        if isinstance(value, Mapping):
            return Dictionary({_Text(key): dressed(item) for key, item in value.items()})
        if isinstance(value, list):
            return [dressed(item) for item in value]
        return _Text(value) if isinstance(value, str) else value

    assert validate(dressed(msjob(labels={"a": "b"}))) == []


def test_speed() -> None:
    """A job with an 8 KB template is judged in about a millisecond; the bound is loose, for machines under load."""
    env = [{"name": f"VARIABLE_{index}", "value": f"value number {index}"} for index in range(160)]
    job = msjob(scheduler=None, pod=template(env=env))
    validate(job)
    best = 1.0
    for _ in range(20):
        begin = time.perf_counter()
        assert validate(job) == []
        best = min(best, time.perf_counter() - begin)

    assert best < 0.01
