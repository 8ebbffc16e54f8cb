"""Operators that die at the gate before the API server.

The successor of a test's operator is the one that the next test kills: starting one takes most of the time of a test.
"""

from collections.abc import Iterator

import pytest

from support.gate import Gate
from support.history import History
from support.killed import Deaths, Line
from support.live_jobs import Jobs
from support.operator import Operators
from support.testbed.controlplane import ControlPlane


@pytest.fixture(scope="session")
def gate(control_plane: ControlPlane) -> Iterator[Gate]:
    """A gate before the API server."""
    with Gate(control_plane.server, control_plane.ca_file) as gate:
        yield gate


@pytest.fixture(scope="module")
def own_operators(operators: Operators, gate: Gate) -> Iterator[Operators]:
    """The operators of a module, and nobody else's meanwhile."""
    del gate  # is closed after they have ended
    yield operators
    operators.end_own()


@pytest.fixture(scope="module")
def line(own_operators: Operators, gate: Gate) -> Line:
    """The operators of a module, one after the other."""
    return Line(own_operators, gate)


@pytest.fixture
def deaths(own_operators: Operators, line: Line, jobs: Jobs) -> Iterator[Deaths]:
    """The deaths of a test; a fault in the logs of the operators fails it."""
    with History(jobs.client, jobs.namespace) as history:
        deaths = Deaths(line, jobs, history)
        yield deaths
        deaths.close()
    assert own_operators.faults() == []
