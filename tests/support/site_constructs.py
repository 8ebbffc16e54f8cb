"""Constructs as a site would write them, for tests that run the operator with ``--job-construct``."""

import time
from collections.abc import Mapping
from typing import Any

from msjob.api import Job, Role
from msjob.cdk import Construct
from msjob.workload.construct import MSJobWorkload
from msjob.workload.tokens import Facts

SLOW = "slow"
"""Part of the name of a job whose construct takes its time."""
BROKEN = "broken"
"""Part of the name of a job whose construct raises."""


class SiteWorkload(MSJobWorkload):
    """A label, a toleration and a sidecar for every pod, and a ConfigMap for every job."""

    def __init__(
        self,
        scope: Construct,
        id: str,  # noqa: A002 - as the base class has it
        *,
        job: Job | Mapping[str, Any],
        facts: Facts | None = None,
        packed: bool = False,
    ) -> None:
        super().__init__(scope, id, job=job, facts=facts, packed=packed)
        name = f"{self.job.name}-site"
        data = {"scheduler": self.tokens.scheduler_ip}
        self.add_object("site", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})

    def labels(self, role: Role) -> dict[str, str]:
        """Add the site's."""
        return {**super().labels(role), "example.com/site": "west"}

    def pod(self, role: Role, *, host: bool) -> dict[str, Any]:
        """Add a toleration and a sidecar."""
        manifest = super().pod(role, host=host)
        spec = manifest["spec"]
        spec.setdefault("tolerations", []).append({"key": "example.com/npu", "operator": "Exists"})
        spec["containers"].append({"name": "site-logs", "image": "example.com/logs:1"})
        return manifest


class MoodyWorkload(MSJobWorkload):
    """Takes 20 s for jobs with `SLOW` in their name and raises for those with `BROKEN`."""

    def pod(self, role: Role, *, host: bool) -> dict[str, Any]:
        """Do as the name of the job says."""
        if SLOW in self.job.name:
            time.sleep(20)
        if BROKEN in self.job.name:
            raise RuntimeError("the site's inventory knows no such pool")
        return super().pod(role, host=host)
