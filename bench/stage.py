"""What a case of the benchmark works with."""

from dataclasses import dataclass

from api import Api
from support.testbed.controlplane import ControlPlane

OPERATOR = "bench-operator"
"""The user of the operator, told apart from the benchmark in the audit log."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A control plane for one case.

    Attributes:
        plane: it.
        api: a bare session.
        runs: runs of what is measured several times.
        churn: jobs of the case `churn`.
    """

    plane: ControlPlane
    api: Api
    runs: int
    churn: int
