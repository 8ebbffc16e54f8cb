"""``--namespace``: an operator for one namespace."""

from support.audit import requests
from support.live_jobs import Jobs
from support.operator import NAMESPACE, Operators
from support.testbed.controlplane import ControlPlane


def test_only_that_namespace(own_operators: Operators, jobs: Jobs, control_plane: ControlPlane) -> None:
    """Jobs of the namespace run, those of others are not looked at, and no request names another namespace.

    Nodes are in none, and are read all the same.
    """
    elsewhere = Jobs(jobs.client, control_plane.create_namespace(f"{jobs.namespace}-b"), jobs.kubelet)
    other = elsewhere.create(name="other")
    operator = own_operators.start("--leader-elect", "--namespace", jobs.namespace).wait_leading()
    jobs.create()
    jobs.run(3)
    jobs.settle()

    assert elsewhere.get("other") == other
    assert elsewhere.pods("other") == {}
    operator.terminate()
    mine = [request for request in requests(control_plane) if request.credential == operator.credential]
    assert {request.namespace for request in mine} == {jobs.namespace, NAMESPACE, ""}
    assert {request.resource for request in mine if not request.namespace} == {"nodes"}
    assert {request.resource for request in mine if request.namespace == NAMESPACE} == {"leases"}
    jobs.client.delete("v1/namespaces", elsewhere.namespace)
