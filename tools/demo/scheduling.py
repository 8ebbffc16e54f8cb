"""The configuration of kube-scheduler in the demo."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

DEFAULT: Final = "default-scheduler"

NOT_SIMULATED: Final = ("DynamicResources", "NodeVolumeLimits", "VolumeBinding", "VolumeRestrictions", "VolumeZone")
"""Plugins that want to see volumes and devices: there are none, and no pod shall wait for them."""


def configuration(kubeconfig: Path, names: Iterable[str] = ()) -> str:
    """Give the configuration.

    Args:
        kubeconfig: Of the user that kube-scheduler is.
        names: Other schedulers that pods ask for, all of which this one stands in for.
    """
    disabled = [{"name": name} for name in NOT_SIMULATED]
    profiles: list[dict[str, Any]] = [
        {"schedulerName": name, "plugins": {"multiPoint": {"disabled": disabled}}}
        for name in (DEFAULT, *sorted({*names} - {DEFAULT}))
    ]
    settings = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 500, "burst": 1000},
        "leaderElection": {"leaderElect": False},
        "profiles": profiles,
    }
    return json.dumps(settings, indent=1)
