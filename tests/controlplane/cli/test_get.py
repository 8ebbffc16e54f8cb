"""`msjob get`: what `kubectl get msjobs` shows, byte for byte, and the jobs themselves."""

import json
import subprocess

import pytest
import yaml

from support.live_jobs import Jobs
from support.msjob_program import BIN, MsjobProgram
from support.testbed.controlplane import ControlPlane
from support.testbed.waiting import wait_for

pytestmark = pytest.mark.usefixtures("operator")
FULL = "msjob.mindspore.gitee.com"


@pytest.fixture
def two(jobs: Jobs) -> Jobs:
    """A job that runs and has a label, and one with a long name that has failed."""
    jobs.create(scheduler=None, worker=1, labels={"team": "vision"})
    jobs.create(name="a-job-with-a-longer-name", scheduler=None, worker=2)
    jobs.run(1)
    jobs.run(2, "a-job-with-a-longer-name")
    jobs.finish("worker-1", name="a-job-with-a-longer-name", code=3)
    jobs.wait_state("Failed", "a-job-with-a-longer-name")
    return jobs


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["-o", "wide"],
        ["-o", "name"],
        ["train"],
        ["train", "a-job-with-a-longer-name", "-o", "wide"],
        ["-l", "team=vision"],
        ["-l", "team!=vision", "-o", "wide"],
    ],
    ids=" ".join,
)
def test_it_is_the_table_of_kubectl(
    msjob: MsjobProgram, control_plane: ControlPlane, two: Jobs, arguments: list[str]
) -> None:
    """Every byte is that of `kubectl get msjobs`, ages included."""
    kubectl = control_plane.kubectl(msjob.kubeconfig)

    def same() -> bool:
        ours, theirs = msjob("get", *arguments), kubectl.run("get", "msjobs", *arguments)
        return (ours.code, ours.out) == (0, theirs)

    # Ages are counted in seconds, one of which may pass between the two.
    wait_for(same, 30, what=f"{msjob('get', *arguments).out} to be {kubectl.run('get', 'msjobs', *arguments)}")
    assert two.state() == "Running"


def test_all_namespaces(admin_msjob: MsjobProgram, control_plane: ControlPlane, two: Jobs) -> None:
    """With `-A` the namespace is the first column, as for kubectl."""
    kubectl = control_plane.kubectl()
    label = ["-l", "team=vision"]

    def same() -> bool:
        return admin_msjob("get", "-A", *label).out == kubectl.run("get", "msjobs", "-A", *label)

    wait_for(same, 30)
    assert f"\n{two.namespace} " in admin_msjob("get", "-A").out


@pytest.mark.parametrize("arguments", [[], ["train"], ["train", "a-job-with-a-longer-name"]], ids=" ".join)
def test_whole_jobs_are_those_of_kubectl(
    msjob: MsjobProgram, control_plane: ControlPlane, two: Jobs, arguments: list[str]
) -> None:
    """`-o json` and `-o yaml` hold the same: one job for one name, else a `List`; without managed fields."""
    kubectl = control_plane.kubectl(msjob.kubeconfig)

    expected = kubectl.json("get", "msjobs", *arguments)

    assert json.loads(msjob("get", *arguments, "-o", "json").out) == expected
    assert yaml.safe_load(msjob("get", *arguments, "-o", "yaml").out) == expected
    assert two.state() == "Running"


def test_a_job_that_is_not_there_hides_none_that_is(msjob: MsjobProgram, two: Jobs) -> None:
    """The others are listed, each that is missing is an error of one line, and the exit code is 3."""
    assert two.state() == "Running"
    for output, shown in (("table", "train   Running"), ("name", f"{FULL}/train"), ("json", '"kind": "List"')):
        outcome = msjob("get", "missing", f"{FULL}/train", "gone", "-o", output)

        assert outcome.code == 3
        assert shown in outcome.out
        assert [("missing" in line, "gone" in line) for line in outcome.err.splitlines()] == [
            (True, False),
            (False, True),
        ]


def test_no_jobs_are_no_error(msjob: MsjobProgram, namespace: str) -> None:
    """An empty namespace is told on standard error, as by kubectl; as data it is an empty list."""
    outcome = msjob("get")
    listed = msjob("get", "-o", "json")

    assert (outcome.code, outcome.out, outcome.err) == (0, "", f"No resources found in {namespace} namespace.\n")
    assert (listed.code, json.loads(listed.out)["items"]) == (0, [])


def test_watch(msjob: MsjobProgram, jobs: Jobs) -> None:
    """What is there comes first, then a row for each change, below the same titles, until Ctrl-C."""
    jobs.create(scheduler=None, worker=1)
    jobs.wait_state("Created")
    with msjob.start("get", "-w") as program:
        program.wait_shown(r"^train +Created +\d+s$")
        jobs.run(1)
        program.wait_shown(r"^train +Running +\d+s$")
        jobs.create(name="other", scheduler=None, worker=1)
        program.wait_shown(r"^other +Created +\d+s$")
        shown = len(program.out)
        jobs.delete()
        program.wait_for(lambda: any(line.startswith("train ") for line in program.out[shown:]))
        program.interrupt()
        outcome = program.ended(timeout=5)

    assert outcome.code == 130
    assert outcome.lines[0] == "NAME    STATE     AGE"
    assert outcome.out.count("NAME") == 1


def test_watch_of_one_job_as_data(msjob: MsjobProgram, jobs: Jobs) -> None:
    """With `-o yaml` each change is the whole job; other jobs are left out."""
    jobs.create(scheduler=None, worker=1)
    jobs.create(name="other", scheduler=None, worker=1)
    jobs.wait_state("Created")
    jobs.wait_state("Created", "other")
    with msjob.start("get", "train", "-w", "-o", "yaml") as program:
        program.wait_shown(r"^  name: train$")
        jobs.run(1, "other")
        jobs.run(1)
        program.wait_for(lambda: "type: Running" in "\n".join(program.out))
        program.interrupt()
        outcome = program.ended(timeout=5)

    found = [*yaml.safe_load_all(outcome.out)]
    assert {item["metadata"]["name"] for item in found} == {"train"}
    assert len(found) >= 2


def test_watch_of_a_job_that_is_not_there(msjob: MsjobProgram, namespace: str) -> None:
    """It is told at once, and not waited for."""
    outcome = msjob("get", "train", "-w")

    assert (outcome.code, outcome.out) == (3, "")
    assert namespace in outcome.err


def test_a_reader_that_leaves(msjob: MsjobProgram, jobs: Jobs) -> None:
    """As in `msjob get -w | head -1`: nothing is said."""
    jobs.create(scheduler=None, worker=1)
    jobs.wait_state("Created")
    with subprocess.Popen(
        [BIN / "msjob", "get", "-w"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=msjob.environment(),
        cwd=msjob.folder,
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        assert program.stdout.readline().startswith(b"NAME")
        program.stdout.close()
        jobs.run(1)
        said = program.stderr.read()

    assert (program.returncode, said) == (141, b"")
