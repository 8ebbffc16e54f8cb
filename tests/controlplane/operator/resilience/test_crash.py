"""An operator that is killed in the middle of its work."""

from concurrent.futures import ThreadPoolExecutor

from support.audit import writes
from support.jobs import msjob
from support.live_jobs import SERVICES, Jobs
from support.operator import Operators
from support.rendering import variables
from support.testbed.controlplane import ControlPlane

JOBS = 20
PODS = 4


def test_killed_in_mid_creation(own_operators: Operators, jobs: Jobs, control_plane: ControlPlane) -> None:
    """Whatever was half done when it died, twice over, its successor brings each job to exactly its pods."""
    operator = own_operators.start("--namespace", jobs.namespace).wait_leading()
    names = [f"job-{number}" for number in range(JOBS)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: jobs.create(msjob(name, worker=PODS - 1)), names))
    left = []
    for part in (0.2, 0.6):
        wanted = part * JOBS * PODS
        jobs.client.wait_for(lambda: len(jobs.client.pods(jobs.namespace)) >= wanted, 30, what="some pods")  # noqa: B023
        operator.kill()
        left.append(len(jobs.client.pods(jobs.namespace)))
        operator = own_operators.start("--namespace", jobs.namespace)

    jobs.client.wait_for(lambda: len(jobs.client.pods(jobs.namespace)) == JOBS * PODS, 30, what="all pods")
    assert left[0] < JOBS * PODS, "it was killed too late to prove anything"
    jobs.settle()
    services = {
        item["metadata"]["name"]: item["spec"]["clusterIP"] for item in jobs.client.list(SERVICES, jobs.namespace)
    }
    for name in names:
        pods = jobs.pods(name)
        assert sorted(pods) == ["scheduler-0", "worker-0", "worker-1", "worker-2"]
        assert {variables(pods[f"worker-{index}"])["MS_SCHED_HOST"] for index in range(3)} == {
            services[f"{name}-scheduler-0"]
        }
        assert jobs.true(name) == ["Created"]
    written = writes(control_plane, jobs.namespace)
    creates = [(request.resource, request.name) for request in written if request.verb == "create"]
    assert len(creates) == len(set(creates))


def test_what_happened_meanwhile(own_operators: Operators, jobs: Jobs) -> None:
    """While there was no operator jobs came, ended, were suspended and deleted: the next one deals with all of it."""
    operator = own_operators.start("--namespace", jobs.namespace).wait_leading()
    for name in ("ends", "fails", "rests", "goes"):
        jobs.create(name=name)
        jobs.run(3, name)
    operator.kill()
    jobs.finish("worker-0", name="ends")
    jobs.finish("worker-0", name="fails", code=1)
    jobs.suspend("rests")
    jobs.delete("goes")
    jobs.create(name="comes")

    own_operators.start("--namespace", jobs.namespace)
    jobs.wait_state("Succeeded", "ends")
    jobs.wait_state("Failed", "fails")
    jobs.wait_state("Suspended", "rests")
    jobs.run(3, "comes")
    jobs.client.wait_for(lambda: jobs.pods("goes") == {}, what="the pods of the deleted job to go")
