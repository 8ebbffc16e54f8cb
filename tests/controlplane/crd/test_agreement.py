"""The API server and `msjob.validation` judge alike: by the table, and by jobs damaged at random."""

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from msjob.api import rules
from msjob.validation import validate
from support.jobs import Json, jobs
from support.testbed.client import MSJOBS, PODS, Client
from support.testbed.errors import ApiError, BadRequestError, InvalidError, NotFoundError
from support.verdicts import STRICTER, UPDATES, VERDICTS, Update, Verdict

MESSAGES = {rule.id: rule.message for rule in rules.RULES}
OUTER = ((), ("msReplicaSpecs",))
SAID_BY_KUBERNETES = {"name-missing"}
"""Cases in which the API server has said the same in its own words before a rule is asked."""


def refusal(admin: Client, namespace: str, job: Json) -> str | None:
    """What the API server has against a job under strict validation; nothing is stored."""
    job = deepcopy(job)
    if isinstance(job.get("metadata"), dict):
        job["metadata"]["namespace"] = namespace
    try:
        admin.create(MSJOBS, job, namespace, dryRun="All", fieldValidation="Strict")
    except (BadRequestError, InvalidError, NotFoundError) as error:
        return error.message
    return None


@pytest.mark.parametrize("case", VERDICTS, ids=str)
def test_verdict(admin: Client, shared_namespace: str, case: Verdict) -> None:
    """Each case is judged as the table says; where a rule was broken, the user reads the message of that rule."""
    message = refusal(admin, shared_namespace, case.job)

    assert case.good == (message is None), message
    if message is not None and case.rule in MESSAGES and str(case) not in SAID_BY_KUBERNETES:
        assert MESSAGES[case.rule] in message


@pytest.mark.parametrize("case", STRICTER, ids=str)
def test_stricter(admin: Client, shared_namespace: str, case: Verdict) -> None:
    """Where validation refuses what the API server would store, no pod of that job could be created."""
    assert refusal(admin, shared_namespace, case.job) is None
    template = case.job["spec"]["msReplicaSpecs"]["Worker"]["template"]
    pod = {**template, "metadata": {**template["metadata"], "name": "pod", "namespace": shared_namespace}}

    with pytest.raises(InvalidError, match=case.field.rpartition(".")[2]):
        admin.create(PODS, pod, dryRun="All")


@pytest.mark.parametrize("case", UPDATES, ids=str)
def test_update(admin: Client, namespace: str, case: Update) -> None:
    """Each change of a stored job is judged as the table says, with the message of its rule."""
    stored = admin.create(MSJOBS, {**case.before, "metadata": {"name": "train", "namespace": namespace}})
    if "status" in case.before:
        stored = admin.replace(MSJOBS, {**stored, "status": case.before["status"]}, subresource="status")
    case.change(stored)

    try:
        admin.replace(MSJOBS, stored, fieldValidation="Strict")
        message = None
    except InvalidError as error:
        message = error.message

    assert case.good == (message is None), message
    if message is not None:
        assert MESSAGES[case.rule] in message


_texts = st.sampled_from(
    ["", "a", "auto", "2", "500m", "2Gi", "Never", "AllWorkers", "Msrun", "mindspore", "TCP", "é\n"]
)
_numbers = st.integers(-1, 3) | st.sampled_from([1024, 2**31, 2**63, 0.5, -1.5, 1e300]) | st.integers(-(2**33), 2**33)
_values: st.SearchStrategy[Any] = (
    _texts
    | _numbers
    | st.sampled_from([None, True, False])
    | st.builds(list)
    | st.builds(dict)
    | st.sampled_from([[None], [{}], {"a": "b"}, {"a": 1}, [{"name": "a"}, {"name": "a"}]]).map(deepcopy)
)
_new_keys = st.sampled_from(
    [
        "action",
        "args",
        "elasticPolicy",
        "env",
        "envFrom",
        "extra",
        "image",
        "launchMode",
        "managedBy",
        "maxReplicas",
        "metadata",
        "metrics",
        "name",
        "ports",
        "PS",
        "ps",
        "replicas",
        "resources",
        "replicaTypes",
        "restartPolicy",
        "restartScope",
        "rules",
        "runPolicy",
        "Scheduler",
        "spec",
        "template",
        "tolerations",
        "volumes",
        "worker",
        "Worker",
    ]
)


def like(value: Any) -> st.SearchStrategy[Any]:
    """Values of the type of another, which often are good ones, or of any type."""
    if isinstance(value, str):
        return _texts | _values
    return _numbers | _values if isinstance(value, int) else _values


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """All paths in a value."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += places(item, (*path, key))
    return found


@st.composite
def damaged(draw: st.DrawFn) -> Json:
    """Jobs with one or two fields changed, taken away or added, anywhere in their spec."""
    job = deepcopy(draw(jobs()))
    for _ in range(draw(st.integers(1, 2))):
        # The outermost fields are left to the table: without them nothing else is looked at.
        path = draw(st.sampled_from([path for path in places(job) if path[0] == "spec" and path[1:] not in OUTER]))
        place: Any = job
        for key in path[:-1]:
            place = place[key]
        last: Any = path[-1]
        match draw(st.sampled_from(["change", "add", "take"])):
            case "add" if isinstance(place[last], dict):
                place[last][draw(_new_keys)] = draw(_values)
            case "take":
                del place[last]
            case _:
                place[last] = draw(like(place[last]))
    return job


@given(job=damaged())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged(admin: Client, shared_namespace: str, job: Json) -> None:
    """A job damaged anywhere is refused by both or by neither."""
    note(json.dumps(job))
    problems = validate(job)
    message = refusal(admin, shared_namespace, job)

    assert bool(problems) == bool(message), (message, [str(problem) for problem in problems])


def test_refused_by_create(admin: Client, namespace: str) -> None:
    """What a dry run refuses is refused in earnest, and all faults are told at once."""
    (case,) = [case for case in VERDICTS if str(case) == "schema-replicas-negative"]
    job = deepcopy(case.job)
    job["metadata"]["namespace"] = namespace
    job["spec"]["launchMode"] = "Torch"

    with pytest.raises(ApiError) as refused:
        admin.create(MSJOBS, job)

    assert "spec.msReplicaSpecs.Worker.replicas" in refused.value.message
    assert "spec.launchMode" in refused.value.message
