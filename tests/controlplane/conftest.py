"""The control plane of a test run, and what a test needs of it.

One control plane serves a whole run (with pytest-xdist one for each worker), each test in a namespace of its own. Its
programs are found or built before the first test starts, so that no test's time limit counts the minutes of a build.
"""

import contextlib
import json
import re
import secrets
import shutil
from collections.abc import Generator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from support.live_jobs import Jobs
from support.operator import Operator, Operators
from support.programs import ROOT
from support.testbed.binaries import find_all, find_binaries
from support.testbed.client import Client, Object
from support.testbed.controlplane import ControlPlane
from support.testbed.errors import HarnessError, NotFoundError
from support.testbed.kubectl import Kubectl
from support.testbed.kubelet import Kubelet
from support.testbed.logs import LogServer
from support.testbed.progress import to_stderr

_SAFE_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

HERE = Path(__file__).parent
LOGS = pytest.StashKey[Path]()
"""Where the logs of this run go when a test fails."""
FAILURE = pytest.StashKey[HarnessError]()
"""Why there are no programs, for the first test that wants them."""
RUNS_KEPT = 10
"""Runs with failures whose logs are kept, this one included."""
RIGHTS = "rights"
"""The folder of tests that judge what the operator did in the whole run, and so come last."""


def pytest_collection_finish(session: pytest.Session) -> None:
    """Find or build the programs before the first test; what that takes is shown even while pytest captures."""
    if session.config.option.collectonly or not any(item.path.is_relative_to(HERE) for item in session.items):
        return
    capture = session.config.pluginmanager.getplugin("capturemanager")

    def show(line: str) -> None:
        with capture.global_and_fixture_disabled():
            to_stderr(line)

    # Only the demo needs what simulates nodes.
    find = find_all if any(item.path.is_relative_to(HERE / "demo") for item in session.items) else find_binaries
    try:
        find(show if capture else to_stderr)
    except HarnessError as error:
        if hasattr(session.config, "workerinput"):  # a worker of pytest-xdist cannot end the run with a message
            session.config.stash[FAILURE] = error
            return
        raise pytest.UsageError(f"no control plane to test with: {error}") from error


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell where the logs of the control plane are, and show that of the operator, beneath the failure of a test."""
    report = yield
    if report.failed and LOGS in item.config.stash:
        report.sections.append(("control plane", f"its logs are kept in {item.config.stash[LOGS]}"))
    values = getattr(item, "funcargs", {})
    if report.failed and "operators" in values:
        report.sections.append(("operator", values["operators"].tails(values.get("namespace"))))
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests first that need no operator, then those that share one, those with their own, and `RIGHTS` at the end.

    An operator that runs acts on jobs of all namespaces: on those of tests that are about the API server alone, too.
    """

    def rank(item: pytest.Item) -> tuple[bool, bool, bool]:
        names = getattr(item, "fixturenames", ())
        return item.path.parent.name == RIGHTS, "own_operators" in names, "operators" in names

    items.sort(key=rank)


@pytest.fixture(scope="session")
def installed_crds() -> list[Object]:
    """The CustomResourceDefinitions of ``dist/``, which the control plane of the run has from its start."""
    kind = "CustomResourceDefinition"
    files = [path.read_text() for path in sorted((ROOT / "dist").glob("*.yaml"))]
    # The loader in C: the one in Python takes seconds for a schema of that size.
    documents = [item for text in files if kind in text for item in yaml.load_all(text, _SAFE_LOADER)]
    return [item for item in documents if item and item["kind"] == kind]


