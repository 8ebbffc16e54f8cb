"""How the operator's metrics are reached."""

from typing import Any, Final

from msjob.cdk import Construct
from msjob.installed import CONTROLLER, WAVE_OPERATOR, metadata, selector
from msjob.operator import COMPONENT, METRICS_PORT, METRICS_PORT_NAME
from msjob.placing import place
from msjob.settings import InstallSettings

METRICS_SERVICE: Final = f"{CONTROLLER}-metrics"


def metrics_service_manifest(settings: InstallSettings) -> dict[str, Any]:
    """The Service in front of `/metrics` of the operator's pods.

    Args:
        settings: give the namespace.

    Returns:
        The manifest.
    """
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(METRICS_SERVICE, component="metrics", wave=WAVE_OPERATOR, namespace=settings.namespace),
        "spec": {
            "type": "ClusterIP",
            "selector": selector(COMPONENT),
            "ports": [
                {"name": METRICS_PORT_NAME, "port": METRICS_PORT, "targetPort": METRICS_PORT_NAME, "protocol": "TCP"}
            ],
        },
    }


class MetricsService(Construct):
    """The Service in front of `/metrics` of the operator's pods.

    Args:
        scope: parent construct.
        id: construct id, unique in its scope.
        settings: give the namespace.
    """

    def __init__(self, scope: Construct, id: str, settings: InstallSettings) -> None:  # noqa: A002 - cdk8s names it so
        super().__init__(scope, id)
        place(self, "service", metrics_service_manifest(settings))
