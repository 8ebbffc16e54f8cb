"""`msjob validate`: a line for each finding, exit codes, JSON for machines."""

import json
from pathlib import Path

import pytest

from support.cli import msjob_call, text
from support.jobs import msjob, role, template

GOOD = """\
apiVersion: mindspore.gitee.com/v1
kind: MSJob
metadata:
  name: train
  namespace: team
spec:
  msReplicaSpecs:
    Scheduler:
      template:
        spec:
          containers:
          - name: mindspore
            image: example.com/train:1
    Worker:
      replicas: 2
      template:
        spec:
          containers:
          - name: mindspore
            image: example.com/train:1
"""


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_good_job() -> None:
    """A good job is said to be one, by file and name."""
    Path("job.yaml").write_text(GOOD)

    outcome = msjob_call("validate", "-f", "job.yaml")

    assert (outcome.code, outcome.out, outcome.err) == (0, "job.yaml: team/train is valid\n", "")


def test_problems_have_file_line_column_field_message_and_rule() -> None:
    """Every problem is told, each on a line that an editor can jump to."""
    bad = GOOD.replace("replicas: 2", "replicas: -2").replace("  name: train\n", "  name: Train.1\n")
    Path("job.yaml").write_text(bad.replace("image: example.com/train:1\n    Worker", "imagee: x\n    Worker"))

    outcome = msjob_call("validate", "-f", "job.yaml")

    assert outcome.code == 1
    assert [line.split(": ")[:2] for line in outcome.lines] == [
        ["job.yaml:13:13", "spec.msReplicaSpecs.Scheduler.template.spec.containers[0].imagee"],
        ["job.yaml:15:7", "spec.msReplicaSpecs.Worker.replicas"],
    ]
    assert "did you mean image?" in outcome.lines[0]
    assert all(line.endswith("[schema]") for line in outcome.lines)


def test_a_field_that_is_missing_is_shown_at_its_parent() -> None:
    """The line of a field that is not there is that of the nearest field around it."""
    Path("job.yaml").write_text(GOOD.replace("- name: mindspore\n", "- name: main\n", 1))

    outcome = msjob_call("validate", "-f", "job.yaml")

    assert outcome.code == 1
    assert outcome.out.startswith("job.yaml:11:11: spec.msReplicaSpecs.Scheduler.template.spec.containers: ")
    assert outcome.out.endswith("[container]\n")


def test_warnings_do_not_fail() -> None:
    """What is legal but surprising is told at its field, and the job is still valid."""
    spec = template(env=[{"name": "A", "value": "1"}, {"name": "MS_ROLE", "value": "x"}], restart_policy="Always")
    Path("job.yaml").write_text(text(msjob(ps=1, worker=role(1, spec))))

    outcome = msjob_call("validate", "-f", "job.yaml")

    assert outcome.code == 0
    # In the order of the file.
    assert [[*line.split(": ")[1:3], line.rpartition("[")[2]] for line in outcome.lines[:-1]] == [
        ["warning", "spec.msReplicaSpecs.PS", "ParameterServerDeprecated]"],
        ["warning", "spec.msReplicaSpecs.Worker.template.spec.containers[0].env", "ReservedEnvOverridden]"],
        ["warning", "spec.msReplicaSpecs.Worker.template.spec.restartPolicy", "SetPodTemplateRestartPolicy]"],
    ]
    places = [line.split(":")[1] for line in outcome.lines[:-1]]
    told = [Path("job.yaml").read_text().splitlines()[int(line) - 1].strip() for line in places]
    assert told == ["PS:", "env:", "restartPolicy: Always"]


def test_a_job_of_another_controller_is_a_warning() -> None:
    """A job that this operator will not touch is told so."""
    Path("job.yaml").write_text(text(msjob(managed_by="kueue.x-k8s.io/multikueue")))

    outcome = msjob_call("validate", "-f", "job.yaml")

    assert outcome.code == 0
    assert "warning: spec: managedBy names another controller" in outcome.lines[0]


