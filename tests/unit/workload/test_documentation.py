"""The documentation of the workload: its code runs, and its tables are complete."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from msjob.api import Job, Role
from msjob.api.job import HOST_PORTS
from msjob.installed import CONTROLLER
from msjob.render import load_construct, render
from msjob.settings import DEFAULT_NAMESPACE, InstallSettings
from msjob.workload.construct import MSJobWorkload
from msjob.workload.environment import injected
from msjob.workload.tokens import Tokens
from support.cli import msjob_call
from support.jobs import Json, msjob, role
from support.programs import ROOT, run_program
from support.rendering import main_container, objects, pods, variables

SITE = (ROOT / "docs" / "site-constructs.md").read_text()
ENVIRONMENT = (ROOT / "docs" / "reference" / "environment.md").read_text()
TIMEOUTS = msjob(scheduler=role(1, restart_scope="Pod"), ps=1, run_policy={"startupDeadlineSeconds": 60})
"""A job in which the operator sets all the limits that it ever does."""


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder with the files that the page shows, and a job."""
    module, app = blocks(SITE, "python")
    (tmp_path / "acme_jobs.py").write_text(module)
    (tmp_path / "app.py").write_text(app)
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(msjob(namespace=None)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("acme_jobs", None)


@pytest.mark.usefixtures("site")
def test_construct_does_what_the_page_says() -> None:
    """The construct of the page puts all it promises into every pod."""
    construct = load_construct("acme_jobs:AcmeWorkload")

    for name, pod in pods(msjob(), construct=construct).items():
        assert pod["metadata"]["labels"]["acme.example/cost-centre"] == "research"
        assert variables(pod)["ACME_MEMBER"] == name
        assert {"key": "acme.example/pool", "value": "training"} in pod["spec"]["tolerations"]
        assert main_container(pod)["volumeMounts"] == [{"name": "tracker", "mountPath": "/etc/tracker"}]
    (config,) = [item for item in objects(msjob(), construct=construct) if item["kind"] == "ConfigMap"]
    assert config["metadata"]["name"] == "train-tracker"


@pytest.mark.timeout(60)
def test_app_of_the_page(site: Path) -> None:
    """The app of the page writes what the operator would create, in the namespace of its chart."""
    done = run_program(sys.executable, site / "app.py", cwd=site)

    assert done.returncode == 0, done.stderr
    written = [*yaml.safe_load_all((site / "dist" / "train.k8s.yaml").read_text())]
    expected = render(msjob(namespace="research"), load_construct("acme_jobs:AcmeWorkload")).objects()

    def key(item: Json) -> tuple[str, str]:
        return item["kind"], item["metadata"]["name"]

    assert sorted(written, key=key) == sorted(expected, key=key)


@pytest.mark.usefixtures("site")
def test_command_of_the_page() -> None:
    """The `msjob render` line of the page works."""
    (line,) = re.findall(r"^\$ msjob (render .*)$", SITE, re.MULTILINE)

    done = msjob_call(*line.split())

    assert done.code == 0, done.err
    assert "acme.example/cost-centre: research" in done.out


def test_installation_of_the_page() -> None:
    """The operator takes the flag of the page, and the rights are granted to the ServiceAccount that it has."""
    (flag,) = re.findall(r"--operator-flag=(\S+)", SITE)
    rights, binding = yaml.safe_load_all(blocks(SITE, "yaml")[0])

    assert InstallSettings(extra_flags=(flag,)).extra_flags == ("--job-construct=acme_jobs:AcmeWorkload",)
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": CONTROLLER, "namespace": DEFAULT_NAMESPACE}]
    assert binding["roleRef"]["name"] == rights["metadata"]["name"]


def test_every_variable_is_documented() -> None:
    """The table of variables has each one that is injected in any mode and role, and no other."""
    documented = set(re.findall(r"^\| `(MS[A-Z_]+)` \|", ENVIRONMENT, re.MULTILINE))
    shapes = [
        msjob(ps=1),
        msjob(),
        msjob(proc_per_worker=2),
        msjob(scheduler=None),
        msjob(scheduler=None, launch_mode="Msrun"),
        msjob(launch_mode="None"),
        TIMEOUTS,
    ]

    found = {
        entry["name"]
        for job in map(Job.parse, shapes)
        for which in job.roles
        for host in (True, False)
        for entry in injected(job, which, Tokens.absent_from(""), host=host)
    }

    assert documented == found


def test_roles_of_the_table() -> None:
    """A cell is empty exactly where a role never has the variable."""
    rows = re.findall(r"^\| `(MS[A-Z_]+)` \| (.*?) ?\| (.*?) ?\| (.*?) ?\|", ENVIRONMENT, re.MULTILINE)
    shapes = [*map(Job.parse, (msjob(ps=1), msjob(ps=1, proc_per_worker=2), TIMEOUTS))]

    for name, *cells in rows:
        for which, cell in zip(Role, cells, strict=True):
            has = any(
                entry["name"] == name
                for job in shapes
                for entry in injected(job, which, Tokens.absent_from(""), host=False)
            )
            assert bool(cell.strip()) == has, (name, which)


def test_msrun_line_of_the_page() -> None:
    """The command line of the page uses variables that a Worker has under msrun, and waits for its processes."""
    container = yaml.safe_load(blocks(ENVIRONMENT, "yaml")[0])
    worker = pods(msjob(scheduler=None, launch_mode="Msrun"))["worker-0"]

    used = set(re.findall(r"\$\((\w+)\)", " ".join(container["args"])))
    assert used <= variables(worker).keys()
    assert len(used) == 5
    assert "--join=True" in container["args"]


def test_ports_of_the_page() -> None:
    """The range of ports that the page names is the one that ports are taken from."""
    (low, high) = re.findall(r"in (\d+) to (\d+): above", ENVIRONMENT)[0]

    assert range(int(low), int(high) + 1) == HOST_PORTS


def test_overridable_methods_of_the_page() -> None:
    """The table of what can be overridden has every public method of the construct, and no other."""
    documented = re.findall(r"^\| `(\w+)\(", SITE, re.MULTILINE)
    own = [name for name, item in vars(MSJobWorkload).items() if callable(item) and not name.startswith("_")]

    assert sorted(documented) == sorted(own)
