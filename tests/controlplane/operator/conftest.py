"""The operator under test: installed from ``dist/``, running with its own ServiceAccount and the shipped rights."""

from collections.abc import Generator, Iterator

import pytest

from support.live_jobs import Jobs
from support.operator import Operator, Operators
from support.programs import ROOT
from support.testbed.client import Client
from support.testbed.controlplane import ControlPlane
from support.testbed.kubelet import Kubelet

RIGHTS = "rights"
"""The folder of tests that judge what the operator did in the whole run, and so come last."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests that start operators of their own behind those that share one, and those of `RIGHTS` at the end."""

    def rank(item: pytest.Item) -> tuple[bool, bool]:
        return item.path.parent.name == RIGHTS, "own_operators" in getattr(item, "fixturenames", ())

    items.sort(key=rank)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the log of the operator beneath the failure of a test."""
    report = yield
    values = getattr(item, "funcargs", {})
    if report.failed and "operators" in values:
        report.sections.append(("operator", values["operators"].tails(values.get("namespace"))))
    return report


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
