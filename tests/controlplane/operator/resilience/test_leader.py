"""Several operators with ``--leader-elect``: one acts, and another takes over when it ends, dies or freezes."""

import itertools
import os
import signal

from support.audit import Request, requests
from support.live_jobs import Jobs
from support.operator import NAMESPACE, Operator, Operators
from support.testbed.client import Client
from support.testbed.controlplane import ControlPlane

LEASE = 15
"""Seconds for which a leader that says nothing is left its Lease."""
GRACE = 10
"""Seconds for a candidate to ask again, and for its caches to fill on a busy machine."""


def writes_of(operator: Operator, control_plane: ControlPlane) -> list[Request]:
    """What an operator wrote or tried to write, its Lease included."""
    mine = [request for request in requests(control_plane) if request.credential == operator.credential]
    return [request for request in mine if request.verb in ("create", "update", "patch", "delete")]


def check_apart(control_plane: ControlPlane, *operators: Operator) -> None:
    """Check that each of several operators wrote, and none after its successor had begun to."""
    written = [writes_of(operator, control_plane) for operator in operators]
    assert all(written)
    for earlier, later in itertools.pairwise(written):
        late = [request for request in earlier if request.at >= later[0].at]
        # To try to renew the Lease is how a leader that was frozen learns that it leads no longer.
        assert [request for request in late if (request.resource, request.code) != ("leases", 409)] == []


def test_leader_that_ends_gives_way_at_once(own_operators: Operators, jobs: Jobs, control_plane: ControlPlane) -> None:
    """Of two operators one acts; the other is ready, reads and writes nothing. After SIGTERM the first hands over."""
    first = own_operators.start("--leader-elect", "--namespace", jobs.namespace).wait_leading()
    second = own_operators.start("--leader-elect", "--namespace", jobs.namespace).wait_ready()
    jobs.create(name="one")
    jobs.run(3, "one")
    assert (second.get("/readyz")[0], second.get("/healthz")[0]) == (200, 200)
    assert not second.log("operator.synced")
    assert second.metric("msjob_leader") == 0
    assert first.metric("msjob_leader") == 1
    assert writes_of(second, control_plane) == []

    assert first.terminate()[0] == 0
    second.wait_leading(GRACE)
    jobs.finish("worker-0", name="one")
    jobs.wait_state("Succeeded", "one")
    jobs.create(name="two")
    jobs.run(3, "two")
    assert second.metric("msjob_leader") == 1
    check_apart(control_plane, first, second)


def test_leader_that_dies_or_freezes(own_operators: Operators, jobs: Jobs, control_plane: ControlPlane) -> None:
    """After a crash another leads once the Lease has run out; a leader that wakes up later ends without a write.

    Two elections at the same time, since each takes as long as a Lease.
    """
    elsewhere = Jobs(jobs.client, control_plane.create_namespace(f"{jobs.namespace}-b"), jobs.kubelet)
    allow_leases(jobs.client, elsewhere.namespace)
    here = ("--leader-elect", "--namespace", jobs.namespace)
    there = ("--leader-elect", "--namespace", elsewhere.namespace, "--leader-election-namespace", elsewhere.namespace)
    killed = own_operators.start(*here).wait_leading()
    frozen = own_operators.start(*there).wait_leading()
    heir, successor = own_operators.start(*here).wait_ready(), own_operators.start(*there).wait_ready()
    for cluster in (jobs, elsewhere):
        cluster.create(name="one")
        cluster.wait_pods(3, "one")

    killed.kill()
    os.kill(frozen.pid, signal.SIGSTOP)
    for cluster in (jobs, elsewhere):
        cluster.finish("worker-0", name="one")
        cluster.create(name="two")
    heir.wait_leading(LEASE + GRACE)
    successor.wait_leading(LEASE + GRACE)
    for cluster in (jobs, elsewhere):
        cluster.wait_state("Succeeded", "one")
        cluster.wait_pods(3, "two")
    os.kill(frozen.pid, signal.SIGCONT)

    assert frozen.wait_ended() == 1
    assert "lead" in frozen.log("operator.failed")[0]["error"]
    check_apart(control_plane, killed, heir)
    check_apart(control_plane, frozen, successor)
    jobs.client.delete("v1/namespaces", elsewhere.namespace)


def allow_leases(admin: Client, namespace: str) -> None:
    """Give the operator in another namespace the rights on Leases that it has in its own."""
    for resource in ("roles", "rolebindings"):
        rbac = f"rbac.authorization.k8s.io/v1/{resource}"
        for item in admin.list(rbac, NAMESPACE):
            if "leader-election" in item["metadata"]["name"]:
                admin.create(rbac, {**item, "metadata": {"name": item["metadata"]["name"]}}, namespace)
