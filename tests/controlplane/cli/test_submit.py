"""`msjob submit`: jobs come from files into the cluster, once they are known to be good."""

import json
from pathlib import Path

import pytest

from support.cli import text
from support.jobs import Json, msjob, role
from support.live_jobs import Jobs
from support.msjob_program import MsjobProgram
from support.testbed.client import MSJOBS

pytestmark = pytest.mark.usefixtures("operator")
FULL = "msjob.mindspore.gitee.com"


def worker(name: str = "train", **fields: object) -> Json:
    """A job of one Worker that names no namespace."""
    job: Json = msjob(name, namespace=None, scheduler=None, worker=1, **fields)  # type: ignore[arg-type]
    return job


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with one job."""
    path = tmp_path / "job.yaml"
    path.write_text(text(worker()))
    return path


def names(jobs: Jobs) -> list[str]:
    """Names of the jobs in the test's namespace."""
    return [job["metadata"]["name"] for job in jobs.client.list(MSJOBS, jobs.namespace)]


def test_jobs_are_created_in_the_namespace_of_the_context(msjob: MsjobProgram, jobs: Jobs, file: Path) -> None:
    """Each job is a line, and the operator runs it."""
    file.write_text(text(worker("a"), worker("b")))

    outcome = msjob("submit", "-f", file)

    assert (outcome.code, outcome.out, outcome.err) == (0, f"{FULL}/a created\n{FULL}/b created\n", "")
    jobs.run(1, "a")
    jobs.run(1, "b")


def test_a_name_that_the_api_server_makes_is_told(msjob: MsjobProgram, jobs: Jobs) -> None:
    """A job with `generateName` is told by the name that it got."""
    job = worker()
    job["metadata"] = {"generateName": "train-"}

    outcome = msjob("submit", "-f", "-", stdin=text(job))

    assert (outcome.code, outcome.out) == (0, f"{FULL}/{names(jobs)[0]} created\n")
    assert names(jobs)[0].startswith("train-")
    assert "xxxxx" not in outcome.out


def test_nothing_is_created_if_a_job_is_not_valid(msjob: MsjobProgram, jobs: Jobs, file: Path) -> None:
    """All jobs are checked before the first is created; findings are those of `msjob validate`."""
    bad = worker("bad")
    bad["spec"]["msReplicaSpecs"]["Worker"]["replicas"] = "two"
    file.write_text(text(worker("good"), bad))

    outcome = msjob("submit", "-f", file)

    assert (outcome.code, outcome.out) == (1, "")
    assert 'spec.msReplicaSpecs.Worker.replicas: must be an integer, not "two" [schema]' in outcome.err
    assert names(jobs) == []
    assert outcome.err == msjob("validate", "-f", file).out.replace(f"{file}: default/good is valid\n", "")


def test_what_cannot_be_read_is_not_submitted(msjob: MsjobProgram, jobs: Jobs, file: Path) -> None:
    """A file that is not there beside one that is good: exit code 2, and nothing is created."""
    outcome = msjob("submit", "-f", file, "-f", "missing.yaml")

    assert (outcome.code, outcome.out) == (2, "")
    assert "missing.yaml: cannot be read" in outcome.err
    assert names(jobs) == []


def test_a_job_that_is_there_is_left_alone(msjob: MsjobProgram, jobs: Jobs, file: Path) -> None:
    """The others of the file are created all the same, and the exit code is 3."""
    jobs.create(scheduler=None, worker=1)
    file.write_text(text(worker(), worker("other")))

    outcome = msjob("submit", "-f", file)

    assert (outcome.code, outcome.out) == (3, f"{FULL}/other created\n")
    assert outcome.err.startswith("error: MSJob train exists already")
    assert len(outcome.err.splitlines()) == 1


def test_replace_runs_a_job_anew_that_has_ended(msjob: MsjobProgram, jobs: Jobs, file: Path) -> None:
    """The old job goes with its pods before the new one comes; one that has not ended is left alone."""
    before = jobs.create(scheduler=None, worker=1)["metadata"]["uid"]
    jobs.run(1)
    refused = msjob("submit", "-f", file, "--replace")
    assert (refused.code, refused.out) == (3, "")
    assert "has not ended" in refused.err
    assert jobs.get()["metadata"]["uid"] == before
    jobs.finish("worker-0", code=3)
    jobs.wait_state("Failed")

    outcome = msjob("submit", "-f", file, "--replace")

    assert (outcome.code, outcome.out) == (0, f"{FULL}/train created\n")
    assert jobs.get()["metadata"]["uid"] != before
    jobs.run(1)


def test_a_dry_run_stores_nothing(msjob: MsjobProgram, jobs: Jobs, file: Path) -> None:
    """The API server says yes, and there is no job."""
    outcome = msjob("submit", "-f", file, "--dry-run")

    assert (outcome.code, outcome.out) == (0, f"{FULL}/train created (dry run)\n")
    assert names(jobs) == []


