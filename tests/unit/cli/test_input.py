"""What `-f` and `--namespace` take, and what is said where they are given in another way."""

import json
from pathlib import Path

import pytest

from support.cli import msjob_call, text
from support.jobs import Json, msjob, role, template

COMMANDS = ("validate", "render")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def generated(stem: str, **metadata: str) -> Json:
    """A job that leaves its name to the API server."""
    job: Json = msjob(scheduler=None, worker=1)
    job["metadata"] = {"generateName": stem, **metadata}
    return job


# -- how files are named ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Missing option '-f': name files with MSJobs as -f FILE, or a folder as -f FOLDER; -f - reads"),
        (["a.yaml"], "Missing option '-f': name files with MSJobs as -f FILE"),
        (["-f"], "Option '-f' requires an argument: name files with MSJobs as -f FILE"),
        (["--filename"], "Option '--filename' requires an argument: name files with MSJobs as -f FILE"),
        (
            ["-f", "a.yaml", "b.yaml"],
            "Got unexpected argument b.yaml: each file needs an -f of its own, as -f a.yaml -f",
        ),
        (["-o"], "Option '-o' requires an argument."),
        (["-f", "a.yaml", "--colour"], "No such option"),
        (["-f", "-", "-f", "-"], "standard input can be read once only"),
    ],
)
def test_wrong_usage(command: str, arguments: list[str], words: str) -> None:
    """Files that are named in another way than by `-f` are refused, with the way that works."""
    outcome = msjob_call(command, *arguments)

    assert (outcome.code, outcome.out) == (2, "")
    assert words in " ".join(outcome.err.split())


def test_folder(folder: Path) -> None:
    """A folder stands for the YAML and JSON files in it, in order, and not for those of folders below it."""
    (folder / "jobs" / "deep").mkdir(parents=True)
    (folder / "jobs" / "b.yml").write_text(text(msjob("b")))
    (folder / "jobs" / "a.yaml").write_text(text(msjob("a")))
    (folder / "jobs" / "c.json").write_text(json.dumps(msjob("c")))
    (folder / "jobs" / "notes.txt").write_text("not a job")
    (folder / "jobs" / "deep" / "d.yaml").write_text("not a job")
    (folder / "jobs" / "folder.yaml").mkdir()

    outcome = msjob_call("validate", "-f", "jobs")

    assert outcome.code == 0
    assert outcome.lines == [
        "jobs/a.yaml: default/a is valid",
        "jobs/b.yml: default/b is valid",
        "jobs/c.json: default/c is valid",
    ]


def test_folder_without_jobs(folder: Path) -> None:
    """A folder with no file to read is an error, and hides nothing of what else is named."""
    (folder / "empty").mkdir()

    outcome = msjob_call("validate", "-f", "empty", "-f", "-", stdin=text(msjob()))

    assert outcome.code == 2
    assert outcome.lines == [
        "empty: the folder holds no file that ends in .json, .yaml, .yml [unreadable]",
        "-: default/train is valid",
    ]


# -- what is in them -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": []}},
            "found kind Pod of v1: expected kind MSJob of mindspore.gitee.com/v1, which holds a pod template for each",
        ),
        ({"apiVersion": "v1", "kind": "PodTemplate", "template": {}}, "such as spec.msReplicaSpecs.Worker.template"),
        (
            {"metadata": {"labels": {}}, "spec": {"containers": []}},
            "this looks like a pod template, and belongs to spec.msReplicaSpecs.Worker.template [",
        ),
        (
            {"containers": []},
            "this looks like the spec of a pod, and belongs to spec.msReplicaSpecs.Worker.template.spec [",
        ),
        (
            {"msReplicaSpecs": {}},
            "apiVersion is missing: expected kind MSJob of mindspore.gitee.com/v1; this looks like the",
        ),
        (
            {"apiVersion": "batch/v1", "kind": "Job"},
            "found kind Job of batch/v1: expected kind MSJob of mindspore.gitee",
        ),
        ({"a": 1}, "apiVersion is missing: expected kind MSJob of mindspore.gitee.com/v1 ["),
    ],
)
def test_part_of_a_job(source: Json, words: str) -> None:
    """A pod, a pod template or another part of a job is told where it belongs."""
    outcome = msjob_call("validate", "-f", "-", stdin=text(source))

    assert outcome.code == 2
    assert words in outcome.out


def test_job_that_is_there_twice(folder: Path) -> None:
    """The second job of a name and namespace, in whatever file, is a warning with the place of the first."""
    (folder / "a.yaml").write_text(text(msjob("one"), msjob("two")))
    (folder / "b.yaml").write_text(text(msjob("two", namespace="default"), msjob("one", namespace="team")))

    outcome = msjob_call("validate", "-f", "a.yaml", "-f", "b.yaml")

    assert outcome.code == 0
    (warning,) = [line for line in outcome.lines if "warning" in line]
    place = next(n for n, line in enumerate((folder / "a.yaml").read_text().splitlines(), 1) if "name: two" in line)
    assert warning.startswith("b.yaml:")
    assert warning.endswith(
        f": warning: metadata.name: default/two is there twice, first in a.yaml:{place}: "
        "the later one would replace it [duplicate]"
    )


