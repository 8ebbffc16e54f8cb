"""A cluster for all tests of the run, with the operator as a user installs it, and a namespace for each test.

The cluster is one of the tests' own, or with `make test-e2e` somebody else's.
"""

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.cluster import elsewhere, images
from support.cluster.cluster import Cluster
from support.cluster.installation import Installation, image_of_dist
from support.cluster.live import Live
from support.cluster.namespaces import restricted
from support.cluster.report import Report, Row, facts
from support.cluster.site import Site, not_here
from support.programs import ROOT
from support.testbed.errors import HarnessError
from support.testbed.progress import Progress, to_stderr

HERE = Path(__file__).parent
LOGS = ROOT / "build" / "cluster-logs"
"""Where the logs of all components and pods go when a test fails."""

SITE = pytest.StashKey[Site]()
REPORT = pytest.StashKey[Report]()

ORDER = ("install", "training", "failure")
"""Of the folders."""

OWN = "it stops, kills or reads what only the machine of the node, or of the control plane, lets one"
"""Why a row is not possible on somebody else's cluster."""

SECONDS = 600
"""The longest that a test takes on a busy machine, unless it says otherwise."""


def pytest_configure(config: pytest.Config) -> None:
    """Know the markers."""
    config.addinivalue_line("markers", "core: a row that every change has to pass")
    config.addinivalue_line("markers", "row(matrix, case): the row of the report that a test is about")
    config.addinivalue_line("markers", "own: needs a cluster of the tests' own, whose parts can be stopped")
    config.addinivalue_line("markers", "last: judges the run or changes the installation, when all others have been")
    config.stash[REPORT] = Report(os.environ.get("MSJOB_CERTIFY"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test its time; failures come after what has to work, then come those that are marked `last`."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(SECONDS))

    def rank(item: pytest.Item) -> tuple[bool, int]:
        if not item.path.is_relative_to(HERE):
            return False, -1
        folder = item.path.parent.name
        return item.get_closest_marker("last") is not None, ORDER.index(folder) if folder in ORDER else len(ORDER)

    items.sort(key=rank)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start the cluster before the first test; what takes long is shown even while pytest captures."""
    if session.config.option.collectonly or not any(item.path.is_relative_to(HERE) for item in session.items):
        return
    capture = session.config.pluginmanager.getplugin("capturemanager")

    def show(line: str) -> None:
        with capture.global_and_fixture_disabled():
            to_stderr(line)

    try:
        given = elsewhere.read(os.environ)
        if given is None:
            site = own_site(session.config, show)
        else:
            way = elsewhere.Elsewhere(given, show)
            session.config.add_cleanup(way.close)
            site = way.open()
    except HarnessError as error:
        raise pytest.UsageError(f"no cluster to test on: {error}") from error
    session.config.stash[REPORT].facts |= facts(site.client, None if given is None else given.images)
    session.config.stash[SITE] = site


def own_site(config: pytest.Config, progress: Progress) -> Site:
    """Start a cluster of the tests' own."""
    cluster = Cluster(audit=True, progress=progress).start()
    config.add_cleanup(cluster.stop)
    wanted = images.wanted(images.CORE)
    cluster.load(wanted.values())
    cluster.node.containerd.tag(wanted["operator"].ref, image_of_dist())
    names = {name: image.ref for name, image in wanted.items()}
    return Site(cluster.control_plane.admin, cluster.control_plane.kubectl(), names, cluster)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write a row of the report for each test, and keep the logs of one that failed."""
    result = yield
    row = item.get_closest_marker("row")
    if result.skipped and SITE in item.config.stash and item.config.stash[SITE].cluster is not None:
        result.outcome = "failed"
        result.longrepr = f"no row is passed over on a cluster of the tests' own: {result.longrepr}"
    if result.failed and SITE in item.config.stash:
        site = item.config.stash[SITE]
        if site.cluster is None:
            result.sections += elsewhere.witnesses(site)
        else:
            kept = site.cluster.keep_logs(LOGS / f"{item.path.stem}-{item.name}")
            result.sections.append(("logs", f"of all components and pods: {kept}"))
            result.sections += site.cluster.witnesses()
    if row is not None and (result.when == "call" or not result.passed):
        item.config.stash[REPORT].end(item.nodeid, row.args[0], row.args[1], result)
    return result


@pytest.fixture(scope="session")
def site(request: pytest.FixtureRequest) -> Site:
    """The cluster."""
    return request.config.stash[SITE]


@pytest.fixture(autouse=True)
def _possible(request: pytest.FixtureRequest, site: Site) -> None:
    """A test that is marked `own` is not tried on somebody else's cluster."""
    if request.node.get_closest_marker("own") is not None and site.cluster is None:
        not_here(OWN)


@pytest.fixture
def cluster(site: Site) -> Cluster:
    """The cluster, of which parts can be stopped."""
    if site.cluster is None:
        not_here(OWN)
    return site.cluster


@pytest.fixture(scope="session")
def installation(site: Site) -> Iterator[Installation]:
    """The operator, installed by `kubectl apply -f dist/` and available.

    From somebody else's cluster it is removed in the end, unless it was there before.
    """
    found = Installation(site)
    if site.manifests is None:
        found.wait_available()
        yield found
        return
    try:
        found.apply()
        found.wait_available()
        yield found
    finally:
        if site.cluster is None:
            found.remove()


@pytest.fixture
def namespace(site: Site) -> Iterator[str]:
    """A namespace with the Restricted Pod Security profile, which is deleted after the test."""
    with restricted(site.client) as name:
        yield name


@pytest.fixture
def live(site: Site, installation: Installation, namespace: str) -> Iterator[Live]:
    """The namespace, with all that happens in it."""
    installation.wait_available()
    with Live(site, namespace) as found:
        yield found


@pytest.fixture
def row(request: pytest.FixtureRequest) -> Row:
    """What the report says of this test."""
    return request.config.stash[REPORT].row(request.node.nodeid)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Show what was measured."""
    rows = config.stash[REPORT].lines()
    if rows:
        terminalreporter.section("cluster")
        for line in rows:
            terminalreporter.write_line(line)
    config.stash[REPORT].write()
