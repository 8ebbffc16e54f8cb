"""The installation of the operator as a cdk8s app: one chart a file of `dist/`."""

from collections.abc import Callable
from typing import Any, Final

from msjob.cdk import App, Chart
from msjob.crd import MSJobCRD
from msjob.monitoring import MetricsService
from msjob.namespace import OperatorNamespace
from msjob.operator import Operator
from msjob.rbac import OperatorRBAC
from msjob.settings import InstallSettings


def _crd(chart: Chart, settings: InstallSettings) -> None:  # noqa: ARG001 - every part is given the settings
    MSJobCRD(chart, "msjobs")


def _namespace(chart: Chart, settings: InstallSettings) -> None:
    OperatorNamespace(chart, "namespace", settings)


def _rbac(chart: Chart, settings: InstallSettings) -> None:
    OperatorRBAC(chart, "rbac", settings)


def _operator(chart: Chart, settings: InstallSettings) -> None:
    Operator(chart, "operator", settings)
    MetricsService(chart, "metrics", settings)


PARTS: Final[dict[str, Callable[[Chart, InstallSettings], None]]] = {
    "crd": _crd,
    "namespace": _namespace,
    "rbac": _rbac,
    "operator": _operator,
}
"""What is installed, in the order in which it has to be applied."""


def installation(settings: InstallSettings) -> dict[str, list[dict[str, Any]]]:
    """Render what installs the operator in a cluster.

    Args:
        settings: of the installation.

    Returns:
        The objects of each file. `kubectl apply -f` reads a folder by file name, so the names are numbered.
    """
    app = App()
    files = {}
    for number, (name, add) in enumerate(PARTS.items()):
        chart = Chart(app, name)
        add(chart, settings)
        files[f"{number:04}-{name}.yaml"] = chart.to_json()
    return files