def test_jobs_that_the_api_server_names_are_not_the_same() -> None:
    """Jobs with one and the same `generateName` get names of their own."""
    outcome = msjob_call("validate", "-f", "-", stdin=text(generated("train-"), generated("train-")))

    assert (outcome.code, outcome.lines) == (0, ["-: default/train-xxxxx is valid"] * 2)


def test_name_that_the_api_server_makes() -> None:
    """A job with `generateName` alone is rendered with a placeholder for what the API server adds, and that is told."""
    outcome = msjob_call("render", "-f", "-", stdin=text(generated("train-", namespace="team")))

    assert outcome.code == 0
    assert "\n  name: train-xxxxx-worker-0\n" in outcome.out
    assert outcome.err == (
        "-: team/train-xxxxx: warning: metadata.generateName: xxxxx stands for what the API server adds to it\n"
    )


def test_long_name_that_the_api_server_makes() -> None:
    """A long `generateName` is cut as by the API server, so what is rendered has the length of what will be."""
    job = generated("n" * 80)
    job["spec"]["msReplicaSpecs"] = {"Worker": job["spec"]["msReplicaSpecs"]["Worker"]}

    outcome = msjob_call("validate", "-f", "-", stdin=text(job))

    assert outcome.code == 1
    assert "metadata.name" in outcome.out


# -- namespaces ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["-n", "--namespace"])
def test_namespace(option: str) -> None:
    """Jobs that name no namespace are those of the one asked for, in what is said and in what is rendered."""
    source = text(msjob("a", namespace=None), msjob("b", namespace="team"))

    validated = msjob_call("validate", option, "team", "-f", "-", stdin=source)
    rendered = msjob_call("render", option, "team", "-f", "-", stdin=source)

    assert (validated.code, validated.lines) == (0, ["-: team/a is valid", "-: team/b is valid"])
    assert rendered.code == 0
    assert {line.strip() for line in rendered.out.splitlines() if "namespace:" in line} == {"namespace: team"}


@pytest.mark.parametrize("command", COMMANDS)
def test_job_of_another_namespace(command: str) -> None:
    """A job that names another namespace than the one asked for is not valid, as for kubectl."""
    outcome = msjob_call(command, "-n", "team", "-f", "-", stdin=text(msjob(namespace="other")))

    assert outcome.code == 1
    said = outcome.out if command == "validate" else outcome.err
    assert "metadata.namespace: is not team, which --namespace asks for: leave out one of them [namespace]" in said


@pytest.mark.parametrize("namespace", ["", "Team", "a.b", "a" * 64])
def test_no_namespace_name(namespace: str) -> None:
    """What is no name of a namespace is wrong usage."""
    outcome = msjob_call("validate", "-n", namespace, "-f", "-", stdin=text(msjob()))

    assert (outcome.code, outcome.out) == (2, "")
    assert f"{namespace!r} is no namespace name" in outcome.err


@pytest.mark.parametrize("metadata", [None, [], "x", {}, {"namespace": 5}, {"namespace": None, "name": "a"}])
def test_namespace_of_odd_metadata(metadata: object) -> None:
    """Whatever stands in metadata, asking for a namespace does no harm."""
    job = {**msjob(), "metadata": metadata}

    assert msjob_call("validate", "-n", "team", "-f", "-", stdin=json.dumps(job)).code in (0, 1)


# -- size ------------------------------------------------------------------------------------------------------------


def sized(variables: int) -> Json:
    """A job with so many variables of a thousand bytes."""
    env = [{"name": f"V{n}", "value": "x" * 1000} for n in range(variables)]
    return msjob(worker=role(1, template(env=env)))


def test_too_large_to_store() -> None:
    """The limit of what can be stored is told beside whatever else is wrong."""
    job = sized(1100)
    job["spec"]["msReplicaSpecs"]["Worker"]["replicas"] = -1

    outcome = msjob_call("validate", "-f", "-", stdin=json.dumps(job))

    assert outcome.code == 1
    assert [line.rpartition("[")[2] for line in outcome.lines] == ["size]", "schema]"]


def test_too_large_to_apply() -> None:
    """A job that can be stored, but not with the copy that `kubectl apply` keeps, is a warning with the way out."""
    fits, large = (msjob_call("validate", "-f", "-", stdin=json.dumps(sized(count))) for count in (200, 300))

    assert (fits.code, len(fits.lines)) == (0, 1)
    assert (large.code, len(large.lines)) == (0, 2)
    assert "too large for a plain kubectl apply" in large.lines[0]
    assert large.lines[0].endswith("use kubectl apply --server-side, or kubectl create [apply-size]")
