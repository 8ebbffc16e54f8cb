"""The namespace that the operator runs in."""

from typing import Any, Final

from msjob.cdk import Construct
from msjob.installed import WAVE_FOUNDATION, metadata
from msjob.placing import place
from msjob.settings import InstallSettings

POD_SECURITY_PROFILE: Final = "restricted"

POD_SECURITY_VERSION: Final = "v1.36"
"""Pinned, so that an upgrade of the cluster cannot refuse the operator by rules it was never tested with. An older
cluster takes its own newest rules."""


def namespace_manifest(settings: InstallSettings) -> dict[str, Any]:
    """The Namespace, with the Restricted Pod Security profile enforced, audited and warned about.

    Args:
        settings: gives the name.

    Returns:
        The manifest.
    """
    security = {}
    for mode in ("enforce", "audit", "warn"):
        security[f"pod-security.kubernetes.io/{mode}"] = POD_SECURITY_PROFILE
        security[f"pod-security.kubernetes.io/{mode}-version"] = POD_SECURITY_VERSION
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": metadata(settings.namespace, component="namespace", wave=WAVE_FOUNDATION, labels=security),
    }


class OperatorNamespace(Construct):
    """The namespace that the operator runs in.

    Args:
        scope: parent construct.
        id: construct id, unique in its scope.
        settings: gives the name.
    """

    def __init__(self, scope: Construct, id: str, settings: InstallSettings) -> None:  # noqa: A002 - cdk8s names it so
        super().__init__(scope, id)
        place(self, "namespace", namespace_manifest(settings))
