"""Many jobs at once: every pod once and right, and no request too many."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from statistics import median

import pytest

from support.audit import writes
from support.jobs import msjob
from support.live_jobs import SERVICES, Jobs
from support.rendering import variables
from support.testbed.client import MSJOBS, Client
from support.testbed.controlplane import ControlPlane

pytestmark = pytest.mark.usefixtures("operator")

JOBS = 40
WORKERS = 4
PODS = 1 + WORKERS
WRITES_PER_JOB = 10
"""A Service and five pods are six; what is left is for the status."""
SLOW_CHANGES = 2
"""Before a job runs, and before it ends."""


@contextmanager
def changes_counted(client: Client, namespace: str) -> Iterator[Callable[[], Counter[str]]]:
    """Count how often each job of a namespace has changed, as a watcher sees it."""
    seen: Counter[str] = Counter()
    watch = client.watch(MSJOBS, namespace)

    def follow() -> None:
        for kind, job in watch:
            if kind == "MODIFIED":
                seen[job["metadata"]["name"]] += 1

    thread = threading.Thread(target=follow)
    thread.start()
    try:
        yield lambda: seen
    finally:
        watch.close()
        thread.join()


def test_forty_jobs(jobs: Jobs, control_plane: ControlPlane) -> None:
    """40 jobs of 5 pods created at once, from birth to end.

    Each has exactly its pods, each pod has the address of its own job's Scheduler, every write of a status changes it,
    and no job takes more than ten writes. Worker 0 is the last process to end, so that nothing is left to clean up.
    """
    names = [f"job-{number}" for number in range(JOBS)]
    pods = ["scheduler-0", *(f"worker-{index}" for index in range(WORKERS))]
    with ThreadPoolExecutor(8) as pool, changes_counted(jobs.client, jobs.namespace) as changes:
        list(pool.map(lambda name: jobs.create(msjob(name, worker=WORKERS)), names))
        jobs.client.wait_for(lambda: len(jobs.client.pods(jobs.namespace)) >= JOBS * PODS, 30, what="all pods")
        check_addresses(jobs, names, pods)

        def run(name: str) -> None:
            for pod in pods:
                jobs.set(pod, name=name)

        def finish(name: str) -> None:
            jobs.finish(pods[0], *reversed(pods[1:]), name=name)

        list(pool.map(run, names))
        for name in names:
            jobs.wait_state("Running", name, 30)
        list(pool.map(finish, names))
        for name in names:
            jobs.wait_state("Succeeded", name, 30)
        jobs.settle()

        assert {name: sorted(jobs.pods(name)) for name in names} == dict.fromkeys(names, sorted(pods))
        written = writes(control_plane, jobs.namespace)
        statuses = Counter(request.name for request in written if request.resource == "msjobs/status")
        jobs.client.wait_for(lambda: all(changes()[name] == statuses[name] for name in names), what="the watcher")
    per_job = Counter(owner(request.name) for request in written)
    # On a machine that is busy the pods of a job may take more than a second to change, and its numbers are told
    # between two conditions: at most once each time.
    assert {name: count for name, count in per_job.items() if count > WRITES_PER_JOB + SLOW_CHANGES} == {}
    assert median(per_job.values()) <= WRITES_PER_JOB
    creates = Counter((request.resource, request.name) for request in written if request.verb == "create")
    assert {key: count for key, count in creates.items() if count > 1} == {}, "an object made twice"


def check_addresses(jobs: Jobs, names: list[str], pods: list[str]) -> None:
    """Check that each job has its pods, no more, and that each pod has the address of its own Scheduler."""
    services = {
        item["metadata"]["name"]: item["spec"]["clusterIP"] for item in jobs.client.list(SERVICES, jobs.namespace)
    }
    found = {item["metadata"]["name"]: variables(item) for item in jobs.client.pods(jobs.namespace)}
    assert len(set(services.values())) == len(names)
    assert found.keys() == {f"{name}-{pod}" for name in names for pod in pods}
    for name in names:
        assert found[f"{name}-scheduler-0"]["MS_SCHED_HOST"] == "<status.podIP>"
        hosts = {found[f"{name}-{pod}"]["MS_SCHED_HOST"] for pod in pods[1:]}
        assert hosts == {services[f"{name}-scheduler-0"]}


def owner(name: str) -> str:
    """The job of an object, by its name."""
    for role in ("-scheduler-", "-worker-"):
        name = name.partition(role)[0]
    return name
