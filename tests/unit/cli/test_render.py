"""`msjob render`: what the operator creates, byte for byte."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msjob.loading import read
from msjob.render import render
from msjob.workload.tokens import Facts
from support.cli import msjob_call, text
from support.jobs import UID, Json, jobs, msjob, role, template

SITE = """\
from msjob.workload.construct import MSJobWorkload


class Tolerant(MSJobWorkload):
    def pod(self, role, *, host):
        pod = super().pod(role, host=host)
        pod["spec"]["tolerations"] = [{"operator": "Exists"}]
        return pod


class Talkative(MSJobWorkload):
    def pod(self, role, *, host):
        print("hello")
        return super().pod(role, host=host)


class Broken(MSJobWorkload):
    def pod(self, role, *, host):
        raise ValueError("no such pool")
"""

_facts = st.builds(Facts, st.ip_addresses().map(str), st.uuids().map(str), st.integers(0, 2**31))


def objects(printed: str) -> list[Any]:
    """The objects in printed YAML or JSON."""
    return [document.object for document in read(printed.encode(), "printed")]


@settings(deadline=None, max_examples=30)
@given(job=jobs(), facts=_facts)
def test_prints_what_the_controller_creates(job: Json, facts: Facts) -> None:
    """For any job and any facts, each line of JSON is the body that the controller sends, and YAML says the same."""
    given_facts = [
        "--scheduler-ip",
        facts.scheduler_ip,
        "--owner-uid",
        facts.owner_uid,
        "--attempt",
        str(facts.attempt),
    ]
    bodies = [*render(job).bodies(facts)]

    as_json = msjob_call("render", "-f", "-", "-o", "json", *given_facts, stdin=text(job))
    as_yaml = msjob_call("render", "-f", "-", *given_facts, stdin=text(job))

    assert (as_json.code, as_yaml.code) == (0, 0)
    assert as_json.out == "".join(f"{body}\n" for body in bodies)
    assert objects(as_yaml.out) == [json.loads(body) for body in bodies]


def test_placeholders_stand_for_what_is_not_given() -> None:
    """Without facts the documented placeholders are printed."""
    found = objects(msjob_call("render", "-f", "-", stdin=text(msjob(worker=1))).out)

    assert [item["kind"] for item in found] == ["Service", "Pod", "Pod"]
    assert {item["metadata"]["ownerReferences"][0]["uid"] for item in found} == {"MSJOB_UID"}
    env = {entry["name"]: entry.get("value") for entry in found[2]["spec"]["containers"][0]["env"]}
    assert env["MS_SCHED_HOST"] == "SCHEDULER_CLUSTER_IP"
    assert env["MSJOB_RESTART_ATTEMPT"] == "0"


def test_jobs_of_several_files_in_order(tmp_path: Path) -> None:
    """The objects of all jobs are printed, file by file and document by document."""
    names = [["a", "b"], ["c"]]
    files = []
    for index, group in enumerate(names):
        files += ["-f", str(tmp_path / f"{index}.yaml")]
        jobs_of_file = [msjob(name, scheduler=None, worker=1) for name in group]
        (tmp_path / f"{index}.yaml").write_text(text(*jobs_of_file))

    outcome = msjob_call("render", *files)

    assert [item["metadata"]["name"] for item in objects(outcome.out)] == ["a-worker-0", "b-worker-0", "c-worker-0"]


def test_text_is_safe_for_any_reader_of_yaml() -> None:
    """Values that some reader of YAML takes for something else are quoted, and none is folded or shared."""
    values = ["on", "1e3", "0775", "1:30", "y", "null", "2001-01-01", "x " * 200, "a\nb"]
    env = [{"name": f"V{n}", "value": value} for n, value in enumerate(values)]

    printed = msjob_call("render", "-f", "-", stdin=text(msjob(scheduler=None, worker=role(1, template(env=env))))).out

    assert [entry["value"] for entry in objects(printed)[0]["spec"]["containers"][0]["env"][-len(values) :]] == values
    assert "&" not in printed
    assert "x " * 200 in printed


def test_warnings_go_to_standard_error() -> None:
    """What may surprise is told beside the result, with file and line, and never in it."""
    job = msjob(worker=role(1, template(env=[{"name": "MS_ROLE", "value": "x"}])))

    outcome = msjob_call("render", "-f", "-", stdin=text(job))

    assert outcome.code == 0
    assert outcome.err.startswith("-:")
    assert "warning: spec.msReplicaSpecs.Worker.template.spec.containers[0].env: Worker: the template sets MS_ROLE" in (
        outcome.err
    )
    assert "warning" not in outcome.out


def test_a_suspended_job_is_rendered_with_a_warning() -> None:
    """What a suspended job will get is printed, and that it does not get it now is told."""
    outcome = msjob_call("render", "-f", "-", stdin=text(msjob(suspend=True)))

    assert outcome.code == 0
    assert len(objects(outcome.out)) == 4
    assert outcome.err == "-: default/train: warning: the job is suspended: its pods are created once it is resumed\n"


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--scheduler-ip", "train-scheduler-0", "is no IP address"),
        ("--scheduler-ip", "", "is no IP address"),
        ("--owner-uid", 'a"b', "is no uid"),
        ("--owner-uid", "", "is no uid"),
        ("--attempt", "-1", "not in the range"),
        ("--attempt", "one", "not a valid integer"),
        ("--job-construct", "site", "package.module:Class"),
        ("--job-construct", "site:", "package.module:Class"),
        ("--job-construct", "a b:C", "package.module:Class"),
        ("-o", "xml", "is not one of"),
    ],
)
def test_options_of_a_wrong_form(option: str, value: str, words: str) -> None:
    """An option that makes no sense is wrong usage, told before anything is read."""
    outcome = msjob_call("render", "-f", "missing.yaml", option, value)

    assert (outcome.code, outcome.out) == (2, "")
    assert option in outcome.err
    assert words in outcome.err


def test_an_ip_address_is_printed_in_its_shortest_form() -> None:
    """IPv6 addresses are taken too, as Kubernetes writes them."""
    outcome = msjob_call("render", "-f", "-", "--scheduler-ip", "FD00:0::1", stdin=text(msjob(worker=1)))

    assert "value: fd00::1\n" in outcome.out


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a site's own module, which is the working folder."""
    (tmp_path / "site_workload.py").write_text(SITE)
    (tmp_path / "site_syntax.py").write_text("class\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "site_workload", raising=False)
    return tmp_path


@pytest.mark.usefixtures("site")
def test_a_site_renders_with_its_own_construct() -> None:
    """A subclass from a module in the working folder makes the pods."""
    outcome = msjob_call("render", "-f", "-", "--job-construct", "site_workload:Tolerant", stdin=text(msjob(worker=1)))

    assert outcome.code == 0
    assert [pod["spec"]["tolerations"] for pod in objects(outcome.out)[1:]] == [[{"operator": "Exists"}]] * 2


@pytest.mark.usefixtures("site")
def test_what_a_construct_prints_is_no_object() -> None:
    """A construct that prints does not spoil the manifests: what it says goes to standard error."""
    job = text(msjob(scheduler=None, worker=1))

    outcome = msjob_call("render", "-f", "-", "--job-construct", "site_workload:Talkative", stdin=job)

    assert (outcome.code, {*outcome.err.splitlines()}) == (0, {"hello"})
    assert [item["kind"] for item in objects(outcome.out)] == ["Pod"]


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("site_workload:Broken", "Broken failed on default/train: ValueError: no such pool"),
        ("site_workload:Missing", "has no attribute 'Missing'"),
        ("site_syntax:Class", "SyntaxError"),
        ("site_missing:Class", "No module named 'site_missing'"),
        ("json:JSONDecoder", "not a subclass of msjob.workload.construct.MSJobWorkload"),
    ],
)
def test_a_construct_that_does_not_work(path: str, words: str) -> None:
    """A construct that cannot be loaded, or fails, ends the program with its name and what it said."""
    outcome = msjob_call("render", "-f", "-", "--job-construct", path, stdin=text(msjob()))

    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.err.startswith("error: ")
    assert words in outcome.err


def test_facts_are_those_of_the_options() -> None:
    """Uid and attempt reach every object."""
    outcome = msjob_call("render", "-f", "-", "--owner-uid", UID, "--attempt", "3", stdin=text(msjob(worker=1)))

    found = objects(outcome.out)
    assert {item["metadata"]["ownerReferences"][0]["uid"] for item in found} == {UID}
    assert {pod["metadata"]["labels"]["mindspore.gitee.com/restart-attempt"] for pod in found[1:]} == {"3"}
