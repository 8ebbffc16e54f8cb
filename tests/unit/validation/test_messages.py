"""What people read: which field, what is wrong, what to do, and never a whole value."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msjob.validation import MAX_PROBLEMS, validate
from support.jobs import Json, msjob
from support.verdicts import changed

W = "spec.msReplicaSpecs.Worker"
C = f"{W}.template.spec.containers[0]"


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("W.replicas", "2", f'{W}.replicas: must be an integer, not "2"'),
        ("W.replicas", -1, f"{W}.replicas: must be at least 0, not -1"),
        ("W.replicas", 100_001, f"{W}.replicas: must be at most 100000, not 100001"),
        ("W.replicas", 1.5, f"{W}.replicas: must be an integer, not 1.5"),
        ("W.template", [], f"{W}.template: must be a mapping, not a list"),
        ("C.command", "python", f'{C}.command: must be a list, not "python"'),
        ("C.env", [{"name": "A", "value": 1}], f"{C}.env[0].value: must be a string, not 1: put it in quotes"),
        ("C.env", [{"name": "A", "value": True}], f"{C}.env[0].value: must be a string, not true: put it in quotes"),
        ("C.env", [{"value": "x"}], f"{C}.env[0].name: is required"),
        ("C.env", [None], f"{C}.env[0]: must be a mapping, not null"),
        ("C.tty", "yes", f'{C}.tty: must be true or false, not "yes"'),
        ("C.image", date(2026, 1, 2), f"{C}.image: must be a string, not a date: put it in quotes"),
        ("C.image", b"x", f"{C}.image: is a Python bytes, which JSON cannot hold"),
        ("C.image", "\ud800", f"{C}.image: holds half a character (a lone surrogate), which is no valid text"),
        ("W.replicas", float("nan"), f"{W}.replicas: is nan, which JSON cannot hold"),
        pytest.param("W.replicas", 10**5000, f"{W}.replicas: is a number beyond 64 bits", id="huge"),
        (
            "C.resources",
            {"limits": {"cpu": 0.5}},
            f"{C}.resources.limits.cpu: must be an integer or a string, not 0.5: put it in quotes",
        ),
        (
            "C.resources",
            {"limits": {"memory": "2GB"}},
            f'{C}.resources.limits.memory: must be a quantity, such as 500m, 2 or 4Gi, not "2GB"',
        ),
        (
            "C.resources",
            {"limits": {1: "2"}},
            f"{C}.resources.limits.1: a key must be a string, not a Python int: put it in quotes",
        ),
        ("spec.procPerWorker", "many", 'spec.procPerWorker: must be an integer or auto, not "many"'),
        (
            "spec.runPolicy",
            {"cleanPodPolicy": "Most"},
            'spec.runPolicy.cleanPodPolicy: must be one of All, Running, None, not "Most"',
        ),
        (
            "spec.runPolicy",
            {"schedulingPolicy": {"queue": "q" * 300}},
            "spec.runPolicy.schedulingPolicy.queue: must have at most 253 characters, not 300",
        ),
        (
            "C.ports",
            [{"containerPort": 1}, {"containerPort": 1}],
            f"{C}.ports[1]: has the same containerPort and protocol as item [0]: each may be named once",
        ),
        (
            "W.template.metadata",
            {"creationTimestamp": "now"},
            f'{W}.template.metadata.creationTimestamp: must be a date-time, not "now"',
        ),
        (
            "C.restartPolicyRules",
            [{"action": "Restart", "exitCodes": {"operator": "In", "values": [[], 1]}}],
            f"{C}.restartPolicyRules[0].exitCodes.values[0]: must be an integer, not a list",
        ),
        (
            "metadata.namespace",
            "My_Space",
            (
                "metadata.namespace: is no namespace name: use at most 63 lower-case letters, digits and '-', with a "
                "letter or digit at both ends"
            ),
        ),
        (3, "x", "spec.3: unknown field (a key must be a string, not a Python int)"),
    ],
)
def test_message(path: str | int, value: Any, expected: str) -> None:
    """One fault gives one line that says where and what."""
    if isinstance(path, int):
        job = msjob()
        job["spec"][path] = value
    else:
        job = changed(path, value)

    assert [str(problem) for problem in validate(job)] == [expected]


def test_all_at_once() -> None:
    """All faults of types are told together."""
    job = changed("W.replicas", "2", changed("C.command", "python", changed("spec.launchMode", "Torch")))

    assert {problem.field for problem in validate(job)} == {f"{W}.replicas", f"{C}.command", "spec.launchMode"}


@given(
    value=st.text(st.characters(exclude_categories=["Cs"]), min_size=200) | st.integers() | st.floats(allow_nan=False)
)
def test_no_dump(value: object) -> None:
    """A message stays short, whatever the value."""
    for path in ("W.replicas", "spec.launchMode", "C.resources.limits.cpu", "W.restartPolicy", "spec.msReplicaSpecs"):
        job: Json = changed("C.resources", {"limits": {}})
        for problem in validate(changed(path, value, job)):
            assert len(problem.message) < 200


def test_no_dump_of_keys() -> None:
    """A long name of an unknown field is cut."""
    (problem,) = validate(changed("spec." + "x" * 1000, 1))

    assert len(problem.field) < 100


def test_limit() -> None:
    """A job that is wrong a thousand times gets a hundred problems."""
    assert len(validate(changed("C.env", [1] * 1000))) == MAX_PROBLEMS
