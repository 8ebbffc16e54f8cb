"""What all installed objects share: names, labels and the order in which Argo CD applies them."""

from collections.abc import Mapping
from typing import Any, Final

from msjob.settings import project_version

PROJECT: Final = "ms-operator"
CONTROLLER: Final = "ms-operator-controller-manager"
"""Name of the Deployment, of its ServiceAccount and, as a prefix, of its Services."""

LEADER_LEASE: Final = "ms-operator-leader"
"""Lease, in the operator's namespace, that the leading controller holds."""

WAVE_CRD: Final = -2
WAVE_FOUNDATION: Final = -1
WAVE_OPERATOR: Final = 0

_SYNC_WAVE = "argocd.argoproj.io/sync-wave"
"""Argo CD applies lower waves first."""


def selector(component: str) -> dict[str, str]:
    """The labels that select objects of a component. They never change, because a Deployment's selector cannot.

    Args:
        component: part of the installation, such as `controller`.

    Returns:
        Labels.
    """
    return {
        "app.kubernetes.io/name": PROJECT,
        "app.kubernetes.io/instance": PROJECT,
        "app.kubernetes.io/component": component,
    }


def common_labels(component: str) -> dict[str, str]:
    """The labels that Kubernetes recommends, for an object of a component.

    Args:
        component: part of the installation, such as `controller`.

    Returns:
        Labels.
    """
    return {
        **selector(component),
        "app.kubernetes.io/part-of": PROJECT,
        "app.kubernetes.io/managed-by": "cdk8s",
        "app.kubernetes.io/version": project_version(),
    }


def metadata(
    name: str,
    *,
    component: str,
    wave: int,
    namespace: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Metadata of an installed object.

    Args:
        name: its name.
        component: part of the installation it belongs to.
        wave: when Argo CD applies it.
        namespace: its namespace; None for an object of the cluster.
        labels: labels besides the common ones.

    Returns:
        `metadata` of a manifest.
    """
    fields: dict[str, Any] = {"name": name}
    if namespace is not None:
        fields["namespace"] = namespace
    return fields | {"labels": {**common_labels(component), **(labels or {})}, "annotations": {_SYNC_WAVE: str(wave)}}