def test_a_job_that_another_cluster_gave_can_be_submitted(
    msjob: MsjobProgram, admin_msjob: MsjobProgram, jobs: Jobs
) -> None:
    """What `msjob get -o json` gives of a job, with uid and status, makes a new one of it."""
    jobs.create(scheduler=None, worker=1)
    jobs.run(1)
    exported = msjob("get", "train", "-o", "json").out
    jobs.delete()
    assert msjob("wait", "train", "--for", "deleted", "-q").code == 0

    outcome = msjob("submit", "-f", "-", stdin=exported)

    assert (outcome.code, outcome.out) == (0, f"{FULL}/train created\n")
    assert jobs.get()["metadata"]["uid"] != json.loads(exported)["metadata"]["uid"]
    jobs.run(1)
    assert admin_msjob("get", "train").code == 0


def test_namespaces(msjob: MsjobProgram, admin_msjob: MsjobProgram, jobs: Jobs) -> None:
    """A job goes to its own namespace, which may be no other than that of `-n`."""
    job = worker()
    job["metadata"]["namespace"] = jobs.namespace

    there = admin_msjob("submit", "-f", "-", "--dry-run", "-n", jobs.namespace, stdin=text(job))
    clash = msjob("submit", "-f", "-", "-n", "default", stdin=text(job))
    job["metadata"]["namespace"] = "nowhere"
    nowhere = admin_msjob("submit", "-f", "-", stdin=text(job))
    forbidden = msjob("submit", "-f", "-", stdin=text(job))

    assert there.code == 0
    assert (clash.code, clash.out) == (1, "")
    assert "metadata.namespace: is not default, which --namespace asks for" in clash.err
    assert (nowhere.code, nowhere.out) == (3, "")
    assert "namespace nowhere is not there" in nowhere.err
    assert (forbidden.code, forbidden.out) == (3, "")
    assert "forbidden" in forbidden.err


def test_wait_ends_as_the_jobs_did(msjob: MsjobProgram, jobs: Jobs, file: Path) -> None:
    """With `--wait` the exit code is that of the jobs, and progress says which job it is of."""
    file.write_text(text(worker("good"), worker("bad")))
    with msjob.start("submit", "--wait", "-f", file) as program:
        for name in ("good", "bad"):
            jobs.run(1, name)
        program.wait_shown(r"^good +\d+s  Running +Workers 1/1")
        jobs.finish("worker-0", name="bad", code=3)
        jobs.finish("worker-0", name="good")
        outcome = program.ended()

    assert outcome.code == 1
    created, more = f"{FULL}/good created\n{FULL}/bad created\n", f"{FULL}/good succeeded\n{FULL}/bad has failed: "
    assert outcome.out.startswith(created + more)


def test_wait_has_a_limit(msjob: MsjobProgram, jobs: Jobs, file: Path) -> None:
    """When time is up the jobs go on, and the exit code is 124."""
    outcome = msjob("submit", "-f", file, "--wait", "--timeout", "1")

    assert (outcome.code, outcome.out) == (124, f"{FULL}/train created\n")
    assert names(jobs) == ["train"]


def test_what_only_the_cluster_knows_better(msjob: MsjobProgram, jobs: Jobs, file: Path) -> None:
    """A quota on jobs that is used up is an error of one line with exit code 3; the job is not there."""
    quota = {"metadata": {"name": "jobs"}, "spec": {"hard": {"count/msjobs.mindspore.gitee.com": "0"}}}
    jobs.client.create("v1/resourcequotas", quota, jobs.namespace)
    jobs.client.wait_until(
        "v1/resourcequotas", "jobs", jobs.namespace, lambda item: "hard" in (item.get("status") or {}), timeout=20
    )

    outcome = msjob("submit", "-f", file)

    assert (outcome.code, outcome.out) == (3, "")
    assert "exceeded quota: jobs" in outcome.err
    assert names(jobs) == []


def test_roles_with_warnings_are_submitted(msjob: MsjobProgram, jobs: Jobs) -> None:
    """A warning is told on standard error and keeps nothing from being created."""
    job = worker()
    job["spec"]["msReplicaSpecs"]["Worker"] = role(1, {"spec": {"restartPolicy": "Always", **_containers(job)}})

    outcome = msjob("submit", "-f", "-", stdin=text(job))

    assert (outcome.code, outcome.out) == (0, f"{FULL}/train created\n")
    assert "[SetPodTemplateRestartPolicy]" in outcome.err
    assert names(jobs) == ["train"]


def _containers(job: Json) -> Json:
    return dict(job["spec"]["msReplicaSpecs"]["Worker"]["template"]["spec"])