def test_every_file_and_every_document_is_looked_at() -> None:
    """One bad file hides no finding in the others; unreadable input counts for more than a bad job."""
    bad = GOOD.replace("replicas: 2", "replicas: two")
    other = GOOD.replace("name: train", "name: other")
    Path("several.yaml").write_text(f"{bad}---\n{other}---\nkind: Pod\napiVersion: v1\n---\n{bad}")
    Path("broken.yaml").write_text("a: [1\n")

    outcome = msjob_call(
        *("validate", "-f", "broken.yaml", "-f", "missing.yaml", "-f", "several.yaml", "-f", "-"),
        stdin=GOOD.replace("name: train", "name: third"),
    )

    assert outcome.code == 2
    assert [line.split(" ")[0] for line in outcome.lines] == [
        "broken.yaml:2:1:",
        "missing.yaml:",
        "several.yaml:15:7:",
        "several.yaml:",
        "several.yaml:43:1:",
        "several.yaml:60:7:",
        "-:",
    ]
    assert "found kind Pod of v1: expected kind MSJob of mindspore.gitee.com/v1, which holds" in outcome.lines[4]


def test_items_of_a_list_are_jobs() -> None:
    """The jobs in a `List`, as `kubectl get -o yaml` prints them, are checked one by one."""
    items = [msjob("one"), msjob("two", worker=-1)]
    listed = {"apiVersion": "v1", "kind": "List", "items": items}

    outcome = msjob_call("validate", "-f", "-", stdin=text(listed))

    assert outcome.code == 1
    assert outcome.lines[0] == "-: default/one is valid"
    assert " spec.msReplicaSpecs.Worker.replicas: " in outcome.lines[1]


def test_a_job_that_passes_but_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should the rules let through what the types refuse, that is a finding like any other."""
    job = msjob(worker=-1)
    monkeypatch.setattr("msjob_cli.findings.admit", lambda _: (job, []))

    outcome = msjob_call("validate", "-f", "-", stdin=text(job))

    assert outcome.code == 1
    assert " spec.msReplicaSpecs.Worker.replicas: " in outcome.lines[0]


def test_an_exported_job_is_good() -> None:
    """What `kubectl get -o json` gives, with status and what the API server adds, passes."""
    job = msjob(uid="0c5e6f3a", generation=2, status={"conditions": [{"type": "Created", "status": "True"}]})
    job["metadata"] |= {"resourceVersion": "12", "creationTimestamp": "2026-01-01T00:00:00Z", "managedFields": [{}]}

    outcome = msjob_call("validate", "-f", "-", stdin=json.dumps(job))

    assert (outcome.code, outcome.out) == (0, "-: default/train is valid\n")


def test_json() -> None:
    """`-o json` gives one list with every key always there, also of files that cannot be read."""
    bad = GOOD.replace("replicas: 2", "replicas: -2")

    outcome = msjob_call("validate", "-o", "json", "-f", "missing.yaml", "-f", "-", stdin=bad)

    assert outcome.code == 2
    assert json.loads(outcome.out) == [
        {
            "file": "missing.yaml",
            "line": None,
            "column": None,
            "severity": "error",
            "job": "",
            "field": "",
            "message": "cannot be read: No such file or directory",
            "rule": "unreadable",
        },
        {
            "file": "-",
            "line": 15,
            "column": 7,
            "severity": "error",
            "job": "team/train",
            "field": "spec.msReplicaSpecs.Worker.replicas",
            "message": "must be at least 0, not -2",
            "rule": "schema",
        },
    ]


def test_json_of_good_jobs_is_an_empty_list() -> None:
    """A machine gets a list in every case."""
    outcome = msjob_call("validate", "-o", "json", "-f", "-", stdin=GOOD)

    assert (outcome.code, json.loads(outcome.out)) == (0, [])


def test_text_of_the_user_cannot_steer_a_terminal() -> None:
    """Escape sequences and line ends in keys and values are shown, not sent, and a message ends somewhere."""
    job = msjob()
    job["spec"]["\x1b[31mred\n"] = 1
    job["spec"]["k" * 100_000] = 1

    outcome = msjob_call("validate", "-f", "-", stdin=json.dumps(job))

    assert outcome.code == 1
    assert len(outcome.lines) == 2
    assert "\x1b" not in outcome.out
    assert r"spec.\x1b[31mred\n: unknown field" in outcome.out
    assert max(map(len, outcome.lines)) < 2100
