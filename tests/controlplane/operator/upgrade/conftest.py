"""A cluster in which the Go operator has worked, and into which this one has come."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pytest

from support.go_operator import GoOperator, crd
from support.jobs import Json
from support.live_jobs import Jobs
from support.operator import Operators
from support.programs import ROOT
from support.testbed.client import MSJOBS
from support.testbed.controlplane import ControlPlane
from support.testbed.kubelet import Kubelet
from support.violators import BAD, STATUSES

CRDS = "apiextensions.k8s.io/v1/customresourcedefinitions"
RUNNING = ("succeeds", "restarts", "fails", "suspends", "scales", "deleted-pod", "parameter-servers")
"""Jobs of which all pods ran before the upgrade."""


@dataclass
class After:
    """The cluster after the upgrade.

    Attributes:
        control_plane: of the cluster.
        jobs: those that the Go operator ran.
        strange: those that a CRD without a schema let in, and a good one named `good`.
        pods: all pods of the former as they were before, by name.
        statuses: of the former, likewise.
    """

    control_plane: ControlPlane
    jobs: Jobs
    strange: Jobs
    pods: dict[str, Json]
    statuses: dict[str, Json]

    def uids(self, name: str) -> dict[str, str]:
        """The uids of the pods of a job before the upgrade, by role and index."""
        prefix = f"{name}-"
        found = {key: pod["metadata"]["uid"] for key, pod in self.pods.items() if key.startswith(prefix)}
        return {key.removeprefix(prefix): uid for key, uid in found.items()}


@pytest.fixture(scope="package")
def after() -> Iterator[After]:
    """Jobs in every state in which the Go operator leaves them and violators of every kind, then the upgrade."""
    with ExitStack() as stack:
        control_plane = stack.enter_context(ControlPlane(manifests=[crd()], audit=True))
        jobs, strange = (stack.enter_context(jobs_of(control_plane, name)) for name in ("go", "strange"))
        leave_jobs(jobs)
        leave_violators(strange)
        pods = {pod["metadata"]["name"]: pod for pod in jobs.client.pods(jobs.namespace)}
        names = [item["metadata"]["name"] for item in jobs.client.list(MSJOBS, jobs.namespace)]
        statuses = {name: jobs.status(name) for name in names}
        operators = Operators(control_plane)
        stack.callback(operators.close)
        upgrade(control_plane)
        operators.shared()
        for group in (jobs, strange):
            group.settle()
        yield After(control_plane, jobs, strange, pods, statuses)
        assert operators.faults() == []


@contextmanager
def jobs_of(control_plane: ControlPlane, namespace: str) -> Iterator[Jobs]:
    """The MSJobs of a new namespace, with a Node of its own."""
    control_plane.create_namespace(namespace)
    kubelet = Kubelet(control_plane.admin, node=f"node-{namespace}", namespace=namespace).play(run=False)
    try:
        yield Jobs(control_plane.admin, namespace, kubelet)
    finally:
        kubelet.close()


def leave_jobs(jobs: Jobs) -> None:
    """Have jobs as the Go operator leaves them."""
    operator = GoOperator(jobs)
    for name in RUNNING:
        policy = {"restarts": "OnFailure", "fails": "ExitCode"}.get(name)
        operator.run(name, ps=1 if name == "parameter-servers" else None, restart_policy=policy)
    operator.run("starts", ["Created"])
    operator.run("overdue", run_policy={"activeDeadlineSeconds": 1})
    operator.run("one", scheduler=None, worker=1, restart_policy="OnFailure")
    operator.run("done", ["Created", "Running", "Succeeded"], pods=False, run_policy={"cleanPodPolicy": "All"})
    operator.run("gone", ["Created", "Running", "Failed"], pods=False)
    operator.run("restarting", ["Created", "Restarting"], restart_policy="ExitCode")
    for pod in jobs.client.pods(jobs.namespace):
        name = pod["metadata"]["name"]
        if not name.startswith("starts-"):
            jobs.kubelet.set_pod(jobs.namespace, name)
    # The Go operator restarts one pod alone.
    jobs.delete_pods(["worker-1"], "restarting")


def leave_violators(jobs: Jobs) -> None:
    """Have violators, a good job beside them, and good jobs with statuses that are none."""
    jobs.create(name="good")
    for bad, _ in BAD:
        jobs.create(bad)
    for name, status in STATUSES.items():
        jobs.create(name=name)
        jobs.client.patch(MSJOBS, name, {"status": status}, jobs.namespace, subresource="status")


def upgrade(control_plane: ControlPlane) -> None:
    """Apply ``dist/`` over what is there, as a user does."""
    control_plane.kubectl().run("apply", "--server-side", "--force-conflicts", "-f", ROOT / "dist")
    name = crd()["metadata"]["name"]
    control_plane.admin.wait_until(
        CRDS, name, None, lambda item: "scale" in item["spec"]["versions"][0]["subresources"]
    )