@pytest.fixture(scope="session")
def control_plane(
    request: pytest.FixtureRequest, installed_crds: list[Object], worker_name: str
) -> Iterator[ControlPlane]:
    """The control plane of this run, with the CRDs of ``dist/`` and an audit log."""
    config, session = request.config, request.session
    if FAILURE in config.stash:
        raise config.stash[FAILURE]
    started = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    config.stash[LOGS] = ROOT / "build" / "testbed-logs" / f"{started}-{worker_name}"
    control_plane = ControlPlane(
        binaries=find_binaries(),
        manifests=installed_crds,
        audit=True,
        # Not on by default, and stricter: what works here works in clusters with it and without it.
        apiserver_flags=["--enable-admission-plugins=OwnerReferencesPermissionEnforcement"],
    )
    keep = True
    try:
        yield control_plane.start()
        keep = bool(session.testsfailed)
    finally:
        if keep:
            control_plane.keep_logs(config.stash[LOGS])
            for folder in sorted(config.stash[LOGS].parent.iterdir())[:-RUNS_KEPT]:
                shutil.rmtree(folder, ignore_errors=True)
        control_plane.stop()


@pytest.fixture(scope="session")
def worker_name(request: pytest.FixtureRequest) -> str:
    """The name of this pytest-xdist worker, or ``main``."""
    given = getattr(request.config, "workerinput", {"workerid": "main"})
    return str(given["workerid"])


@pytest.fixture
def admin(control_plane: ControlPlane) -> Client:
    """A client that may do everything."""
    return control_plane.admin


@pytest.fixture(scope="session")
def kubernetes(control_plane: ControlPlane) -> tuple[int, int]:
    """Major and minor version of the API server, for what is not the same in all that the tests run on."""
    version = json.loads(control_plane.admin.request("GET", "/version"))
    return int(version["major"]), int(version["minor"])


@pytest.fixture
def namespace(control_plane: ControlPlane, request: pytest.FixtureRequest) -> Iterator[str]:
    """A fresh namespace named after the test, ready for pods; its deletion afterwards is not waited for."""
    words = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower().removeprefix("test_")).strip("-")
    name = control_plane.create_namespace(f"t-{words[:40].strip('-')}-{secrets.token_hex(3)}")
    yield name
    with contextlib.suppress(NotFoundError):
        control_plane.admin.delete("v1/namespaces", name)


@pytest.fixture
def kubelet(admin: Client, namespace: str) -> Iterator[Kubelet]:
    """The kubelet of the test's namespace, with a Node of its own.

    Pods run and end when the test says so; those that are deleted stop at once by themselves. ``kubelet.play()`` also
    lets every pod run by itself, ``kubelet.pause()`` leaves all to the test.
    """
    kubelet = Kubelet(admin, node=f"node-{namespace}", namespace=namespace).play(run=False)
    yield kubelet
    kubelet.close()


@pytest.fixture
def logs(control_plane: ControlPlane, admin: Client, namespace: str, kubelet: Kubelet) -> Iterator[LogServer]:
    """What serves the logs of the pods in the test's namespace; ask for it before a pod is bound to a node."""
    certificate = control_plane.folder / "certs" / "apiserver.crt"
    with LogServer(admin, namespace, certificate) as server:
        kubelet.port = server.port
        yield server


@pytest.fixture
def kubectl(control_plane: ControlPlane) -> Kubectl:
    """Kubectl as administrator."""
    return control_plane.kubectl()


@pytest.fixture(scope="session")
def operators(control_plane: ControlPlane) -> Iterator[Operators]:
    """The operators of this run, in a cluster in which ``dist/`` is installed."""
    control_plane.kubectl().run("apply", "--server-side", "--force-conflicts", "-f", ROOT / "dist")
    operators = Operators(control_plane)
    yield operators
    operators.close()


@pytest.fixture
def operator(operators: Operators) -> Iterator[Operator]:
    """The operator that tests share, running; a fault in its log fails the test."""
    yield operators.shared()
    assert operators.faults() == []


@pytest.fixture
def own_operators(operators: Operators) -> Iterator[Operators]:
    """For a test that starts operators itself; they end with it, and a fault in their logs fails it."""
    yield operators
    faults = operators.faults()
    operators.end_own()
    assert faults == []


@pytest.fixture
def jobs(admin: Client, namespace: str, kubelet: Kubelet) -> Jobs:
    """The MSJobs of the test's namespace."""
    return Jobs(admin, namespace, kubelet)
